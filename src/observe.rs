//! Observables of a state: one number per quantity, whichever engine made the state.
//!
//! Every quantity is a pure function of a [`Snapshot`]; one table, [`quantity::QUANTITIES`], is the list of columns of
//! `timeseries.csv`, of the numbers in `summary.json` and of the names an `[expect]` table may use.
//! A quantity that has no meaning in a state (the height of no grains) is not a number; [`missing`] tells why. None is infinite.
//!
//! [`quantity::table`] lists all quantities with unit and meaning.
//!
//! Where a state lies on several ranks, each computes its part of every quantity and they join the parts
//! ([`crate::engine::share`]).
//!
//! A quantity covers the grains alone; the table says "with dynamic boundaries" where these count too. Forces, residuals and sweeps belong
//! to the last substep before the output. They leave out everything between outputs, and bounces, which take no time; the mean forces and
//! torques and the stresses of regions and layers contain both. Maxima and means that an `[expect]` table takes are over the outputs, not
//! over the steps.

pub mod bonds;
pub mod bounds;
pub mod bridges;
pub mod cell;
pub mod contacts;
mod deformation;
mod digits;
pub mod energy;
pub mod expectation;
pub mod fabric;
pub mod fields;
pub mod flow;
pub mod heat;
pub mod layers;
pub mod loads;
pub mod lost;
pub mod missing;
pub mod mixing;
pub mod packing;
pub mod passages;
pub mod quantity;
pub mod regions;
pub mod repose;
pub mod series;
pub mod sinks;
pub mod stress;
pub mod surface;
pub mod take;
pub mod tracked;
pub mod watch;

use glam::DMat3;

use crate::engine::{Snapshot, TotalImpulse};
use crate::model::{MeterSums, World};

use energy::Balance;
use quantity::{Needs, QUANTITIES, Quantity, View};

pub use cell::CellPlan;
pub(crate) use digits::short;
pub use expectation::Expectation;
pub use fabric::FabricPlan;
pub use fields::FieldPlan;
pub use flow::DrumPlan;
pub use layers::LayerPlan;
pub use mixing::MixingPlan;
pub use regions::RegionPlan;
pub use surface::SurfacePlan;
pub use tracked::{Tracked, TrackedBody};

/// Name and unit of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize))]
pub struct Column {
    /// Name, as in an `[expect]` table.
    pub name: String,
    /// Unit; "-" for none.
    pub unit: &'static str,
}

/// All quantities of one state, in the order of [`Observer::columns`].
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Observation {
    /// Simulated time \[s\].
    pub time: f64,
    /// Steps done since the start.
    pub step: u64,
    /// One value per column; not a number where a quantity has no meaning.
    pub values: Vec<f64>,
    /// Base of the rates of the next observation.
    pub base: Base,
}

/// State observed before, since which rates are taken.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Base {
    /// Simulated time \[s\].
    pub time: f64,
    /// Total impulse of the contacts on each boundary since the start.
    pub impulses: Vec<TotalImpulse>,
    /// Sums of the gates and residences of the world since the start.
    pub counted: Vec<f64>,
    /// Heat that each boundary received since the start \[J\]; empty in a scene without heat.
    pub received: Vec<f64>,
    /// Sums of the meters of the world since the start.
    pub stresses: Vec<MeterSums>,
    /// Id of every grain in ascending order, and its sum of impulse times arm since it came \[N m s\]; empty unless the world measures
    /// grains.
    pub grain_stresses: Vec<(u32, DMat3)>,
    /// Mass that each sink had removed \[kg\].
    pub removed_mass: Vec<f64>,
    /// Stresses and strains of the observed cell.
    pub cell: Option<cell::CellState>,
    /// Sums of a periodic cell that deforms.
    pub strained: Option<deformation::StrainSums>,
    /// Heights of the observed surface.
    pub surface: Option<surface::SurfaceState>,
}

/// Observes the states of one run.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Observer {
    #[cfg_attr(feature = "scenario", serde(skip))]
    columns: Vec<Column>,
    /// Quantity of each column, and index of its boundary, sink, region, body or pair.
    #[cfg_attr(feature = "scenario", serde(skip))]
    sources: Vec<(&'static Quantity, usize)>,
    boundaries: Vec<String>,
    joints: Vec<String>,
    sinks: Vec<String>,
    /// Classes of the sinks by radius; `profile_bins` are their classes by place.
    size_classes: Vec<sinks::Class>,
    profile_bins: Vec<sinks::Class>,
    profiles: Vec<sinks::Profile>,
    has_bonds: bool,
    drum: Option<DrumPlan>,
    cell: Option<CellPlan>,
    surface: Option<SurfacePlan>,
    regions: Vec<RegionPlan>,
    gates: Vec<String>,
    residences: Vec<String>,
    stay_classes: Vec<String>,
    mixing: Vec<MixingPlan>,
    tracked: Tracked,
    has_compatible: bool,
    fabric: Option<FabricPlan>,
    balance: Option<Balance>,
    has_heat: bool,
    has_liquid: bool,
    deforms: bool,
}

impl Observer {
    /// Observer of a world with the boundaries, joints, sinks, bonds, gates and residences of `world`, and of a drum if there is one.
    pub fn new(world: &World, drum: Option<&DrumPlan>) -> Observer {
        let observer = Observer {
            columns: Vec::new(),
            sources: Vec::new(),
            boundaries: world.boundaries.iter().map(|boundary| boundary.name.clone()).collect(),
            joints: world.joints.iter().map(|joint| joint.name.clone()).collect(),
            sinks: world.sinks.iter().map(|sink| sink.name.clone()).collect(),
            size_classes: sinks::classes(&world.sinks, true),
            profile_bins: sinks::classes(&world.sinks, false),
            profiles: sinks::profiles(&world.sinks),
            has_bonds: !world.bonds.is_empty(),
            drum: drum.cloned(),
            cell: None,
            surface: None,
            regions: Vec::new(),
            gates: world.gates.iter().map(|gate| gate.name.clone()).collect(),
            residences: passages::residence_names(&world.residences),
            stay_classes: passages::stay_classes(&world.residences),
            mixing: Vec::new(),
            tracked: Tracked::default(),
            has_compatible: false,
            fabric: None,
            balance: None,
            has_heat: world.heat.is_some(),
            has_liquid: world.liquid.is_some(),
            deforms: world.deformation.is_some(),
        };
        observer.with_columns()
    }

    /// Adds the columns of this cell.
    #[must_use]
    pub fn with_cell(self, cell: Option<&CellPlan>) -> Observer {
        Observer { cell: cell.cloned(), ..self }.with_columns()
    }

    /// Adds the columns of this surface.
    #[must_use]
    pub fn with_surface(self, surface: Option<&SurfacePlan>) -> Observer {
        Observer { surface: surface.cloned(), ..self }.with_columns()
    }

    /// Adds the columns of these regions.
    #[must_use]
    pub fn with_regions(self, regions: &[RegionPlan]) -> Observer {
        Observer { regions: regions.to_vec(), ..self }.with_columns()
    }

    /// Adds the columns of these mixtures.
    #[must_use]
    pub fn with_mixing(self, mixing: &[MixingPlan]) -> Observer {
        Observer { mixing: mixing.to_vec(), ..self }.with_columns()
    }

    /// Adds the columns of these bodies and contacts, which are observed one by one.
    #[must_use]
    pub fn with_tracked(self, tracked: &Tracked) -> Observer {
        Observer { tracked: tracked.clone(), ..self }.with_columns()
    }

    /// Adds the columns of this fabric.
    #[must_use]
    pub fn with_fabric(self, fabric: Option<FabricPlan>) -> Observer {
        Observer { fabric, ..self }.with_columns()
    }

    /// Adds the columns of the compatible forces, if the states come with such forces.
    #[must_use]
    pub fn with_compatible(self, has_compatible: bool) -> Observer {
        Observer { has_compatible, ..self }.with_columns()
    }

    /// Adds the columns of the energy balance of the run.
    #[must_use]
    pub fn with_balance(self, balance: Balance) -> Observer {
        Observer { balance: Some(balance), ..self }.with_columns()
    }

    /// Energy balance of the run; `None` where energies are not observed.
    pub fn balance(&self) -> Option<&Balance> {
        self.balance.as_ref()
    }

    /// Makes the columns of everything that is observed, which an observer from another rank lacks.
    pub fn with_columns(mut self) -> Observer {
        let (mut columns, mut sources) = (Vec::new(), Vec::new());
        // Columns of one boundary, region and so on stand together.
        for group in QUANTITIES.chunk_by(|a, b| a.needs == b.needs) {
            for (subject, name) in self.subjects(group[0].needs).into_iter().enumerate() {
                for quantity in group {
                    let name = match quantity.needs.is_named() {
                        true => format!("{}:{name}", quantity.name),
                        false => quantity.name.to_owned(),
                    };
                    columns.push(Column { name, unit: quantity.unit });
                    sources.push((quantity, subject));
                }
            }
        }
        (self.columns, self.sources) = (columns, sources);
        self
    }

    /// Names of the subjects (boundaries, sinks, regions and so on) of the quantities with this need; one empty name for a quantity of the
    /// whole state.
    fn subjects(&self, needs: Needs) -> Vec<String> {
        let there = |is_there: bool| vec![String::new(); usize::from(is_there)];
        match needs {
            Needs::Nothing => there(true),
            Needs::Boundary => self.boundaries.clone(),
            Needs::Compatible => there(self.has_compatible),
            Needs::CompatibleBoundary if self.has_compatible => self.boundaries.clone(),
            Needs::CompatibleBoundary => Vec::new(),
            Needs::Joint => self.joints.clone(),
            Needs::Bonds => there(self.has_bonds),
            Needs::Drum => there(self.drum.is_some()),
            Needs::Sink => self.sinks.clone(),
            Needs::SizeClass => self.size_classes.iter().map(|class| class.name.clone()).collect(),
            Needs::ProfileBin => self.profile_bins.iter().map(|class| class.name.clone()).collect(),
            Needs::Profile => self.profiles.iter().map(|profile| profile.name.clone()).collect(),
            Needs::Cell => there(self.cell.is_some() || self.deforms),
            Needs::Deformation => there(self.deforms),
            Needs::Surface => there(self.surface.is_some()),
            Needs::Fabric => there(self.fabric.is_some()),
            Needs::Region => self.regions.iter().map(|region| region.name.clone()).collect(),
            Needs::Mixing => self.mixing.iter().map(|plan| plan.name.clone()).collect(),
            Needs::Gate => self.gates.clone(),
            Needs::Residence => self.residences.clone(),
            Needs::StayClass => self.stay_classes.clone(),
            Needs::Body => self.tracked.bodies.iter().map(TrackedBody::name).collect(),
            Needs::Pair => self.tracked.pair_names(),
            Needs::CompatiblePair if self.has_compatible => self.tracked.pair_names(),
            Needs::CompatiblePair => Vec::new(),
            Needs::EnergyBalance => there(self.balance.is_some()),
            Needs::Heat => there(self.has_heat),
            Needs::Liquid => there(self.has_liquid),
            Needs::HeatBoundary if self.has_heat => self.boundaries.clone(),
            Needs::HeatBoundary => Vec::new(),
        }
    }

    /// Names and units of the values of an observation.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Index of a quantity among the values of an observation; `None` if it has no column.
    pub fn find(&self, quantity: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == quantity)
    }

    /// The value of one column in a state; rates are averages since the base, zero without one.
    pub fn value(&self, column: usize, snapshot: &Snapshot, base: Option<&Base>) -> f64 {
        let (quantity, subject) = self.sources[column];
        missing::number((quantity.of)(&View::new(self, snapshot, base), subject))
    }

    /// Base of rates that are taken since this state.
    pub fn base(&self, snapshot: &Snapshot, base: Option<&Base>) -> Base {
        View::new(self, snapshot, base).next_base()
    }

    /// All quantities of a state; rates are zero.
    pub fn observe(&self, snapshot: &Snapshot) -> Observation {
        self.observe_after(snapshot, None)
    }

    /// All quantities of a state; rates are averages since the base, zero without one.
    pub fn observe_after(&self, snapshot: &Snapshot, base: Option<&Base>) -> Observation {
        let view = View::new(self, snapshot, base);
        let value =
            |(quantity, subject): &(&Quantity, usize)| missing::number((quantity.of)(&view, *subject));
        let values = self.sources.iter().map(value).collect();
        Observation { time: snapshot.report.time, step: snapshot.report.step, values, base: view.next_base() }
    }
}

/// Present grains that this process counts, without the removed ones: id, body, radius \[m\] and mass \[kg\] of each.
fn grains(snapshot: &Snapshot) -> impl Iterator<Item = GrainView> + '_ {
    let world = &snapshot.world;
    snapshot.present_grains().map(|i| GrainView {
        id: i,
        body: world.grain_body(i),
        radius: world.grain_radius(i),
        mass: world.grain_mass(i),
    })
}

/// Data of a grain that the quantities use.
struct GrainView {
    /// Id.
    id: usize,
    /// Index of its body.
    body: usize,
    /// Radius \[m\]; for a clump the radius of a sphere of the same volume.
    radius: f64,
    /// Mass \[kg\].
    mass: f64,
}

#[cfg(test)]
pub(crate) mod test_worlds;

#[cfg(test)]
mod tests {
    use super::test_worlds::{beside, drained_stack, stack};
    use super::*;
    use crate::engine::StepReport;
    use crate::law::bond::BondLaw;
    use crate::law::normal::NormalLaw;
    use crate::model::{
        AxisControl, Bins, By, Deformation, DeformationStage, Gate, Heat, Joint, JointKind, Plane, Region,
        Residence, Span, WallHeat,
    };
    use glam::DVec3;

    fn zone() -> RegionPlan {
        let region = Region::Sphere { centre: DVec3::new(0.3, 0.0, 0.0), radius: 1.0 };
        RegionPlan { name: "zone".into(), region, material: None }
    }

    fn mixture() -> MixingPlan {
        let RegionPlan { name, region, .. } = zone();
        MixingPlan { name, region, cell: 0.5, least_grains: 1, tracer: mixing::Tracer::Below(0.6) }
    }

    /// A cell with the only boundary as each of its walls.
    fn cell_plan() -> CellPlan {
        let walls = [0, 1, 2].map(|axis| Span { axis, low: 0, high: 0 });
        CellPlan { walls, axial: 2, strain_from: 0.0 }
    }

    fn surface_plan() -> SurfacePlan {
        let (min, max) = (glam::DVec2::ZERO, glam::DVec2::ONE);
        SurfacePlan { min, max, cells: [4, 3], floor: 0.0, from: 0.0 }
    }

    /// The same world with a joint on its floor.
    fn with_a_joint_and_a_bond(mut world: World) -> World {
        let joint =
            Joint::new(&world, JointKind::Hinge, "hinge", [None, Some(0)], [DVec3::ZERO; 2], DVec3::Z);
        world.add_joint(joint);
        let bodies = [1, 0];
        let ends = bodies.map(|body: u32| world.bodies.position[body as usize]);
        let bond = world.bond_between(0, bodies, ends, 0.1);
        world.bonds.laws.push(BondLaw {
            youngs_modulus: 1e6,
            poisson_ratio: 0.25,
            radius_factor: 1.0,
            tensile_strength: 1e5,
            cohesion: 1e5,
            friction: 0.5,
            damping_ratio: 0.1,
        });
        world.add_bond(bond);
        world
    }

    #[test]
    fn every_column_has_a_value_and_its_own_name() {
        let snapshot = drained_stack();
        let plan = DrumPlan { boundary: 0, radius: 1.0, plug_speed: 0.15, region: None };
        let snapshot = Snapshot { world: with_a_joint_and_a_bond(snapshot.world), ..snapshot };
        let observer =
            Observer::new(&snapshot.world, Some(&plan)).with_cell(Some(&cell_plan())).with_regions(&[zone()]);
        let observation = observer.observe(&snapshot);
        assert_eq!(observation.values.len(), observer.columns().len());
        let mut names: Vec<&str> = observer.columns().iter().map(|column| column.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), observer.columns().len());
    }

    #[test]
    fn a_value_stands_under_its_name() {
        let snapshot = stack();
        let observer = Observer::new(&snapshot.world, None);
        let observation = observer.observe(&snapshot);
        let value = |name: &str| observation.values[observer.find(name).expect("a column")];
        assert_eq!(value("grains"), 2.0);
        assert_eq!(value("height"), packing::height(&snapshot));
        assert_eq!(value("force_z:floor"), loads::on_boundaries(&snapshot)[0].force.z);
        assert_eq!(value("torque_y:floor"), loads::on_boundaries(&snapshot)[0].torque.y);
        assert_eq!(value("residual_friction_max"), snapshot.report.residuals.friction.max);
        assert_eq!((observation.time, observation.step), (0.25, 50));
    }

    /// Observer of all quantities but compatible forces, of a world with one sink, which gets one class of radii and a profile with these
    /// bounds.
    fn observer_of_everything(world: &mut World, profile: &[f64]) -> Observer {
        let plan = DrumPlan { boundary: 0, radius: 1.0, plug_speed: 0.15, region: None };
        let grains = [TrackedBody::Grain(0), TrackedBody::Grain(1)];
        let tracked = Tracked { bodies: grains[..1].to_vec(), contacts: vec![grains] };
        let bins = |by, bounds: &[f64]| Bins { by, bounds: bounds.to_vec() };
        world.sinks[0].bins = vec![bins(By::Radius, &[]), bins(By::Place(1), profile)];
        let (point, normal) = (DVec3::ZERO, DVec3::Z);
        world.gates = vec![Gate { name: "gate".into(), point, normal, radius: None, material: None }];
        let RegionPlan { name, region, material } = zone();
        world.residences = vec![Residence { name, region, material, bounds: vec![1.0] }];
        world.prepare_counts();
        world.materials.list.iter_mut().for_each(|material| material.heat_capacity = 500.0);
        world.set_heat(Heat::new(300.0, vec![WallHeat::Insulated; world.boundaries.len()]));
        world.liquid = Some(test_worlds::water(world));
        Observer::new(world, Some(&plan))
            .with_cell(Some(&cell_plan()))
            .with_surface(Some(&surface_plan()))
            .with_regions(&[zone()])
            .with_mixing(&[mixture()])
            .with_tracked(&tracked)
            .with_fabric(Some(FabricPlan { plane: Plane::Xz, bins: 36 }))
            .with_balance(Balance::opened_at(&stack(), NormalLaw::Hertz))
    }

    #[test]
    fn an_observer_of_everything_has_every_quantity_of_the_table() {
        let mut world = drained_stack().world;
        world.sinks.truncate(1);
        let stage = DeformationStage { from: 0.0, axes: [AxisControl::Rate(0.0); 3], shear_rate: 1.0 };
        world.deformation = Some(Deformation::new(vec![stage], DVec3::ONE));
        let observer = observer_of_everything(&mut with_a_joint_and_a_bond(world), &[]).with_compatible(true);
        let mut found: Vec<(&str, &str)> = observer
            .columns()
            .iter()
            .map(|column| (column.name.split(':').next().unwrap_or_default(), column.unit))
            .collect();
        // Residence times have two classes.
        found.dedup();
        let expected: Vec<(&str, &str)> =
            QUANTITIES.iter().map(|quantity| (quantity.name, quantity.unit)).collect();
        assert_eq!(found, expected);
        let is_found = |column: &Column| quantity::find(&column.name).is_some();
        assert!(observer.columns().iter().all(is_found));
        assert!(quantity::find("hight").is_none() && quantity::find("height:floor").is_none());
    }

    #[test]
    fn what_is_not_a_number_has_a_reason_and_nothing_is_infinite() {
        let mut snapshot = drained_stack();
        snapshot.world.sinks.truncate(1);
        snapshot.world = with_a_joint_and_a_bond(snapshot.world);
        snapshot.balance = Some(Default::default());
        let observer = observer_of_everything(&mut snapshot.world, &[0.0, 1.0]);
        let mut at_rest = snapshot.clone();
        let bodies = at_rest.world.grain_count();
        (0..bodies).for_each(|grain| {
            let body = at_rest.world.grain_body(grain);
            at_rest.world.bodies.velocity[body] = DVec3::ZERO;
        });
        let mut weightless = snapshot.clone();
        weightless.world.gravity = DVec3::ZERO;
        let mut empty = snapshot.clone();
        (0..bodies).for_each(|grain| {
            empty.world.take_out(grain);
        });
        empty.contacts.clear();
        let mut without = 0;
        for state in [snapshot, at_rest, weightless, empty] {
            let values = observer.observe(&state).values;
            for (Column { name, .. }, value) in observer.columns().iter().zip(values) {
                assert!(!value.is_infinite(), "{name}");
                assert!(
                    !value.is_nan() || missing::reason(name).is_some(),
                    "{name} is not a number, without a reason"
                );
                without += usize::from(value.is_nan());
            }
        }
        assert!(without > 30, "{without}: the states are to have gaps");
    }

    #[test]
    fn a_single_value_is_that_of_the_whole_observation() {
        let snapshot = drained_stack();
        let observer = Observer::new(&snapshot.world, None).with_regions(&[zone()]);
        let mut before = Snapshot { report: StepReport::default(), ..stack() };
        before.world.sinks = snapshot.world.sinks.clone();
        let before = observer.observe(&before);
        let all = observer.observe_after(&snapshot, Some(&before.base));
        for (column, value) in all.values.iter().enumerate() {
            let alone = observer.value(column, &snapshot, Some(&before.base));
            assert_eq!(alone.to_bits(), value.to_bits(), "{}", observer.columns()[column].name);
        }
        assert_eq!(observer.base(&snapshot, Some(&before.base)), all.base);
        let blank = Observation { base: Base::default(), ..before };
        let flow = observer.find("mass_flow:spill").expect("a column");
        assert_eq!(
            observer.observe_after(&snapshot, Some(&blank.base)).values[flow],
            0.0,
            "nothing to compare with"
        );
    }

    #[test]
    fn grains_that_were_removed_count_for_their_sink_and_for_nothing_else() {
        let snapshot = drained_stack();
        let observer = Observer::new(&snapshot.world, None).with_regions(&[zone()]);
        let observation = observer.observe(&snapshot);
        let value = |name: &str| observation.values[observer.find(name).expect("a column")];
        assert_eq!((value("grains"), value("contacts"), value("coordination_number")), (1.0, 1.0, 1.0));
        assert_eq!((value("removed:outlet"), value("removed:spill")), (0.0, 1.0));
        approx::assert_relative_eq!(value("height"), 0.95, max_relative = 1e-12);
        approx::assert_relative_eq!(value("kinetic_energy"), 9.0, max_relative = 1e-12);
        assert_eq!((value("count:zone"), value("centre_z:zone")), (1.0, 0.45));
    }

    #[test]
    fn the_mass_flow_is_what_a_sink_took_since_the_last_observation_per_second() {
        let (before, after) = (stack(), drained_stack());
        let observer = Observer::new(&after.world, None);
        let mut first = before.clone();
        first.world.sinks = after.world.sinks.clone();
        first.report.time = 0.05;
        let first = observer.observe(&first);
        let flow = |observation: &Observation, sink: &str| {
            observation.values[observer.find(&format!("mass_flow:{sink}")).expect("a column")]
        };
        assert_eq!(flow(&first, "spill"), 0.0, "nothing to compare with");
        // 16 kg in 0.2 s
        let second = observer.observe_after(&after, Some(&first.base));
        approx::assert_relative_eq!(flow(&second, "spill"), 80.0, max_relative = 1e-12);
        assert_eq!(flow(&second, "outlet"), 0.0);
    }

    #[test]
    fn with_a_balance_there_are_its_energies() {
        let plain = Observer::new(&stack().world, None);
        let balanced = plain.clone().with_balance(Balance::opened_at(&stack(), NormalLaw::Hertz));
        let more: Vec<&str> =
            balanced.columns()[plain.columns().len()..].iter().map(|c| c.name.as_str()).collect();
        let of_every_run = ["kinetic_energy", "rotational_energy", "potential_energy"];
        let names: Vec<&str> =
            of_every_run.into_iter().chain(more).filter(|name| !name.ends_with("_share")).collect();
        assert_eq!(names, quantity::energies());
    }

    #[test]
    fn without_a_drum_there_is_no_drum_column() {
        let observer = Observer::new(&beside().world, None);
        assert_eq!(observer.find("plug_share"), None);
        assert_eq!(observer.find("force_x:floor"), None, "there is no boundary");
    }
}
