//! Kinds of grain, their mixtures, and the fixes that insert them.

use glam::DVec3;

use super::command::ScriptCommand;
use super::forms::RegionForm;
use super::grain_kinds::{GrainSizes, GrainTemplate};
use super::scene::{FixKind, Insertion, InsertionAmount, InsertionPace, InsertionRoom, ScriptScene};
use super::walls::atom_type;
use crate::scenario::Problem;

/// Reads a seed, which has no counterpart: `seed` of the scenario rules all that is random.
fn seed(command: &mut ScriptCommand<'_>) -> Result<(), Problem> {
    command.count("a seed").map(|_| ())
}

/// Reads the words behind `fix ID GROUP particletemplate/sphere`.
pub fn sphere(command: &mut ScriptCommand<'_>, scene: &ScriptScene) -> Result<FixKind, Problem> {
    seed(command)?;
    let (mut material, mut density, mut sizes) = (1, None, None);
    while let Some(word) = command.next() {
        match word {
            "atom_type" => material = atom_type(command, scene)?,
            "density" => density = Some(constant_density(command)?),
            "radius" | "diameter" => {
                let half = if word == "diameter" { 0.5 } else { 1.0 };
                sizes = Some(radii(command, half * command.units.length)?);
            }
            "volume_limit" => {
                command.number("a volume")?;
            }
            other => {
                return Err(command
                    .wrong(format!("`{other}`, expected atom_type, density or radius"), "correct the word"));
            }
        }
    }
    let density = density
        .ok_or_else(|| command.wrong("the template ends, expected `density constant ...`", "add it"))?;
    let sizes =
        sizes.ok_or_else(|| command.wrong("the template ends, expected `radius constant ...`", "add it"))?;
    Ok(FixKind::Template(GrainTemplate { material, density, sizes }))
}

fn constant_density(command: &mut ScriptCommand<'_>) -> Result<f64, Problem> {
    match command.one_of(&["constant", "uniform", "gaussian"])? {
        "constant" => Ok(command.positive("the density")? * command.units.density()),
        "uniform" => {
            let [low, high] =
                [command.positive("the least density")?, command.positive("the largest density")?];
            command.differs("densities that differ from grain to grain: all have the mean");
            Ok(0.5 * (low + high) * command.units.density())
        }
        _ => {
            let mean = command.positive("the mean density")?;
            command.number("the deviation of the density")?;
            command.differs("densities that differ from grain to grain: all have the mean");
            Ok(mean * command.units.density())
        }
    }
}

/// Reads a distribution of radii; `unit` makes metres of them.
fn radii(command: &mut ScriptCommand<'_>, unit: f64) -> Result<GrainSizes, Problem> {
    match command.one_of(&["constant", "uniform", "gaussian"])? {
        "constant" => Ok(GrainSizes::Constant(command.positive("the radius")? * unit)),
        "uniform" => Ok(GrainSizes::Uniform(
            command.positive("the least radius")? * unit,
            command.positive("the largest radius")? * unit,
        )),
        _ => Ok(GrainSizes::Normal(
            command.positive("the mean radius")? * unit,
            command.number("the deviation")? * unit,
        )),
    }
}

/// Reads the words behind `fix ID GROUP particletemplate/multisphere`.
pub fn multisphere(command: &mut ScriptCommand<'_>, scene: &ScriptScene) -> Result<FixKind, Problem> {
    seed(command)?;
    let (mut material, mut density, mut count, mut spheres) = (1, None, None, None);
    while let Some(word) = command.next() {
        match word {
            "atom_type" => material = atom_type(command, scene)?,
            "density" => density = Some(constant_density(command)?),
            "nspheres" => count = Some(command.count("the number of spheres")? as usize),
            "ntry" => {
                command.count("a number of tries")?;
            }
            "spheres" => {
                let count = count.ok_or_else(|| {
                    command.wrong("`spheres` before `nspheres`", "give the number of spheres first")
                })?;
                spheres = Some(read_spheres(command, count)?);
            }
            "type" => {
                command.count("the type of the body")?;
            }
            "mass" | "inertia_tensor" | "use_volume" | "use_density" | "fflag" | "tflag" => {
                let rest = command.rest();
                command.not_taken(format!(
                    "`{word} {rest}` of the template: mass and inertia are those of the union of the spheres"
                ));
            }
            other => {
                return Err(command.wrong(
                    format!("`{other}`, expected atom_type, density, nspheres or spheres"),
                    "correct the word",
                ));
            }
        }
    }
    let density = density
        .ok_or_else(|| command.wrong("the template ends, expected `density constant ...`", "add it"))?;
    let spheres =
        spheres.ok_or_else(|| command.wrong("the template ends, expected `spheres ...`", "add it"))?;
    Ok(FixKind::Template(GrainTemplate { material, density, sizes: GrainSizes::Clump(spheres) }))
}

/// Reads spheres x y z r, in the command or in a file, with their scale.
fn read_spheres(command: &mut ScriptCommand<'_>, count: usize) -> Result<Vec<(DVec3, f64)>, Problem> {
    let unit = command.units.length;
    let mut numbers = Vec::new();
    let mut scale = 1.0;
    if command.skip("file") {
        let name = command.word("a file of spheres")?;
        let folder = std::path::Path::new(&command.source.name).parent().unwrap_or(std::path::Path::new(""));
        let path = folder.join(name);
        let text = crate::files::read_text(&path, crate::files::LARGEST_TEXT).map_err(|error| {
            command.wrong(
                format!("{} cannot be read: {error}", path.display()),
                "paths start at the folder of the script",
            )
        })?;
        for (line, text) in text.lines().enumerate() {
            for word in text.split('#').next().unwrap_or_default().split_whitespace() {
                let number = word.parse::<f64>().ok().filter(|number| number.is_finite());
                numbers.push(number.ok_or_else(|| {
                    command.wrong(
                        format!("{}:{}: found `{word}`, expected a number", path.display(), line + 1),
                        "correct the file",
                    )
                })?);
            }
        }
        if command.skip("scale") {
            scale = command.positive("the factor of scale")?;
        }
    } else {
        for _ in 0..4 * count {
            numbers.push(command.number("x y z r of a sphere")?);
        }
    }
    if numbers.len() != 4 * count || count == 0 {
        let message = format!("found {} numbers of spheres, expected {count} times x y z r", numbers.len());
        return Err(command.wrong(message, "correct nspheres or the spheres"));
    }
    let unit = unit * scale;
    Ok(numbers.chunks(4).map(|of| (unit * DVec3::new(of[0], of[1], of[2]), unit * of[3])).collect())
}

/// Reads the words behind `fix ID GROUP particledistribution/discrete`: shares by mass, or by number.
pub fn distribution(
    command: &mut ScriptCommand<'_>,
    scene: &ScriptScene,
    by_mass: bool,
) -> Result<FixKind, Problem> {
    seed(command)?;
    let count = command.count("the number of templates")?;
    let mut parts = Vec::new();
    for _ in 0..count {
        let id = command.name_among(
            "template",
            scene.ids(|kind| matches!(kind, FixKind::Template(_) | FixKind::Nothing)),
        )?;
        let share = command.number("the share of the template")?;
        let Some(FixKind::Template(template)) = scene.fix(id).map(|fix| &fix.kind) else { continue };
        let number = if by_mass { share / template.mean_mass() } else { share };
        parts.push((id.to_owned(), number));
    }
    command.end()?;
    let sum: f64 = parts.iter().map(|(_, number)| number).sum();
    if count == 0 || (sum <= 0.0 && !parts.is_empty()) {
        return Err(
            command.wrong("no template has a share above zero", "give at least one template with a share")
        );
    }
    Ok(FixKind::Distribution(parts.into_iter().map(|(id, number)| (id, number / sum)).collect()))
}

/// What the words of an insertion say.
struct InsertionWords {
    kinds: Vec<(GrainTemplate, f64)>,
    region: Option<RegionForm>,
    face: Option<String>,
    length: Option<f64>,
    amount: InsertionAmount,
    rate: Option<(bool, f64)>,
    every: Option<Option<f64>>,
    velocity: DVec3,
    random_velocity: f64,
    all_in: bool,
}

/// Reads the words behind `fix ID GROUP insert/pack`, `insert/stream` or `insert/rate/region`.
pub fn insertion(
    command: &mut ScriptCommand<'_>,
    scene: &ScriptScene,
    style: &str,
) -> Result<FixKind, Problem> {
    let mut words = InsertionWords {
        kinds: Vec::new(),
        region: None,
        face: None,
        length: None,
        amount: InsertionAmount::Endless,
        rate: None,
        every: None,
        velocity: DVec3::ZERO,
        random_velocity: 0.0,
        all_in: false,
    };
    while let Some(word) = command.next() {
        if !(words.what(command, scene, word)? || words.how(command, scene, word)?) {
            return Err(command.wrong(
                format!("`{word}`, expected a key of {style} such as distributiontemplate, region or vel"),
                "correct the word",
            ));
        }
    }
    words.finish(command, scene, style)
}

impl InsertionWords {
    /// Takes a word on grains, their number and their place; returns whether it was one.
    fn what(
        &mut self,
        command: &mut ScriptCommand<'_>,
        scene: &ScriptScene,
        word: &str,
    ) -> Result<bool, Problem> {
        let units = command.units;
        match word {
            "distributiontemplate" => {
                let known = scene.ids(|kind| matches!(kind, FixKind::Distribution(_) | FixKind::Nothing));
                let id = command.name_among("distribution", known)?;
                if let Some(FixKind::Distribution(parts)) = scene.fix(id).map(|fix| &fix.kind) {
                    self.kinds = parts.iter().filter_map(|(id, share)| kind_of(scene, id, *share)).collect();
                }
            }
            "region" => {
                let name = command.name_among("region", scene.regions.keys().map(String::as_str))?;
                self.region = scene.regions.get(name).map(|form| scene.within_box(form));
            }
            "insertion_face" => {
                let known = scene.ids(|kind| matches!(kind, FixKind::Mesh(_) | FixKind::Nothing));
                self.face = Some(command.name_among("mesh", known)?.to_owned());
            }
            "extrude_length" => self.length = Some(command.positive("the length")? * units.length),
            "particles_in_region" | "nparticles" => {
                self.amount = match command.skip("INF") {
                    true => InsertionAmount::Endless,
                    false => InsertionAmount::Count(command.count("the number of grains")?),
                };
            }
            "mass_in_region" | "mass" => {
                self.amount = match command.skip("INF") {
                    true => InsertionAmount::Endless,
                    false => InsertionAmount::Mass(command.positive("the mass")? * units.mass),
                };
            }
            "volumefraction_region" => {
                self.amount = InsertionAmount::Fraction(command.positive("the solid fraction")?)
            }
            "particlerate" => self.rate = Some((false, command.positive("the rate of grains")? / units.time)),
            "massrate" => {
                self.rate = Some((true, command.positive("the rate of mass")? * units.mass / units.time))
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Takes a word on how grains are inserted; returns whether it was one.
    fn how(
        &mut self,
        command: &mut ScriptCommand<'_>,
        scene: &ScriptScene,
        word: &str,
    ) -> Result<bool, Problem> {
        match word {
            "seed" => seed(command)?,
            "maxattempt" | "ntry_mc" => {
                command.count("a number of tries")?;
            }
            "start" => {
                let step = command.count("the first step")?;
                if step > scene.steps {
                    command.not_taken(format!("`start {step}`: grains come from the begin of the run"));
                }
            }
            "all_in" => self.all_in = command.switch()?,
            "verbose" | "warn_region" | "check_dist_from_subdomain_border" => {
                command.switch()?;
            }
            "overlapcheck" => {
                if !command.switch()? {
                    command.differs("`overlapcheck no`: grains are placed without overlaps");
                }
            }
            "insert_every" => {
                self.every = Some(match command.skip("once") {
                    true => None,
                    false => Some(
                        command.count("the steps between insertions")?.max(1) as f64
                            * step_of(command, scene)?,
                    ),
                });
            }
            "vel" => self.velocity(command)?,
            "omega" => {
                command.exactly("constant")?;
                let spin = command.vector("the angular velocity")?;
                if spin != DVec3::ZERO {
                    command.not_taken("`omega` of inserted grains");
                }
            }
            "orientation" => {
                let how = command.word("random, template or constant")?;
                if how != "random" {
                    command.differs(format!("`orientation {how}`: bodies are turned at random"));
                    if how == "constant" {
                        command.rest();
                    }
                }
            }
            "set_property" => {
                let rest = command.rest();
                command.not_taken(format!("`set_property {rest}`"));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn velocity(&mut self, command: &mut ScriptCommand<'_>) -> Result<(), Problem> {
        let speed = command.units.velocity();
        match command.one_of(&["constant", "uniform", "gaussian"])? {
            "constant" => self.velocity = command.vector("the velocity")? * speed,
            word => {
                self.velocity = command.vector("the mean velocity")? * speed;
                let spread = command.vector("the spread of the velocity")? * speed;
                self.random_velocity =
                    spread.abs().max_element() / if word == "uniform" { 3f64.sqrt() } else { 1.0 };
                command.differs("random velocities are normal, with one deviation along all axes; those of emitters are constant");
            }
        }
        Ok(())
    }

    fn finish(
        self,
        command: &mut ScriptCommand<'_>,
        scene: &ScriptScene,
        style: &str,
    ) -> Result<FixKind, Problem> {
        let missing = |command: &ScriptCommand<'_>, what: &str| {
            Err(command.wrong(format!("{style} ends, expected {what}"), "add it"))
        };
        let room = match (style, self.region, self.face) {
            ("insert/stream", _, Some(mesh)) => {
                let Some(face) = scene.mesh(&mesh).cloned() else { return Ok(FixKind::Nothing) };
                InsertionRoom::Face { mesh, face: Box::new(face), length: self.length }
            }
            ("insert/stream", _, None) => return missing(command, "`insertion_face MESH`"),
            (_, Some(region), _) => InsertionRoom::Region(region),
            (_, None, _) => return missing(command, "`region NAME`"),
        };
        if self.kinds.is_empty() {
            return match scene.fixes.iter().any(|fix| fix.kind == FixKind::Nothing) {
                // The distribution is faulty, or one of its templates, which is told.
                true => Ok(FixKind::Nothing),
                false => missing(command, "`distributiontemplate ID`"),
            };
        }
        if !self.all_in && matches!(room, InsertionRoom::Region(_)) {
            command
                .differs("without `all_in yes` grains reach out of their region; here they lie inside of it");
        }
        let interval = self.every.flatten();
        let pace = match (style, self.rate, self.every) {
            ("insert/pack", _, Some(None)) => InsertionPace::Once,
            ("insert/pack", _, Some(Some(every))) => InsertionPace::Refill(every),
            ("insert/pack", _, None) => return missing(command, "`insert_every once`, or steps"),
            (_, Some((true, rate)), _) => InsertionPace::MassRate(rate, interval),
            (_, Some((false, rate)), _) => InsertionPace::Rate(rate, interval),
            (_, None, _) => return missing(command, "`massrate` or `particlerate`"),
        };
        if matches!(
            (pace, self.amount),
            (InsertionPace::Once | InsertionPace::Refill(_), InsertionAmount::Endless)
        ) {
            return missing(command, "particles_in_region, volumefraction_region or mass_in_region");
        }
        let (velocity, random_velocity) = (self.velocity, self.random_velocity);
        Ok(FixKind::Insertion(Insertion {
            kinds: self.kinds,
            room,
            amount: self.amount,
            velocity,
            random_velocity,
            pace,
        }))
    }
}

fn kind_of(scene: &ScriptScene, id: &str, share: f64) -> Option<(GrainTemplate, f64)> {
    match &scene.fix(id)?.kind {
        FixKind::Template(template) => Some((template.clone(), share)),
        _ => None,
    }
}

/// Time step of the script \[s\].
pub fn step_of(command: &ScriptCommand<'_>, scene: &ScriptScene) -> Result<f64, Problem> {
    scene.time_step.ok_or_else(|| {
        command.wrong("steps are counted before `timestep`", "move `timestep` before this command")
    })
}

/// Reads the words behind `fix ID GROUP pour` of LAMMPS.
pub fn pour(command: &mut ScriptCommand<'_>, scene: &ScriptScene) -> Result<FixKind, Problem> {
    let units = command.units;
    let count = command.count("the number of grains")?;
    let material = atom_type(command, scene)?;
    seed(command)?;
    let (mut sizes, mut density, mut region) =
        (GrainSizes::Constant(0.5 * units.length), units.density(), None);
    let (mut fraction, mut velocity) = (0.25, DVec3::ZERO);
    while let Some(word) = command.next() {
        match word {
            "region" => {
                let name = command.name_among("region", scene.regions.keys().map(String::as_str))?;
                region = scene.regions.get(name).map(|form| scene.within_box(form));
            }
            "diam" => sizes = diameters(command)?,
            "dens" => {
                let [low, high] =
                    [command.positive("the least density")?, command.positive("the largest density")?];
                if low != high {
                    command.differs("densities that differ from grain to grain: all have the mean");
                }
                density = 0.5 * (low + high) * units.density();
            }
            "vol" => {
                fraction = command.positive("the solid fraction")?;
                command.count("a number of tries")?;
            }
            "vel" => {
                let ends = if scene.is_flat { 3 } else { 5 };
                let all: Vec<f64> =
                    (0..ends).map(|_| command.number("a velocity")).collect::<Result<_, _>>()?;
                let mean = |i: usize| 0.5 * (all[i] + all[i + 1]) * units.velocity();
                velocity = match all[..] {
                    [_, _, last] => DVec3::new(mean(0), last * units.velocity(), 0.0),
                    _ => DVec3::new(mean(0), mean(2), all[4] * units.velocity()),
                };
            }
            "id" | "units" => {
                command.word("a value")?;
            }
            "rate" | "mol" | "molfrac" | "rigid" | "shake" | "ignore" => {
                let rest = command.rest();
                command.not_taken(format!("`{word} {rest}` of `pour`"));
            }
            other => {
                return Err(command.wrong(
                    format!("`{other}`, expected region, diam, dens, vol or vel"),
                    "correct the word",
                ));
            }
        }
    }
    let region =
        region.ok_or_else(|| command.wrong("`pour` ends, expected `region NAME`", "add the region"))?;
    command.differs("`pour`: layers come at the mean rate at which they fall out of the region");
    Ok(FixKind::Insertion(Insertion {
        kinds: vec![(GrainTemplate { material, density, sizes }, 1.0)],
        room: InsertionRoom::Region(region),
        amount: InsertionAmount::Count(count),
        velocity,
        random_velocity: 0.0,
        pace: InsertionPace::Pour(fraction),
    }))
}

/// Reads `one D`, `range lo hi` or `poly n D1 P1 ...`; older scripts have `lo hi` alone.
fn diameters(command: &mut ScriptCommand<'_>) -> Result<GrainSizes, Problem> {
    let half = 0.5 * command.units.length;
    if command.peek().is_some_and(|word| word.parse::<f64>().is_ok()) {
        let ends = [command.positive("the least diameter")?, command.positive("the largest diameter")?];
        return Ok(GrainSizes::Uniform(half * ends[0], half * ends[1]));
    }
    match command.one_of(&["one", "range", "poly"])? {
        "one" => Ok(GrainSizes::Constant(half * command.positive("the diameter")?)),
        "range" => Ok(GrainSizes::Uniform(
            half * command.positive("the least diameter")?,
            half * command.positive("the largest diameter")?,
        )),
        _ => {
            let count = command.count("the number of diameters")?;
            let one = |command: &mut ScriptCommand<'_>| {
                Ok((half * command.positive("a diameter")?, command.number("its share")?))
            };
            Ok(GrainSizes::Mixture((0..count).map(|_| one(command)).collect::<Result<_, Problem>>()?))
        }
    }
}
