//! Meshes, their motions, and what counts at them.

use std::f64::consts::{FRAC_PI_2, TAU};

use glam::{DQuat, DVec3};

use super::command::ScriptCommand;
use super::scene::{FixKind, MassFlow, MeshMotion, MeshServo, ScriptMesh, ScriptScene};
use super::walls::atom_type;
use crate::model::MotionLaw;
use crate::scenario::Problem;

/// Terms of a vibration, at most.
const MOST_TERMS: u64 = 30;

/// Reads the words behind `fix ID GROUP mesh/surface` and its kin. `scale`, `move` and `rotate` act in the order in which they stand.
pub fn mesh(command: &mut ScriptCommand<'_>, scene: &ScriptScene, style: &str) -> Result<FixKind, Problem> {
    command.exactly("file")?;
    let file = command.word("a file of triangles")?.to_owned();
    let mut mesh = ScriptMesh {
        file,
        material: 1,
        scale: command.units.length,
        turn: DQuat::IDENTITY,
        shift: DVec3::ZERO,
        belt: None,
        spin: None,
        servo: None,
    };
    let mut servo = ServoWords::default();
    while let Some(word) = command.next() {
        if place(command, &mut mesh, word)?
            || surface(command, &mut mesh, word)?
            || servo.take(command, word)?
        {
            continue;
        }
        match word {
            "type" => mesh.material = atom_type(command, scene)?,
            "verbose"
            | "heal"
            | "precision"
            | "curvature"
            | "curvature_tolerant"
            | "element_exclusion_list"
            | "min_feature_length"
            | "cell_data" => {
                command.word("a value")?;
                if word == "element_exclusion_list" {
                    command.rest();
                }
            }
            "stress" if style != "mesh/surface" => {
                command.switch()?;
            }
            "reference_point" => {
                command.vector("the reference point of torques")?;
                command.differs("reference_point: torques of esker are about the position of the boundary");
            }
            "wear" | "temperature" | "mesh_coupling" | "mass_temperature" | "coupling" => {
                let value = command.word("a value")?.to_owned();
                command.not_taken(format!("`{word} {value}` of a mesh"));
            }
            other => {
                return Err(command.wrong(
                    format!("`{other}`, expected type, scale, move, rotate, surface_vel, surface_ang_vel or another key of a mesh"),
                    "correct the word",
                ));
            }
        }
    }
    if style.ends_with("servo") {
        mesh.servo = servo.finish(command)?;
    }
    if style.ends_with("deform") {
        command.not_taken("a mesh that deforms: it is rigid here");
    }
    Ok(FixKind::Mesh(mesh))
}

/// Takes `scale`, `move` or `rotate`; returns whether it was one of them.
fn place(command: &mut ScriptCommand<'_>, mesh: &mut ScriptMesh, word: &str) -> Result<bool, Problem> {
    match word {
        "scale" => {
            let factor = command.positive("the factor of scale")?;
            mesh.scale *= factor;
            mesh.shift *= factor;
        }
        "move" => mesh.shift += command.vector("the shift")? * command.units.length,
        "rotate" => {
            command.exactly("axis")?;
            let axis = command.direction("the axis")?;
            command.exactly("angle")?;
            let turn = DQuat::from_axis_angle(axis, command.number("the angle in degrees")?.to_radians());
            mesh.turn = (turn * mesh.turn).normalize();
            mesh.shift = turn * mesh.shift;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Takes a motion of the surface in itself; returns whether it was one.
fn surface(command: &mut ScriptCommand<'_>, mesh: &mut ScriptMesh, word: &str) -> Result<bool, Problem> {
    match word {
        "surface_vel" => {
            mesh.belt = Some(command.vector("the velocity of the surface")? * command.units.velocity())
        }
        "surface_ang_vel" => {
            command.exactly("origin")?;
            let point = command.vector("a point of the axis")? * command.units.length;
            command.exactly("axis")?;
            let axis = command.direction("the axis")?;
            command.exactly("omega")?;
            let rate = command.number("the rate in rad per time")? / command.units.time;
            mesh.spin = Some((point, rate * axis));
            command.differs("`surface_ang_vel` turns the surface alone; here the mesh turns, which is the same for a body of revolution");
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Words of `mesh/surface/stress/servo`.
#[derive(Default)]
struct ServoWords {
    axis: Option<DVec3>,
    is_force: bool,
    target: Option<f64>,
    top_speed: Option<f64>,
}

impl ServoWords {
    /// Takes a word of a servo; returns whether it was one.
    fn take(&mut self, command: &mut ScriptCommand<'_>, word: &str) -> Result<bool, Problem> {
        match word {
            "com" => {
                command.vector("the centre of mass")?;
            }
            "ctrlPV" => self.is_force = command.one_of(&["force", "torque"])? == "force",
            "axis" => self.axis = Some(command.direction("the axis of the servo")?),
            "target_val" => self.target = Some(command.number("the target")?),
            "vel_max" => {
                self.top_speed = Some(command.positive("the largest speed")? * command.units.velocity())
            }
            "kp" | "ki" | "kd" => {
                command.number("a gain of the servo")?;
            }
            "mode" => {
                let mode = command.rest();
                command.not_taken(format!("`mode {mode}` of the servo"));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn finish(self, command: &mut ScriptCommand<'_>) -> Result<Option<MeshServo>, Problem> {
        let missing = |what: &str| format!("the servo ends, expected {what}");
        if !self.is_force {
            command.not_taken("a servo of a torque: the mesh is fixed");
            return Ok(None);
        }
        let axis = self
            .axis
            .ok_or_else(|| command.wrong(missing("`axis x y z`"), "give the direction of the push"))?;
        let target = self.target.ok_or_else(|| command.wrong(missing("`target_val N`"), "give the force"))?;
        let top_speed =
            self.top_speed.ok_or_else(|| command.wrong(missing("`vel_max v`"), "give the largest speed"))?;
        command.differs(
            "the servo becomes a slider whose motor holds vel_max with at most the force of the target; gains have no counterpart",
        );
        Ok(Some(MeshServo { axis, force: target * command.units.force(), top_speed }))
    }
}

/// Reads the words behind `fix ID GROUP move/mesh`.
pub fn motion(command: &mut ScriptCommand<'_>, scene: &ScriptScene) -> Result<FixKind, Problem> {
    command.exactly("mesh")?;
    let known = scene.ids(|kind| matches!(kind, FixKind::Mesh(_) | FixKind::Nothing));
    let mesh = command.name_among("mesh", known)?.to_owned();
    let style = command.word("a motion: linear, rotate, wiggle, viblin ...")?;
    let units = command.units;
    let laws = match style {
        "linear" | "linear/variable" => {
            vec![MotionLaw::Velocity(command.vector("the velocity")? * units.velocity())]
        }
        "rotate" | "rotate/variable" => {
            let (point, axis) = axis(command)?;
            let rate = match command.one_of(if style == "rotate" { &["period"] } else { &["omega"] })? {
                "period" => TAU / period(command)?,
                _ => command.number("the rate in rad per time")? / units.time,
            };
            vec![MotionLaw::Rotation { point, rate: rate * axis }]
        }
        "riggle" => {
            let (point, axis) = axis(command)?;
            command.exactly("period")?;
            let period = period(command)?;
            command.exactly("amplitude")?;
            let angle = command.number("the amplitude in degrees")?.to_radians();
            vec![rocking(point, Swing { amplitude: angle * axis, period, phase: 0.0 })]
        }
        "wiggle" => {
            command.exactly("amplitude")?;
            let amplitude = command.vector("the amplitude")? * units.length;
            command.exactly("period")?;
            vec![oscillation(Swing { amplitude, period: period(command)?, phase: 0.0 })]
        }
        "viblin" => {
            command.exactly("axis")?;
            let axis = command.direction("the axis")?;
            vibration(command, units.length * axis)?.into_iter().map(oscillation).collect()
        }
        "vibrot" => {
            let (point, axis) = axis(command)?;
            vibration(command, axis)?.into_iter().map(|swing| rocking(point, swing)).collect()
        }
        other => {
            let rest = command.rest();
            command.not_taken(format!("motion `{other} {rest}` of mesh `{mesh}`: the mesh stands still"));
            return Ok(FixKind::Nothing);
        }
    };
    command.end()?;
    Ok(FixKind::Motion(MeshMotion { mesh, laws }))
}

/// Reads `origin x y z axis x y z`: a point \[m\] and a unit vector.
fn axis(command: &mut ScriptCommand<'_>) -> Result<(DVec3, DVec3), Problem> {
    command.exactly("origin")?;
    let point = command.vector("a point of the axis")? * command.units.length;
    command.exactly("axis")?;
    Ok((point, command.direction("the axis")?))
}

/// Reads a period that is not zero, in seconds.
fn period(command: &mut ScriptCommand<'_>) -> Result<f64, Problem> {
    let period = command.number("the period")? * command.units.time;
    if period != 0.0 {
        return Ok(period);
    }
    Err(command.wrong("the period is 0, expected a time", "give the time of a turn"))
}

/// A sine over time, A (sin(2π t / T + φ) − sin φ), where T may be negative.
struct Swing {
    amplitude: DVec3,
    period: f64,
    phase: f64,
}

impl Swing {
    /// Amplitude, frequency \[Hz\] above zero and phase of the same sine.
    fn forwards(self) -> (DVec3, f64, f64) {
        let sign = self.period.signum();
        (sign * self.amplitude, 1.0 / self.period.abs(), sign * self.phase)
    }
}

fn oscillation(swing: Swing) -> MotionLaw {
    let (amplitude, frequency, phase) = swing.forwards();
    MotionLaw::Oscillation { amplitude, frequency, phase }
}

fn rocking(point: DVec3, swing: Swing) -> MotionLaw {
    let (amplitude, frequency, phase) = swing.forwards();
    MotionLaw::Rocking { point, amplitude, frequency, phase }
}

/// Reads `order n amplitude a1 ... phase p1 ... period T1 ...`: the sum of terms a (cos(2π t / T + p) − cos p) along a vector.
fn vibration(command: &mut ScriptCommand<'_>, along: DVec3) -> Result<Vec<Swing>, Problem> {
    command.exactly("order")?;
    let order = command.count("the number of terms")?;
    if !(1..=MOST_TERMS).contains(&order) {
        return Err(command.wrong(
            format!("a vibration of {order} terms, expected 1 to {MOST_TERMS}"),
            "give the number of amplitudes, phases and periods that follow",
        ));
    }
    let mut numbers = |word: &'static str, what: &str| {
        command.exactly(word)?;
        (0..order).map(|_| command.number(what)).collect::<Result<Vec<f64>, Problem>>()
    };
    let amplitudes = numbers("amplitude", "an amplitude")?;
    let phases = numbers("phase", "a phase in radians")?;
    command.exactly("period")?;
    let periods = (0..order).map(|_| period(command)).collect::<Result<Vec<f64>, Problem>>()?;
    let swing = |((amplitude, phase), period): ((f64, f64), f64)| Swing {
        amplitude: amplitude * along,
        period,
        phase: phase + FRAC_PI_2,
    };
    Ok(amplitudes.into_iter().zip(phases).zip(periods).map(swing).collect())
}

/// Reads the words behind `fix ID GROUP massflow/mesh`.
pub fn mass_flow(
    command: &mut ScriptCommand<'_>,
    scene: &ScriptScene,
    style: &str,
) -> Result<FixKind, Problem> {
    command.exactly("mesh")?;
    let known = scene.ids(|kind| matches!(kind, FixKind::Mesh(_)));
    let id = command.name_among("mesh", known)?.to_owned();
    let (mut direction, mut removes, mut counts_once) = (None, false, true);
    while let Some(word) = command.next() {
        match word {
            "vec_side" => direction = Some(command.direction("the direction of the flow")?),
            "delete_atoms" => removes = command.switch()?,
            "count" => counts_once = command.one_of(&["once", "multiple"])? == "once",
            "point_at_outlet" | "inside_out" => {
                let rest = command.rest();
                command.not_taken(format!("`{word} {rest}` of the counter"));
            }
            _ => {
                let value = command.next().unwrap_or_default().to_owned();
                if !["write_time", "file", "screen", "append"].contains(&word) {
                    command.not_taken(format!("`{word} {value}` of the counter"));
                }
            }
        }
    }
    if style.ends_with("sieve") {
        command.not_taken("sieving by chance: the mesh only counts");
    }
    let direction = direction.ok_or_else(|| {
        command.wrong("the counter ends, expected `vec_side x y z`", "give the direction of the flow")
    })?;
    if counts_once && !removes {
        command.differs("`count once`: a grain that comes back counts again here");
    }
    let mesh = scene.mesh(&id).cloned();
    let mesh = mesh.ok_or_else(|| command.wrong(format!("there is no mesh `{id}`"), "define it before"))?;
    Ok(FixKind::MassFlow(MassFlow { mesh, id, direction, removes }))
}
