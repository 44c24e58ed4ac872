//! Ends of the range of a joint \[E11\]: the speeds that they allow, and the rebound from an end with restitution. Twin:
//! `shaders/joints.wgsl`.

use crate::model::drive::Command;
use crate::model::{Joint, JointKind};
use crate::settings::JOINT_DAMPING_STEPS;

/// Roundings of a position beyond an end of the range that are not corrected \[-\].
const ROUNDINGS: f64 = 4.0;

/// End of the range that a joint meets first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct End {
    /// Whether it is the lower end.
    pub is_low: bool,
    /// Bias velocity of its row: the least speed at the lower end, the largest at the upper one \[m/s, rad/s\].
    pub bias: f64,
}

/// Υ of a joint in a substep of `h` \[s\] \[E11\]. A rigid joint with a damping time of less than half a substep would swing for ever.
pub fn joint_upsilon(joint: &Joint, h: f64) -> f64 {
    let is_rigid = joint.compliance == 0.0 && joint.angular_compliance == 0.0;
    let least = if is_rigid { 0.5 * h } else { 0.0 };
    1.0 / (1.0 + 4.0 * joint.damping_time.unwrap_or(JOINT_DAMPING_STEPS * h).max(least) / h)
}

/// Distance beyond an end of the range that counts as rounding \[m, rad\], for numbers of this precision (the distance from 1 to the next
/// number) and positions that are stored relative to places up to `length` \[m\] away. Without it a joint at rest at its end would be
/// thrown back by the correction of its own rounding.
pub fn slack(joint: &Joint, precision: f64, length: f64) -> f64 {
    let ends = joint.range.map_or(0.0, |[low, high]| low.abs().max(high.abs()));
    let size = match joint.kind {
        JointKind::Hinge => ends.max(1.0),
        _ => {
            let arm = |side: usize| joint.bodies[side].map_or(0.0, |_| joint.anchors[side].place.length());
            ends.max(arm(0)).max(arm(1)).max(length)
        }
    };
    ROUNDINGS * precision * size
}

/// Least and largest speed of a joint in a substep of `h` \[s\] that its ends allow \[m/s, rad/s\]: the joint may come as far as an end,
/// and a position beyond it by more than `slack` \[m, rad\] is corrected like that of a held row.
pub fn allowed_speeds(joint: &Joint, [low, high]: [f64; 2], position: f64, h: f64, slack: f64) -> [f64; 2] {
    let upsilon = joint_upsilon(joint, h);
    let away = |room: f64| match room > 0.0 {
        true => -room / h,
        false => 4.0 * upsilon / h * (-room - slack).max(0.0),
    };
    [away(position - low), -away(high - position)]
}

/// Restitution of the ends of a joint under the command of its drive \[-\]. A motor or servo without a force limit stops at the end.
pub fn restitution(joint: &Joint, command: Option<Command>) -> f64 {
    match command {
        Some(Command::Hold { force_limit, .. }) if force_limit.is_infinite() => 0.0,
        _ => joint.restitution,
    }
}

/// End that a joint of this speed before the substep \[m/s, rad/s\] meets first, with the speeds that both ends allow. A joint that closes
/// to an end with restitution e leaves it at e times its speed, but does not pass the other end; without restitution it comes as far as the
/// end.
pub fn end_met([least, most]: [f64; 2], speed: f64, restitution: f64) -> End {
    let is_low = 2.0 * speed < least + most;
    let (side, allowed, beyond) = if is_low { (1.0, least, most) } else { (-1.0, -most, -least) };
    let closes = side * speed < allowed.min(0.0);
    let rebound = (-restitution * side * speed).min(beyond);
    let bias = if restitution > 0.0 && closes { allowed.max(rebound) } else { allowed };
    End { is_low, bias: side * bias }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_joint_meets_the_end_that_it_moves_to_even_from_far_behind_the_other() {
        // 1 mm wide, at the lower end, 10 m/s upwards, h = 1 ms: the upper end is passed within the substep.
        let met = end_met([-0.0, 1.0], 10.0, 0.5);
        assert_eq!(met, End { is_low: false, bias: 0.0 }, "the lower end is not passed either");
        assert_eq!(end_met([-8.0, 1.0], 10.0, 0.5), End { is_low: false, bias: -5.0 });
        assert_eq!(end_met([-0.0, 1.0], 10.0, 0.0), End { is_low: false, bias: 1.0 });
        // At rest it is the nearer end.
        assert!(end_met([-0.2, 0.8], 0.0, 0.5).is_low && !end_met([-0.8, 0.2], 0.0, 0.5).is_low);
    }

    #[test]
    fn a_joint_that_does_not_reach_its_end_keeps_its_speed() {
        let met = end_met([-2.0, 8.0], -1.5, 1.0);
        assert_eq!(met, End { is_low: true, bias: -2.0 });
    }
}
