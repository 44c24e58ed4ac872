use super::*;

/// The scenario files at the root of the repository.
fn shipped(name: &str) -> Result<Scenario, Problems> {
    Scenario::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(name), &[])
}

#[test]
fn shipped_scenarios_are_valid() {
    for name in ["column.toml", "drum.toml", "settle.toml", "settle_1000.toml"] {
        let scenario = shipped(name).unwrap_or_else(|problems| panic!("{problems}"));
        eprintln!("{name}: {} grains", scenario.world.grain_count());
    }
}
