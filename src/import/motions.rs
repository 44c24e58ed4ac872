//! Motions of walls in the words of a scenario file.

use glam::DVec3;

use super::text::{number, vector};
use crate::model::{MotionLaw, MotionPart};

/// `motion = ...` of a wall that one law moves from the begin on.
pub fn moved_by(law: MotionLaw) -> String {
    motion_of(&[law.into()])
}

/// `motion = ...` of a wall: a table for one motion, a list for several.
pub fn motion_of(parts: &[MotionPart]) -> String {
    match parts {
        [one] => format!("motion = {}\n", written(one)),
        several => {
            let lines: String = several.iter().map(|part| format!("    {},\n", written(part))).collect();
            format!("motion = [\n{lines}]\n")
        }
    }
}

fn written(MotionPart { law, timing }: &MotionPart) -> String {
    let law = match law {
        MotionLaw::Velocity(velocity) => format!("kind = \"velocity\", velocity = {}", vector(*velocity)),
        MotionLaw::Rotation { point, rate } => {
            format!("kind = \"rotation\", {}, rate = {}", axis(*point, *rate), number(rate.length()))
        }
        MotionLaw::Oscillation { amplitude, frequency, phase } => format!(
            "kind = \"oscillation\", amplitude = {}, {}",
            vector(*amplitude),
            sine(*frequency, *phase)
        ),
        MotionLaw::Rocking { point, amplitude, frequency, phase } => format!(
            "kind = \"rocking\", {}, amplitude_deg = {}, {}",
            axis(*point, *amplitude),
            number(amplitude.length().to_degrees()),
            sine(*frequency, *phase)
        ),
        MotionLaw::Table { times, displacements, point, rotations } => {
            let list = |all: Vec<String>| all.join(", ");
            let rotation =
                |turn: &glam::DQuat| format!("[{}]", list(turn.to_array().into_iter().map(number).collect()));
            format!(
                "kind = \"table\", point = {}, times = [{}], displacements = [{}], rotations = [{}]",
                vector(*point),
                list(times.iter().copied().map(number).collect()),
                list(displacements.iter().copied().map(vector).collect()),
                list(rotations.iter().map(rotation).collect())
            )
        }
    };
    let time = |key: &str, time: Option<f64>| {
        time.map_or_else(String::new, |time| format!(", {key} = {}", number(time)))
    };
    format!("{{ {law}{}{} }}", time("start", timing.start), time("stop", timing.stop))
}

fn axis(point: DVec3, along: DVec3) -> String {
    // A rate or an angle of zero has no direction.
    format!("point = {}, axis = {}", vector(point), vector(along.try_normalize().unwrap_or(DVec3::Z)))
}

fn sine(frequency: f64, phase: f64) -> String {
    let phase = phase.to_degrees().rem_euclid(360.0);
    format!("frequency = {}, phase_deg = {}", number(frequency), number(phase))
}
