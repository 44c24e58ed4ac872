//! Runs that one scenario can do, and where a second scenario has to go on.

use super::courses::{MeshCourse, course};
use super::scene::{FixKind, ScriptFix, ScriptMesh, ScriptRun, ScriptScene, ScriptWall, WallForm};

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
    None
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

    /// Mesh where it stands at the begin of the part, and its course from then on.
    pub fn mesh(&self, id: &str) -> Option<(ScriptMesh, MeshCourse)> {
        let (mesh, made) = (self.scene().mesh(id)?, self.scene().fix(id)?.since);
        Some(course(mesh, id, made, [self.before, self.runs]))
    }
}
