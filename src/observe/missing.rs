//! Reasons why a column holds no number (`NaN`). Columns that are not in the table always hold one, and none is ever infinite.

use super::quantity::find;

/// Makes the table and its manual from entries `[name, ...], reason`.
macro_rules! missing {
    ($([$($name:literal),+ $(,)?], $reason:literal;)+) => {
        const MISSING: &[(&[&str], &str)] = &[$((&[$($name),+], $reason),)+];

        /// | Quantity | is `NaN` where |
        /// |---|---|
        $(#[doc = concat!("| ", $("`", $name, "` ",)+ "| ", $reason, " |")])+
        pub mod table {}
    };
}

missing! {
    [
        "height", "height_p99", "centre_of_mass_x", "centre_of_mass_y", "centre_of_mass_z", "front_x", "cone_angle_deg",
        "granular_temperature",
    ], "there are no grains";
    ["repose_angle_deg"], "no heap has a flank of two diameters: too few grains, a bed without end, or a slope";
    ["kinetic_energy_per_grain"], "there are no grains, or no gravity";
    ["weight_supported"], "nothing has a weight: no grains and no dynamic boundaries, or no gravity";
    ["inverse_thermal_speed"], "there are no grains, or all have the same velocity";
    ["objective"], "no step has been done, a GPU computes, or the method is smooth";
    ["total_sweeps"], "no step has been done, the method is smooth, or a GPU ends its sweeps at a tolerance and does not count them";
    ["dynamic_angle_deg"], "the drum does not turn or has no grains, or gravity has no part across its axis";
    ["plug_share"], "the drum does not turn or has no grains";
    ["mean_temperature", "lowest_temperature", "highest_temperature"], "there are no grains";
    ["dissipated_by_bonds", "dissipated_by_bridges"], "no energy balance is kept";
    ["mean_bridge_force"], "there are no liquid bridges";
    ["compatible_imbalance"], "no step has been done, or the forces could not be found";
    ["profile_variation"], "the sink has removed nothing in the parts of its profile";
    [
        "strain_x", "strain_y", "strain_z", "volume_strain", "stress_x", "stress_y", "stress_z", "mean_stress", "deviator_stress",
        "pressure", "solid_fraction",
    ], "two walls of the cell are in one place";
    ["stress_ratio", "inertial_number"], "in the first output, or where nothing presses on the sheared faces";
    [
        "fabric_xx", "fabric_yy", "fabric_zz", "fabric_xy", "fabric_xz", "fabric_yz", "force_fabric_xx", "force_fabric_yy",
        "force_fabric_zz", "force_fabric_xy", "force_fabric_xz", "force_fabric_yz", "fabric_anisotropy", "force_fabric_anisotropy",
        "fabric_sixfold",
    ], "no contact carries a force";
    ["centre_x", "centre_y", "centre_z"], "no grain is in the region";
    [
        "entered", "entered_mass", "entered_mass_flow", "bulk_stress_xx", "bulk_stress_yy", "bulk_stress_zz", "bulk_stress_xy", "bulk_stress_xz",
        "bulk_stress_yz",
    ], "the world was built in code without a meter of the region";
    [
        "passed_forwards", "passed_backwards", "passed_mass_forwards", "passed_mass_backwards", "net_flow", "net_mass_flow", "left",
        "left_mass", "residence_grains",
    ], "the world has gates or residences that it had not when its engine was made";
    ["lacey_index", "concentration_deviation"], "no cell has enough grains, all of them are of one kind, or every cell has one grain";
    ["concentration"], "no cell has enough grains";
    ["mixing_sampled"], "there are no grains in the region";
    ["mean_residence_time", "residence_time_deviation"], "no grain has left the region";
    [
        "position_x", "position_y", "position_z", "velocity_x", "velocity_y", "velocity_z", "spin_x", "spin_y", "spin_z",
        "orientation_w", "orientation_x", "orientation_y", "orientation_z",
    ], "the grain is not there: yet to come, or removed";
    ["normal_force", "friction_force", "overlap", "compatible_normal_force"], "one of the two is not there: yet to come, or removed";
}

/// Why a column of the time series may hold no number; `None` where it always holds one.
pub fn reason(column: &str) -> Option<&'static str> {
    let name = find(column)?.name;
    MISSING.iter().find(|(names, _)| names.contains(&name)).map(|(_, reason)| *reason)
}

/// A value of a column: not a number in the place of an infinite one, and 0 in the place of -0, which sums over nothing are.
pub(super) fn number(value: f64) -> f64 {
    if value.is_infinite() { f64::NAN } else { value + 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::quantity::QUANTITIES;
    use super::*;

    #[test]
    fn reasons_are_for_quantities_that_there_are_and_for_no_others() {
        for name in MISSING.iter().flat_map(|(names, _)| *names) {
            assert!(QUANTITIES.iter().any(|quantity| quantity.name == *name), "{name}");
        }
        assert_eq!(reason("centre_x:hopper"), Some("no grain is in the region"));
        assert_eq!([reason("grains"), reason("heigt")], [None; 2]);
        assert!(number(1.0 / 0.0).is_nan() && number(-1.0 / 0.0).is_nan());
        assert_eq!([number(1e300), number(-1.5)], [1e300, -1.5]);
        assert!(number(-0.0).is_sign_positive() && number(0.0).is_sign_positive());
    }
}
