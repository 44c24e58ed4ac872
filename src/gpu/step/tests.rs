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
