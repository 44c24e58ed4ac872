//! Atoms and insertions of a script as `[[grains]]`, `[[emitters]]` and `[clumps]`.

use std::path::Path;

use glam::DVec3;

use super::faces::{FlatFace, Slab, slab};
use super::forms::RegionForm;
use super::grain_kinds::{GrainSizes, GrainTemplate};
use super::materials::MaterialList;
use super::parts::ScriptPart;
use super::remarks::Remarks;
use super::scene::{
    FixKind, Insertion, InsertionAmount, InsertionPace, InsertionRoom, MassFlow, ScriptAtom, ScriptFix,
    ScriptMesh, ScriptScene,
};
use super::text::{number, quoted, region, remarked, vector};
use crate::scenario::Problem;

/// Solid fraction up to which a random packing is sure to find room \[-\].
const DENSEST: f64 = 0.28;
/// Time in which grains without room at first come later \[s\].
const LATE: f64 = 0.1;
/// All axes: grains that are frozen.
const ALL_AXES: &str = "[\"x\", \"y\", \"z\", \"rx\", \"ry\", \"rz\"]";

/// What grains are written from.
pub struct GrainWriter<'a, 'b> {
    /// The part of the script.
    pub part: &'a ScriptPart<'a>,
    /// Materials.
    pub materials: &'a mut MaterialList<'b>,
    /// Remarks.
    pub remarks: &'a mut Remarks,
    /// Folder of the script.
    pub folder: &'a Path,
    /// `[clumps]` so far.
    pub clumps: String,
    /// `[[grains]]` and `[[emitters]]` so far.
    pub text: String,
    clump_count: usize,
}

/// Grains of one material and one law of sizes, and their share of an insertion by number.
struct GrainLot {
    material: String,
    /// Keys `radius` or `clump`.
    sizes: String,
    by_number: f64,
    reach: f64,
}

/// Times of an emitter \[s\], in the time of the part.
#[derive(Clone, Copy)]
struct EmitterTimes {
    start: f64,
    stop: f64,
}

impl EmitterTimes {
    /// Keys of an emitter of so many grains, with a wave after each of these times \[s\].
    fn keys(&self, amount: &str, every: f64) -> String {
        let (start, stop, every) = (number(self.start), number(self.stop), number(every));
        format!("{amount}start = {start}\nstop = {stop}\nevery = {every}\n")
    }
}

/// Key of the number of grains of an emitter.
fn total_of(count: u64) -> String {
    format!("total = {count}\n")
}

/// Keys of an emitter of grains that come at a rate \[1/s\], and of how many they are at most.
fn at_rate_of(rate: f64, most: Option<u64>) -> String {
    format!("rate = {}\n{}", number(rate), most.map_or(String::new(), total_of))
}

impl<'a, 'b> GrainWriter<'a, 'b> {
    /// Begins with nothing.
    pub fn new(
        part: &'a ScriptPart<'a>,
        materials: &'a mut MaterialList<'b>,
        remarks: &'a mut Remarks,
        folder: &'a Path,
    ) -> GrainWriter<'a, 'b> {
        GrainWriter {
            part,
            materials,
            remarks,
            folder,
            clumps: String::new(),
            text: String::new(),
            clump_count: 0,
        }
    }

    /// Writes the clumps of an earlier part, whose grains a checkpoint brings along.
    pub fn name_clumps(&mut self, scene: &ScriptScene) {
        for fix in &scene.fixes {
            if let FixKind::Insertion(insertion) = &fix.kind {
                insertion.kinds.iter().filter(|(_, share)| *share > 0.0).for_each(|kind| {
                    self.sizes(&[kind]);
                });
            }
        }
    }

    /// Writes all grains of the part.
    pub fn write(&mut self) -> Result<(), Problem> {
        self.atoms()?;
        let mut fixes: Vec<&ScriptFix> = Vec::new();
        for run in self.part.runs {
            for fix in run.scene.fixes.iter().filter(|fix| matches!(fix.kind, FixKind::Insertion(_))) {
                if !fixes.iter().any(|known| known.id == fix.id && known.since == fix.since) {
                    fixes.push(fix);
                }
            }
        }
        for fix in fixes {
            if let FixKind::Insertion(insertion) = &fix.kind {
                self.insertion(fix, insertion)?;
            }
        }
        Ok(())
    }

    /// Atoms of `create_atoms` that come with this part, in blocks of what they share.
    fn atoms(&mut self) -> Result<(), Problem> {
        let scene = self.part.scene();
        let from = if self.part.before.is_empty() { f64::NEG_INFINITY } else { self.part.start() };
        let frozen = |index: usize| {
            let holds = |fix: &ScriptFix| fix.kind == FixKind::Freeze && scene.is_in(&fix.group, index);
            scene.fixes.iter().any(holds)
        };
        type Lot<'c> = ((usize, f64, bool), Vec<&'c ScriptAtom>);
        let mut lots: Vec<Lot<'_>> = Vec::new();
        for (index, atom) in scene.atoms.iter().enumerate().filter(|(_, atom)| atom.since >= from) {
            let key = (atom.material, atom.density, frozen(index));
            match lots.iter_mut().find(|(known, _)| *known == key) {
                Some((_, lot)) => lot.push(atom),
                None => lots.push((key, vec![atom])),
            }
        }
        for ((kind, density, is_frozen), lot) in lots {
            let material = self.materials.of_grains(kind, density)?;
            let list = |of: &dyn Fn(&ScriptAtom) -> String| {
                lot.iter().map(|atom| of(atom)).collect::<Vec<_>>().join(", ")
            };
            let mut packing =
                format!("kind = \"list\", positions = [{}]", list(&|atom| vector(atom.position)));
            packing.push_str(&format!(", radii = [{}]", list(&|atom| number(0.5 * atom.diameter))));
            if lot.iter().any(|atom| atom.velocity != DVec3::ZERO) {
                packing.push_str(&format!(", velocities = [{}]", list(&|atom| vector(atom.velocity))));
            }
            if lot.iter().any(|atom| atom.spin != DVec3::ZERO) {
                packing.push_str(&format!(", angular_velocities = [{}]", list(&|atom| vector(atom.spin))));
            }
            self.text.push_str(&format!(
                "\n[[grains]]\nmaterial = {}\npacking = {{ {packing} }}\nallow_overlap = true\n",
                quoted(&material)
            ));
            if is_frozen {
                self.text.push_str(&format!("locked_axes = {ALL_AXES}\n"));
            }
        }
        Ok(())
    }

    fn insertion(&mut self, fix: &ScriptFix, insertion: &Insertion) -> Result<(), Problem> {
        let begins_here = fix.since >= self.part.start() - 1e-12;
        let times = self.times(fix);
        let lots = self.lots(insertion)?;
        let mean_volume: f64 = insertion.kinds.iter().map(|(kind, share)| share * kind.mean_volume()).sum();
        let mean_mass: f64 = insertion.kinds.iter().map(|(kind, share)| share * kind.mean_mass()).sum();
        let room = match &insertion.room {
            InsertionRoom::Region(form) => form.clone(),
            InsertionRoom::Face { .. } => return self.stream(fix, insertion, (&lots, mean_mass, &times)),
        };
        let volume = room.volume().unwrap_or(f64::INFINITY);
        let count = match insertion.amount {
            InsertionAmount::Fraction(fraction) => Some((fraction * volume / mean_volume).round()),
            amount => number_of(amount, mean_mass),
        };
        let place = region(&room, &fix.place)?;
        match insertion.pace {
            InsertionPace::Once if !begins_here => Ok(()),
            InsertionPace::Once => {
                self.once(
                    fix,
                    insertion,
                    (&lots, &place),
                    (count.unwrap_or_default() as u64, volume),
                    &times,
                );
                Ok(())
            }
            InsertionPace::Refill(every) => {
                self.refill(
                    fix,
                    insertion,
                    (&lots, &room, &place),
                    (every, count.unwrap_or_default() as u64),
                    &times,
                );
                Ok(())
            }
            InsertionPace::Rate(rate, every) => {
                self.at_rate(fix, insertion, (&lots, &place), (rate, every, count), &times);
                Ok(())
            }
            InsertionPace::MassRate(rate, every) => {
                self.at_rate(fix, insertion, (&lots, &place), (rate / mean_mass, every, count), &times);
                Ok(())
            }
            InsertionPace::Pour(fraction) => {
                let fall = self.fall_time(&room, insertion.velocity);
                let layer = (fraction * volume / mean_volume).floor().max(1.0);
                self.at_rate(fix, insertion, (&lots, &place), (layer / fall, Some(fall), count), &times);
                Ok(())
            }
        }
    }

    /// Grains that come all at once: a packing at the start of the part where that is sure to have room, otherwise emitters.
    fn once(
        &mut self,
        fix: &ScriptFix,
        insertion: &Insertion,
        (lots, place): (&[GrainLot], &str),
        (count, volume): (u64, f64),
        times: &EmitterTimes,
    ) {
        let ball = |(kind, share): &(GrainTemplate, f64)| share * kind.ball_volume();
        let fraction = count as f64 * insertion.kinds.iter().map(ball).sum::<f64>() / volume;
        if fraction > DENSEST {
            let percent = number((100.0 * fraction).round());
            let text = format!(
                "{count} grains with the balls around them fill {percent} % of their region, more than is sure to find room: \
                 those that find none come within {LATE} s"
            );
            self.remarks.differs(&fix.place, text);
        }
        for (lot, count) in lots.iter().zip(dealt(count, lots)) {
            if fraction <= DENSEST && times.start == 0.0 {
                self.block(&fix.id, lot, (place, count), insertion);
                continue;
            }
            let stop = if fraction <= DENSEST { times.start } else { times.stop.min(times.start + LATE) };
            let keys = EmitterTimes { stop, ..*times }.keys(&total_of(count.max(1)), 0.1 * LATE);
            self.emitter(&fix.id, lot, (place, insertion.velocity), &keys);
        }
    }

    /// Emitters for `insert/pack` again and again: at the mean rate where grains leave the region in between, otherwise as many as it
    /// holds.
    fn refill(
        &mut self,
        fix: &ScriptFix,
        insertion: &Insertion,
        (lots, room, place): (&[GrainLot], &RegionForm, &str),
        (every, layer): (f64, u64),
        times: &EmitterTimes,
    ) {
        let leaves = self.fall_time(room, insertion.velocity) <= every;
        if leaves {
            let text = "insert/pack again and again: grains leave the region between two insertions, so they come at the mean rate";
            self.remarks.differs(&fix.place, text);
            self.at_rate(fix, insertion, (lots, place), (layer as f64 / every, Some(every), None), times);
            return;
        }
        let text = "insert/pack again and again: grains stay in the region, so as many come as it is to hold, when there is room";
        self.remarks.differs(&fix.place, text);
        for (lot, count) in lots.iter().zip(dealt(layer, lots)) {
            let keys = times.keys(&total_of(count.max(1)), every);
            self.emitter(&fix.id, lot, (place, insertion.velocity), &keys);
        }
    }

    /// Emitters of grains that come at a rate \[1/s\]: the first batch at once, as scripts insert it, and the rest wave by wave.
    fn at_rate(
        &mut self,
        fix: &ScriptFix,
        insertion: &Insertion,
        (lots, place): (&[GrainLot], &str),
        (rate, every, count): (f64, Option<f64>, Option<f64>),
        times: &EmitterTimes,
    ) {
        let every = every.unwrap_or(0.01).min(self.part.end() - self.part.start());
        let left = self.left_of(count, rate, fix);
        if left == Some(0.0) {
            return;
        }
        let begins_here = fix.since >= self.part.start() - 1e-12;
        let batch = if begins_here { (rate * every).floor().min(left.unwrap_or(f64::INFINITY)) } else { 0.0 };
        let firsts = dealt(batch as u64, lots);
        let totals = left.map(|left| dealt(left as u64, lots));
        for (i, lot) in lots.iter().enumerate() {
            let first = firsts[i];
            if first > 0 {
                // What finds no room at first comes in later waves.
                let keys = times.keys(&total_of(first), every);
                self.emitter(&format!("{}-first", fix.id), lot, (place, insertion.velocity), &keys);
            }
            let total = totals.as_ref().map(|totals| totals[i].saturating_sub(first));
            if total == Some(0) {
                continue;
            }
            let keys = times.keys(&at_rate_of(rate * lot.by_number, total), every);
            self.emitter(&fix.id, lot, (place, insertion.velocity), &keys);
        }
    }

    /// Emitters of a stream out of a face: a slab before it that is as long as grains go between two waves, and a grain longer.
    fn stream(
        &mut self,
        fix: &ScriptFix,
        insertion: &Insertion,
        (lots, mean_mass, times): (&[GrainLot], f64, &EmitterTimes),
    ) -> Result<(), Problem> {
        let InsertionRoom::Face { mesh: id, face, length } = &insertion.room else { return Ok(()) };
        let wrong = |text: String| Problem::of(&fix.place, text);
        let flat = FlatFace::read(self.folder, face)
            .map_err(|text| wrong(text).help("paths start at the folder of the script"))?;
        let normal = flat
            .normal
            .ok_or_else(|| wrong(format!("insertion_face `{id}` is not flat")).help("use a flat mesh"))?;
        let speed = insertion.velocity.dot(normal);
        if speed == 0.0 {
            return Err(wrong(format!(
                "grains do not leave insertion_face `{id}`: their velocity lies in it, or is zero"
            ))
            .help("give `vel constant` a part along the normal of the face"));
        }
        let reach = lots.iter().map(|lot| lot.reach).fold(0.0, f64::max);
        let told = length.unwrap_or(f64::INFINITY);
        let travel = told.min(2.0 * reach);
        let every = travel / speed.abs();
        let form = slab(&flat, normal * -speed.signum(), travel + 2.0 * reach);
        if !matches!(form, Slab::Box(_)) {
            self.remarks.differs(&fix.place, format!("insertion_face `{id}` is no rectangle across an axis: grains come out of a disc of its area"));
        }
        self.remarks.differs(&fix.place, "grains of a stream come in small waves just before the face, and gravity acts on them there already");
        let (rate, count) = match (insertion.pace, insertion.amount) {
            (InsertionPace::MassRate(rate, _), amount) => (rate / mean_mass, number_of(amount, mean_mass)),
            (InsertionPace::Rate(rate, _), amount) => (rate, number_of(amount, mean_mass)),
            _ => return Ok(()),
        };
        let left = self.left_of(count, rate, fix);
        if left == Some(0.0) {
            return Ok(());
        }
        let totals = left.map(|left| dealt(left as u64, lots));
        for (i, lot) in lots.iter().enumerate() {
            let total = totals.as_ref().map(|totals| totals[i]);
            let keys = times.keys(&at_rate_of(rate * lot.by_number, total), every);
            self.emitter(&fix.id, lot, (&form.text(), insertion.velocity), &keys);
        }
        Ok(())
    }

    /// What is left of a number of grains that come at a rate \[1/s\], after those that came in earlier parts.
    fn left_of(&self, count: Option<f64>, rate: f64, fix: &ScriptFix) -> Option<f64> {
        let gone = rate * (self.part.start() - fix.since).max(0.0);
        count.map(|count| (count - gone).max(0.0).round())
    }

    fn times(&self, fix: &ScriptFix) -> EmitterTimes {
        let holds = |scene: &ScriptScene| scene.fix(&fix.id).is_some_and(|known| known.since == fix.since);
        let last = self
            .part
            .runs
            .iter()
            .filter(|run| holds(&run.scene))
            .map(|run| run.end)
            .fold(self.part.start(), f64::max);
        EmitterTimes { start: (fix.since - self.part.start()).max(0.0), stop: last - self.part.start() }
    }

    /// Grains of an insertion, largest first: kinds of one material and constant radii become one lot.
    fn lots(&mut self, insertion: &Insertion) -> Result<Vec<GrainLot>, Problem> {
        let mut groups: Vec<Vec<&(GrainTemplate, f64)>> = Vec::new();
        for kind in insertion.kinds.iter().filter(|(_, share)| *share > 0.0) {
            let joins = |other: &&(GrainTemplate, f64)| {
                let same = other.0.material == kind.0.material && other.0.density == kind.0.density;
                let constant = |kind: &GrainTemplate| matches!(kind.sizes, GrainSizes::Constant(_));
                same && constant(&other.0) && constant(&kind.0)
            };
            match groups.iter_mut().find(|group| group.iter().all(joins)) {
                Some(group) => group.push(kind),
                None => groups.push(vec![kind]),
            }
        }
        let mut lots = Vec::new();
        for group in groups {
            let first = &group[0].0;
            let by_number = group.iter().map(|(_, share)| share).sum();
            let sizes = self.sizes(&group);
            lots.push(GrainLot {
                material: self.materials.of_grains(first.material, first.density)?,
                sizes,
                by_number,
                reach: group.iter().map(|(kind, _)| kind.reach()).fold(0.0, f64::max),
            });
        }
        lots.sort_by(|a, b| b.reach.total_cmp(&a.reach));
        Ok(lots)
    }

    /// Keys of the sizes of a group of kinds.
    fn sizes(&mut self, group: &[&(GrainTemplate, f64)]) -> String {
        let mixture = |list: &[(f64, f64)]| {
            let part = |i: bool| {
                list.iter().map(|pair| number(if i { pair.0 } else { pair.1 })).collect::<Vec<_>>().join(", ")
            };
            format!(
                "radius = {{ kind = \"mixture\", radii = [{}], shares = [{}] }}\n",
                part(true),
                part(false)
            )
        };
        if let [_, _, ..] = group {
            let list: Vec<(f64, f64)> = group.iter().map(|(kind, share)| (kind.reach(), *share)).collect();
            return mixture(&list);
        }
        match &group[0].0.sizes {
            GrainSizes::Constant(radius) => {
                format!("radius = {{ kind = \"constant\", value = {} }}\n", number(*radius))
            }
            GrainSizes::Uniform(low, high) => {
                format!(
                    "radius = {{ kind = \"uniform\", min = {}, max = {} }}\n",
                    number(*low),
                    number(*high)
                )
            }
            GrainSizes::Normal(mean, deviation) => {
                format!(
                    "radius = {{ kind = \"normal\", mean = {}, deviation = {} }}\n",
                    number(*mean),
                    number(*deviation)
                )
            }
            GrainSizes::Mixture(list) => mixture(list),
            GrainSizes::Clump(spheres) => {
                let sphere = |(centre, radius): &(DVec3, f64)| {
                    format!("    {{ position = {}, radius = {} }},\n", vector(*centre), number(*radius))
                };
                let block = format!("spheres = [\n{}]\n", spheres.iter().map(sphere).collect::<String>());
                // Two insertions of one template share its clump.
                if let Some(at) = self.clumps.find(&block) {
                    let number = self.clumps[..at].matches("[clumps.").count();
                    return format!("clump = \"body-{number}\"\n");
                }
                self.clump_count += 1;
                self.clumps.push_str(&format!("\n[clumps.body-{}]\n{block}", self.clump_count));
                format!("clump = \"body-{}\"\n", self.clump_count)
            }
        }
    }

    fn block(&mut self, id: &str, lot: &GrainLot, (place, count): (&str, u64), insertion: &Insertion) {
        if count == 0 {
            return;
        }
        self.text.push_str(&format!(
            "
{}material = {}
{}",
            remarked("[[grains]]", id),
            quoted(&lot.material),
            lot.sizes
        ));
        self.text
            .push_str(&format!("packing = {{ kind = \"random\", count = {count}, region = {place} }}\n"));
        if insertion.velocity != DVec3::ZERO {
            self.text.push_str(&format!("velocity = {}\n", vector(insertion.velocity)));
        }
        if insertion.random_velocity > 0.0 {
            self.text.push_str(&format!("random_velocity = {}\n", number(insertion.random_velocity)));
        }
    }

    fn emitter(&mut self, id: &str, lot: &GrainLot, (place, velocity): (&str, DVec3), keys: &str) {
        let same = format!("name = {}\n", quoted(id));
        let number = self.text.matches(&same).count();
        let name = if number == 0 { id.to_owned() } else { format!("{id}-{}", lot.material) };
        self.text.push_str(&format!(
            "\n[[emitters]]\nname = {}\nmaterial = {}\n{}",
            quoted(&name),
            quoted(&lot.material),
            lot.sizes
        ));
        self.text.push_str(&format!("region = {place}\n{keys}velocity = {}\n", vector(velocity)));
    }

    /// Time in which grains fall through a region along gravity \[s\].
    fn fall_time(&self, room: &RegionForm, velocity: DVec3) -> f64 {
        let gravity = self.part.scene().gravity();
        let down = gravity.normalize_or(velocity.normalize_or(DVec3::NEG_Z));
        let height = room.corners().map_or(1.0, |[low, high]| (high - low).dot(down.abs()));
        let (speed, pull) = (velocity.dot(down).max(0.0), gravity.length());
        match pull > 0.0 {
            true => ((speed * speed + 2.0 * pull * height).sqrt() - speed) / pull,
            false => height / speed.max(1e-9),
        }
    }

    /// Writes the counters at meshes: sinks, or observed regions.
    pub fn counters(&mut self) -> Result<String, Problem> {
        let mut text = String::new();
        for fix in &self.part.scene().fixes {
            if let FixKind::MassFlow(flow) = &fix.kind {
                let mesh = self.part.mesh(&flow.id).map_or_else(|| flow.mesh.clone(), |(mesh, _)| mesh);
                let place = gate(self.folder, &mesh, flow, &fix.place)?;
                let table = if flow.removes { "sinks" } else { "observe.regions" };
                text.push_str(&format!("\n[[{table}]]\nname = {}\nregion = {place}\n", quoted(&fix.id)));
            }
        }
        Ok(text)
    }
}

/// A number of grains, dealt to lots by their shares such that the sum is exact.
fn dealt(count: u64, lots: &[GrainLot]) -> Vec<u64> {
    let mut sum = 0.0;
    let mut before = 0;
    let whole: f64 = lots.iter().map(|lot| lot.by_number).sum();
    let deal = |lot: &GrainLot| {
        sum += lot.by_number / whole;
        let until = (count as f64 * sum).round() as u64;
        let own = until - before;
        before = until;
        own
    };
    lots.iter().map(deal).collect()
}

fn number_of(amount: InsertionAmount, mean_mass: f64) -> Option<f64> {
    match amount {
        InsertionAmount::Count(count) => Some(count as f64),
        InsertionAmount::Mass(mass) => Some((mass / mean_mass).round()),
        InsertionAmount::Fraction(_) | InsertionAmount::Endless => None,
    }
}

/// Region of a gate: a thin layer behind a flat face, seen along the flow.
fn gate(folder: &Path, mesh: &ScriptMesh, flow: &MassFlow, place: &str) -> Result<String, Problem> {
    let wrong = |text: String| Problem::of(place, text);
    let face = FlatFace::read(folder, mesh)
        .map_err(|text| wrong(text).help("paths start at the folder of the script"))?;
    let normal = face.normal.ok_or_else(|| {
        wrong(format!("mesh `{}` is not flat, and grains are counted at it", flow.id)).help("use a flat mesh")
    })?;
    let along = normal * normal.dot(flow.direction).signum();
    let thickness = 0.01 * face.reach();
    let form = match face.is_rectangle() {
        true => slab(&face, along, thickness),
        false => Slab::Disc { base: face.centre, axis: along, length: thickness, radius: face.reach() },
    };
    Ok(form.text())
}
