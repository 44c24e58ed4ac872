//! Files of the suite that comes with the program: those in `scenarios/validation/`.

/// Name of the suite file in [`FILES`].
pub const SUITE: &str = "suite.toml";

/// Name of a file and its text.
macro_rules! file {
    ($name:literal) => {
        ($name, include_str!(concat!("../../scenarios/validation/", $name)))
    };
}

/// Path below `scenarios/validation/` and text of every file.
pub const FILES: &[(&str, &str)] = &[
    file!("suite.toml"),
    file!("head_on.toml"),
    file!("oblique.toml"),
    file!("oblique_pair.toml"),
    file!("slide_to_roll.toml"),
    file!("incline.toml"),
    file!("column_forces.toml"),
    file!("bounce.toml"),
    file!("elastic_block.toml"),
    file!("elastic_drop.toml"),
    file!("elastic_gas.toml"),
    file!("gas_pressure.toml"),
    file!("sticky_heap.toml"),
    file!("chain.toml"),
    file!("triangle.toml"),
    file!("rolling_resistance.toml"),
    file!("rolling_resistance_on_slope.toml"),
    file!("twisting.toml"),
    file!("heavy_on_light.toml"),
    file!("heavy_on_bed.toml"),
    file!("chung_ooi_1.toml"),
    file!("chung_ooi_3.toml"),
    file!("chung_ooi_4.toml"),
    file!("chung_ooi_5.toml"),
    file!("chung_ooi_7.toml"),
    file!("haff_gas.toml"),
    file!("repose.toml"),
    file!("janssen.toml"),
    file!("slot.toml"),
    file!("collapse.toml"),
    file!("tall_lattice.toml"),
    file!("tall_bed.toml"),
    file!("jammed.toml"),
    file!("slab.toml"),
    file!("free_rotation.toml"),
    file!("rod.toml"),
    file!("compound_pendulum.toml"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_file_of_the_folder_comes_with_the_program() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/validation");
        let mut folders = vec![folder.clone()];
        let mut count = 0;
        while let Some(inner) = folders.pop() {
            for entry in std::fs::read_dir(inner).expect("a folder").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let name = path.strip_prefix(&folder).expect("below").to_string_lossy().replace('\\', "/");
                assert!(FILES.iter().any(|(known, _)| *known == name), "{name} is not in the list");
                count += 1;
            }
        }
        assert_eq!(count, FILES.len());
    }
}
