//! Check of a world that comes from a file: lengths of its lists, indices from one list into another, and finite numbers.

use glam::{DQuat, DVec3};

use super::gate::OUTSIDE;
use super::sink::By;
use super::{
    Area, BodyHeat, Bond, Bonds, Course, Deformation, Drive, Form, Joint, Motion, MotionLaw, MotionPart,
    Sphere, SpherePart, Surface, World,
};
use crate::law::bond::BondLaw;

/// Largest number of grains that were ever added: their ids have 32 bits.
const MOST_GRAINS: u64 = 1 << 32;

/// First fault that a check finds, in words.
pub type Fault = Result<(), String>;

/// Fails with these words unless it `holds`.
pub fn claim(holds: bool, words: impl FnOnce() -> String) -> Fault {
    if holds { Ok(()) } else { Err(words()) }
}

/// Fails unless all `indices` are below `count`.
pub fn claim_below(indices: impl IntoIterator<Item = u32>, count: usize, what: &str) -> Fault {
    match indices.into_iter().find(|&index| index as usize >= count) {
        Some(index) => Err(format!("{what} {index} of {count}")),
        None => Ok(()),
    }
}

/// Fails unless a list is as long as another.
pub fn claim_length(found: usize, expected: usize, what: &str) -> Fault {
    claim(found == expected, || format!("{found} {what} for {expected}"))
}

fn claim_finite<'a>(vectors: impl IntoIterator<Item = &'a DVec3>, what: &str) -> Fault {
    let is_wrong = |vector: &&DVec3| !vector.is_finite();
    claim(!vectors.into_iter().any(|vector| is_wrong(&vector)), || format!("a {what} that is not a number"))
}

fn claim_turns<'a>(turns: impl IntoIterator<Item = &'a DQuat>) -> Fault {
    claim(turns.into_iter().all(|turn| (turn.length_squared() - 1.0).abs() < 1e-3), || {
        "an orientation that is none".to_owned()
    })
}

impl World {
    /// Checks that the world holds together, whoever wrote it.
    ///
    /// # Errors
    /// The first fault, in words.
    pub(crate) fn check_consistency(&self) -> Fault {
        claim(self.time.is_finite() && self.gravity.is_finite(), || "a time or gravity that is none".into())?;
        self.check_bodies()?;
        self.check_shapes()?;
        self.check_grains()?;
        self.check_counts()?;
        self.check_heat()?;
        self.check_liquid()?;
        self.check_deformation()?;
        self.check_boundaries()?;
        self.check_joints()?;
        self.check_bonds()
    }

    /// Checks that the world has as many elements of each kind that does not change in a run as `scene`, by which names are looked up.
    ///
    /// # Errors
    /// The first fault, in words.
    pub(crate) fn check_scene(&self, scene: &World) -> Fault {
        let counts = |world: &World| {
            [
                (world.boundaries.len(), "boundaries"),
                (world.surfaces.len(), "surfaces"),
                (world.vertices.len(), "vertices"),
                (world.materials.list.len(), "materials"),
                (world.clumps.len(), "clumps"),
                (world.joints.len(), "joints"),
                (world.bonds.list.len(), "bonds"),
                (world.sinks.len(), "sinks"),
                (world.gates.len(), "gates"),
                (world.residences.len(), "residences"),
                (usize::from(world.domain.is_some()), "domains"),
                (usize::from(world.heat.is_some()), "heats"),
                (usize::from(world.liquid.is_some()), "liquids"),
                (usize::from(world.deformation.is_some()), "deforming cells"),
            ]
        };
        for ((found, what), (expected, _)) in counts(self).into_iter().zip(counts(scene)) {
            claim(found == expected, || format!("{found} {what}, and the scene has {expected}"))?;
        }
        let is_same = match self.deformation {
            Some(_) => (self.periodic.length.cmpgt(DVec3::ZERO)) == scene.periodic.length.cmpgt(DVec3::ZERO),
            None => self.periodic == scene.periodic,
        };
        claim(is_same && self.plane == scene.plane, || "another cell".into())
    }

    fn check_bodies(&self) -> Fault {
        let (bodies, count) = (&self.bodies, self.boundaries.len() + self.grains.len());
        let lengths = [
            bodies.kind.len(),
            bodies.position.len(),
            bodies.orientation.len(),
            bodies.velocity.len(),
            bodies.angular_velocity.len(),
            bodies.inverse_mass.len(),
            bodies.inverse_inertia.len(),
            bodies.moments.len(),
            bodies.locked.len(),
            bodies.heat.len(),
        ];
        lengths.into_iter().try_for_each(|length| claim_length(length, count, "states for bodies"))?;
        let vectors = [&bodies.position, &bodies.velocity, &bodies.angular_velocity, &bodies.moments];
        claim_finite(vectors.into_iter().flatten(), "position or velocity")?;
        claim_turns(&bodies.orientation)?;
        let inverses = bodies.inverse_mass.iter().chain(&bodies.inverse_inertia);
        claim(inverses.into_iter().all(|inverse| inverse.is_finite() && *inverse >= 0.0), || {
            "a mass that is none".into()
        })?;
        let moves = |body: usize| bodies.inverse_mass[body] > 0.0;
        let has_moments = |body: usize| bodies.moments[body].min_element() > 0.0;
        claim((0..count).all(|body| !moves(body) || has_moments(body)), || "a moment that is none".into())?;
        claim_below(self.forces.iter().map(|force| force.body), count, "a force on body")?;
        claim(self.forces.is_sorted_by(|one, next| one.body < next.body), || "forces out of order".into())?;
        claim_finite(self.forces.iter().flat_map(|force| [&force.force, &force.torque]), "force")
    }

    fn check_shapes(&self) -> Fault {
        let materials = self.materials.list.len();
        claim_length(self.materials.laws().len(), materials * materials, "laws for pairs")?;
        let balls = self.vertices.iter().chain(&self.spheres);
        let of_balls = balls.clone().map(|ball| ball.material);
        claim_below(
            of_balls.chain(self.surfaces.iter().map(|surface| surface.material)),
            materials,
            "material",
        )?;
        let is_round = |ball: &Sphere| {
            (0.0..f64::MAX).contains(&ball.radius) && (0.0..f64::MAX).contains(&ball.contact_radius)
        };
        claim(balls.clone().all(is_round), || "a radius that is none".into())?;
        claim_finite(balls.map(|ball| &ball.centre), "centre of a sphere")?;
        let walls = self.boundaries.len();
        let on_walls = self.surfaces.iter().map(|surface| surface.body);
        claim_below(on_walls.chain(self.vertices.iter().map(|vertex| vertex.body)), walls, "boundary")?;
        let is_own = |vertex: &Sphere| match vertex.part {
            SpherePart::Solid(surface) | SpherePart::Patch(surface) => {
                self.surfaces.get(surface as usize).is_some_and(|own| own.body == vertex.body)
            }
            SpherePart::Ball | SpherePart::Hull(_) => true,
        };
        claim(self.vertices.iter().all(is_own), || "a solid of another surface".into())?;
        let is_whole = |sphere: &Sphere| matches!(sphere.part, SpherePart::Ball | SpherePart::Hull(_));
        claim(self.spheres.iter().all(is_whole), || "a grain that is part of a solid".into())?;
        claim_finite(self.surfaces.iter().map(|surface| &surface.position), "place of a surface")?;
        claim_turns(self.surfaces.iter().map(|surface| &surface.orientation))?;
        self.surfaces.iter().try_for_each(|surface| self.check_patch(surface))
    }

    /// Checks that the patch of a surface is there. A world that was just read has no meshes yet: those of the scene are given to it.
    fn check_patch(&self, surface: &Surface) -> Fault {
        let Form::Patch { mesh, patch } = surface.form else { return Ok(()) };
        if self.meshes.list().is_empty() && !self.meshes.is_empty() {
            return Ok(());
        }
        let patches = self.meshes.list().get(mesh as usize).map_or(0, |mesh| mesh.patches.len());
        claim((patch as usize) < patches, || format!("patch {patch} of mesh {mesh}"))
    }

    fn check_grains(&self) -> Fault {
        let (grains, sinks) = (self.grains.len(), self.sinks.len());
        claim_length(self.removed.len(), grains, "marks for grains")?;
        claim_length(self.ids.len(), grains, "ids for grains")?;
        let mut next = 0u64;
        for (grain, parts) in self.grains.iter().enumerate() {
            claim(u64::from(parts.first) == next, || format!("spheres of grain {grain} out of order"))?;
            next += u64::from(parts.count);
            let of_kind = match parts.clump {
                None => Some(1),
                Some(clump) => self.clumps.get(clump as usize).map(|clump| clump.spheres.len()),
            };
            claim(of_kind == Some(parts.count as usize) && parts.count > 0, || {
                format!("{} spheres of grain {grain}", parts.count)
            })?;
            claim(next <= self.spheres.len() as u64, || format!("a grain {grain} without spheres"))?;
            let body = self.grain_body(grain) as u32;
            claim(self.spheres[parts.spheres()].iter().all(|sphere| sphere.body == body), || {
                format!("spheres of another body in grain {grain}")
            })?;
        }
        claim_length(self.spheres.len(), next as usize, "spheres for grains")?;
        claim(self.spheres.iter().all(|sphere| sphere.radius > 0.0), || "a grain without a radius".into())?;
        // A grain that left the domain or was taken out by hand counts behind those of the sinks.
        claim_below(self.removed.iter().copied().flatten(), sinks + 2, "sink")?;
        let is_gone = |grain: usize| self.bodies.inverse_mass[self.grain_body(grain)] == 0.0;
        claim((0..grains).all(|grain| self.removed[grain].is_none() || is_gone(grain)), || {
            "a removed grain that has a mass".into()
        })?;
        self.check_removed()
    }

    /// Checks what gates and residences have counted, and when grains came.
    fn check_counts(&self) -> Fault {
        claim_length(self.counted.len(), self.counted_numbers(), "sums for gates and residences")?;
        let arrivals = self.residences.len() * self.grains.len();
        claim_length(self.arrivals.len(), arrivals, "arrivals for grains")?;
        let is_time = |came: &f64| *came == OUTSIDE || came.is_finite();
        claim(self.arrivals.iter().all(is_time) && self.counted.iter().all(|sum| sum.is_finite()), || {
            "a count or an arrival that is none".into()
        })
    }

    /// Checks temperatures, heat capacities and sums of heat.
    fn check_heat(&self) -> Fault {
        let is_sound = |heat: &BodyHeat| {
            (0.0..f64::MAX).contains(&heat.temperature) && (0.0..f64::MAX).contains(&heat.inverse_capacity)
        };
        claim(self.bodies.heat.iter().all(is_sound), || "a temperature that is none".into())?;
        let Some(heat) = &self.heat else { return Ok(()) };
        for length in [heat.walls.len(), heat.received.len()] {
            claim_length(length, self.boundaries.len(), "heats for boundaries")?;
        }
        let numbers =
            heat.received.iter().chain([&heat.made, &heat.initial_temperature, &heat.friction_share]);
        claim(numbers.into_iter().all(|number| number.is_finite()), || "a heat that is none".into())
    }

    /// Checks the liquid and the pairs of shapes that have bridges.
    fn check_liquid(&self) -> Fault {
        let Some(liquid) = &self.liquid else { return Ok(()) };
        claim_length(liquid.wets.len(), self.materials.list.len(), "wet materials for materials")?;
        let grains = self.first_grain_shape();
        let shapes = grains as usize + self.spheres.len();
        claim_below(liquid.bridges.iter().flatten().copied(), shapes, "shape of a bridge")?;
        claim(liquid.bridges.is_sorted_by(|one, next| one < next), || "bridges out of order".into())?;
        let joins =
            |[a, b]: &[u32; 2]| *a >= grains && a != b && !self.is_removed(*a) && !self.is_removed(*b);
        claim(liquid.bridges.iter().all(joins), || "a bridge without its grain".into())?;
        claim(liquid.removed_energy.is_finite(), || "an energy of bridges that is none".into())
    }

    /// Checks the deformation of the cell.
    fn check_deformation(&self) -> Fault {
        let (cell, tilt) = (&self.periodic, &self.periodic.tilt);
        claim(tilt.along < 3 && tilt.across < 3 && tilt.along != tilt.across, || {
            "a tilt along no axis".into()
        })?;
        claim(tilt.shift.is_finite() && cell.length.is_finite() && cell.min.is_finite(), || {
            "a cell that is none".into()
        })?;
        let Some(Deformation { stages, gradient, stress_time, .. }) = &self.deformation else {
            return claim(tilt.shift == 0.0, || "a tilt of a cell that does not deform".into());
        };
        claim(!stages.is_empty(), || "a deformation without stages".into())?;
        claim(gradient.is_finite() && stress_time.is_finite(), || "a strain rate that is none".into())
    }

    /// Checks the counts of removed grains whose places others have taken, and the places that are free.
    fn check_removed(&self) -> Fault {
        let (grains, sinks) = (self.grains.len(), self.sinks.len());
        claim(self.replaced.len() <= sinks + 2, || format!("counts of {} sinks", self.replaced.len()))?;
        let gone =
            self.replaced.iter().try_fold(grains as u64, |sum, gone| sum.checked_add(gone.taken.grains));
        claim(gone.is_some_and(|sum| sum < MOST_GRAINS), || "more grains than ids".into())?;
        let classes = |sink: usize| self.sinks.get(sink).map_or(&[][..], |sink| &sink.bins);
        for (sink, gone) in self.replaced.iter().enumerate() {
            let bins = classes(sink);
            let fits = gone.classes.is_empty()
                || gone.classes.len() == bins.len()
                    && gone.classes.iter().zip(bins).all(|(counts, bins)| counts.len() == bins.count());
            claim(fits, || format!("counts of other classes in sink {sink}"))?;
            let counts = gone.classes.iter().flatten();
            claim(counts.into_iter().all(|taken| taken.grains < MOST_GRAINS), || {
                "more grains than ids".into()
            })?;
        }
        let places = &self.vacancies.places;
        claim_below(places.iter().copied(), grains, "a free place")?;
        claim(places.is_sorted_by(|one, next| one < next), || "free places out of order".into())?;
        let is_free = |&place: &u32| self.removed[place as usize].is_some();
        claim(places.iter().all(is_free), || "a free place that is taken".into())
    }

    fn check_boundaries(&self) -> Fault {
        let sinks = self.sinks.iter();
        claim_finite(
            self.boundaries.iter().map(|boundary| &boundary.position).chain(sinks.map(|sink| &sink.position)),
            "place",
        )?;
        let sinks = self.sinks.iter();
        claim_turns(
            self.boundaries
                .iter()
                .map(|boundary| &boundary.orientation)
                .chain(sinks.map(|sink| &sink.orientation)),
        )?;
        let is_axis = |by: &By| !matches!(by, By::Place(axis) if *axis > 2);
        let bins = self.sinks.iter().flat_map(|sink| &sink.bins);
        claim(bins.into_iter().all(|bins| is_axis(&bins.by)), || "an axis that is none".into())?;
        for (body, boundary) in self.boundaries.iter().enumerate() {
            let is_dynamic = matches!(boundary.motion, Motion::Dynamic(_));
            claim(is_dynamic == self.bodies.is_dynamic(body), || {
                format!("a motion of another kind at {body}")
            })?;
            boundary.motion.parts().iter().try_for_each(check_motion)?;
        }
        Ok(())
    }

    fn check_joints(&self) -> Fault {
        let walls = self.boundaries.len();
        claim_length(self.joint_states.len(), self.joints.len(), "states for joints")?;
        claim_length(self.machines.len(), walls, "machines for boundaries")?;
        claim_below(self.machines.iter().copied(), walls, "machine")?;
        claim(self.joint_states.iter().all(|state| state.position.is_finite()), || {
            "a position of a joint that is none".into()
        })?;
        self.joints.iter().try_for_each(|joint| check_joint(joint, walls))
    }

    fn check_bonds(&self) -> Fault {
        let Bonds { laws, list, states, released_energy } = &self.bonds;
        claim_length(states.len(), list.len(), "states for bonds")?;
        claim_below(list.iter().map(|bond| bond.law), laws.len(), "a law of bonds")?;
        claim_below(list.iter().flat_map(|bond| bond.bodies), self.bodies.len(), "a bond of body")?;
        claim(list.iter().all(|bond| bond.bodies[0] != bond.bodies[1]), || {
            "a bond of a body with itself".into()
        })?;
        let anchors = || list.iter().flat_map(|bond| &bond.anchors);
        claim_finite(anchors().map(|anchor| &anchor.place), "place of a bond")?;
        claim_turns(anchors().map(|anchor| &anchor.orientation))?;
        let is_positive = |number: f64| number > 0.0 && number.is_finite();
        let is_beam = |bond: &Bond| is_positive(bond.beam.radius) && is_positive(bond.beam.length);
        claim(list.iter().all(is_beam) && released_energy.is_finite(), || "a bond that is no beam".into())?;
        let loads = states.iter().flat_map(|state| [&state.load.force, &state.load.moment]);
        claim_finite(loads, "load of a bond")?;
        let is_law = |law: &BondLaw| is_positive(law.youngs_modulus) && law.poisson_ratio > -1.0;
        claim(laws.iter().all(is_law), || "a law of bonds that is none".into())
    }
}

fn check_motion(MotionPart { law, timing }: &MotionPart) -> Fault {
    let begin = timing.start.unwrap_or(0.0);
    let length = timing.stop.map_or(f64::INFINITY, |stop| stop - begin);
    let is_right = begin.is_finite() && length >= 2.0 * timing.ramp && timing.ramp >= 0.0;
    claim(is_right, || "a motion that ends before it has begun".into())?;
    let MotionLaw::Table { times, displacements, rotations, .. } = law else { return Ok(()) };
    claim_times(times, displacements.len())?;
    claim_finite(displacements, "displacement")?;
    claim_turns(rotations)?;
    claim(rotations.is_empty() || rotations.len() == times.len(), || {
        format!("{} rotations for {} times", rotations.len(), times.len())
    })
}

fn check_joint(joint: &Joint, walls: usize) -> Fault {
    claim_below(joint.bodies.into_iter().flatten(), walls, "a joint of boundary")?;
    claim(joint.bodies[0] != joint.bodies[1], || "a joint of a body with itself".into())?;
    claim_finite(joint.anchors.iter().map(|anchor| &anchor.place), "place of a joint")?;
    claim_turns(joint.anchors.iter().map(|anchor| &anchor.orientation))?;
    if let Some(Area::Between(spans)) = &joint.area {
        let is_right = spans.iter().all(|span| span.axis < 3 && span.low < walls && span.high < walls);
        claim(is_right, || "an area between walls that are not there".into())?;
    }
    for (_, drive) in &joint.drives {
        let (Drive::Force(course)
        | Drive::Pressure(course)
        | Drive::Motor { velocity: course, .. }
        | Drive::Servo { position: course, .. }) = drive;
        if let Course::Table { times, values } = course {
            claim_times(times, values.len())?;
        }
    }
    Ok(())
}

/// Checks the times of a table with this number of values.
fn claim_times(times: &[f64], values: usize) -> Fault {
    claim_length(values, times.len(), "values for times")?;
    claim(!times.is_empty() && times.is_sorted_by(|one, next| one < next), || "a table without order".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Boundary, Grain, Materials};

    fn world() -> World {
        let glass = crate::law::pair::Material { friction: 0.5, ..crate::law::pair::Material::glass() };
        let mut world = World::new(DVec3::NEG_Z, Materials::new(vec![glass]));
        world.add_boundary(Boundary::floor(), [Surface::new(DVec3::ZERO, DQuat::IDENTITY, Form::Plane, 0)]);
        world.add_grains([Grain::at(DVec3::Z, 0.5, 0), Grain::at(2.0 * DVec3::Z, 0.25, 0)]);
        world
    }

    #[test]
    fn a_world_holds_together_and_one_with_a_wrong_index_length_or_number_does_not() {
        assert_eq!(world().check_consistency(), Ok(()));
        assert_eq!(world().check_scene(&world()), Ok(()));
        type Damage = fn(&mut World);
        let damages: [(Damage, &str); 9] = [
            (|world| world.spheres[1].material = 7, "material 7 of 1"),
            (|world| world.spheres[0].body = 2, "another body"),
            (|world| world.surfaces[0].body = 1, "boundary 1 of 1"),
            (|world| world.grains[1].first = 0, "out of order"),
            (|world| world.bodies.velocity[2].y = f64::NAN, "not a number"),
            (|world| _ = world.ids.pop(), "1 ids for grains for 2"),
            (|world| world.vacancies.places = vec![0], "that is taken"),
            (|world| world.removed[0] = Some(2), "sink 2 of 2"),
            (|world| world.machines[0] = 1, "machine 1 of 1"),
        ];
        for (damage, told) in damages {
            let mut world = world();
            damage(&mut world);
            let fault = world.check_consistency().expect_err(told);
            assert!(fault.contains(told), "{fault}, expected {told}");
        }
    }
}
