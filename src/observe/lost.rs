//! Lost grains: they left the domain or, in a scene without a domain, fell below everything that could stop them.

use glam::{BVec3, DVec3};

use crate::engine::Snapshot;
use crate::model::{Form, Outside, World};

/// Component of the direction of gravity that counts as rounding error \[-\].
const ROUNDING: f64 = 1e-9;

/// Number of lost grains, and the places where they got out.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Lost {
    /// Number of grains.
    pub grains: u64,
    /// Corners of the box around the places where they got out \[m\].
    pub places: [DVec3; 2],
}

/// Number of lost grains.
pub fn count(snapshot: &Snapshot) -> f64 {
    lost(snapshot).map_or(0.0, |lost| lost.grains as f64)
}

/// Finds the lost grains; `None` where no grain is lost.
pub fn lost(snapshot: &Snapshot) -> Option<Lost> {
    let (world, share) = (&snapshot.world, &snapshot.share);
    // Grains that left the domain and are in no place any more.
    let gone = world.replaced.get(world.sinks.len()).cloned().unwrap_or_default();
    let ways_out = ways_out(snapshot);
    let around = |[low, high]: [DVec3; 2], place: &DVec3| [low.min(*place), high.max(*place)];
    let [low, high] = ways_out.iter().fold(gone.places, around);
    let grains = share.total(gone.taken.grains as usize + ways_out.len()) as u64;
    let mut corners = [-low, high].map(|corner| corner.to_array());
    share.largest_each(corners.as_flattened_mut());
    let [low, high] = corners.map(DVec3::from_array);
    (grains > 0).then_some(Lost { grains, places: [-low, high] })
}

/// Place where each lost grain got out \[m\]; for a grain outside of a domain that keeps it, its present place.
fn ways_out(snapshot: &Snapshot) -> Vec<DVec3> {
    let world = &snapshot.world;
    let position = |grain: usize| world.bodies.position[world.grain_body(grain)];
    match &world.domain {
        Some(domain) if domain.outside == Outside::Keep => {
            snapshot.present_grains().map(position).filter(|&centre| !domain.contains(centre)).collect()
        }
        Some(_) => {
            let drain = Some(world.sinks.len() as u32);
            let taken = |&grain: &usize| world.removed[grain] == drain && snapshot.share.counts(grain);
            (0..world.grain_count()).filter(taken).map(position).collect()
        }
        None => match Below::of(snapshot) {
            Some(below) => {
                snapshot.present_grains().filter_map(|grain| below.way_out(world, grain)).collect()
            }
            None => Vec::new(),
        },
    }
}

/// Space below everything that may stop a falling grain.
struct Below {
    /// Magnitude of gravity \[m/s²\]; `down` is its direction.
    gravity: f64,
    down: DVec3,
    /// Lowest level that finite shapes and grains that cannot fall may reach, measured along `down` \[m\].
    level: f64,
    /// Points and normals of the planes that face upwards.
    floors: Vec<(DVec3, DVec3)>,
}

impl Below {
    /// Finds the space; `None` where nothing can fall out: without gravity, where gravity leads through a periodic face, where nothing is
    /// finite.
    fn of(snapshot: &Snapshot) -> Option<Below> {
        let world = &snapshot.world;
        let down = world.gravity.try_normalize()?;
        if (world.periodic.length.cmpgt(DVec3::ZERO) & down.abs().cmpgt(DVec3::splat(ROUNDING)))
            != BVec3::FALSE
        {
            return None;
        }
        let (mut level, mut floors) = (f64::NEG_INFINITY, Vec::new());
        for (form, position, normal) in solids(world) {
            match radius_around(world, form) {
                Some(radius) => level = level.max(position.dot(down) + radius),
                None if normal.dot(down) < -ROUNDING => floors.push((position, normal)),
                None => {}
            }
        }
        for grain in
            snapshot.present_grains().filter(|&grain| !can_fall(world, world.grain_body(grain), down))
        {
            let centre = world.bodies.position[world.grain_body(grain)];
            level = level.max(centre.dot(down) + world.grain_reach(grain));
        }
        let level = snapshot.share.largest(level);
        level.is_finite().then(|| Below { gravity: world.gravity.length(), down, level, floors })
    }

    /// Position of a grain when its top passed the lowest level: found backwards along its parabola, which nothing disturbs any more.
    /// `None` if the grain is not below the level, is above a plane that faces upwards, or cannot fall.
    fn way_out(&self, world: &World, grain: usize) -> Option<DVec3> {
        let body = world.grain_body(grain);
        let (centre, velocity) = (world.bodies.position[body], world.bodies.velocity[body]);
        let depth = centre.dot(self.down) - world.grain_reach(grain) - self.level;
        let is_held = |(point, normal): &(DVec3, DVec3)| (centre - *point).dot(*normal) > 0.0;
        if depth <= 0.0 || self.floors.iter().any(is_held) || !can_fall(world, body, self.down) {
            return None;
        }
        let speed = velocity.dot(self.down);
        let ago = (speed - (speed * speed - 2.0 * self.gravity * depth).max(0.0).sqrt()) / self.gravity;
        let ago = ago.max(0.0);
        Some(centre - ago * velocity + 0.5 * ago * ago * self.gravity * self.down)
    }
}

/// Shapes that may stop or remove a grain: surfaces of boundaries that do not fall themselves, and sinks; with the position and the z axis
/// of each.
fn solids(world: &World) -> impl Iterator<Item = (Form, DVec3, DVec3)> + '_ {
    let down = world.gravity.normalize_or_zero();
    let is_joined = |body: usize| world.joints.iter().any(|joint| joint.bodies.contains(&Some(body as u32)));
    let stays = move |body: usize| {
        let is_free = world.dynamic_boundary(body).is_some() && !is_joined(body);
        !(is_free && can_fall(world, body, down))
    };
    // The first patch of a mesh stands for the whole mesh.
    let surfaces = world.surface_groups().map(|group| &world.surfaces[group.start as usize]);
    let surfaces = surfaces.filter(move |surface| stays(surface.body as usize)).map(|surface| {
        let body = surface.body as usize;
        let turned = world.bodies.orientation[body];
        let position = world.bodies.position[body] + turned * surface.position;
        (surface.form, position, turned * (surface.orientation * DVec3::Z))
    });
    let sinks = world.sinks.iter().map(|sink| (sink.form, sink.position, sink.orientation * DVec3::Z));
    surfaces.chain(sinks)
}

/// Whether a body is free to move along gravity.
fn can_fall(world: &World, body: usize, down: DVec3) -> bool {
    let along = down * world.bodies.locked[body].free_translation();
    along.length() > ROUNDING
}

/// Radius of a ball around a shape \[m\]; `None` for a plane, which has no end.
fn radius_around(world: &World, form: Form) -> Option<f64> {
    match form {
        Form::Plane => None,
        Form::Disc { radius } | Form::Sphere { radius } => Some(radius),
        Form::Wall { bottom_radius, top_radius, length, .. }
        | Form::Solid { bottom_radius, top_radius, length } => {
            Some(bottom_radius.max(top_radius).hypot(0.5 * length))
        }
        Form::Box { half } => Some(half.length()),
        Form::Capsule { radius, length } => Some(radius + 0.5 * length),
        Form::Patch { mesh, .. } => Some(world.meshes[mesh].reach),
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_worlds::{stack, with_boundary};
    use super::*;
    use crate::model::{Axes, Domain, Grain};

    /// Two grains over a disc of radius 1 m at the origin, the second thrown so that it passes beside the disc.
    fn over_a_disc(time: f64) -> Snapshot {
        let mut snapshot = with_boundary(Form::Disc { radius: 1.0 });
        let bodies = &mut snapshot.world.bodies;
        let start = DVec3::new(1.5, 0.2, 0.5);
        let throw = DVec3::new(0.3, 0.0, 0.0);
        bodies.position[2] = start + time * throw - 5.0 * time * time * DVec3::Z;
        bodies.velocity[2] = throw - 10.0 * time * DVec3::Z;
        snapshot
    }

    #[test]
    fn a_grain_below_everything_is_lost_where_it_passed_the_lowest_level() {
        assert_eq!(lost(&over_a_disc(0.3)), None, "beside the disc it may still come to lie on something");
        let found = lost(&over_a_disc(3.0)).expect("lost");
        assert_eq!((found.grains, count(&over_a_disc(3.0))), (1, 1.0));
        // Its top passes z = -1 m, its centre -1.5 m: 2 m below its start, after the root of 0.4 s.
        let expected = DVec3::new(1.5 + 0.3 * 0.4f64.sqrt(), 0.2, -1.5);
        assert!(found.places.iter().all(|place| place.distance(expected) < 1e-9), "{found:?}");
    }

    #[test]
    fn a_plane_below_holds_a_grain_and_a_wall_beside_it_does_not() {
        let below = |normal: DVec3| {
            let mut snapshot = over_a_disc(3.0);
            let mut plane = snapshot.world.surfaces[0];
            plane.form = Form::Plane;
            plane.position = -1e3 * normal;
            plane.orientation = glam::DQuat::from_rotation_arc(DVec3::Z, normal);
            snapshot.world.surfaces.push(plane);
            count(&snapshot)
        };
        assert_eq!((below(DVec3::Z), below(DVec3::X)), (0.0, 1.0));
    }

    #[test]
    fn what_cannot_fall_is_not_lost_and_is_something_to_fall_on() {
        let mut snapshot = over_a_disc(3.0);
        snapshot.world.bodies.locked[2] = Axes::TRANSLATION[2];
        assert_eq!(count(&snapshot), 0.0);
        let mut weightless = over_a_disc(3.0);
        weightless.world.gravity = DVec3::ZERO;
        assert_eq!(count(&weightless), 0.0);
        assert_eq!(lost(&stack()), None, "an endless floor");
    }

    #[test]
    fn with_a_domain_what_left_it_is_lost() {
        let with = |outside: Outside| {
            let mut snapshot = over_a_disc(0.3);
            let (min, max) = (DVec3::NEG_INFINITY, DVec3::new(1.55, f64::INFINITY, f64::INFINITY));
            snapshot.world.domain = Some(Domain { min, max, outside });
            snapshot
        };
        assert_eq!(count(&with(Outside::Keep)), 1.0, "it is at x = 1.59 m");
        let mut removed = with(Outside::Remove);
        assert_eq!(count(&removed), 0.0, "nobody has taken it yet");
        removed.world.remove_grain(1, 0);
        let found = lost(&removed);
        assert_eq!(found.map(|lost| lost.grains), Some(1));
        // Its place is taken by the second grain that comes after it.
        for time in [1.0, 2.0] {
            removed.world.time += time;
            removed.world.add_grains([Grain::at(DVec3::ZERO, 0.1, 0)]);
        }
        assert_eq!((removed.world.grain_count(), removed.world.ids[1]), (3, 3));
        assert_eq!(lost(&removed), found);
    }
}
