//! What a state amounts to: one number per quantity, whichever engine made the state.
//!
//! Every quantity is a pure function of a [`Snapshot`]; the table below is the list of columns of
//! `timeseries.csv`, of the numbers in `summary.json` and of the names an `[expect]` table may use.
//! A quantity that has no meaning in a state (the height of no grains) is not a number.
//!
//! | Quantity | Unit | Meaning |
//! |---|---|---|
//! | `grains` | - | grains that are there: emitted and not removed |
//! | `grains_lost` | - | grains that left the domain; without one those below all boundaries, which nothing can stop |
//! | `height`, `height_p99` | m | highest top of a grain against gravity, from the origin; 99th percentile of the tops |
//! | `centre_of_mass_x`, `centre_of_mass_y`, `centre_of_mass_z` | m | of the grains |
//! | `front_x` | m | 99th percentile of the x of the centres of grains |
//! | `repose_angle_deg` | deg | angle of the cone with the same mean height and mean distance from its axis |
//! | `kinetic_energy`, `rotational_energy` | J | of translation, of rotation; with free boundaries |
//! | `potential_energy` | J | in gravity, from the origin; with free boundaries |
//! | `kinetic_energy_per_grain` | m g d | translation and rotation of the grains over Σ m g d |
//! | `rms_speed` | m/s | root mean square of the grains |
//! | `max_speed` | m/s | of the fastest grain or free boundary |
//! | `granular_temperature` | m²/s² | third of the velocity variance of the grains, weighted by mass |
//! | `inverse_thermal_speed` | s/m | one over the root of the granular temperature |
//! | `momentum_x`, `momentum_y`, `momentum_z` | N s | with free boundaries |
//! | `angular_momentum_x`, `angular_momentum_y`, `angular_momentum_z` | N m s | about the origin, with spin and free boundaries |
//! | `mean_overlap`, `max_overlap` | radius | over the contacts that overlap, those of free boundaries too; in mean radii of the pair |
//! | `contacts` | - | pairs with a gap below the contact margin, touching or not |
//! | `touching` | - | contacts that overlap or carry a force |
//! | `sliding_share` | - | share of those that carry a force whose friction is at its bound |
//! | `coordination_number` | - | touching contacts per grain, those with boundaries too |
//! | `coordination_number_without_rattlers` | - | the same over grains with two or more |
//! | `weight_supported` | - | force along gravity on all boundaries that are not free, over the weight of grains and free boundaries; last substep |
//! | `residual_normal`, `residual_friction` | m/s | what the solver left undone, mean over the contacts; last substep |
//! | `residual_normal_max`, `residual_friction_max` | m/s | the largest; last substep |
//! | `residual_rolling`, `residual_rolling_max` | rad/s | the same of rolling and twisting; last substep |
//! | `sweeps` | - | sweeps of the last substep |
//! | `impact_sweeps` | - | sweeps of its impact stage, 0 where nothing bounced |
//! | `residual_impact` | m/s | what the last of those changed at most, or the speed of a contact that still closes; last substep |
//! | `colours`, `rest` | - | colours of the contacts, and contacts without one; last step |
//! | `force_x:NAME`, `force_y:NAME`, `force_z:NAME` | N | of all contacts on a boundary, free ones too; last substep |
//! | `torque_x:NAME`, `torque_y:NAME`, `torque_z:NAME` | N m | the same about the position of the boundary; last substep |
//! | `mean_force_x:NAME`, `mean_force_y:NAME`, `mean_force_z:NAME` | N | the mean since the output before, impacts included; 0 in the first output |
//! | `mean_torque_x:NAME`, `mean_torque_y:NAME`, `mean_torque_z:NAME` | N m | the same of the torque |
//! | `drive_force:NAME` | N | of the drive of a slider, towards larger coordinates; last substep |
//! | `dynamic_angle_deg` | deg | of a drum: centre of mass from straight down, positive the way the drum turns |
//! | `plug_share` | - | of a drum: share of the grains that move with it |
//! | `cell_x`, `cell_y`, `cell_z` | m | of a cell: distance of its walls |
//! | `strain_x`, `strain_y`, `strain_z`, `volume_strain` | - | of a cell: how much it has shrunk, over its size at `strain_from` |
//! | `stress_x`, `stress_y`, `stress_z` | Pa | of a cell: mean force on a pair of its walls over their area, from inside; last substep |
//! | `pressure` | Pa | of a cell: mean of the three from the mean forces since the output before, impacts included; 0 in the first output |
//! | `mean_stress`, `deviator_stress` | Pa | of a cell: mean of the three, and the axial one less the mean of the others |
//! | `solid_fraction` | - | of a cell: volume of the grains over that between the walls |
//! | `removed:NAME` | - | grains that a sink removed since the start |
//! | `removed_mass:NAME` | kg | their mass |
//! | `mass_flow:NAME` | kg/s | the mean since the output before |
//! | `count:NAME` | - | grains whose centre is in a region |
//! | `mass:NAME` | kg | their mass |
//! | `centre_x:NAME`, `centre_y:NAME`, `centre_z:NAME` | m | their centre of mass |
//! | `position_x:NAME`, `position_y:NAME`, `position_z:NAME` | m | of a grain (`grain-0`) or boundary that is observed |
//! | `velocity_x:NAME`, `velocity_y:NAME`, `velocity_z:NAME` | m/s | of the same |
//! | `spin_x:NAME`, `spin_y:NAME`, `spin_z:NAME` | rad/s | of the same |
//! | `normal_force:NAME`, `friction_force:NAME` | N | of a contact that is observed (`0-1`, `0-floor`); last substep |
//! | `overlap:NAME` | m | of the same |
//! | `elastic_energy` | J | stored by the overlaps, those of free boundaries too |
//! | `total_energy` | J | kinetic, rotational, potential and elastic energy |
//! | `ballistic_energy` | J | the same with the kinetic energy at v + h g/2: what flights and elastic bounces keep |
//! | `gravity_work`, `boundary_work` | J | done on grains and free boundaries since the start |
//! | `dissipated_by_impact`, `dissipated_by_friction`, `dissipated_by_rolling`, `dissipated_by_normal` | J | since the start; of normal rows less what overlaps store |
//! | `emitted_energy`, `removed_energy` | J | kinetic energy that came with emitted grains, that went with removed ones |
//! | `energy_error` | J | kinetic energy that this account does not explain |
//! | `energy_error_share` | - | its size over the energy turned over |
//! | `energy_made_share` | - | what friction and rolling made out of nothing since the start, impacts apart, over the energy turned over |
//!
//! "With free boundaries" is said where they count; everything else is of the grains alone. Forces, residuals and sweeps are
//! those of the last substep before the output: what happens between outputs is not in them, nor are bounces, which take no time; both
//! are in the mean forces and torques. So are maxima and means that an
//! `[expect]` table takes: they are over the outputs, not over the steps.

mod cell;
pub mod contacts;
pub mod energy;
pub mod expectation;
pub mod flow;
pub mod loads;
pub mod lost;
pub mod packing;
pub mod regions;
pub mod series;
pub mod sinks;
pub mod tracked;

use glam::DVec3;

use crate::engine::{Snapshot, TotalImpulse};
use crate::model::World;
use crate::scenario::{CellPlan, DrumPlan, RegionPlan, Tracked};
use energy::Accounts;

/// A quantity of every state: name, unit, meaning.
type Quantity = (&'static str, &'static str, fn(&Snapshot) -> f64);

/// The quantities of every run. Boundaries, a drum, sinks and regions add theirs.
const QUANTITIES: &[Quantity] = &[
    ("grains", "-", |s| s.world.present_count() as f64),
    ("grains_lost", "-", lost::count),
    ("height", "m", packing::height),
    ("height_p99", "m", packing::height_p99),
    ("centre_of_mass_x", "m", |s| packing::centre_of_mass(s).x),
    ("centre_of_mass_y", "m", |s| packing::centre_of_mass(s).y),
    ("centre_of_mass_z", "m", |s| packing::centre_of_mass(s).z),
    ("kinetic_energy", "J", energy::kinetic),
    ("rotational_energy", "J", energy::rotational),
    ("potential_energy", "J", energy::potential),
    ("kinetic_energy_per_grain", "m g d", energy::kinetic_per_grain),
    ("rms_speed", "m/s", flow::rms_speed),
    ("max_speed", "m/s", flow::max_speed),
    ("mean_overlap", "radius", |s| contacts::overlap(s).mean),
    ("max_overlap", "radius", |s| contacts::overlap(s).max),
    ("contacts", "-", |s| s.contacts.len() as f64),
    ("touching", "-", contacts::touching),
    ("sliding_share", "-", contacts::sliding_share),
    ("coordination_number", "-", contacts::coordination_number),
    ("coordination_number_without_rattlers", "-", contacts::coordination_number_without_rattlers),
    ("weight_supported", "-", loads::weight_supported),
    ("residual_normal", "m/s", |s| s.report.residuals.normal.mean),
    ("residual_friction", "m/s", |s| s.report.residuals.friction.mean),
    ("residual_rolling", "rad/s", |s| s.report.residuals.rolling.mean),
    ("residual_normal_max", "m/s", |s| s.report.residuals.normal.max),
    ("residual_friction_max", "m/s", |s| s.report.residuals.friction.max),
    ("residual_rolling_max", "rad/s", |s| s.report.residuals.rolling.max),
    ("sweeps", "-", |s| f64::from(s.report.sweeps)),
    ("impact_sweeps", "-", |s| f64::from(s.report.impacts.sweeps)),
    ("residual_impact", "m/s", |s| s.report.impacts.residual),
    ("colours", "-", |s| f64::from(s.report.colours)),
    ("rest", "-", |s| s.report.rest as f64),
    ("momentum_x", "N s", |s| packing::momentum(s).x),
    ("momentum_y", "N s", |s| packing::momentum(s).y),
    ("momentum_z", "N s", |s| packing::momentum(s).z),
    ("angular_momentum_x", "N m s", |s| packing::angular_momentum(s).x),
    ("angular_momentum_y", "N m s", |s| packing::angular_momentum(s).y),
    ("angular_momentum_z", "N m s", |s| packing::angular_momentum(s).z),
    ("front_x", "m", packing::front_x),
    ("repose_angle_deg", "deg", packing::repose_angle_deg),
    ("granular_temperature", "m²/s²", flow::granular_temperature),
    ("inverse_thermal_speed", "s/m", |s| flow::granular_temperature(s).sqrt().recip()),
];

/// Name and unit of a column.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Column {
    /// Name, as in an `[expect]` table.
    pub name: String,
    /// Unit; "-" for none.
    pub unit: &'static str,
}

impl Column {
    fn new(name: impl Into<String>, unit: &'static str) -> Column {
        Column { name: name.into(), unit }
    }
}

/// All quantities of one state, in the order of [`Observer::columns`].
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// Simulated time \[s\].
    pub time: f64,
    /// Steps done since the start.
    pub step: u64,
    /// One value per column; not a number where a quantity has no meaning.
    pub values: Vec<f64>,
    /// Per boundary: what contacts had given it since the start.
    pub impulses: Vec<TotalImpulse>,
}

/// Observes the states of one run.
#[derive(Debug, Clone)]
pub struct Observer {
    columns: Vec<Column>,
    drum: Option<DrumPlan>,
    cell: Option<CellPlan>,
    regions: Vec<RegionPlan>,
    tracked: Tracked,
    accounts: Option<Accounts>,
}

/// Quantities of a boundary, each along x, y and z, in the order of its columns.
const OF_A_BOUNDARY: [(&str, &str); 4] =
    [("force", "N"), ("torque", "N m"), ("mean_force", "N"), ("mean_torque", "N m")];
/// Quantities of a sink, in the order of its columns.
const OF_A_SINK: [(&str, &str); 3] = [("removed", "-"), ("removed_mass", "kg"), ("mass_flow", "kg/s")];
/// Quantities of a region, in the order of its columns.
const OF_A_REGION: [(&str, &str); 5] =
    [("count", "-"), ("mass", "kg"), ("centre_x", "m"), ("centre_y", "m"), ("centre_z", "m")];

impl Observer {
    /// An observer of a world with the boundaries and sinks of `world`, and of its drum if there is one.
    pub fn new(world: &World, drum: Option<&DrumPlan>) -> Observer {
        let mut columns: Vec<Column> =
            QUANTITIES.iter().map(|&(name, unit, _)| Column::new(name, unit)).collect();
        for boundary in &world.boundaries {
            for (kind, unit) in OF_A_BOUNDARY {
                let name = |axis| format!("{kind}_{axis}:{}", boundary.name);
                columns.extend(["x", "y", "z"].map(|axis| Column::new(name(axis), unit)));
            }
            if boundary.slider().is_some() {
                columns.push(Column::new(format!("drive_force:{}", boundary.name), "N"));
            }
        }
        if drum.is_some() {
            columns.push(Column::new("dynamic_angle_deg", "deg"));
            columns.push(Column::new("plug_share", "-"));
        }
        for sink in &world.sinks {
            columns.extend(OF_A_SINK.map(|(kind, unit)| Column::new(format!("{kind}:{}", sink.name), unit)));
        }
        Observer {
            columns,
            drum: drum.cloned(),
            cell: None,
            regions: Vec::new(),
            tracked: Tracked::default(),
            accounts: None,
        }
    }

    /// The same observer, of this cell too.
    #[must_use]
    pub fn with_cell(mut self, cell: Option<&CellPlan>) -> Observer {
        if cell.is_some() {
            self.columns.extend(cell::QUANTITIES.map(|(name, unit)| Column::new(name, unit)));
        }
        self.cell = cell.cloned();
        self
    }

    /// The same observer, of these regions too.
    #[must_use]
    pub fn with_regions(mut self, regions: &[RegionPlan]) -> Observer {
        for region in regions {
            let column = |(kind, unit)| Column::new(format!("{kind}:{}", region.name), unit);
            self.columns.extend(OF_A_REGION.map(column));
        }
        self.regions.extend_from_slice(regions);
        self
    }

    /// Observes these bodies and contacts as well, one by one.
    #[must_use]
    pub fn with_tracked(mut self, tracked: &Tracked) -> Observer {
        self.columns.extend(tracked.columns().into_iter().map(|(name, unit)| Column::new(name, unit)));
        self.tracked = tracked.clone();
        self
    }

    /// Observes the energies of the run as well that `accounts` were opened for; comes last.
    #[must_use]
    pub fn with_accounts(mut self, accounts: Accounts) -> Observer {
        self.columns.extend(Accounts::QUANTITIES.iter().map(|&(name, unit, _)| Column::new(name, unit)));
        self.accounts = Some(accounts);
        self
    }

    /// Names and units of the values of an observation.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Where a quantity is among the values of an observation.
    pub fn find(&self, quantity: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == quantity)
    }

    /// All quantities of a state; rates are zero.
    pub fn observe(&self, snapshot: &Snapshot) -> Observation {
        self.observe_after(snapshot, None)
    }

    /// All quantities of a state; rates are averages since the `last` observation, zero without one.
    pub fn observe_after(&self, snapshot: &Snapshot, last: Option<&Observation>) -> Observation {
        let mut values: Vec<f64> = QUANTITIES.iter().map(|(_, _, of)| of(snapshot)).collect();
        let loads = loads::on_boundaries(snapshot);
        let mean_loads = loads::mean_on_boundaries(snapshot, last);
        for (body, (load, mean)) in loads.iter().zip(&mean_loads).enumerate() {
            values
                .extend([load.force, load.torque, mean.force, mean.torque].iter().flat_map(DVec3::to_array));
            if snapshot.world.boundaries[body].slider().is_some() {
                values.push(snapshot.world.drive_forces[body]);
            }
        }
        if let Some(drum) = &self.drum {
            values.push(flow::dynamic_angle_deg(snapshot, drum));
            values.push(flow::plug_share(snapshot, drum));
        }
        for taken in sinks::taken(snapshot) {
            let flow = last.map_or(0.0, |last| {
                let before = last.values[values.len() + 1];
                (taken.mass - before) / (snapshot.report.time - last.time)
            });
            values.extend([taken.grains as f64, taken.mass, flow]);
        }
        if let Some(plan) = &self.cell {
            values.extend(cell::values(snapshot, plan, [&loads, &mean_loads], last, values.len()));
        }
        for region in &self.regions {
            let content = regions::content(snapshot, region);
            values.extend([content.grains as f64, content.mass]);
            values.extend(content.centre.to_array());
        }
        values.extend(tracked::values(snapshot, &self.tracked));
        if let Some(accounts) = &self.accounts {
            values.extend(Accounts::QUANTITIES.iter().map(|(_, _, of)| of(accounts, snapshot)));
        }
        debug_assert_eq!(values.len(), self.columns.len());
        let impulses = snapshot.impulses.clone();
        Observation { time: snapshot.report.time, step: snapshot.report.step, values, impulses }
    }
}

/// A number with six significant digits at most: `0.3208`, `1.25e-7`.
pub(crate) fn short(value: f64) -> String {
    let is_plain = value == 0.0 || (1e-4..1e7).contains(&value.abs());
    if !is_plain {
        let text = format!("{value:.3e}");
        let Some((digits, exponent)) = text.split_once('e') else { return text };
        return format!("{}e{exponent}", digits.trim_end_matches('0').trim_end_matches('.'));
    }
    let digits_before_point = value.abs().max(1e-4).log10().floor() as i32 + 1;
    let decimals = (6 - digits_before_point).clamp(0, 9) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Grains of a state, but for those that were removed: body, radius \[m\] and mass \[kg\] of each.
fn grains(snapshot: &Snapshot) -> impl Iterator<Item = GrainView> + '_ {
    let world = &snapshot.world;
    world.present_grains().map(|i| GrainView {
        id: i,
        body: world.grain_body(i),
        radius: world.grain_radius(i),
        mass: world.grain_mass(i),
    })
}

/// A grain as the quantities need it.
struct GrainView {
    /// Id.
    id: usize,
    /// Index of its body.
    body: usize,
    /// Radius, of a clump that of a sphere of the same volume \[m\].
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
    use crate::model::Region;
    use crate::model::{Motion, RigidBody, Slider, Span};
    use crate::settings::NormalLaw;
    use glam::DVec3;

    fn zone() -> RegionPlan {
        let region = Region::Sphere { centre: DVec3::new(0.3, 0.0, 0.0), radius: 1.0 };
        RegionPlan { name: "zone".into(), region, material: None }
    }

    /// A cell whose walls are all the one boundary there is.
    fn cell_plan() -> CellPlan {
        let walls = [0, 1, 2].map(|axis| Span { axis, low: 0, high: 0 });
        CellPlan { walls, axial: 2, strain_from: 0.0 }
    }

    /// The same world with its floor on a rail.
    fn on_a_slider(mut world: World) -> World {
        let body = RigidBody::on_rail(1.0, 2);
        let slider = Slider { body, axis: 2, sign: 1.0, drives: Vec::new(), area: None };
        world.boundaries[0].motion = Motion::Slider(slider);
        world
    }

    #[test]
    fn every_column_has_a_value_and_its_own_name() {
        let snapshot = drained_stack();
        let plan = DrumPlan { boundary: 0, radius: 1.0, plug_speed: 0.15 };
        let snapshot = Snapshot { world: on_a_slider(snapshot.world), ..snapshot };
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

    #[test]
    fn what_can_be_expected_is_what_is_observed() {
        let plan = DrumPlan { boundary: 0, radius: 1.0, plug_speed: 0.15 };
        let mut world = drained_stack().world;
        world.sinks.truncate(1);
        let accounts = Accounts::opened_at(&stack(), NormalLaw::Hertz);
        let observer = Observer::new(&on_a_slider(world), Some(&plan))
            .with_cell(Some(&cell_plan()))
            .with_regions(&[zone()])
            .with_accounts(accounts);
        let kind = |column: &Column| column.name.split_inclusive(':').next().map(str::to_owned);
        let mut observed: Vec<String> = observer.columns().iter().filter_map(kind).collect();
        let mut expected = crate::scenario::expect::QUANTITIES.to_vec();
        observed.sort_unstable();
        expected.sort_unstable();
        assert_eq!(observed, expected);
    }

    #[test]
    fn the_table_has_every_quantity_with_its_unit() {
        let rows = include_str!("observe.rs").lines().filter_map(|line| line.strip_prefix("//! | "));
        let rows: Vec<Vec<&str>> = rows.map(|row| row.split(" | ").collect()).collect();
        let plan = DrumPlan { boundary: 0, radius: 1.0, plug_speed: 0.15 };
        let grains = [crate::scenario::TrackedBody::Grain(0), crate::scenario::TrackedBody::Grain(1)];
        let tracked = Tracked { bodies: grains[..1].to_vec(), contacts: vec![grains] };
        let accounts = Accounts::opened_at(&stack(), NormalLaw::Hertz);
        let observer = Observer::new(&on_a_slider(drained_stack().world), Some(&plan))
            .with_cell(Some(&cell_plan()))
            .with_regions(&[zone()])
            .with_tracked(&tracked)
            .with_accounts(accounts);
        for Column { name, unit } in observer.columns() {
            let written = match name.split_once(':') {
                Some((kind, _)) => format!("`{kind}:NAME`"),
                None => format!("`{name}`"),
            };
            let row = rows.iter().find(|row| row[0].contains(&written));
            assert_eq!(row.map(|row| row[1]), Some(*unit), "{name}");
        }
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
        let second = observer.observe_after(&after, Some(&first));
        approx::assert_relative_eq!(flow(&second, "spill"), 80.0, max_relative = 1e-12);
        assert_eq!(flow(&second, "outlet"), 0.0);
    }

    #[test]
    fn a_short_number_has_six_digits_at_most_and_no_trailing_zeros() {
        assert_eq!(short(1000.0), "1000");
        assert_eq!(short(0.320_712_9), "0.320713");
        assert_eq!(short(-49.123_456_7), "-49.1235");
        assert_eq!(short(1_234_567.8), "1234568");
        assert_eq!(short(0.0), "0");
    }

    #[test]
    fn a_very_small_or_large_number_has_an_exponent() {
        assert_eq!(short(1.254e-7), "1.254e-7");
        assert_eq!(short(-2.5e9), "-2.5e9");
        assert_eq!((short(1e-12), short(f64::NAN)), ("1e-12".to_owned(), "NaN".to_owned()));
    }

    #[test]
    fn with_accounts_there_are_the_energies_that_a_scenario_may_then_expect() {
        let plain = Observer::new(&stack().world, None);
        let accounts = Accounts::opened_at(&stack(), NormalLaw::Hertz);
        let booked = plain.clone().with_accounts(accounts);
        let more: Vec<&str> =
            booked.columns()[plain.columns().len()..].iter().map(|c| c.name.as_str()).collect();
        assert_eq!(more, crate::scenario::expect::OF_ACCOUNTS);
        assert_eq!(booked.observe(&stack()).values.len(), booked.columns().len());
        let of_every_run = ["kinetic_energy", "rotational_energy", "potential_energy"];
        let names: Vec<&str> =
            of_every_run.into_iter().chain(more).filter(|name| !name.ends_with("_share")).collect();
        assert_eq!(names, energy::names());
    }

    #[test]
    fn without_a_drum_there_is_no_drum_column() {
        let observer = Observer::new(&beside().world, None);
        assert_eq!(observer.find("plug_share"), None);
        assert_eq!(observer.find("force_x:floor"), None, "there is no boundary");
    }
}
