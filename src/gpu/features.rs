//! Features of a scene: what its kernels need to know of the world and the settings when they are compiled.

use std::collections::BTreeSet;

use crate::engine::{is_guarded, most_impact_sweeps};
use crate::law::cone::Cone;
use crate::law::damping::Damping;
use crate::model::{Kind, World};
use crate::settings::{Acceleration, Algorithm, Method, Settings};

use super::layout::has_arms;

/// Features of a scene. Kernels leave out the code for absent features: all but `descends`, `stress`, `grain_stress` and `settles`, which
/// decide which kernels there are, are known to WGSL as an `override`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Features {
    /// Bodies with locked axes.
    pub locks: bool,
    /// Sinks, so that grains may be removed.
    pub sinks: bool,
    /// Dynamic bodies that are no spheres.
    pub rigid: bool,
    /// Bodies that are no spheres about their centres and may turn: dynamic ones, or walls that rotate.
    pub arms: bool,
    /// Bodies that may have very many contacts: dynamic ones with surfaces, or grains of very different size.
    pub hubs: bool,
    /// Periodic axes.
    pub period: bool,
    /// Grains of different sizes.
    pub sizes: bool,
    /// Joints.
    pub joints: bool,
    /// Forces that are applied to bodies.
    pub forces: bool,
    /// Accelerated sweeps, each of which starts from extrapolated impulses and velocities \[E12\].
    pub momentum: bool,
    /// Guard that detects substeps in which friction and rolling make energy \[E12\].
    pub guard: bool,
    /// Tolerance at which sweeps end.
    pub tolerance: bool,
    /// Materials that resist rolling.
    pub rolling: bool,
    /// Meshes.
    pub meshes: bool,
    /// Surfaces that may meet flush.
    pub flush: bool,
    /// Dynamic convex solids or polyhedra, which touch at the points of manifolds.
    pub solids: bool,
    /// Grains that are convex polyhedra.
    pub hulls: bool,
    /// Solids beside thin walls, or meshes that are no convex solids.
    pub facets: bool,
    /// Box cone: the components of friction and rolling are limited one by one.
    pub box_cone: bool,
    /// Springs of the smooth method.
    pub springs: bool,
    /// Normal dampers in proportion to the rate of the elastic force.
    pub viscoelastic: bool,
    /// Cohesive materials.
    pub cohesion: bool,
    /// Update of the velocities by the impulses of the warm start, or of the springs.
    pub starts_warm: bool,
    /// Projected gradient descent as the solver of the contacts.
    pub descends: bool,
    /// Meters of stress.
    pub stress: bool,
    /// Stress of every grain.
    pub grain_stress: bool,
    /// Impact stages that go on for as long as they settle \[E6\].
    pub settles: bool,
}

/// Whether solids may meet surfaces facet by facet: thin walls, and meshes that are no convex solids.
fn has_facets(world: &World) -> bool {
    world.meshes_met_by_triangle().contains(&true) || world.sheets().iter().any(Option::is_some)
}

impl Features {
    /// Returns the features of a world under the given settings.
    pub fn of(world: &World, settings: &Settings) -> Features {
        Features {
            locks: world.bodies.locked.iter().any(|axes| axes.bits() != 0),
            sinks: world.has_drains() || world.removed.iter().any(Option::is_some),
            rigid: world.bodies.kind.contains(&Kind::Rigid),
            arms: has_arms(world),
            hubs: world.dynamic_boundaries().next().is_some() || has_hubs(world),
            period: !world.periodic.is_none(),
            sizes: !world.spheres.is_sorted_by(|a, b| a.radius == b.radius),
            joints: !world.joints.is_empty(),
            forces: !world.forces.is_empty(),
            momentum: settings.acceleration == Acceleration::Nesterov && settings.algorithm == Algorithm::Pgs,
            guard: is_guarded(settings, world),
            tolerance: settings.tolerance > 0.0,
            rolling: world.materials.laws().iter().any(|law| law.rolling_resistance > 0.0),
            meshes: !world.meshes.is_empty(),
            flush: world.may_meet_flush(),
            solids: world.has_solids(),
            hulls: world.has_polyhedra(),
            facets: has_facets(world),
            box_cone: settings.cone == Cone::Box,
            springs: settings.method == Method::Smooth,
            viscoelastic: settings.damping == Damping::Viscoelastic,
            cohesion: world.materials.are_cohesive(),
            starts_warm: settings.method == Method::Smooth || settings.warm_start.updates_velocities(),
            descends: settings.algorithm == Algorithm::Apgd,
            stress: !world.meters.is_empty(),
            grain_stress: world.measures_grains,
            settles: most_impact_sweeps(settings, world) > settings.impact_iterations,
        }
    }

    /// Returns the features of a saved scene under other settings: those that depend on the settings are taken from `own`. A guard may
    /// stay on, as a body that has left the scene since may have been the reason for it.
    #[cfg(feature = "scenario")]
    pub(super) fn under(self, own: Features, settings: &Settings) -> Features {
        let stays_guarded = self.guard && settings.warm_start.updates_velocities();
        let Features { momentum, tolerance, box_cone, springs, viscoelastic, starts_warm, descends, .. } =
            own;
        Features {
            momentum,
            tolerance,
            box_cone,
            springs,
            viscoelastic,
            starts_warm,
            descends,
            guard: own.guard || stays_guarded,
            arms: own.arms || self.arms,
            ..self
        }
    }

    /// Returns the values of these overrides.
    pub(super) fn values(self, overrides: &BTreeSet<&str>) -> Vec<(&'static str, u32)> {
        let all = [
            ("HAS_LOCKS", self.locks),
            ("HAS_SINKS", self.sinks),
            ("HAS_PERIOD", self.period),
            ("HAS_RIGID", self.rigid),
            ("HAS_ARMS", self.arms),
            ("HAS_HUBS", self.hubs),
            ("HAS_SIZES", self.sizes),
            ("HAS_JOINTS", self.joints),
            ("HAS_FORCES", self.forces),
            ("HAS_MOMENTUM", self.momentum),
            ("HAS_GUARD", self.guard),
            ("HAS_TOLERANCE", self.tolerance),
            ("HAS_ROLLING", self.rolling),
            ("HAS_MESHES", self.meshes),
            ("HAS_SOLIDS", self.solids),
            ("HAS_HULLS", self.hulls),
            ("HAS_BOX_CONE", self.box_cone),
            ("IS_VISCOELASTIC", self.viscoelastic),
            ("HAS_SPRINGS", self.springs),
            ("HAS_COHESION", self.cohesion),
            ("STARTS_WARM", self.starts_warm),
        ];
        let pairs = ("IMPULSE_PAIRS", self.impulse_pairs());
        let all = all.into_iter().map(|(name, on)| (name, u32::from(on))).chain([pairs]);
        all.filter(|(name, _)| overrides.contains(name)).collect()
    }

    /// Whether a kernel runs, if it is one of those that find manifolds, sum stress or interrupt impacts.
    pub fn measure(self, entry: &str) -> bool {
        match entry {
            "add_stress" | "add_motion" => self.stress,
            "add_grain_stress" => self.grain_stress,
            "find_manifolds" => self.solids,
            "meet_facets" => self.facets && self.hulls,
            "meet_parts" => self.facets && self.rigid,
            "drop_repeated" => self.facets,
            "merge_solids" => self.solids && self.flush,
            "share_pull" => self.solids && self.cohesion,
            "pause_impacts" | "resume_impacts" => self.settles,
            _ => true,
        }
    }

    /// Returns the count of pairs of numbers per contact in `impulses`: three for the impulse, and four for springs, or else one for
    /// cohesion.
    pub fn impulse_pairs(self) -> u32 {
        match (self.springs, self.cohesion) {
            (true, _) => 7,
            (false, true) => 4,
            (false, false) => 3,
        }
    }

    /// Returns the count of blocks of 16 bytes per contact in `constraint_arms`: two arms as vectors, or their lengths.
    pub fn arm_blocks(self) -> u32 {
        if self.arms { 2 } else { 1 }
    }
}

/// Whether some grain is more than twice as large as another: see `HUB` in WGSL.
fn has_hubs(world: &World) -> bool {
    let radii = || world.spheres.iter().map(|sphere| sphere.radius);
    radii().fold(0.0, f64::max) > 2.0 * radii().fold(f64::INFINITY, f64::min)
}
