//! The `[observe]` table.

use super::read::{Table, boolean};
use super::{each, plan, track, unique};
use crate::model::World;
use crate::observe::{CellPlan, DrumPlan, FabricPlan, LayerPlan, RegionPlan, SurfacePlan, Tracked};
use crate::settings::Bookkeeping;

/// Observations of a run in addition to the quantities of every run.
#[derive(Default)]
pub(super) struct Observed {
    pub(super) drum: Option<DrumPlan>,
    pub(super) cell: Option<CellPlan>,
    pub(super) surface: Option<SurfacePlan>,
    pub(super) fabric: Option<FabricPlan>,
    pub(super) layers: Option<LayerPlan>,
    /// Names of the regions in the file, faulty regions included.
    pub(super) region_names: Vec<String>,
    pub(super) regions: Vec<RegionPlan>,
    pub(super) tracked: Tracked,
    pub(super) bookkeeping: Bookkeeping,
    /// Whether the stress of every grain is measured.
    pub(super) grain_stress: bool,
}

/// Reads the observations. `names` are the names of all boundaries in the file, faulty ones included; `grains` is the largest number of
/// grains during the run.
pub(super) fn observe(root: &mut Table<'_>, world: &World, names: &[String], grains: u64) -> Observed {
    let observed = root.section("observe", |table| {
        let bookkeeping = plan::bookkeeping(table);
        let grain_stress = table.or("grain_stress", false, boolean);
        let drum = plan::drum(table, world, names);
        let cell = plan::cell(table, world, names);
        let surface = plan::surface(table);
        let fabric = table.maybe("fabric", |node| node.table(|table| plan::fabric(table, world)));
        let layers = table.maybe("layers", |node| node.table(|table| plan::layers(table, world)));
        let tracked = track::tracked(table, world, names, grains);
        let read = |i: usize, table: &mut Table<'_>| plan::observed_region(table, i, &world.materials);
        let (region_names, regions) = unique("regions", each(table, "regions", read), table.report);
        Some(Observed {
            drum,
            cell,
            surface,
            fabric,
            layers,
            region_names,
            regions,
            tracked,
            bookkeeping,
            grain_stress,
        })
    });
    observed.unwrap_or_default()
}
