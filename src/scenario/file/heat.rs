//! The `[heat]` table, and the keys of boundaries and grains that belong to it.

use super::read::{Need, Node, SHARE, Table, number, over_time};
use crate::model::{Course, Heat, WallHeat, World};

/// Temperature \[K\].
pub const TEMPERATURE: Need =
    Need::new(|x| x > 0.0 && x <= 1e6, "a temperature in kelvin above 0 (at most 1e6)");
const CAPACITY: Need = Need::new(|x| (1e-12..=1e12).contains(&x), "a positive heat capacity in J/K");
/// Temperature of a scene that gives none \[K\].
const ROOM: f64 = 293.15;
/// Keys of heat in the tables of bodies.
const KEYS: [(&str, &[&str]); 3] = [
    ("boundaries", &["temperature", "thermal_mass"]),
    ("grains", &["temperature", "hold_temperature"]),
    ("emitters", &["temperature"]),
];

/// What one of `[[boundaries]]` says of its heat; a temperature that it does not give is that of the scene.
pub struct ReadWallHeat {
    held: Option<Course>,
    capacity: Option<f64>,
}

/// Reads `temperature` and `thermal_mass` of a boundary.
pub fn wall(table: &mut Table<'_>) -> ReadWallHeat {
    let held = table.maybe("temperature", temperature);
    let capacity = table.maybe("thermal_mass", number(CAPACITY));
    if capacity.is_some() && matches!(held, Some(Course::Table { .. })) {
        let message = format!("`{}` has a temperature over time and a `thermal_mass`", table.name());
        table.problem(message, "a temperature that is held needs none: leave out `thermal_mass`");
    }
    ReadWallHeat { held, capacity }
}

fn temperature(node: Node<'_>) -> Option<Course> {
    if !node.is_table() {
        return number(TEMPERATURE)(node).map(Course::Constant);
    }
    node.table(|table| {
        let (times, values) = over_time(table, ["temperature", "values"], number(TEMPERATURE))?;
        Some(Course::Table { times, values })
    })
}

impl ReadWallHeat {
    fn in_scene(self, initial: f64) -> WallHeat {
        match (self.held, self.capacity) {
            (held, Some(capacity)) => {
                WallHeat::Free { temperature: held.map_or(initial, |held| held.at(0.0)), capacity }
            }
            (Some(held), None) => WallHeat::Held(held),
            (None, None) => WallHeat::Insulated,
        }
    }
}

/// Reads the table, and gives the world its heat. There is one of `walls` per boundary of the world, which has no grains yet.
pub fn heat(root: &mut Table<'_>, world: &mut World, walls: Vec<ReadWallHeat>) {
    let Some(node) = root.node("heat") else {
        refuse_keys(root);
        return;
    };
    let read = node.table(|table| {
        let initial = table.or("temperature", ROOM, number(TEMPERATURE));
        Some((initial, table.or("friction_heat", 0.0, number(SHARE))))
    });
    let (initial, friction_share) = read.unwrap_or((ROOM, 0.0));
    check_materials(root);
    let walls = walls.into_iter().map(|wall| wall.in_scene(initial)).collect();
    world.set_heat(Heat { friction_share, ..Heat::new(initial, walls) });
}

/// Reports keys of heat in a scene without heat.
fn refuse_keys(root: &mut Table<'_>) {
    for (list, keys) in KEYS {
        let elements = root.node(list).and_then(|node| node.elements()).unwrap_or_default();
        for node in elements.iter().flat_map(|element| keys.iter().filter_map(|key| element.child(key))) {
            let message = format!("`{}` has no meaning in a scene without heat", node.name());
            node.problem(message, "add a table [heat], or leave it out");
        }
    }
}

/// Reports materials without a conductivity or a heat capacity.
fn check_materials(root: &mut Table<'_>) {
    let materials = root.maybe("materials", |node| {
        node.table(|table| {
            table.leave_keys_unjudged();
            Some(table.named())
        })
    });
    for (_, _, material) in materials.unwrap_or_default() {
        for (key, example) in [("conductivity", "1.0 # W/(m K)"), ("heat_capacity", "800.0 # J/(kg K)")] {
            let given = material.child(key);
            let is_none =
                given.as_ref().is_none_or(|node| key == "heat_capacity" && node.as_number() == Some(0.0));
            if is_none {
                let message = format!("`{}` has no `{key}`, and the scene has heat", material.name());
                given
                    .unwrap_or_else(|| material.clone())
                    .problem(message, format!("for example {key} = {example}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::model::WallHeat;
    use crate::scenario::Scenario;

    const THERMAL: &str = "conductivity = 1.0\nheat_capacity = 800.0\n";

    /// Reads a scene of one grain on a floor: keys of the material, of the floor and of the grains, and more tables.
    fn read([material, floor, grains, more]: [&str; 4]) -> Result<Scenario, String> {
        let text = format!(
            "duration = 1.0\n[materials.glass]\ndensity = 2500.0\nyoungs_modulus = 1e7\npoisson_ratio = 0.2\nrestitution = 0.5\n\
             friction = 0.3\n{material}[[boundaries]]\nname = \"floor\"\nmaterial = \"glass\"\n\
             shape = {{ kind = \"plane\", point = [0, 0, 0], normal = [0, 0, 1] }}\n{floor}[[grains]]\nmaterial = \"glass\"\n\
             radius = {{ kind = \"constant\", value = 0.01 }}\npacking = {{ kind = \"list\", positions = [[0, 0, 0.05]] }}\n{grains}{more}"
        );
        Scenario::parse("case", &text, Path::new("."), &[]).map_err(|problems| problems.to_string())
    }

    #[test]
    fn temperatures_of_scene_wall_and_grains_are_read() {
        let more = "[heat]\ntemperature = 300.0\nfriction_heat = 0.5\n";
        let floor = "temperature = { times = [0.0, 2.0], values = [300.0, 400.0] }\n";
        let grains = "temperature = 350.0\nhold_temperature = true\n";
        let scenario = read([THERMAL, floor, grains, more]).expect("read");
        let heat = scenario.world.heat.as_ref().expect("heat");
        assert_eq!((heat.initial_temperature, heat.friction_share), (300.0, 0.5));
        assert!(matches!(&heat.walls[0], WallHeat::Held(course) if course.at(1.0) == 350.0));
        assert_eq!(scenario.world.bodies.heat[0].temperature, 300.0);
        assert_eq!(
            (scenario.world.grain_temperature(0), scenario.world.bodies.heat[1].inverse_capacity),
            (350.0, 0.0)
        );
        assert!(heat.conducts(0) && heat.conducts(1));
        let free = read([THERMAL, "thermal_mass = 2.0\n", "", more]).expect("read");
        assert_eq!(
            free.world.heat.map(|heat| heat.walls),
            Some(vec![WallHeat::Free { temperature: 300.0, capacity: 2.0 }])
        );
        assert!(read(["", "", "", ""]).expect("read").world.heat.is_none());
    }

    #[test]
    fn keys_without_heat_and_materials_without_their_properties_are_refused() {
        let error = read([THERMAL, "temperature = 300.0\n", "", ""]).expect_err("no heat");
        assert!(
            error.contains("`boundaries.0.temperature` has no meaning in a scene without heat"),
            "{error}"
        );
        let error = read(["conductivity = 1.0\n", "", "", "[heat]\n"]).expect_err("no capacity");
        assert!(
            error.contains("`materials.glass` has no `heat_capacity`, and the scene has heat"),
            "{error}"
        );
        let error = read([THERMAL, "temperature = -3.0\n", "", "[heat]\n"]).expect_err("below zero");
        assert!(error.contains("a temperature in kelvin above 0"), "{error}");
        let floor = "temperature = { times = [0.0], values = [300.0] }\nthermal_mass = 1.0\n";
        let error = read([THERMAL, floor, "", "[heat]\n"]).expect_err("both");
        assert!(error.contains("a temperature over time and a `thermal_mass`"), "{error}");
    }
}
