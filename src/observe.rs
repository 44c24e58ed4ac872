//! What a state amounts to: one number per quantity, whichever engine made the state.
//!
//! Every quantity is a pure function of a [`Snapshot`]; the table below is the list of columns of
//! `timeseries.csv`, of the numbers in `summary.json` and of the names an `[expect]` table may use.
//! A quantity that has no meaning in a state (the height of no grains) is not a number.

pub mod contacts;
pub mod energy;
pub mod expectation;
pub mod flow;
pub mod loads;
pub mod packing;

use crate::engine::Snapshot;
use crate::scenario::DrumPlan;
use crate::world::World;

/// A quantity of every state: name, unit, meaning.
type Quantity = (&'static str, &'static str, fn(&Snapshot) -> f64);

/// The quantities of every run. Boundaries and a drum add theirs.
const QUANTITIES: &[Quantity] = &[
    ("grains", "-", |s| s.world.grain_count() as f64),
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
    ("colours", "-", |s| f64::from(s.report.colours)),
    ("tail", "-", |s| s.report.tail as f64),
    ("momentum_x", "N s", |s| packing::momentum(s).x),
    ("momentum_y", "N s", |s| packing::momentum(s).y),
    ("momentum_z", "N s", |s| packing::momentum(s).z),
];

/// What is observed of free boundaries, three components each.
const FREE_MOTION: [(&str, &str); 3] =
    [("position", "m"), ("velocity", "m/s"), ("angular_velocity", "rad/s")];

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
}

/// Observes the states of one run.
#[derive(Debug, Clone)]
pub struct Observer {
    columns: Vec<Column>,
    drum: Option<DrumPlan>,
}

impl Observer {
    /// An observer of a world with the boundaries of `world`, and of its drum if there is one.
    pub fn new(world: &World, drum: Option<&DrumPlan>) -> Observer {
        let mut columns: Vec<Column> =
            QUANTITIES.iter().map(|&(name, unit, _)| Column::new(name, unit)).collect();
        for boundary in &world.boundaries {
            for (kind, unit) in [("force", "N"), ("torque", "N m")] {
                let name = |axis| format!("{kind}_{axis}:{}", boundary.name);
                columns.extend(["x", "y", "z"].map(|axis| Column::new(name(axis), unit)));
            }
            for (kind, unit) in FREE_MOTION.iter().filter(|_| boundary.free_body().is_some()) {
                let name = |axis| format!("{kind}_{axis}:{}", boundary.name);
                columns.extend(["x", "y", "z"].map(|axis| Column::new(name(axis), unit)));
            }
        }
        if drum.is_some() {
            columns.push(Column::new("dynamic_angle_deg", "deg"));
            columns.push(Column::new("plug_share", "-"));
        }
        Observer { columns, drum: drum.cloned() }
    }

    /// Names and units of the values of an observation.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Where a quantity is among the values of an observation.
    pub fn find(&self, quantity: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == quantity)
    }

    /// All quantities of a state.
    pub fn observe(&self, snapshot: &Snapshot) -> Observation {
        let mut values: Vec<f64> = QUANTITIES.iter().map(|(_, _, of)| of(snapshot)).collect();
        let bodies = &snapshot.world.bodies;
        for (body, load) in loads::on_boundaries(snapshot).into_iter().enumerate() {
            values.extend(load.force.to_array().into_iter().chain(load.torque.to_array()));
            if snapshot.world.free_body(body).is_some() {
                let motion = [bodies.position[body], bodies.velocity[body], bodies.angular_velocity[body]];
                values.extend(motion.into_iter().flat_map(|vector| vector.to_array()));
            }
        }
        if let Some(drum) = &self.drum {
            values.push(flow::dynamic_angle_deg(snapshot, drum));
            values.push(flow::plug_share(snapshot, drum));
        }
        debug_assert_eq!(values.len(), self.columns.len());
        Observation { time: snapshot.report.time, step: snapshot.report.step, values }
    }
}

/// Grains of a state: body, radius \[m\] and mass \[kg\] of each.
fn grains(snapshot: &Snapshot) -> impl Iterator<Item = GrainView> + '_ {
    let world = &snapshot.world;
    (0..world.grain_count()).map(|i| GrainView {
        body: world.grain_body(i),
        radius: world.spheres[i].radius,
        mass: world.grain_mass(i),
    })
}

/// A grain as the quantities need it.
struct GrainView {
    /// Index of its body.
    body: usize,
    /// Radius \[m\].
    radius: f64,
    /// Mass \[kg\].
    mass: f64,
}

#[cfg(test)]
pub(crate) mod test_worlds;

#[cfg(test)]
mod tests {
    use super::test_worlds::{beside, stack};
    use super::*;
    use crate::world::{Form, FreeBody, Motion};

    #[test]
    fn every_column_has_a_value_and_its_own_name() {
        let snapshot = stack();
        let plan = DrumPlan { boundary: 0, radius: 1.0, plug_speed: 0.15 };
        let observer = Observer::new(&snapshot.world, Some(&plan));
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
        let mut world = stack().world;
        let ball = FreeBody::solid(Form::Sphere { radius: 1.0 }, 1.0).expect("a ball can be free");
        world.boundaries[0].motion = Motion::Free(ball); // what a free boundary has on top of others
        let observer = Observer::new(&world, Some(&plan));
        let mut observed: Vec<&str> =
            observer.columns().iter().map(|column| column.name.trim_end_matches("floor")).collect();
        let mut expected = crate::scenario::expect::QUANTITIES.to_vec();
        observed.sort_unstable();
        expected.sort_unstable();
        assert_eq!(observed, expected);
    }

    #[test]
    fn without_a_drum_there_is_no_drum_column() {
        let observer = Observer::new(&beside().world, None);
        assert_eq!(observer.find("plug_share"), None);
        assert_eq!(observer.find("force_x:floor"), None, "there is no boundary");
    }
}
