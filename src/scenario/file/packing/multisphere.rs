//! Spheres of a file that share a body, as `fix multisphere` of LIGGGHTS writes them: each body becomes a clump.
//!
//! Bodies that are the same but for a motion share one clump. Position and orientation of a body are the least-squares fit of this clump to
//! its spheres, velocity and angular velocity that of a rigid motion to their velocities.

use std::collections::HashMap;

use glam::{DMat3, DQuat, DVec3};

use super::InitialMotion;
use super::rows::{Body, GrainRow, Weight};
use crate::model::{Clump, outer};

/// Largest number of different shapes in a file.
const MOST_SHAPES: usize = 1000;
/// Largest number of spheres of a body.
const MOST_SPHERES: usize = 1000;
/// Error of a coordinate of six digits, twice and along three axes, over the coordinate \[-\]: 2 √3 · 5e-6.
const DIGITS: f64 = 2e-5;
/// Largest difference of two places that are taken for one, over the smallest radius \[-\].
const SAME: f64 = 0.05;
/// Largest relative difference of two radii, densities or masses of six digits that are taken for one \[-\].
const AGREE: f64 = 2e-5;
/// Weight of no turn at all in a fit, over the spread of the spheres \[-\]: it decides about the axis of spheres in a line.
const NO_TURN: f64 = 1e-6;
/// Largest part of the velocities within a body that is no rigid motion \[-\].
const RIGID: f64 = 0.01;

/// Grains of a file whose bodies are put together.
pub struct Gathered {
    /// Spheres of their own and clumps, each in the place of its first sphere.
    pub rows: Vec<GrainRow>,
    /// Clumps of the rows.
    pub clumps: Vec<Clump>,
    /// What was made of what, for the user; empty without bodies.
    pub told: String,
}

/// Makes a clump of all spheres with one id. `apart` is the way from one sphere to another of its body, which a periodic box may have cut.
///
/// # Errors
/// When the spheres of an id are no body of one material, with its id.
pub fn gather(rows: Vec<GrainRow>, file: &str, apart: &dyn Fn(DVec3) -> DVec3) -> Result<Gathered, String> {
    let mut places: HashMap<u64, usize> = HashMap::new();
    let mut groups: Vec<(Option<u64>, Vec<GrainRow>)> = Vec::new();
    for row in rows {
        match row.body {
            Body::Part(id) => {
                let place = *places.entry(id).or_insert(groups.len());
                if place == groups.len() {
                    groups.push((Some(id), Vec::new()));
                }
                groups[place].1.push(row);
            }
            _ => groups.push((None, vec![row])),
        }
    }
    let all = groups.iter().flat_map(|(_, rows)| rows);
    let far = all.map(|row| row.position.abs().max_element()).fold(0.0, f64::max);
    let (bodies, parts) = (places.len(), places_of(&groups));
    let mut shapes: Vec<BodyShape> = Vec::new();
    let mut found = Vec::with_capacity(groups.len());
    for (id, rows) in groups {
        let row = match (id, rows.as_slice()) {
            (Some(id), [_, _, ..]) => {
                let name = || format!("id_multisphere {id} of {file}");
                let row = body(&rows, far, &name, apart, &mut shapes);
                row.map_err(|mistake| format!("the spheres of id_multisphere {id} {mistake}"))?
            }
            _ => GrainRow { body: Body::Sphere, ..rows[0] },
        };
        found.push(row);
    }
    let has_mass = found.iter().any(|row| row.body != Body::Sphere && matches!(row.weight, Weight::Mass(_)));
    let mut told = String::new();
    if bodies > 0 {
        told = format!("; {parts} spheres are {bodies} bodies of {} shapes, by id_multisphere", shapes.len());
    }
    if has_mass {
        told += ", the mass of each sphere being that of its whole body";
    }
    Ok(Gathered { rows: found, clumps: shapes.into_iter().map(|shape| shape.clump).collect(), told })
}

/// Number of spheres that belong to a body.
fn places_of(groups: &[(Option<u64>, Vec<GrainRow>)]) -> usize {
    groups.iter().filter(|(id, _)| id.is_some()).map(|(_, rows)| rows.len()).sum()
}

/// Makes the row of a body of these spheres, and its shape if it is a new one.
fn body(
    rows: &[GrainRow],
    far: f64,
    name: &dyn Fn() -> String,
    apart: &dyn Fn(DVec3) -> DVec3,
    shapes: &mut Vec<BodyShape>,
) -> Result<GrainRow, String> {
    if rows.len() > MOST_SPHERES {
        return Err(format!("are {}, at most {MOST_SPHERES} are possible", rows.len()));
    }
    let first = &rows[0];
    let sphere = |row: &GrainRow| {
        row.radius.map(|radius| (first.position + apart(row.position - first.position), radius))
    };
    let spheres: Option<Vec<(DVec3, f64)>> = rows.iter().map(sphere).collect();
    let spheres = spheres.ok_or("have no column `radius`, which those of a body need")?;
    if rows.iter().any(|row| row.material != first.material) {
        return Err("are of several types, and a clump has one material".to_owned());
    }
    let weight = weight(rows)?;
    let middle = mean(spheres.iter().map(|(place, _)| *place));
    let centred: Vec<(DVec3, f64)> =
        spheres.iter().map(|&(place, radius)| (place - middle, radius)).collect();
    let smallest = centred.iter().map(|(_, radius)| *radius).fold(f64::INFINITY, f64::min);
    let near = (DIGITS * far).min(SAME * smallest);
    let fits =
        shapes.iter().enumerate().find_map(|(i, shape)| shape.fit(&centred, near).map(|turn| (i, turn)));
    let (shape, turn) = match fits {
        Some(found) => found,
        None if shapes.len() == MOST_SHAPES => {
            return Err(format!(
                "are the {}th shape, at most {MOST_SHAPES} are possible; write more digits: dump_modify ... format float %.12g",
                MOST_SHAPES + 1
            ));
        }
        None => {
            shapes.push(BodyShape::new(&name(), centred, near));
            (shapes.len() - 1, DQuat::IDENTITY)
        }
    };
    let to_centre = turn * shapes[shape].centre;
    Ok(GrainRow {
        position: middle + to_centre,
        radius: Some(shapes[shape].clump.equivalent_radius()),
        motion: motion(rows, &spheres, middle, to_centre)?,
        weight,
        orientation: Some(turn),
        temperature: first.temperature,
        material: first.material,
        body: Body::Clump(shape as u32),
    })
}

fn mean(vectors: impl ExactSizeIterator<Item = DVec3>) -> DVec3 {
    let count = vectors.len() as f64;
    vectors.sum::<DVec3>() / count
}

/// Density of the spheres of a body, or the mass of the body, which LIGGGHTS writes with each of its spheres.
fn weight(rows: &[GrainRow]) -> Result<Weight, String> {
    let number = |row: &GrainRow| match row.weight {
        Weight::OfMaterial => 0.0,
        Weight::Density(number) | Weight::Mass(number) => number,
    };
    let first = number(&rows[0]);
    match rows.iter().find(|row| (number(row) - first).abs() > AGREE * first) {
        None => Ok(rows[0].weight),
        Some(other) => Err(format!(
            "have a {} of {first} and {}, expected one for the whole body",
            if matches!(other.weight, Weight::Mass(_)) { "mass" } else { "density" },
            number(other)
        )),
    }
}

/// Velocity of the centre of mass, which lies `to_centre` from the `middle` of the spheres, and angular velocity.
fn motion(
    rows: &[GrainRow],
    spheres: &[(DVec3, f64)],
    middle: DVec3,
    to_centre: DVec3,
) -> Result<InitialMotion, String> {
    let spins: Option<Vec<DVec3>> = rows.iter().map(|row| row.motion.angular_velocity).collect();
    let spin = spins.map(|spins| mean(spins.into_iter()));
    let velocities: Option<Vec<DVec3>> = rows.iter().map(|row| row.motion.velocity).collect();
    let Some(velocities) = velocities else {
        return Ok(InitialMotion { velocity: None, angular_velocity: spin });
    };
    let common = mean(velocities.iter().copied());
    let arms = || spheres.iter().map(|(place, _)| *place - middle);
    let given = spin.unwrap_or_default();
    let rest = arms().zip(&velocities).map(|(arm, velocity)| velocity - common - given.cross(arm));
    let spin = given + turn_of(arms().zip(rest));
    let rest = |(arm, velocity): (DVec3, &DVec3)| {
        (velocity - common - spin.cross(arm), velocity - common, *velocity)
    };
    let parts = arms().zip(&velocities).map(rest);
    let longest = parts.fold([0.0f64; 3], |most, (rest, inner, all)| {
        [most[0].max(rest.length()), most[1].max(inner.length()), most[2].max(all.length())]
    });
    if longest[0] > RIGID * longest[1] + DIGITS * longest[2] {
        return Err(format!(
            "have velocities that differ by {:.2e} m/s from those of a rigid body, expected a body that moves as one",
            longest[0]
        ));
    }
    Ok(InitialMotion { velocity: Some(common + spin.cross(to_centre)), angular_velocity: Some(spin) })
}

/// Least-squares turn ω [1/s, or a small angle] of points by given shifts: ω × arm ≈ shift. About an axis on which all points lie it is 0.
fn turn_of(points: impl Iterator<Item = (DVec3, DVec3)>) -> DVec3 {
    let (mut spread, mut moment) = (DMat3::ZERO, DVec3::ZERO);
    for (arm, shift) in points {
        spread += DMat3::from_diagonal(DVec3::splat(arm.length_squared())) - outer(arm, arm);
        moment += arm.cross(shift);
    }
    let size = spread.x_axis.x + spread.y_axis.y + spread.z_axis.z;
    if size <= 0.0 {
        return DVec3::ZERO;
    }
    (spread * (1.0 / size) + DMat3::from_diagonal(DVec3::splat(NO_TURN))).inverse() * (moment / size)
}

/// Shape of a body.
struct BodyShape {
    /// Centres \[m\] about their mean, and radii \[m\].
    spheres: Vec<(DVec3, f64)>,
    /// Centre of mass \[m\] about the mean of the centres.
    centre: DVec3,
    clump: Clump,
    /// Spheres that fix an orientation: far from the mean, far from the first, far from the line through both; fewer if all lie in a line
    /// or in a point.
    anchors: Vec<usize>,
}

impl BodyShape {
    /// Shape of these spheres, whose places are known to `near` \[m\].
    fn new(name: &str, spheres: Vec<(DVec3, f64)>, near: f64) -> BodyShape {
        let clump = Clump::of_spheres(name, &spheres);
        let centre = spheres[0].0 - clump.axes * clump.spheres[0].0;
        let farthest = |distance: &dyn Fn(DVec3) -> f64| {
            let all = spheres.iter().map(|(place, _)| distance(*place)).enumerate();
            all.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, most)| *most > 4.0 * near).map(|(i, _)| i)
        };
        let mut anchors = Vec::new();
        if let Some(a) = farthest(&|place| place.length()) {
            anchors.push(a);
            let from = spheres[a].0;
            if let Some(b) = farthest(&|place| place.distance(from)) {
                anchors.push(b);
                let line = (spheres[b].0 - from).normalize_or_zero();
                anchors.extend(farthest(&|place| (place - from).cross(line).length()));
            }
        }
        BodyShape { spheres, centre, clump, anchors }
    }

    /// Turn of this shape onto spheres about their mean, whose places are known to `near` \[m\]; `None` if they are another shape.
    fn fit(&self, spheres: &[(DVec3, f64)], near: f64) -> Option<DQuat> {
        if spheres.len() != self.spheres.len() || !self.has_radii(spheres) {
            return None;
        }
        let mut chosen = Vec::new();
        let same = self.turn_by(spheres, &self.anchors).and_then(|turn| self.refine(spheres, turn, near));
        same.or_else(|| self.search(spheres, near, &mut chosen))
    }

    fn has_radii(&self, spheres: &[(DVec3, f64)]) -> bool {
        let sorted = |spheres: &[(DVec3, f64)]| {
            let mut radii: Vec<f64> = spheres.iter().map(|(_, radius)| *radius).collect();
            radii.sort_by(f64::total_cmp);
            radii
        };
        sorted(&self.spheres).into_iter().zip(sorted(spheres)).all(|(a, b)| (a - b).abs() <= AGREE * a)
    }

    /// Tries all choices of spheres that are as far from each other as the anchors are.
    fn search(&self, spheres: &[(DVec3, f64)], near: f64, chosen: &mut Vec<usize>) -> Option<DQuat> {
        if chosen.len() == self.anchors.len() {
            let turn = self.turn_by(spheres, chosen)?;
            return self.refine(spheres, turn, near);
        }
        let (place, radius) = self.spheres[self.anchors[chosen.len()]];
        for i in 0..spheres.len() {
            let (other, size) = spheres[i];
            let is_as_far = |from: DVec3, there: DVec3| {
                (place.distance(from) - other.distance(there)).abs() <= 4.0 * near
            };
            let mut pairs = chosen.iter().zip(&self.anchors);
            let is_it = (size - radius).abs() <= AGREE * radius
                && is_as_far(DVec3::ZERO, DVec3::ZERO)
                && pairs.all(|(&there, &anchor)| is_as_far(self.spheres[anchor].0, spheres[there].0));
            if is_it {
                chosen.push(i);
                let found = self.search(spheres, near, chosen);
                if found.is_some() {
                    return found;
                }
                chosen.pop();
            }
        }
        None
    }

    /// Turn of the anchors onto these spheres.
    fn turn_by(&self, spheres: &[(DVec3, f64)], chosen: &[usize]) -> Option<DQuat> {
        let frame = |of: &[(DVec3, f64)], places: &[usize]| match *places {
            [a, b, c] => {
                let x = (of[b].0 - of[a].0).try_normalize()?;
                let z = x.cross(of[c].0 - of[a].0).try_normalize()?;
                Some(DQuat::from_mat3(&DMat3::from_cols(x, z.cross(x), z)))
            }
            [a, b] => {
                Some(DQuat::from_rotation_arc(DVec3::X, (of[b].0 - of[a].0).try_normalize()?).normalize())
            }
            _ => Some(DQuat::IDENTITY),
        };
        Some(frame(spheres, chosen)? * frame(&self.spheres, &self.anchors)?.conjugate())
    }

    /// Improves a turn by least squares; `None` if a sphere has no counterpart then.
    fn refine(&self, spheres: &[(DVec3, f64)], turn: DQuat, near: f64) -> Option<DQuat> {
        let pairs = self.pairs(spheres, turn, 6.0 * near)?;
        let mut turn = turn;
        for _ in 0..3 {
            let arms = self.spheres.iter().map(|(place, _)| turn * *place);
            let shifts = arms.zip(&pairs).map(|(arm, &i)| (arm, spheres[i].0 - arm));
            turn = (DQuat::from_scaled_axis(turn_of(shifts)) * turn).normalize();
        }
        self.pairs(spheres, turn, near).map(|_| turn)
    }

    /// Counterpart of each sphere of this shape, at most `near` \[m\] (and what rounding needs) from its place.
    fn pairs(&self, spheres: &[(DVec3, f64)], turn: DQuat, near: f64) -> Option<Vec<usize>> {
        let mut is_taken = vec![false; spheres.len()];
        let near = near + 1e-9 * self.clump.bounding_radius();
        let counterpart = |(i, &(place, radius)): (usize, &(DVec3, f64))| {
            let target = turn * place;
            let is_it = |&j: &usize| {
                let (other, size) = spheres[j];
                !is_taken[j] && other.distance(target) <= near && (size - radius).abs() <= AGREE * radius
            };
            // Most files have the spheres of all bodies in the same order.
            let found = Some(i).filter(|i| is_it(i)).or_else(|| (0..spheres.len()).find(is_it))?;
            is_taken[found] = true;
            Some(found)
        };
        self.spheres.iter().enumerate().map(counterpart).collect()
    }
}

#[cfg(test)]
mod tests;
