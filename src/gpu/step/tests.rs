//! Test of the order of the stages.

use super::*;
use crate::engine::stages::STAGES;

/// The works that open and close a step on the device belong to the stage of the search.
#[test]
fn the_stages_of_the_device_are_those_that_are_told_in_the_same_order() {
    let told: Vec<&str> = STAGES.iter().map(|stage| stage.name).chain(["close"]).collect();
    let mut of_some_method = Vec::new();
    for method in [&NONSMOOTH, &DESCENDING, &SMOOTH] {
        let mut names: Vec<&str> = method.stages().map(|stage| stage.name).collect();
        names.dedup();
        let in_order = told.iter().copied().filter(|name| names.contains(name));
        assert_eq!(names, in_order.collect::<Vec<_>>());
        of_some_method.extend(names);
    }
    assert!(told.iter().all(|name| of_some_method.contains(name)));
}

/// Impacts overwrite the constraints, which are then made anew: from the same geometry, by the same kernels in the same order.
#[test]
fn after_impacts_the_constraints_come_from_the_same_kernels_as_before() {
    let kernels = |stage: &Stage| -> Vec<[&'static str; 2]> {
        let of_stage = stage.work.iter().flat_map(Work::kernels).map(|kernel| [kernel.shader, kernel.entry]);
        let from_geometry = of_stage.skip_while(|[_, entry]| *entry != "find_geometry").collect::<Vec<_>>();
        let laws = from_geometry.iter().position(|[_, entry]| *entry == "apply_laws").expect("the laws");
        from_geometry[..=laws].to_vec()
    };
    let find = |name: &str, phase: Phase| {
        NONSMOOTH.stages().find(|stage| stage.name == name && stage.phase == phase).expect("a stage")
    };
    let first = kernels(find("narrowphase", Phase::Solve));
    assert!(first.contains(&["solids", "share_pull"]) && first.len() == 10, "{first:?}");
    assert_eq!(kernels(find("impact", Phase::Strike)), first);
}
