//! Random solids of size 1, as esker and as parry have them.

use esker::model::Random;
use esker::shape::Convex;
use glam::DVec3;
use parry3d_f64::math::Vec3;
use parry3d_f64::shape::{ConvexPolyhedron, Cuboid, Shape};

/// Two solids in both programs.
pub struct Pairing {
    /// As esker has them.
    pub of_esker: [Convex; 2],
    /// As parry has them.
    pub of_parry: [Box<dyn Shape>; 2],
}

impl Pairing {
    /// Two random solids: hulls of 4 to 24 corners, and boxes.
    pub fn random(random: &mut Random) -> Pairing {
        let [(a, for_a), (b, for_b)] = [(); 2].map(|()| solid(random));
        Pairing { of_esker: [a, b], of_parry: [for_a, for_b] }
    }
}

fn vector(wide: DVec3) -> Vec3 {
    Vec3::new(wide.x, wide.y, wide.z)
}

fn solid(random: &mut Random) -> (Convex, Box<dyn Shape>) {
    let mut edges = || DVec3::from_array(std::array::from_fn(|_| random.between(0.15, 0.65)));
    let half = edges();
    if random.below(4) == 0 {
        return (Convex::cuboid(half), Box::new(Cuboid::new(vector(half))));
    }
    let corners = 4 + random.below(21);
    // Not all corners on an ellipsoid: some edges are sharp, others blunt.
    let point = |random: &mut Random| half * random.between(0.8, 1.0) * (random.turn() * DVec3::X);
    loop {
        let points: Vec<DVec3> = (0..corners).map(|_| point(random)).collect();
        let for_parry: Vec<Vec3> = points.iter().map(|&point| vector(point)).collect();
        let hulls = (Convex::hull(&points).ok(), ConvexPolyhedron::from_convex_hull(&for_parry));
        if let (Some(hull), Some(for_parry)) = hulls {
            return (hull, Box::new(for_parry));
        }
    }
}
