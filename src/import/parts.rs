//! Runs that one scenario can do, and where a second scenario has to go on.

use std::f64::consts::TAU;

use glam::{DQuat, DVec3};

use super::scene::{
    FixKind, MotionCourse, ScriptFix, ScriptMesh, ScriptRun, ScriptScene, ScriptWall, WallForm,
};

/// Points of a table per period of an oscillation, and in all.
const PER_PERIOD: f64 = 32.0;
const MOST_POINTS: f64 = 4000.0;

/// Runs of one scenario.
pub struct ScriptPart<'a> {
    /// All runs before it.
    pub before: &'a [ScriptRun],
    /// Its own.
    pub runs: &'a [ScriptRun],
    /// Why it does not go on in the same file as the part before; empty for the first.
    pub reason: String,
    /// Whether no part follows.
    pub is_last: bool,
}

/// Divides runs into parts.
pub fn parts(runs: &[ScriptRun]) -> Vec<ScriptPart<'_>> {
    let mut parts = Vec::new();
    let (mut first, mut reason) = (0, String::new());
    for next in 1..=runs.len() {
        let cause = match runs.get(next) {
            None => Some(String::new()),
            Some(run) => what_changes(&runs[first..next], run),
        };
        if let Some(cause) = cause {
            let (before, own) = (&runs[..first], &runs[first..next]);
            let reason = std::mem::replace(&mut reason, cause);
            parts.push(ScriptPart { before, runs: own, reason, is_last: next == runs.len() });
            first = next;
        }
    }
    parts
}

/// What changes between runs and the next one that a scenario cannot change over time.
fn what_changes(runs: &[ScriptRun], next: &ScriptRun) -> Option<String> {
    if let Some(cause) = &next.breaks {
        return Some(cause.clone());
    }
    let (was, is) = (&runs[runs.len() - 1].scene, &next.scene);
    if (was.gravity() - is.gravity()).length() > 1e-12 * was.gravity().length() {
        return Some("gravity changes".to_owned());
    }
    if (&was.pair, &was.granular, laws(was)) != (&is.pair, &is.granular, laws(is)) {
        return Some("contact laws change".to_owned());
    }
    let walls = |scene| {
        surfaces(scene)
            .into_iter()
            .map(|(fix, wall, meshes)| (fix.id.as_str(), wall, meshes))
            .collect::<Vec<_>>()
    };
    if walls(was) != walls(is) {
        return Some("walls change".to_owned());
    }
    if counters(was) != counters(is) {
        return Some("a counter of flow, or which grains are frozen, changes".to_owned());
    }
    let moved = surfaces(is).into_iter().flat_map(|(_, wall, _)| &wall.forms).filter_map(|form| match form {
        WallForm::Mesh(mesh) => Some(mesh),
        _ => None,
    });
    let turns = |scene: &ScriptScene, mesh: &str| {
        motions(scene, mesh).any(|(course, _)| matches!(course, MotionCourse::Rotation { .. }))
    };
    let ends = |mesh: &&String| {
        let same = motions(was, mesh).eq(motions(is, mesh));
        let rested = runs.iter().all(|run| motions(&run.scene, mesh).next().is_none());
        !same && (runs.iter().any(|run| turns(&run.scene, mesh)) || (turns(is, mesh) && !rested))
    };
    moved.into_iter().find(ends).map(|mesh| format!("the motion of mesh `{mesh}` changes"))
}

fn laws(scene: &ScriptScene) -> Vec<&FixKind> {
    let is_law = |kind: &&FixKind| matches!(kind, FixKind::Property(..));
    scene.fixes.iter().map(|fix| &fix.kind).filter(is_law).collect()
}

fn counters(scene: &ScriptScene) -> Vec<(&str, &FixKind)> {
    let is_one = |fix: &&ScriptFix| matches!(fix.kind, FixKind::MassFlow(_) | FixKind::Freeze);
    scene.fixes.iter().filter(is_one).map(|fix| (fix.id.as_str(), &fix.kind)).collect()
}

/// Wall with its fix and the meshes that it is made of.
pub type WallSurfaces<'a> = (&'a ScriptFix, &'a ScriptWall, Vec<&'a ScriptMesh>);

/// All walls.
pub fn surfaces(scene: &ScriptScene) -> Vec<WallSurfaces<'_>> {
    let meshes = |wall: &ScriptWall| {
        wall.forms
            .iter()
            .filter_map(|form| if let WallForm::Mesh(id) = form { scene.mesh(id) } else { None })
            .collect()
    };
    let mut all = Vec::new();
    for fix in &scene.fixes {
        if let FixKind::Wall(wall) = &fix.kind {
            all.push((fix, wall, meshes(wall)));
        }
    }
    all
}

/// Courses of a mesh in a scene, each with the time of its begin \[s\].
pub fn motions<'a>(scene: &'a ScriptScene, mesh: &'a str) -> impl Iterator<Item = (&'a MotionCourse, f64)> {
    scene.fixes.iter().filter_map(move |fix| match &fix.kind {
        FixKind::Motion(motion) if motion.mesh == mesh => Some((&motion.course, fix.since)),
        _ => None,
    })
}

/// Motion of a mesh in a part, in the time of the part.
pub enum PartMotion {
    /// None.
    Rest,
    /// Velocity \[m/s\].
    Velocity(DVec3),
    /// Rotation about a point \[m\] with a rate \[rad/s\] from a time \[s\].
    Rotation {
        /// Point of the axis \[m\].
        point: DVec3,
        /// Unit vector.
        axis: DVec3,
        /// Rate \[rad/s\].
        rate: f64,
        /// Begin \[s\].
        start: f64,
    },
    /// Oscillation with amplitude \[m\], frequency \[Hz\] and phase \[rad\].
    Oscillation(DVec3, f64, f64),
    /// Displacements \[m\] at times \[s\].
    Table(Vec<(f64, DVec3)>),
    /// A rotation together with another motion.
    NotOne,
}

impl ScriptPart<'_> {
    /// Time at its begin \[s\].
    pub fn start(&self) -> f64 {
        self.runs[0].start
    }

    /// Time at its end \[s\].
    pub fn end(&self) -> f64 {
        self.runs[self.runs.len() - 1].end
    }

    /// Scene at its begin.
    pub fn scene(&self) -> &ScriptScene {
        &self.runs[0].scene
    }

    /// Scene of its last run.
    pub fn last(&self) -> &ScriptScene {
        &self.runs[self.runs.len() - 1].scene
    }

    /// Mesh where it stands at the begin of the part: moved by the motions of all runs before it.
    pub fn mesh(&self, id: &str) -> Option<ScriptMesh> {
        let mut mesh = self.scene().mesh(id)?.clone();
        let made = self.scene().fix(id)?.since;
        for run in self.before.iter().filter(|run| run.start >= made) {
            for (course, since) in motions(&run.scene, id) {
                advance(&mut mesh, course, [run.start - since, run.end - since]);
            }
        }
        Some(mesh)
    }

    /// Motion of a mesh in this part.
    pub fn motion(&self, id: &str) -> PartMotion {
        let all: Vec<Vec<(&MotionCourse, f64)>> =
            self.runs.iter().map(|run| motions(&run.scene, id).collect()).collect();
        let moving: Vec<&Vec<_>> = all.iter().filter(|list| !list.is_empty()).collect();
        let Some(first) = moving.first() else { return PartMotion::Rest };
        let is_one = first.len() == 1 && moving.iter().all(|list| list == first);
        let (course, since) = first[0];
        let lasts = all.last().is_some_and(|list| !list.is_empty());
        let whole = is_one && lasts && since <= self.start() + 1e-12;
        match course {
            MotionCourse::Rotation { point, axis, rate } if is_one && lasts => {
                let (point, axis, rate) = (*point, *axis, *rate);
                PartMotion::Rotation { point, axis, rate, start: (since - self.start()).max(0.0) }
            }
            MotionCourse::Linear(velocity) if whole => PartMotion::Velocity(*velocity),
            MotionCourse::Oscillation { amplitude, frequency, phase } if whole => PartMotion::Oscillation(
                *amplitude,
                *frequency,
                phase + TAU * frequency * (self.start() - since),
            ),
            _ if all.iter().flatten().any(|(course, _)| matches!(course, MotionCourse::Rotation { .. })) => {
                PartMotion::NotOne
            }
            _ => PartMotion::Table(self.table(&all)),
        }
    }

    /// Displacements of straight motions, run by run.
    fn table(&self, all: &[Vec<(&MotionCourse, f64)>]) -> Vec<(f64, DVec3)> {
        let mut place = DVec3::ZERO;
        let mut table = vec![(0.0, place)];
        for (run, courses) in self.runs.iter().zip(all) {
            let frequency = |course: &MotionCourse| match course {
                MotionCourse::Oscillation { frequency, .. } => *frequency,
                _ => 0.0,
            };
            let fastest = courses.iter().map(|(course, _)| frequency(course).abs()).fold(0.0, f64::max);
            let points =
                (PER_PERIOD * fastest * (run.end - run.start)).ceil().clamp(1.0, MOST_POINTS) as usize;
            let begin = place;
            for i in 1..=points {
                let time = run.start + (run.end - run.start) * i as f64 / points as f64;
                let shift = |&(course, since): &(&MotionCourse, f64)| {
                    displacement(course, [run.start - since, time - since])
                };
                place = begin + courses.iter().map(shift).sum::<DVec3>();
                table.push((time - self.start(), place));
            }
        }
        table
    }
}

/// Displacement of a straight course between two of its times \[m\].
fn displacement(course: &MotionCourse, [from, to]: [f64; 2]) -> DVec3 {
    match course {
        MotionCourse::Linear(velocity) => *velocity * (to - from),
        MotionCourse::Oscillation { amplitude, frequency, phase } => {
            let at = |time: f64| (TAU * frequency * time + phase).sin();
            *amplitude * (at(to) - at(from))
        }
        MotionCourse::Rotation { .. } => DVec3::ZERO,
    }
}

fn advance(mesh: &mut ScriptMesh, course: &MotionCourse, times: [f64; 2]) {
    if let MotionCourse::Rotation { point, axis, rate } = course {
        let turn = DQuat::from_axis_angle(*axis, rate * (times[1] - times[0]));
        mesh.turn = (turn * mesh.turn).normalize();
        mesh.shift = *point + turn * (mesh.shift - *point);
    }
    mesh.shift += displacement(course, times);
}
