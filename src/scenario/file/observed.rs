//! The `[observe]` table.

use super::read::{Table, boolean};
use super::{each, fields, gates, mixing, plan, track, unique};
use crate::model::{Gate, Residence, World};
use crate::observe::stress::meters;
use crate::observe::{
    CellPlan, DrumPlan, FabricPlan, FieldPlan, LayerPlan, MixingPlan, RegionPlan, SurfacePlan, Tracked,
};
use crate::settings::Bookkeeping;

/// Observations of a run in addition to the quantities of every run.
#[derive(Default)]
pub(super) struct Observed {
    pub(super) drum: Option<DrumPlan>,
    pub(super) cell: Option<CellPlan>,
    pub(super) surface: Option<SurfacePlan>,
    pub(super) fabric: Option<FabricPlan>,
    pub(super) layers: Option<LayerPlan>,
    pub(super) fields: Option<FieldPlan>,
    /// Names of the regions in the file, faulty regions included.
    pub(super) region_names: Vec<String>,
    pub(super) regions: Vec<RegionPlan>,
    /// Residences in some of these regions.
    pub(super) residences: Vec<Residence>,
    /// Names of the gates in the file, faulty gates included.
    pub(super) gate_names: Vec<String>,
    pub(super) gates: Vec<Gate>,
    /// Names of the mixtures in the file, faulty ones included.
    pub(super) mixing_names: Vec<String>,
    pub(super) mixing: Vec<MixingPlan>,
    pub(super) tracked: Tracked,
    pub(super) bookkeeping: Bookkeeping,
    /// Whether the stress of every grain is measured.
    pub(super) grain_stress: bool,
}

impl Observed {
    /// The world with the meters, gates and residences that the observations need.
    pub(super) fn measured(&mut self, world: World) -> World {
        let mut world = World {
            meters: meters(&self.regions, self.layers.as_ref()),
            measures_grains: self.grain_stress,
            gates: std::mem::take(&mut self.gates),
            residences: std::mem::take(&mut self.residences),
            ..world
        };
        world.prepare_counts();
        world
    }
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
        let fields = table.maybe("fields", |node| node.table(|table| fields::fields(table, world)));
        let tracked = track::tracked(table, world, names, grains);
        let read = |i: usize, table: &mut Table<'_>| plan::observed_region(table, i, &world.materials);
        let (region_names, regions) = unique("regions", each(table, "regions", read), table.report);
        let residences =
            regions.iter().filter_map(|(plan, bounds)| Some(residence(plan, bounds.as_deref()?))).collect();
        let regions = regions.into_iter().map(|(plan, _)| plan).collect();
        let read = |i: usize, table: &mut Table<'_>| gates::gate(table, i, world);
        let (gate_names, gates) = unique("gates", each(table, "gates", read), table.report);
        let read = |i: usize, table: &mut Table<'_>| mixing::mixture(table, i, world);
        let (mixing_names, mixing) = unique("mixtures", each(table, "mixing", read), table.report);
        Some(Observed {
            drum,
            cell,
            surface,
            fabric,
            layers,
            fields,
            region_names,
            regions,
            residences,
            gate_names,
            gates,
            mixing_names,
            mixing,
            tracked,
            bookkeeping,
            grain_stress,
        })
    });
    observed.unwrap_or_default()
}

/// Residence in an observed region, with these bounds of classes \[s\].
fn residence(plan: &RegionPlan, bounds: &[f64]) -> Residence {
    let RegionPlan { name, region, material } = plan.clone();
    Residence { name, region, material, bounds: bounds.to_vec() }
}
