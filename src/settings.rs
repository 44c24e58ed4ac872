//! Settings of the solver, validated on creation.

use std::fmt;

use crate::error::Error;
use crate::law::cone::Cone;
use crate::law::damping::Damping;
use crate::law::normal::{NormalLaw, RIGID_CORRECTION};
use crate::law::rolling::RollingArm;

/// Usual β of the warm start, from Wang, Servin & Berglund 2016 \[-\].
const USUAL_FRACTION: f64 = 0.85;
/// Usual κ of the adaptive start \[-\].
const USUAL_MOTION: f64 = 0.2;

/// Largest number of sweeps that can be set \[-\].
pub const MOST_ITERATIONS: u32 = 100_000;
/// Largest number of coarse corrections in a substep that can be set \[-\].
pub const MOST_CORRECTIONS: u32 = 100;
/// Largest number of sweeps where they are chosen automatically \[-\]. A GPU is given the commands of all of them, whether they are needed
/// or not.
pub const AUTO_ITERATIONS: u32 = 200;
/// Tolerance where the sweeps are chosen automatically, in units of |gravity| times the substep \[-\]. With this one, columns of 5 to 150
/// pellets at h = 5 ms come to their height within 0.1 %, whatever their depth, and a pile loses 0.3 % of its height in 2 s, with 16
/// sweeps. The errors grow in proportion to the tolerance.
pub const AUTO_TOLERANCE: f64 = 0.03;
/// Constant γ of the model-based warm start \[E7\], which answers a slip u with the impulse h u/γ \[s/kg\].
pub const MODEL_GAMMA: f64 = 1e-6;
/// Default damping time of a joint, within which it corrects its position error, in substeps \[E11\].
pub const JOINT_DAMPING_STEPS: f64 = 2.0;
/// Compliance added to every row that a joint holds, as a share of the row's diagonal G M⁻¹ Gᵀ: so redundant rows have a solution, too
/// \[E11\].
pub const JOINT_SOFTNESS: f64 = 1e-6;
/// Share of the diagonal of a joint's row without locked axes, below which its diagonal is rounding: the bodies then cannot move along the
/// row.
pub const JOINT_ROUNDING: f64 = 1e-9;
/// Least damping time of a bond under the nonsmooth method, in substeps \[E20\] \[-\]: half a substep, as of a rigid joint. Without it
/// vibrations faster than the substep resolves would never end. It damps a vibration at ω h ≪ 1 with a damping ratio of ω h/4.
pub const BOND_DAMPING_STEPS: f64 = 0.5;
/// Error of the loads of bonds at which the first solve of a substep ends, and each that follows a sweep: root of the energy of the error
/// over the elastic energy that they hold \[E20\] \[-\]. Of a slender block most of that may be energy of compression: with 1e-5 a column
/// under half the load of Euler trembles by a hundredth of its deflection.
pub const BOND_TOLERANCE: [f64; 2] = [1e-7, 1e-3];
/// Largest number of iterations of these solves \[E20\] \[-\]. What those after sweeps leave over, the first solve of the next substep
/// makes up.
pub const BOND_ITERATIONS: [u32; 2] = [1000, 20];
/// Speed that contacts may add to a body in one substep before the body counts as exploded, in diameters of the largest grain per substep:
/// contact detection follows a grain over a fraction of a diameter. A high speed alone is no sign of an explosion: a grain that falls out
/// of the scene meets nothing.
pub const TRAVEL_LIMIT: f64 = 10.0;

/// Method of the time steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "scenario", serde(rename_all = "snake_case"))]
pub enum Method {
    /// Contact dynamics: implicit steps of milliseconds, each of which solves a contact problem by sweeps.
    #[default]
    Nonsmooth,
    /// Smooth discrete elements \[E13\]: explicit steps of microseconds under the forces of springs and dampers.
    Smooth,
}

/// Warm start: the impulse that a contact starts from \[E7\].
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize))]
#[cfg_attr(feature = "scenario", serde(tag = "kind", rename_all = "snake_case"))]
pub enum WarmStart {
    /// From zero.
    Cold,
    /// From `fraction` of the impulse that its predecessor ended with.
    History {
        /// β \[-\], 0 to 1.
        fraction: f64,
    },
    /// As `History` for a moving contact, the whole impulse for a contact at rest.
    Adaptive {
        /// β of a moving contact \[-\], 0 to 1.
        fraction: f64,
        /// Contact speed that counts as moving, in units of |g| h \[-\].
        motion: f64,
    },
    /// From the force that the overlap and the contact velocity suggest.
    Model,
    /// As `History` for the normal impulses; friction and rolling start from zero. For studies.
    NormalsOnly {
        /// β \[-\], 0 to 1.
        fraction: f64,
    },
    /// As `History`, but the impulses that contacts start from are not applied to the velocities. For studies: it shows why they must be.
    /// The impulses that results report were then not all applied, and the energy balance does not close.
    NoVelocityUpdate {
        /// β \[-\], 0 to 1.
        fraction: f64,
    },
}

impl WarmStart {
    /// History with the fraction of Wang, Servin & Berglund 2016.
    pub const HISTORY: WarmStart = WarmStart::History { fraction: USUAL_FRACTION };
    /// The default, adaptive with the usual β and κ.
    pub const ADAPTIVE: WarmStart = WarmStart::Adaptive { fraction: USUAL_FRACTION, motion: USUAL_MOTION };
    /// History for the normal impulses alone.
    pub const NORMALS_ONLY: WarmStart = WarmStart::NormalsOnly { fraction: USUAL_FRACTION };
    /// History whose impulses are not applied to the velocities.
    pub const NO_VELOCITY_UPDATE: WarmStart = WarmStart::NoVelocityUpdate { fraction: USUAL_FRACTION };

    /// Name of the kind, as scenario files write it.
    pub fn kind(self) -> &'static str {
        match self {
            WarmStart::Cold => "cold",
            WarmStart::History { .. } => "history",
            WarmStart::Adaptive { .. } => "adaptive",
            WarmStart::Model => "model",
            WarmStart::NormalsOnly { .. } => "normals_only",
            WarmStart::NoVelocityUpdate { .. } => "no_velocity_update",
        }
    }

    /// Share β of the old impulses that moving contacts start from \[-\]; `None` where contacts do not start from old impulses.
    pub fn fraction(self) -> Option<f64> {
        match self {
            WarmStart::Cold | WarmStart::Model => None,
            WarmStart::History { fraction }
            | WarmStart::Adaptive { fraction, .. }
            | WarmStart::NormalsOnly { fraction }
            | WarmStart::NoVelocityUpdate { fraction } => Some(fraction),
        }
    }

    /// Whether the impulses that contacts start from are applied to the velocities.
    pub fn updates_velocities(self) -> bool {
        !matches!(self, WarmStart::NoVelocityUpdate { .. })
    }
}

/// Writes the kind, and the parameters that are not as usual: `history`, `history 0.5`.
impl fmt::Display for WarmStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())?;
        let fraction = self.fraction().filter(|&fraction| fraction != USUAL_FRACTION);
        fraction.map_or(Ok(()), |fraction| write!(f, " {fraction}"))?;
        match self {
            WarmStart::Adaptive { motion, .. } if *motion != USUAL_MOTION => write!(f, " {motion}"),
            _ => Ok(()),
        }
    }
}

/// Solver of the contact problem of a substep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize))]
#[cfg_attr(feature = "scenario", serde(rename_all = "snake_case"))]
pub enum Algorithm {
    /// Projected Gauss-Seidel \[E5\]: contact by contact, with Coulomb's law.
    #[default]
    Pgs,
    /// Accelerated projected gradient descent \[E15\]: all contacts at once, for the convex problem next to Coulomb's law.
    Apgd,
}

/// The order in which a sweep visits the contacts \[E5\].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize))]
#[cfg_attr(feature = "scenario", serde(rename_all = "snake_case"))]
pub enum Order {
    /// Colour by colour, in parallel within a colour. With many grains the CPU engine solves tile by tile before that
    /// ([`cpu::tiles`](crate::cpu::tiles)).
    #[default]
    Coloured,
    /// One after the other, in the order of their keys.
    Sequential,
    /// The order of this many threads that share the list of keys in blocks of equal length and know of no colours: the first contact of
    /// each block, then the second of each, and so on (Renouf, Dubois & Alart 2004).
    Blocks(u32),
    /// Mass splitting of all contacts: all at once, each on copies of its bodies that share their mass.
    AtOnce,
}

/// Quantity that is compared with the tolerance that ends the sweeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize))]
#[cfg_attr(feature = "scenario", serde(rename_all = "snake_case"))]
pub enum ToleranceKind {
    /// The largest change of a normal or friction row in a sweep, D |Δλ| \[m/s\].
    #[default]
    Velocity,
    /// The change of all linear impulses in a sweep relative to their size, √(Σ |Δλ|² / Σ |λ|²) \[-\], as in codes of contact dynamics.
    Impulses,
}

/// Acceleration of the sweeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize))]
#[cfg_attr(feature = "scenario", serde(rename_all = "snake_case"))]
pub enum Acceleration {
    /// Plain sweeps: a sweep starts from the impulses that the sweep before left.
    None,
    /// Nesterov's acceleration: a sweep starts from impulses extrapolated by a share of their last change, and its rows are over-relaxed
    /// \[E12\].
    #[default]
    Nesterov,
}

/// Largest factor by which an accelerated sweep extrapolates the last change \[E12\] \[-\]; the factors reach it after 28 sweeps.
pub const LARGEST_MOMENTUM: f64 = 0.9;

/// Factor by which the last change is extrapolated after this many sweeps \[E12\] \[-\]; 0 after the first, which has no sweep before it.
pub fn momentum(sweeps: u32) -> f64 {
    let sweeps = f64::from(sweeps);
    ((sweeps - 1.0) / (sweeps + 2.0)).min(LARGEST_MOMENTUM)
}

/// Over-relaxation of the rows of an accelerated sweep \[E12\] \[-\]; a factor of 1 brings a row to rest. With the momentum on top, rows
/// that overshoot by more than 1/(1 + 2 · 0.9) swing up.
pub const OVER_RELAXATION: f64 = 1.25;

/// Steepness that the first iteration of projected gradient descent assumes, in units of D \[-\] \[E15\].
pub const FIRST_STEEPNESS: f64 = 1.0;
/// Factor on the steepness where the objective curves more than assumed.
pub const STEEPER: f64 = 2.0;
/// Factor on the steepness after every iteration, so that it decreases where it can.
pub const FLATTER: f64 = 0.9;
/// Least gap up to which pairs are listed, in mean diameters \[-\]. With a smaller one grains are first seen when they overlap: columns of
/// 50 blow up at h = 5 ms, and a gas cools by 4 % less at 0.5 ms.
pub const LEAST_REACH: f64 = 0.1;

/// Whether an engine keeps the [energy balance](crate::engine::EnergyBalance) \[E10\].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize))]
#[cfg_attr(feature = "scenario", serde(rename_all = "snake_case"))]
pub enum Bookkeeping {
    /// No: saves about 5 % of a step of 20 sweeps.
    Off,
    /// Yes.
    #[default]
    On,
}

/// Settings of the solver. SI units.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize))]
pub struct Settings {
    /// Method of the time steps.
    pub method: Method,
    /// Solver of the contact problem.
    pub algorithm: Algorithm,
    /// Order in which sweeps visit the contacts; all but `Coloured` on the CPU engine alone.
    pub order: Order,
    /// Time step h \[s\].
    pub time_step: f64,
    /// Number of substeps that a step is solved in after one contact search \[E9\] \[-\].
    pub substeps: u32,
    /// Largest number of sweeps over all contacts per substep \[-\].
    pub iterations: u32,
    /// Tolerance of the sweeps: they end when a sweep changed less than this, in the unit of its kind; 0: never.
    pub tolerance: f64,
    /// Quantity that is compared with `tolerance`.
    pub tolerance_kind: ToleranceKind,
    /// Warm start: the impulses that contacts start from.
    pub warm_start: WarmStart,
    /// Acceleration of the sweeps; sweeps of the impact stage are plain.
    pub acceleration: Acceleration,
    /// Largest number of coarse corrections among the sweeps of a substep \[E14\] \[-\]; on the CPU engine alone.
    pub coarse_corrections: u32,
    /// The normal contact law.
    pub normal_law: NormalLaw,
    /// Share of an overlap that a substep removes under the rigid law \[-\], 0 to 1.
    pub rigid_correction: f64,
    /// The normal damping of the smooth method.
    pub damping: Damping,
    /// Set of friction and rolling impulses that a contact may carry.
    pub cone: Cone,
    /// The lever arm of rolling resistance.
    pub rolling_arm: RollingArm,
    /// Skin of the contact search, in mean diameters of the two grains \[-\]: pairs are searched for again before any grain or boundary can
    /// have moved half of it. The skin is no part of the contact law: see [`Settings::reach`].
    pub skin: f64,
    /// Closing speed above which a contact bounces in the substep in which it would close \[E6\] \[m/s\].
    pub impact_threshold: f64,
    /// Number of sweeps over all contacts of an impact stage in a block \[E6\] \[-\].
    pub impact_iterations: u32,
    /// Largest number of blocks where some pair of materials has a restitution above 0.5 \[E6\] \[-\]; they follow for as long as the
    /// impacts settle. Elsewhere there is one.
    pub impact_blocks: u32,
    /// Whether the energy balance is kept; it changes no motion.
    pub bookkeeping: Bookkeeping,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            method: Method::Nonsmooth,
            algorithm: Algorithm::Pgs,
            order: Order::Coloured,
            time_step: 5e-3,
            substeps: 1,
            iterations: 20,
            tolerance: 0.0,
            tolerance_kind: ToleranceKind::Velocity,
            warm_start: WarmStart::ADAPTIVE,
            acceleration: Acceleration::Nesterov,
            coarse_corrections: 0,
            normal_law: NormalLaw::Hertz,
            rigid_correction: RIGID_CORRECTION,
            damping: Damping::Restitution,
            cone: Cone::Disc,
            rolling_arm: RollingArm::Reduced,
            skin: 0.1,
            impact_threshold: 0.05,
            impact_iterations: 20,
            impact_blocks: 16,
            bookkeeping: Bookkeeping::On,
        }
    }
}

impl Settings {
    /// Length of one substep \[s\].
    pub fn substep(&self) -> f64 {
        self.time_step / f64::from(self.substeps)
    }

    /// Same settings with plain sweeps and a cold start, which hardly ever make energy.
    #[must_use]
    pub fn careful(&self) -> Settings {
        let (warm_start, acceleration) = (WarmStart::Cold, Acceleration::None);
        Settings { algorithm: Algorithm::Pgs, warm_start, acceleration, coarse_corrections: 0, ..*self }
    }

    /// Gap up to which pairs are listed, in mean diameters of the two grains \[-\]: the skin of the search, but at least [`LEAST_REACH`],
    /// so that pairs are solved before they close.
    pub fn reach(&self) -> f64 {
        self.skin.max(LEAST_REACH)
    }

    /// Checks every setting.
    ///
    /// # Errors
    /// [`Error::InvalidSetting`] names every setting that is out of range.
    pub fn validate(&self) -> Result<(), Vec<Error>> {
        let mut errors = Vec::new();
        let mut need = |good: bool, name, found, expected| {
            if !good {
                errors.push(Error::InvalidSetting { name, found, expected });
            }
        };
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let not_negative = |x: f64| x.is_finite() && x >= 0.0;
        need(positive(self.time_step), "solver.time_step", self.time_step, "a positive number of seconds");
        need((1..=1000).contains(&self.substeps), "solver.substeps", f64::from(self.substeps), "1 to 1000");
        need(
            (1..=MOST_ITERATIONS).contains(&self.iterations),
            "solver.iterations",
            f64::from(self.iterations),
            "1 to 100000",
        );
        need(
            self.coarse_corrections <= MOST_CORRECTIONS,
            "solver.coarse_corrections",
            f64::from(self.coarse_corrections),
            "0 to 100",
        );
        need(not_negative(self.tolerance), "solver.tolerance", self.tolerance, "zero or a positive number");
        need(
            (0.0..=1.0).contains(&self.rigid_correction),
            "solver.rigid_correction",
            self.rigid_correction,
            "0 to 1",
        );
        if let Order::Blocks(blocks) = self.order {
            need(blocks > 0, "solver.order.blocks", f64::from(blocks), "a positive number");
        }
        need(
            self.skin.is_finite() && (0.0..=1.0).contains(&self.skin),
            "solver.skin",
            self.skin,
            "0 to 1 grain diameters",
        );
        need(
            not_negative(self.impact_threshold),
            "solver.impact_threshold",
            self.impact_threshold,
            "zero or a positive speed [m/s]",
        );
        need(
            (1..=MOST_ITERATIONS).contains(&self.impact_iterations),
            "solver.impact_iterations",
            f64::from(self.impact_iterations),
            "1 to 100000",
        );
        if let Some(fraction) = self.warm_start.fraction() {
            need((0.0..=1.0).contains(&fraction), "solver.warm_start.fraction", fraction, "0 to 1");
        }
        if let WarmStart::Adaptive { motion, .. } = self.warm_start {
            need(positive(motion), "solver.warm_start.motion", motion, "a positive number");
        }
        if self.method == Method::Smooth && self.normal_law == NormalLaw::Rigid {
            errors.push(Error::RigidSprings);
        }
        errors.extend(self.clashes());
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// Finds the settings that have no meaning together with others.
    fn clashes(&self) -> impl Iterator<Item = Error> + use<> {
        let (is_apgd, is_smooth) = (self.algorithm == Algorithm::Apgd, self.method == Method::Smooth);
        let has_corrections = self.coarse_corrections > 0;
        let pairs = [
            (is_apgd && self.cone == Cone::Box, "solver.cone = \"box\"", "algorithm", "apgd"),
            (is_apgd && has_corrections, "solver.coarse_corrections", "algorithm", "apgd"),
            (is_smooth && is_apgd, "solver.algorithm = \"apgd\"", "method", "smooth"),
            (is_smooth && has_corrections, "solver.coarse_corrections", "method", "smooth"),
            (is_smooth && self.order != Order::Coloured, "solver.order", "method", "smooth"),
        ];
        let found = pairs.into_iter().filter(|(clashes, ..)| *clashes);
        found.map(|(_, setting, key, value)| Error::Clash { setting, key, value })
    }
}
