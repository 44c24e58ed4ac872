//! Whether two solids may be near each other, in a few steps.
//!
//! The differences of a point of a and a point of b are a convex set, whose distance from the origin is that of the solids. Gilbert's
//! algorithm (SIAM J. Control 4, 61 (1966)) goes from a point v of the set towards that point w of it which lies farthest against v, up to
//! the place nearest to the origin. The length of v is at least the distance, and v·w/|v| at most. Twin: `may_be_near` in
//! `shaders/shared/separation.wgsl`.

use super::convex::Convex;
use super::pair::{Pair, SolidPose};

/// Steps, after which solids of which neither is known count as near.
const STEPS: usize = 8;

/// Whether two solids may be nearer to each other than `reach` \[m\]. Some that are a little farther apart count as near.
pub fn may_be_near(a: &Convex, at_a: &SolidPose, b: &Convex, at_b: &SolidPose, reach: f64) -> bool {
    let pair = Pair::new(a, at_a, b, at_b);
    let reach = reach / at_a.scale + pair.roundings();
    let mut nearest = a.middle - pair.point_in_a(b.middle);
    for _ in 0..STEPS {
        let length = nearest.length();
        if length <= reach {
            return true;
        }
        let normal = nearest / length;
        let farthest = pair.point_of_a(normal) - pair.point_of_b(normal);
        if farthest.dot(normal) > reach {
            return false;
        }
        let side = farthest - nearest;
        let square = side.length_squared();
        if square == 0.0 {
            return true;
        }
        nearest += (-nearest.dot(side) / square).clamp(0.0, 1.0) * side;
    }
    true
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3};

    use super::super::separation;
    use super::*;

    #[test]
    fn all_that_are_near_and_few_that_are_far_count_as_near() {
        let solids = [
            Convex::cuboid(DVec3::new(1.0, 0.5, 0.3)),
            Convex::cuboid(DVec3::splat(0.6)),
            Convex::ball(0.7),
            Convex::cone(0.5, 0.2, 1.0),
        ];
        let (mut near, mut counted, mut far, mut far_counted) = (0, 0, 0, 0);
        for i in 0..2000 {
            let at = |scale: f64, shift: f64| {
                let way =
                    DVec3::new(0.819_172 * f64::from(i), 0.671_043 * f64::from(i), 0.549_7 * f64::from(i));
                let turn = DQuat::from_scaled_axis(scale * 7.0 * (way - way.floor()));
                let distance = 0.5 + 2.0 * (0.618 * f64::from(i)).fract();
                SolidPose { position: turn * (shift * distance * DVec3::X), orientation: turn, scale }
            };
            let (a, b) = (&solids[i as usize % 4], &solids[i as usize / 4 % 4]);
            let (at_a, at_b) = (at(1.0, 0.0), at(0.8, 1.0));
            let (is_near, counts) =
                (separation(a, &at_a, b, &at_b, 0.05).is_some(), may_be_near(a, &at_a, b, &at_b, 0.05));
            let wide = separation(a, &at_a, b, &at_b, 0.15).is_some();
            // The separation of solids that are apart corner to corner is less than their distance.
            assert!(counts || !is_near || separation(a, &at_a, b, &at_b, 0.0).is_none(), "pair {i} is near");
            far += u32::from(!wide);
            far_counted += u32::from(!wide && counts);
            near += u32::from(is_near);
            counted += u32::from(counts);
        }
        assert!(near > 200 && counted > near - near / 20, "{near} near, {counted} counted");
        assert!(far > 200 && far_counted < far / 20, "{far} far, {far_counted} of them counted");
        let (a, far) =
            (&solids[1], SolidPose { position: 2.0 * DVec3::X, orientation: DQuat::IDENTITY, scale: 1.0 });
        let here = SolidPose { position: DVec3::ZERO, ..far };
        assert!(may_be_near(a, &here, a, &far, 0.81) && !may_be_near(a, &here, a, &far, 0.79));
    }
}
