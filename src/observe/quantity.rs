//! The table of quantities: name, unit, what a quantity needs of a scene, meaning, function. Columns of results, names that an
//! `[expect]` table may use, and the manual in [`crate::observe`] all come from it.

use std::cell::OnceCell;

use glam::{DMat3, DVec3};

use crate::engine::compatible::{self, CompatibleForces};
use crate::engine::{EnergyBalance, Snapshot};
use crate::model::JointState;

use super::fabric::Fabric;
use super::loads::{self, Load};
use super::mixing::Mixture;
use super::regions::{self, Content};
use super::sinks::{self, Taken};
use super::tracked::{self, BodyMotion, PairForce};
use super::{
    Base, Observer, bonds, bridges, cell, contacts, deformation, energy, flow, heat, lost, packing, passages,
    repose, stress, surface,
};

/// Part of a scene that a quantity needs in order to exist, and that it is named after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Nothing: the quantity exists in every scene.
    Nothing,
    /// A boundary, whose name follows a colon.
    Boundary,
    /// Compatible forces.
    Compatible,
    /// Compatible forces, and a boundary, whose name follows a colon.
    CompatibleBoundary,
    /// A joint, whose name follows a colon.
    Joint,
    /// Bonds.
    Bonds,
    /// An observed drum.
    Drum,
    /// A sink, whose name follows a colon.
    Sink,
    /// A class of radii of a sink, whose name and number follow colons: `size_mass:outlet:2`.
    SizeClass,
    /// A part of the profile of a sink, whose name and number follow colons.
    ProfileBin,
    /// A sink with a profile, whose name follows a colon.
    Profile,
    /// An observed cell, or a periodic cell that deforms.
    Cell,
    /// A periodic cell that deforms.
    Deformation,
    /// An observed surface.
    Surface,
    /// An observed fabric.
    Fabric,
    /// An observed region, whose name follows a colon.
    Region,
    /// An observed mixture, whose name follows a colon.
    Mixing,
    /// A gate, whose name follows a colon.
    Gate,
    /// An observed region with `residence`, whose name follows a colon.
    Residence,
    /// A class of residence times of such a region, whose name and number follow colons: `residence_grains:mixer:2`.
    StayClass,
    /// A grain or boundary that is observed on its own: `grain-0`, `floor`.
    Body,
    /// A pair of bodies that is observed on its own: `0-1`, `0-floor`.
    Pair,
    /// Compatible forces, and a pair of bodies that is observed on its own.
    CompatiblePair,
    /// The energy balance of the run.
    EnergyBalance,
    /// A scene with heat.
    Heat,
    /// A scene with liquid.
    Liquid,
    /// A scene with heat, and a boundary, whose name follows a colon.
    HeatBoundary,
}

impl Needs {
    /// Whether the name of a quantity continues with a colon and the name of its subject (a boundary, a sink and so on).
    pub fn is_named(self) -> bool {
        !matches!(
            self,
            Needs::Nothing
                | Needs::Compatible
                | Needs::Bonds
                | Needs::Drum
                | Needs::Fabric
                | Needs::Cell
                | Needs::Deformation
                | Needs::Surface
                | Needs::EnergyBalance
                | Needs::Heat
                | Needs::Liquid
        )
    }
}

/// A quantity of a state.
#[derive(Debug)]
pub struct Quantity {
    /// Name, without the part behind the colon.
    pub name: &'static str,
    /// Unit; "-" for none.
    pub unit: &'static str,
    /// Part of the scene that the quantity needs.
    pub needs: Needs,
    /// Meaning, as in the manual.
    pub meaning: &'static str,
    /// Function of the value; its index selects the boundary, sink, region, body or pair where there are several.
    pub(super) of: fn(&View<'_>, usize) -> f64,
}

impl Quantity {
    /// Name as in a table of names: `height`, `force_x:`.
    pub fn shown(&self) -> String {
        if self.needs.is_named() { format!("{}:", self.name) } else { self.name.to_owned() }
    }
}

/// Finds the quantity of a column, whose name may continue with a colon and the name of a subject.
pub fn find(column: &str) -> Option<&'static Quantity> {
    let (name, is_named) = column.split_once(':').map_or((column, false), |(name, _)| (name, true));
    QUANTITIES.iter().find(|quantity| quantity.name == name && quantity.needs.is_named() == is_named)
}

/// Names of all energies \[J\]: those of every run, then those of the energy balance.
pub fn energies() -> Vec<&'static str> {
    let of_every_run = ["kinetic_energy", "rotational_energy", "potential_energy"];
    let is_energy = |quantity: &&Quantity| quantity.needs == Needs::EnergyBalance && quantity.unit == "J";
    of_every_run
        .into_iter()
        .chain(QUANTITIES.iter().filter(is_energy).map(|quantity| quantity.name))
        .collect()
}

/// State under observation, with the intermediate results that several quantities share, each computed once.
pub(super) struct View<'a> {
    pub(super) snapshot: &'a Snapshot,
    observer: &'a Observer,
    base: Option<&'a Base>,
    loads: OnceCell<Vec<Load>>,
    mean_loads: OnceCell<Vec<Load>>,
    compatible_loads: OnceCell<Vec<DVec3>>,
    fabric: OnceCell<Option<Fabric>>,
    taken: OnceCell<Vec<Taken>>,
    sorted: OnceCell<sinks::Sorted>,
    cell: OnceCell<cell::CellState>,
    surface: OnceCell<Option<surface::SurfaceState>>,
    contents: OnceCell<Vec<Content>>,
    mixtures: OnceCell<Vec<Mixture>>,
    bulk_stresses: OnceCell<Vec<DMat3>>,
    bodies: OnceCell<Vec<BodyMotion>>,
    pairs: OnceCell<Vec<PairForce>>,
}

impl<'a> View<'a> {
    pub(super) fn new(observer: &'a Observer, snapshot: &'a Snapshot, base: Option<&'a Base>) -> View<'a> {
        View {
            snapshot,
            observer,
            base,
            loads: OnceCell::new(),
            mean_loads: OnceCell::new(),
            compatible_loads: OnceCell::new(),
            fabric: OnceCell::new(),
            taken: OnceCell::new(),
            sorted: OnceCell::new(),
            cell: OnceCell::new(),
            surface: OnceCell::new(),
            contents: OnceCell::new(),
            mixtures: OnceCell::new(),
            bulk_stresses: OnceCell::new(),
            bodies: OnceCell::new(),
            pairs: OnceCell::new(),
        }
    }

    fn loads(&self) -> &[Load] {
        self.loads.get_or_init(|| loads::on_boundaries(self.snapshot))
    }

    fn mean_loads(&self) -> &[Load] {
        self.mean_loads.get_or_init(|| loads::mean_on_boundaries(self.snapshot, self.base))
    }

    fn compatible(&self, of: fn(&CompatibleForces, &Snapshot) -> f64) -> f64 {
        self.snapshot.compatible().map_or(f64::NAN, |forces| of(forces, self.snapshot))
    }

    /// Force on a boundary from compatible normal forces and from the friction that the solver found \[N\].
    fn compatible_load(&self, boundary: usize) -> DVec3 {
        self.compatible_loads.get_or_init(|| loads::compatible_on_boundaries(self.snapshot))[boundary]
    }

    fn observed_fabric(&self) -> Option<&Fabric> {
        let of = || self.observer.fabric.as_ref().map(|plan| Fabric::of(self.snapshot, plan));
        self.fabric.get_or_init(of).as_ref()
    }

    /// Fabric tensor by number.
    fn fabric(&self) -> DMat3 {
        self.observed_fabric().map_or(DMat3::NAN, |fabric| fabric.by_number)
    }

    /// Fabric tensor by normal force.
    fn force_fabric(&self) -> DMat3 {
        self.observed_fabric().map_or(DMat3::NAN, |fabric| fabric.by_force)
    }

    fn anisotropy(&self, tensor: &DMat3) -> f64 {
        self.observer.fabric.as_ref().map_or(f64::NAN, |plan| Fabric::anisotropy(tensor, plan.plane))
    }

    /// Bulk stress in a region \[Pa\].
    fn bulk_stress(&self, region: usize) -> &DMat3 {
        let of = |plan| regions::bulk_stress(self.snapshot, plan, self.base);
        &self.bulk_stresses.get_or_init(|| self.observer.regions.iter().map(of).collect())[region]
    }

    fn taken(&self) -> &[Taken] {
        self.taken.get_or_init(|| sinks::taken(self.snapshot))
    }

    fn sorted(&self) -> &sinks::Sorted {
        self.sorted.get_or_init(|| sinks::Sorted::of(self.snapshot))
    }

    fn size_class(&self, class: usize) -> Taken {
        self.sorted().get(&self.observer.size_classes[class])
    }

    fn profile_bin(&self, bin: usize) -> Taken {
        self.sorted().get(&self.observer.profile_bins[bin])
    }

    /// Mass per time that a sink took since the base \[kg/s\]; 0 without one.
    fn mass_flow(&self, sink: usize) -> f64 {
        let before = self.base.and_then(|base| Some((base.time, *base.removed_mass.get(sink)?)));
        before
            .map_or(0.0, |(time, mass)| (self.taken()[sink].mass - mass) / (self.snapshot.report.time - time))
    }

    fn drum(&self, of: fn(&Snapshot, &flow::DrumPlan) -> f64) -> f64 {
        self.observer.drum.as_ref().map_or(f64::NAN, |drum| of(self.snapshot, drum))
    }

    fn cell(&self) -> &cell::CellState {
        self.cell.get_or_init(|| match &self.observer.cell {
            Some(plan) => {
                cell::CellState::new(self.snapshot, plan, [self.loads(), self.mean_loads()], self.base)
            }
            None => deformation::cell_state(self.snapshot, self.base).unwrap_or(cell::CellState::UNKNOWN),
        })
    }

    fn surface(&self) -> Option<&surface::SurfaceState> {
        let state = || {
            self.observer
                .surface
                .as_ref()
                .map(|plan| surface::SurfaceState::new(self.snapshot, plan, self.base))
        };
        self.surface.get_or_init(state).as_ref()
    }

    /// Volume dug out of the surface, and volume piled up on it \[m³\].
    fn moved_volumes(&self) -> [f64; 2] {
        let volumes = self.surface().zip(self.observer.surface.as_ref());
        volumes.map_or([f64::NAN; 2], |(state, plan)| state.volumes(plan))
    }

    fn content(&self, region: usize) -> &Content {
        let content = |plan| regions::content(self.snapshot, plan);
        &self.contents.get_or_init(|| self.observer.regions.iter().map(content).collect())[region]
    }

    fn mixture(&self, mixture: usize) -> &Mixture {
        let of = |plan| Mixture::of(self.snapshot, plan);
        &self.mixtures.get_or_init(|| self.observer.mixing.iter().map(of).collect())[mixture]
    }

    fn joint(&self, joint: usize) -> &JointState {
        &self.snapshot.world.joint_states[joint]
    }

    fn body(&self, body: usize) -> &BodyMotion {
        let motion = |body| tracked::motion(self.snapshot, body);
        &self.bodies.get_or_init(|| self.observer.tracked.bodies.iter().map(motion).collect())[body]
    }

    fn pair(&self, pair: usize) -> &PairForce {
        let of = |pair| tracked::pair_force(self.snapshot, pair);
        &self.pairs.get_or_init(|| self.observer.tracked.contacts.iter().map(of).collect())[pair]
    }

    fn balance(&self, of: fn(&energy::Balance, &Snapshot) -> f64) -> f64 {
        self.observer.balance.as_ref().map_or(f64::NAN, |balance| of(balance, self.snapshot))
    }

    fn booked(&self, of: fn(&EnergyBalance) -> f64) -> f64 {
        energy::booked(self.snapshot, of)
    }

    /// Base of the rates of the next observation.
    pub(super) fn next_base(&self) -> Base {
        Base {
            time: self.snapshot.report.time,
            impulses: self.snapshot.impulses.clone(),
            counted: self.snapshot.world.counted.clone(),
            stresses: self.snapshot.stresses.clone(),
            grain_stresses: stress::of_grains_so_far(self.snapshot),
            received: heat::all_received(self.snapshot),
            removed_mass: self.taken().iter().map(|taken| taken.mass).collect(),
            cell: self.observer.cell.as_ref().map(|_| *self.cell()),
            strained: deformation::so_far(self.snapshot),
            surface: self.surface().cloned(),
        }
    }
}

/// Suffix of the name of a quantity in the manual.
macro_rules! suffix {
    (Nothing) => {
        ""
    };
    (Compatible) => {
        ""
    };
    (Bonds) => {
        ""
    };
    (Drum) => {
        ""
    };
    (Fabric) => {
        ""
    };
    (Cell) => {
        ""
    };
    (Deformation) => {
        ""
    };
    (Liquid) => {
        ""
    };
    (Surface) => {
        ""
    };
    (EnergyBalance) => {
        ""
    };
    (Heat) => {
        ""
    };
    ($named:ident) => {
        ":NAME"
    };
}

/// Makes the table and its manual from entries `needs, unit, { name => function, ... }, meaning`.
macro_rules! quantities {
    ($($needs:ident, $unit:literal, { $($name:literal => $of:expr),+ $(,)? }, $meaning:literal;)+) => {
        /// All quantities, in the order of the columns.
        pub const QUANTITIES: &[Quantity] = &[
            $($(Quantity { name: $name, unit: $unit, needs: Needs::$needs, meaning: $meaning, of: $of },)+)+
        ];

        /// [`missing::table`](crate::observe::missing::table) tells which of them may be `NaN`, and where.
        ///
        /// | Quantity | Unit | Needs | Meaning |
        /// |---|---|---|---|
        $(#[doc = concat!(
            "| ", $("`", $name, suffix!($needs), "` ",)+ "| ", $unit, " | [`", stringify!($needs), "`](super::Needs::", stringify!($needs), ") | ", $meaning, " |"
        )])+
        pub mod table {}
    };
}

quantities! {
    Nothing, "-", { "grains" => |v, _| v.snapshot.present_count() as f64 }, "grains that are there: emitted and not removed";
    Nothing, "-", { "grains_lost" => |v, _| lost::count(v.snapshot) }, "grains that left the domain; without one those below all boundaries, which nothing can stop";
    Nothing, "m", { "height" => |v, _| packing::height(v.snapshot), "height_p99" => |v, _| packing::height_p99(v.snapshot) }, "highest top of a grain against gravity, from the origin; 99th percentile of the tops";
    Nothing, "m", {
        "centre_of_mass_x" => |v, _| packing::centre_of_mass(v.snapshot).x,
        "centre_of_mass_y" => |v, _| packing::centre_of_mass(v.snapshot).y,
        "centre_of_mass_z" => |v, _| packing::centre_of_mass(v.snapshot).z,
    }, "centre of mass of the grains";
    Nothing, "J", { "kinetic_energy" => |v, _| energy::kinetic(v.snapshot), "rotational_energy" => |v, _| energy::rotational(v.snapshot) }, "energy of translation, of rotation; with dynamic boundaries";
    Nothing, "J", { "potential_energy" => |v, _| energy::potential(v.snapshot) }, "energy in gravity, from the origin; with dynamic boundaries";
    Nothing, "m g d", { "kinetic_energy_per_grain" => |v, _| energy::kinetic_per_grain(v.snapshot) }, "energy of translation and rotation of the grains over Σ m g d";
    Nothing, "m/s", { "rms_speed" => |v, _| flow::rms_speed(v.snapshot) }, "root mean square of the speeds of the grains";
    Nothing, "m/s", { "max_speed" => |v, _| flow::max_speed(v.snapshot) }, "speed of the fastest grain or dynamic boundary";
    Nothing, "radius", { "mean_overlap" => |v, _| contacts::overlap(v.snapshot).mean, "max_overlap" => |v, _| contacts::overlap(v.snapshot).max }, "mean and largest overlap over the contacts that overlap, those of dynamic boundaries too; in mean radii of the pair";
    Nothing, "-", { "overlap_volume" => |v, _| contacts::overlap_volume(v.snapshot) }, "volume that pairs of grains have in common, over the volume of all grains; of a sphere and a polyhedron the cap that a face cuts off";
    Nothing, "-", { "contacts" => |v, _| contacts::count(v.snapshot) }, "pairs in the neighbour list, touching or not";
    Nothing, "-", { "touching" => |v, _| contacts::touching(v.snapshot) }, "contacts that overlap or carry a force";
    Nothing, "-", { "sliding_share" => |v, _| contacts::sliding_share(v.snapshot) }, "share of the contacts with a force whose friction is at its bound";
    Nothing, "-", { "coordination_number" => |v, _| contacts::coordination_number(v.snapshot) }, "touching neighbours per grain, boundaries too";
    Nothing, "-", { "coordination_number_without_rattlers" => |v, _| contacts::coordination_number_without_rattlers(v.snapshot) }, "touching neighbours per grain that has two or more";
    Nothing, "-", { "weight_supported" => |v, _| loads::weight_supported(v.snapshot) }, "force along gravity on all boundaries that are not dynamic, over the weight of grains and dynamic boundaries; last substep";
    Nothing, "m/s", { "residual_normal" => |v, _| v.snapshot.report.residuals.normal.mean, "residual_friction" => |v, _| v.snapshot.report.residuals.friction.mean }, "residual of the contact problem \\[E8\\], mean over the contacts; last substep";
    Nothing, "rad/s", { "residual_rolling" => |v, _| v.snapshot.report.residuals.rolling.mean }, "the same of rolling and twisting; last substep";
    Nothing, "m/s", { "lcp_residual" => |v, _| v.snapshot.report.residuals.normal.max }, "largest |min(D λ_n, u_n + Σ_n λ_n - q_n)|, the residual of the linear complementarity problem of the normals; the same number as `residual_normal_max`";
    Nothing, "J", { "objective" => |v, _| v.snapshot.report.objective.unwrap_or(f64::NAN) }, "½ λ·(N + Σ) λ + p·λ, what projected gradient descent makes least \\[E15\\]; last substep, not known to a GPU";
    Nothing, "m/s", { "residual_normal_max" => |v, _| v.snapshot.report.residuals.normal.max, "residual_friction_max" => |v, _| v.snapshot.report.residuals.friction.max }, "largest residual; last substep";
    Nothing, "rad/s", { "residual_rolling_max" => |v, _| v.snapshot.report.residuals.rolling.max }, "largest residual of rolling and twisting; last substep";
    Nothing, "-", { "sweeps" => |v, _| f64::from(v.snapshot.report.sweeps) }, "sweeps of the last substep";
    Nothing, "-", { "total_sweeps" => |v, _| v.snapshot.report.work.sweeps.map_or(f64::NAN, |sweeps| sweeps as f64) }, "sweeps of all substeps since the start; not known to a GPU that stops sweeping at a tolerance";
    Nothing, "-", { "impact_sweeps" => |v, _| f64::from(v.snapshot.report.impacts.sweeps) }, "sweeps of its impact stage, 0 where nothing bounced";
    Nothing, "m/s", { "residual_impact" => |v, _| v.snapshot.report.impacts.residual }, "largest change in the last sweep of impacts, or speed of a contact that still closes; last substep";
    Nothing, "-", { "colours" => |v, _| f64::from(v.snapshot.report.colours) }, "colours of the contacts; last step";
    Nothing, "-", { "overflow" => |v, _| v.snapshot.report.overflow as f64 }, "contacts without a colour; last step";
    Nothing, "N s", {
        "momentum_x" => |v, _| packing::momentum(v.snapshot).x,
        "momentum_y" => |v, _| packing::momentum(v.snapshot).y,
        "momentum_z" => |v, _| packing::momentum(v.snapshot).z,
    }, "momentum, with dynamic boundaries";
    Nothing, "N m s", {
        "angular_momentum_x" => |v, _| packing::angular_momentum(v.snapshot).x,
        "angular_momentum_y" => |v, _| packing::angular_momentum(v.snapshot).y,
        "angular_momentum_z" => |v, _| packing::angular_momentum(v.snapshot).z,
    }, "angular momentum about the origin, with spin and dynamic boundaries";
    Nothing, "m", { "front_x" => |v, _| packing::front_x(v.snapshot) }, "99th percentile of the x of the centres of grains";
    Nothing, "deg", { "repose_angle_deg" => |v, _| repose::repose_angle_deg(v.snapshot) }, "angle of repose of a heap on level ground: slope of its flank, without stray grains, toe and the rounded top; not a number where the flank is shorter than two diameters";
    Nothing, "deg", { "cone_angle_deg" => |v, _| packing::cone_angle_deg(v.snapshot) }, "angle of the cone, in a plane of the triangle, with the same mean height and mean distance from its axis as the grains";
    Nothing, "m²/s²", { "granular_temperature" => |v, _| flow::granular_temperature(v.snapshot) }, "third of the velocity variance of the grains, weighted by mass";
    Nothing, "s/m", { "inverse_thermal_speed" => |v, _| flow::granular_temperature(v.snapshot).sqrt().recip() }, "one over the root of the granular temperature";

    Boundary, "N", { "force_x" => |v, i| v.loads()[i].force.x, "force_y" => |v, i| v.loads()[i].force.y, "force_z" => |v, i| v.loads()[i].force.z }, "force of all contacts on a boundary, dynamic ones too; last substep";
    Boundary, "N m", { "torque_x" => |v, i| v.loads()[i].torque.x, "torque_y" => |v, i| v.loads()[i].torque.y, "torque_z" => |v, i| v.loads()[i].torque.z }, "torque of all contacts about the position of the boundary; last substep";
    Boundary, "N", { "mean_force_x" => |v, i| v.mean_loads()[i].force.x, "mean_force_y" => |v, i| v.mean_loads()[i].force.y, "mean_force_z" => |v, i| v.mean_loads()[i].force.z }, "mean force since the output before, impacts included; 0 in the first output";
    Boundary, "N m", { "mean_torque_x" => |v, i| v.mean_loads()[i].torque.x, "mean_torque_y" => |v, i| v.mean_loads()[i].torque.y, "mean_torque_z" => |v, i| v.mean_loads()[i].torque.z }, "mean torque since the output before, impacts included; 0 in the first output";

    Compatible, "-", { "compatible_imbalance" => |v, _| v.compatible(|forces, _| forces.imbalance) }, "how far the effect of the compatible forces is from that of the forces of the solver \\[E16\\], over its size";
    Compatible, "-", { "compatible_unbalanced" => |v, _| compatible::unbalanced(v.snapshot) }, "forces that are not in equilibrium on the dynamic bodies, over their weight: 0 at rest after converged sweeps; compatible forces are wrong by about as much, whatever their imbalance";
    Compatible, "-", { "compatible_difference" => |v, _| v.compatible(CompatibleForces::difference) }, "distance of the compatible forces from the normal forces of the solver, over the size of these";
    Compatible, "-", { "compatible_over_friction" => |v, _| v.compatible(CompatibleForces::over_friction) }, "share of the contacts with friction whose friction, which is that of the solver, is beyond the bound of the compatible force";
    CompatibleBoundary, "N", { "compatible_force_x" => |v, i| v.compatible_load(i).x, "compatible_force_y" => |v, i| v.compatible_load(i).y, "compatible_force_z" => |v, i| v.compatible_load(i).z }, "force of all contacts on a boundary with compatible normal forces; last substep";

    Joint, "m or rad", { "joint_position" => |v, i| v.joint(i).position }, "position of a joint: angle of a hinge and shift of a slider or cylindrical joint since the start, length of an actuator; 0 of others";
    Joint, "m/s or rad/s", { "joint_speed" => |v, i| v.snapshot.world.joint_speed(i) }, "rate at which that changes";
    Joint, "m", { "joint_error" => |v, i| v.snapshot.world.joint_error(i) }, "how far the place of a joint on its second body is from where it belongs";
    Joint, "N or N m", { "drive_force" => |v, i| v.joint(i).drive, "limit_force" => |v, i| v.joint(i).limit }, "force of the drive of a joint, of the end of its range, along its position; of a hinge torques; last substep";
    Joint, "W", { "drive_power" => |v, i| v.joint(i).drive * v.snapshot.world.joint_speed(i) }, "power of the drive of a joint; last substep";
    Joint, "N", { "joint_force_x" => |v, i| v.joint(i).force.x, "joint_force_y" => |v, i| v.joint(i).force.y, "joint_force_z" => |v, i| v.joint(i).force.z }, "force of all of a joint on its second body; mean over the last substep, of machines that nothing else touches at the instant";
    Joint, "N m", { "joint_torque_x" => |v, i| v.joint(i).torque.x, "joint_torque_y" => |v, i| v.joint(i).torque.y, "joint_torque_z" => |v, i| v.joint(i).torque.z }, "torque of all of a joint on its second body, about its place there; as the force";

    Drum, "deg", { "dynamic_angle_deg" => |v, _| v.drum(flow::dynamic_angle_deg) }, "angle of the centre of mass from straight down, positive the way the drum turns";
    Drum, "-", { "plug_share" => |v, _| v.drum(flow::plug_share) }, "share of the grains that move with the drum";

    Sink, "-", { "removed" => |v, i| v.taken()[i].grains as f64 }, "grains that a sink removed since the start";
    Sink, "kg", { "removed_mass" => |v, i| v.taken()[i].mass }, "mass of the grains that a sink removed since the start";
    Sink, "kg/s", { "mass_flow" => |v, i| v.mass_flow(i) }, "mean mass per time that a sink removed since the output before";

    SizeClass, "-", { "size_grains" => |v, i| v.size_class(i).grains as f64 }, "grains of a class of radii that a sink removed since the start";
    SizeClass, "kg", { "size_mass" => |v, i| v.size_class(i).mass }, "mass of the grains of a class of radii that a sink removed since the start";

    ProfileBin, "-", { "profile_grains" => |v, i| v.profile_bin(i).grains as f64 }, "grains that a sink removed in a part of its profile since the start";
    ProfileBin, "kg", { "profile_mass" => |v, i| v.profile_bin(i).mass }, "mass of the grains that a sink removed in a part of its profile since the start";

    Profile, "-", { "profile_variation" => |v, i| v.sorted().variation(&v.observer.profiles[i]) }, "standard deviation over mean of the masses in the parts of the profile of a sink, since the start";

    Cell, "m", { "cell_x" => |v, _| v.cell().lengths[0], "cell_y" => |v, _| v.cell().lengths[1], "cell_z" => |v, _| v.cell().lengths[2] }, "distance of the walls of the cell; length of a periodic cell that deforms";
    Cell, "-", {
        "strain_x" => |v, _| v.cell().strains[0],
        "strain_y" => |v, _| v.cell().strains[1],
        "strain_z" => |v, _| v.cell().strains[2],
        "volume_strain" => |v, _| v.cell().volume_strain,
    }, "decrease of a length, of the volume, over its size at `strain_from`; of a periodic cell over its size at the start";
    Cell, "Pa", { "stress_x" => |v, _| v.cell().stresses[0], "stress_y" => |v, _| v.cell().stresses[1], "stress_z" => |v, _| v.cell().stresses[2] }, "mean force on a pair of walls over their area, from inside; last substep. Of a periodic cell the mean stress since the output before, impacts and momentum flux included; 0 in the first output";
    Cell, "Pa", { "mean_stress" => |v, _| v.cell().mean_stress, "deviator_stress" => |v, _| v.cell().deviator_stress }, "mean of the three stresses; the axial stress less the mean of the others. Of a periodic cell the axis is z, and of discs the mean is that of two stresses";
    Cell, "Pa", { "pressure" => |v, _| v.cell().pressure }, "mean of the three stresses from the mean forces since the output before, impacts included; 0 in the first output";
    Cell, "-", { "solid_fraction" => |v, _| v.cell().solid_fraction }, "volume of the grains over the volume between the walls, or of the periodic cell";

    Deformation, "-", { "shear_strain" => |v, _| v.snapshot.world.deformation.as_ref().map_or(f64::NAN, |it| it.shear_strain) }, "shear strain of the periodic cell since the start";
    Deformation, "Pa", { "stress_xy" => |v, _| deformation::stress(v.snapshot, v.base).col(1)[0], "stress_xz" => |v, _| deformation::stress(v.snapshot, v.base).col(2)[0], "stress_yz" => |v, _| deformation::stress(v.snapshot, v.base).col(2)[1] }, "shear components of the mean stress since the output before, whose sign is that of pressure: negative for a positive shear rate; 0 in the first output";
    Deformation, "Pa", { "shear_stress" => |v, _| deformation::shear_stress(v.snapshot, v.base) }, "mean shear stress on the sheared faces since the output before, positive where it resists a positive shear rate";
    Deformation, "-", { "stress_ratio" => |v, _| deformation::stress_ratio(v.snapshot, v.base) }, "shear stress over the normal stress on the sheared faces: the effective friction μ of the flow";
    Deformation, "-", { "inertial_number" => |v, _| deformation::inertial_number(v.snapshot, v.base) }, "shear rate times mean diameter times √(density of the grains/normal stress on the sheared faces), since the output before";

    Surface, "m", {
        "surface_height" => |v, _| v.surface().map_or(f64::NAN, surface::SurfaceState::mean),
        "surface_lowest" => |v, _| v.surface().map_or(f64::NAN, |it| it.range()[0]),
        "surface_highest" => |v, _| v.surface().map_or(f64::NAN, |it| it.range()[1]),
    }, "top of the grains over a grid: mean, lowest and highest of its cells";
    Surface, "m³", { "displaced_volume" => |v, _| v.moved_volumes()[0], "piled_volume" => |v, _| v.moved_volumes()[1] }, "volume between the surface and that at `from`, where it has sunk, and where it has risen";

    Fabric, "-", { "fabric_xx" => |v, _| v.fabric().col(0)[0], "fabric_yy" => |v, _| v.fabric().col(1)[1], "fabric_zz" => |v, _| v.fabric().col(2)[2], "fabric_xy" => |v, _| v.fabric().col(0)[1], "fabric_xz" => |v, _| v.fabric().col(0)[2], "fabric_yz" => |v, _| v.fabric().col(1)[2] }, "fabric tensor: mean of n nᵀ over the contacts with a force";
    Fabric, "-", { "force_fabric_xx" => |v, _| v.force_fabric().col(0)[0], "force_fabric_yy" => |v, _| v.force_fabric().col(1)[1], "force_fabric_zz" => |v, _| v.force_fabric().col(2)[2], "force_fabric_xy" => |v, _| v.force_fabric().col(0)[1], "force_fabric_xz" => |v, _| v.force_fabric().col(0)[2], "force_fabric_yz" => |v, _| v.force_fabric().col(1)[2] }, "the same, every contact counting by its normal force";
    Fabric, "-", { "fabric_anisotropy" => |v, _| v.anisotropy(&v.fabric()), "force_fabric_anisotropy" => |v, _| v.anisotropy(&v.force_fabric()) }, "twice the difference of the principal values of both in the plane that is observed";
    Fabric, "-", { "fabric_sixfold" => |v, _| v.observed_fabric().map_or(f64::NAN, |fabric| fabric.sixfold) }, "mean of cos 6θ over the contacts, θ from the first axis of the plane that is observed: 1 in a triangular lattice on a floor, 0 where all directions are alike";

    Region, "-", { "count" => |v, i| v.content(i).grains as f64 }, "grains whose centre is in a region";
    Region, "kg", { "mass" => |v, i| v.content(i).mass }, "mass of the grains whose centre is in a region";
    Region, "m", { "centre_x" => |v, i| v.content(i).centre.x, "centre_y" => |v, i| v.content(i).centre.y, "centre_z" => |v, i| v.content(i).centre.z }, "centre of mass of the grains whose centre is in a region";
    Region, "-", { "entered" => |v, i| regions::entered(v.snapshot, &v.observer.regions[i]).grains }, "times that a grain came into a region since the start, seen in every substep: however thin the region, and whatever the time between outputs; a grain that comes back counts again, one that was placed or emitted inside does not";
    Region, "kg", { "entered_mass" => |v, i| regions::entered(v.snapshot, &v.observer.regions[i]).mass }, "mass of the grains that came into a region since the start, as often as they did";
    Region, "kg/s", { "entered_mass_flow" => |v, i| regions::entered_mass_flow(v.snapshot, &v.observer.regions[i], v.base) }, "mean mass per time that came into a region since the output before; 0 in the first output";
    Region, "Pa", { "bulk_stress_xx" => |v, i| v.bulk_stress(i).col(0)[0], "bulk_stress_yy" => |v, i| v.bulk_stress(i).col(1)[1], "bulk_stress_zz" => |v, i| v.bulk_stress(i).col(2)[2], "bulk_stress_xy" => |v, i| v.bulk_stress(i).col(0)[1], "bulk_stress_xz" => |v, i| v.bulk_stress(i).col(0)[2], "bulk_stress_yz" => |v, i| v.bulk_stress(i).col(1)[2] }, "bulk stress of the grains whose centre is in a region \\[E17\\], positive under pressure: contacts, impacts included, and momentum flux about the mean velocity, both means over the time since the output before; in the first output the momentum flux of the state alone";

    Mixing, "-", { "lacey_index" => |v, i| v.mixture(i).index }, "Lacey's mixing index ([`mixing`](crate::observe::mixing)): 0 where every cell holds one kind, 1 on the mean over random mixtures";
    Mixing, "-", { "concentration_deviation" => |v, i| v.mixture(i).relative_deviation }, "standard deviation of the concentration of the traced grains over the cells, over its mean";
    Mixing, "-", { "concentration" => |v, i| v.mixture(i).concentration }, "share of the traced grains among the grains in the cells that count";
    Mixing, "-", { "mixing_cells" => |v, i| v.mixture(i).cells, "mixing_sampled" => |v, i| v.mixture(i).sampled }, "number of cells with at least `least_grains`; share of the grains of the region that are in them";

    Gate, "-", { "passed_forwards" => |v, i| v.snapshot.world.passed(i).grains[0], "passed_backwards" => |v, i| v.snapshot.world.passed(i).grains[1] }, "times that the centre of a grain went through a gate along its normal, and against it, since the start; seen in every substep";
    Gate, "kg", { "passed_mass_forwards" => |v, i| v.snapshot.world.passed(i).mass[0], "passed_mass_backwards" => |v, i| v.snapshot.world.passed(i).mass[1] }, "mass of the grains that went through a gate along its normal, and against it, as often as they did";
    Gate, "1/s", { "net_flow" => |v, i| passages::net_flow(v.snapshot, i, v.base).grains }, "grains that went forwards less those that went backwards, per time, since the output before; 0 in the first output";
    Gate, "kg/s", { "net_mass_flow" => |v, i| passages::net_flow(v.snapshot, i, v.base).mass }, "mass that went forwards less that which went backwards, per time, since the output before; 0 in the first output";

    Residence, "-", { "left" => |v, i| v.snapshot.world.left(i).grains }, "times that a grain left a region since the start, into a sink too; seen in every substep";
    Residence, "kg", { "left_mass" => |v, i| v.snapshot.world.left(i).mass }, "mass of the grains that left a region since the start, as often as they did";
    Residence, "s", { "mean_residence_time" => |v, i| passages::mean_time(v.snapshot, i), "residence_time_deviation" => |v, i| passages::deviation(v.snapshot, i) }, "residence time of the grains that left a region since the start, from when they came in, were placed or emitted there: mean, standard deviation";
    StayClass, "-", { "residence_grains" => |v, i| passages::in_class(v.snapshot, i) }, "grains that left a region since the start after a residence time in a class of `bins`";

    Body, "m", { "position_x" => |v, i| v.body(i).position.x, "position_y" => |v, i| v.body(i).position.y, "position_z" => |v, i| v.body(i).position.z }, "position of a grain (`grain-0`) or boundary that is observed";
    Body, "m/s", { "velocity_x" => |v, i| v.body(i).velocity.x, "velocity_y" => |v, i| v.body(i).velocity.y, "velocity_z" => |v, i| v.body(i).velocity.z }, "velocity of the same";
    Body, "rad/s", { "spin_x" => |v, i| v.body(i).spin.x, "spin_y" => |v, i| v.body(i).spin.y, "spin_z" => |v, i| v.body(i).spin.z }, "angular velocity of the same";
    Body, "-", { "orientation_w" => |v, i| v.body(i).orientation.w, "orientation_x" => |v, i| v.body(i).orientation.x, "orientation_y" => |v, i| v.body(i).orientation.y, "orientation_z" => |v, i| v.body(i).orientation.z }, "orientation of the same, a unit quaternion from its axes (of a wall with an inertia its principal ones) to those of the scene, w first";
    Pair, "N", { "normal_force" => |v, i| v.pair(i).normal, "friction_force" => |v, i| v.pair(i).friction }, "forces between two bodies that are observed (`0-1`, `0-floor`); last substep";
    Pair, "m", { "overlap" => |v, i| v.pair(i).overlap }, "overlap of the same";
    CompatiblePair, "N", { "compatible_normal_force" => |v, i| v.pair(i).compatible }, "compatible normal force between the same";

    Bonds, "-", { "bonds" => |v, _| bonds::intact(v.snapshot), "bonds_broken" => |v, _| bonds::broken(v.snapshot) }, "bonds that hold, bonds that broke since the start; those whose grain was removed are in neither";
    Bonds, "-", { "bonds_broken_in_tension" => |v, _| bonds::broken_in_tension(v.snapshot), "bonds_broken_in_shear" => |v, _| bonds::broken_in_shear(v.snapshot) }, "bonds that broke since the start, by what broke them";
    Bonds, "J", { "bond_energy" => |v, _| bonds::elastic(v.snapshot) }, "elastic energy of the bonds that hold";
    Bonds, "J", { "fracture_energy" => |v, _| v.snapshot.world.bonds.released_energy }, "elastic energy that bonds held when they broke or lost a grain, since the start";
    Bonds, "J", { "dissipated_by_bonds" => |v, _| energy::dissipated_by_bonds(v.snapshot) }, "energy dissipated by bonds since the start: by their damping, and when they broke";
    Liquid, "-", { "bridges" => |v, _| bridges::count(v.snapshot) }, "liquid bridges that hold";
    Liquid, "-", { "bridges_formed" => |v, _| bridges::formed(v.snapshot), "bridges_broken" => |v, _| bridges::broken(v.snapshot) }, "liquid bridges that formed, and that broke by their length, since the start";
    Liquid, "N", { "mean_bridge_force" => |v, _| bridges::mean_force(v.snapshot) }, "mean capillary force of the liquid bridges at their present gaps, without drag";
    Liquid, "m³", { "liquid_in_bridges" => |v, _| bridges::volume(v.snapshot) }, "volume of the liquid in bridges";
    Liquid, "J", { "bridge_energy" => |v, _| bridges::energy(v.snapshot) }, "energy of the liquid bridges, less that of broken ones: what pulling them apart takes, negative";
    Liquid, "J", { "dissipated_by_bridges" => |v, _| energy::dissipated_by_bridges(v.snapshot) }, "energy dissipated by liquid bridges since the start: by those that form, as the bodies are not pulled together before they touch, and by drag";

    EnergyBalance, "J", { "elastic_energy" => |v, _| v.balance(energy::Balance::elastic) }, "energy stored by the overlaps, those of dynamic boundaries too, and by bonds";
    EnergyBalance, "J", { "total_energy" => |v, _| v.balance(energy::Balance::total) }, "kinetic, rotational, potential and elastic energy, and that of liquid bridges";
    EnergyBalance, "J", { "ballistic_energy" => |v, _| v.balance(energy::Balance::ballistic) }, "the same with the kinetic energy at v + h g/2: flights and elastic bounces keep it";
    EnergyBalance, "J", { "gravity_work" => |v, _| v.booked(|it| it.gravity_work), "boundary_work" => |v, _| v.booked(|it| it.boundary_work) }, "work of gravity and applied forces, of boundaries on grains and dynamic boundaries since the start";
    EnergyBalance, "J", {
        "dissipated_by_impact" => |v, _| 0.0 - v.booked(|it| it.impact_work),
        "dissipated_by_friction" => |v, _| energy::dissipated_by_friction(v.snapshot),
        "dissipated_by_rolling" => |v, _| energy::dissipated_by_rolling(v.snapshot),
        "dissipated_by_normal" => |v, _| v.balance(energy::Balance::dissipated_by_normal),
    }, "energy dissipated since the start; by normal impulses less what overlaps store";
    EnergyBalance, "J", { "emitted_energy" => |v, _| v.booked(|it| it.emitted_energy), "removed_energy" => |v, _| v.booked(|it| it.removed_energy) }, "kinetic energy that came with emitted grains, that went with removed ones";
    EnergyBalance, "J", { "energy_error" => |v, _| energy::error(v.snapshot) }, "kinetic energy that the balance does not explain";
    EnergyBalance, "-", { "energy_error_share" => |v, _| energy::error_share(v.snapshot) }, "size of that error over the energy turned over";
    EnergyBalance, "-", { "energy_made_share" => |v, _| v.balance(energy::Balance::made_share) }, "energy that contacts made out of nothing since the start (normal impulses beyond what overlaps held, friction with rolling, bounces), over the energy turned over";

    Heat, "K", { "mean_temperature" => |v, _| heat::mean_temperature(v.snapshot), "lowest_temperature" => |v, _| heat::extremes(v.snapshot)[0], "highest_temperature" => |v, _| heat::extremes(v.snapshot)[1] }, "temperature of the grains: mean, weighted by heat capacity, lowest and highest";
    Heat, "J", { "thermal_energy" => |v, _| heat::thermal_energy(v.snapshot) }, "sum of heat capacity times temperature of the grains";
    Heat, "J", { "heat_of_friction" => |v, _| heat::made(v.snapshot) }, "heat that contacts made of the energy of the motion since the start, by friction, rolling, damping and impacts (`heat.friction_heat`)";
    HeatBoundary, "W", { "heat_flow" => |v, i| heat::flow(v.snapshot, i, v.base) }, "mean heat per time that contacts brought to a boundary since the output before; 0 in the first output";
    HeatBoundary, "J", { "heat_received" => |v, i| heat::received(v.snapshot, i) }, "heat that contacts brought to a boundary since the start; negative where it gave some";
    HeatBoundary, "K", { "wall_temperature" => |v, i| v.snapshot.world.bodies.heat[i].temperature }, "temperature of a boundary; that of the scene at the start if it is insulated";
}
