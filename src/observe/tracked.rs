//! Bodies and contacts observed one by one.

use glam::DVec3;

use crate::engine::Snapshot;
use crate::scenario::{Tracked, TrackedBody};

/// The values of the columns of `tracked`, in their order; those of a grain that is not there yet, or any more, are not numbers.
pub fn values(snapshot: &Snapshot, tracked: &Tracked) -> Vec<f64> {
    let bodies = tracked.bodies.iter().flat_map(|body| of_body(snapshot, body));
    bodies.chain(tracked.contacts.iter().flat_map(|pair| of_contact(snapshot, pair))).collect()
}

/// Position \[m\], velocity \[m/s\] and spin \[rad/s\] of a body.
fn of_body(snapshot: &Snapshot, body: &TrackedBody) -> [f64; 9] {
    let Some(i) = body.index(&snapshot.world) else { return [f64::NAN; 9] };
    let bodies = &snapshot.world.bodies;
    let [x, v, w] = [bodies.position[i], bodies.velocity[i], bodies.angular_velocity[i]];
    [x.x, x.y, x.z, v.x, v.y, v.z, w.x, w.y, w.z]
}

/// Normal force \[N\], magnitude of the friction force \[N\] and overlap \[m\] of two bodies; zero where they do not
/// touch. Forces of several contacts of the two are summed, the overlap is the largest.
fn of_contact(snapshot: &Snapshot, [a, b]: &[TrackedBody; 2]) -> [f64; 3] {
    let [Some(a), Some(b)] = [a, b].map(|body| body.index(&snapshot.world).map(|i| i as u32)) else {
        return [f64::NAN; 3];
    };
    let (mut normal, mut friction, mut overlap) = (0.0, DVec3::ZERO, 0.0);
    for contact in &snapshot.contacts {
        // The impulse acts on the first body of the contact.
        let side = match contact.bodies {
            bodies if bodies == [a, b] => 1.0,
            bodies if bodies == [b, a] => -1.0,
            _ => continue,
        };
        normal += contact.impulse.normal;
        friction += side * contact.impulse.tangent;
        overlap = f64::max(overlap, -contact.gap);
    }
    [normal / snapshot.substep, friction.length() / snapshot.substep, overlap]
}

#[cfg(test)]
mod tests {
    use super::super::Observer;
    use super::super::test_worlds::{beside, stack};
    use super::*;

    fn floor() -> TrackedBody {
        TrackedBody::Boundary { body: 0, name: "floor".into() }
    }

    fn value(snapshot: &Snapshot, tracked: &Tracked, column: &str) -> f64 {
        let observer = Observer::new(&snapshot.world, None).with_tracked(tracked);
        observer.observe(snapshot).values[observer.find(column).expect("a column")]
    }

    #[test]
    fn position_velocity_and_spin_of_a_body_stand_under_its_name() {
        let tracked = Tracked { bodies: vec![TrackedBody::Grain(0), floor()], contacts: Vec::new() };
        let found = ["position_x:grain-0", "velocity_x:grain-0", "spin_y:grain-0", "position_x:floor"];
        assert_eq!(found.map(|column| value(&stack(), &tracked, column)), [0.3, 3.0, 4.0, -0.7]);
    }

    #[test]
    fn forces_of_a_contact_are_its_impulses_over_the_substep() {
        // Impulses on the grain: 0.9 N s normal, 0.45 N s tangential, in 0.005 s; overlap 0.05 m.
        let pair = [TrackedBody::Grain(0), floor()];
        let tracked = Tracked {
            bodies: Vec::new(),
            contacts: vec![pair, [TrackedBody::Grain(1), TrackedBody::Grain(0)]],
        };
        let of = |column: &str| value(&stack(), &tracked, column);
        approx::assert_relative_eq!(of("normal_force:0-floor"), 180.0, max_relative = 1e-12);
        approx::assert_relative_eq!(of("friction_force:0-floor"), 90.0, max_relative = 1e-12);
        approx::assert_relative_eq!(of("overlap:0-floor"), 0.05, max_relative = 1e-9);
        approx::assert_relative_eq!(of("normal_force:1-0"), 160.0, max_relative = 1e-12);
    }

    #[test]
    fn a_contact_that_is_not_there_carries_nothing_and_a_grain_that_is_not_there_has_no_value() {
        let grains = |a, b| [TrackedBody::Grain(a), TrackedBody::Grain(b)];
        let tracked =
            Tracked { bodies: vec![TrackedBody::Grain(2)], contacts: vec![grains(0, 1), grains(1, 2)] };
        let mut snapshot = beside();
        assert_eq!(value(&snapshot, &tracked, "overlap:0-1"), 0.0, "a gap is no overlap");
        snapshot.contacts.clear();
        assert_eq!(value(&snapshot, &tracked, "normal_force:0-1"), 0.0);
        assert!(value(&snapshot, &tracked, "normal_force:1-2").is_nan());
        assert!(value(&snapshot, &tracked, "position_x:grain-2").is_nan());
    }
}
