//! Materials of a scenario, and the laws of their pairs, from the types and contact models of a script.

use super::remarks::Remarks;
use super::scene::{ContactModel, ContactStiffness, GranularLaw, NormalLoss, PropertyValues, ScriptScene};
use super::text::{number, quoted, remarked};
use crate::law::normal::HOOKE_OVERLAP;
use crate::scenario::Problem;

/// Density of the material of a wall that no grain is of \[kg/m³\]; walls that do not move freely need none.
const WALL_DENSITY: f64 = 1000.0;
/// Poisson's ratio where a script gives a stiffness alone \[-\].
const POISSON: f64 = 0.25;
/// Speed at which the restitution of a damper is taken that depends on it \[m/s\].
pub const SPEED: f64 = 1.0;

/// Grain that stands for all where a law depends on their size: radius \[m\] and mass \[kg\].
#[derive(Debug, Clone, Copy)]
pub struct TypicalGrain {
    /// Radius \[m\].
    pub radius: f64,
    /// Mass \[kg\].
    pub mass: f64,
}

/// Material of a scenario.
struct MaterialEntry {
    name: String,
    /// Type of atom, from 1; walls of LAMMPS have none.
    kind: Option<usize>,
    /// Density \[kg/m³\] of grains; `None`: of a wall.
    density: Option<f64>,
    /// Contact model, of a wall.
    model: Option<ContactModel>,
    youngs_modulus: f64,
    poisson_ratio: f64,
}

/// Law of a pair of materials.
#[derive(Debug, Clone, Copy, PartialEq)]
struct PairNumbers {
    restitution: f64,
    friction: f64,
    rolling: f64,
    adhesion: f64,
}

/// Materials of a scenario that is being written.
pub struct MaterialList<'a> {
    scene: &'a ScriptScene,
    place: String,
    typical: TypicalGrain,
    list: Vec<MaterialEntry>,
}

impl<'a> MaterialList<'a> {
    /// No material yet; `place` stands in mistakes.
    pub fn new(scene: &'a ScriptScene, place: &str, typical: TypicalGrain) -> MaterialList<'a> {
        MaterialList { scene, place: place.to_owned(), typical, list: Vec::new() }
    }

    /// Name of the material of grains of a type and density.
    pub fn of_grains(&mut self, kind: usize, density: f64) -> Result<String, Problem> {
        let is_it = |entry: &&MaterialEntry| {
            entry.kind == Some(kind) && entry.density.is_some_and(|own| (own / density - 1.0).abs() < 1e-9)
        };
        if let Some(known) = self.list.iter().find(is_it) {
            return Ok(known.name.clone());
        }
        let has_one = self.list.iter().any(|entry| entry.kind == Some(kind) && entry.density.is_some());
        let name = if has_one {
            format!("type-{kind}-at-{}", number(density).replace('.', "_"))
        } else {
            format!("type-{kind}")
        };
        let (youngs_modulus, poisson_ratio) = match &self.scene.pair {
            Some(ContactModel::OfMaterials { .. }) => {
                (self.of_type("youngsModulus", kind)?, self.of_type("poissonsRatio", kind)?)
            }
            _ => {
                let law = self.granular(kind, kind)?;
                // Two equal grains: R* is half the radius.
                let effective = law.stiffness.effective_modulus(0.5 * self.typical.radius);
                law.stiffness.of_equal_bodies(effective)
            }
        };
        self.list.push(MaterialEntry {
            name: name.clone(),
            kind: Some(kind),
            density: Some(density),
            model: None,
            youngs_modulus,
            poisson_ratio,
        });
        Ok(name)
    }

    /// Name of the material of a wall: that of the grains of its type, if both have the same law.
    pub fn of_wall(&mut self, kind: Option<usize>, model: &ContactModel) -> Result<String, Problem> {
        let is_as_pair = self.scene.pair.as_ref() == Some(model);
        let is_it = |entry: &&MaterialEntry| {
            let same = entry.kind == kind && kind.is_some();
            (same && is_as_pair && entry.density.is_some())
                || (entry.kind == kind && entry.model.as_ref() == Some(model))
        };
        if let Some(known) = self.list.iter().find(is_it) {
            return Ok(known.name.clone());
        }
        let (youngs_modulus, poisson_ratio) = match (model, kind) {
            (ContactModel::Coefficients(law), _) => self.wall_elasticity(law),
            (_, Some(kind)) => (self.of_type("youngsModulus", kind)?, self.of_type("poissonsRatio", kind)?),
            _ => {
                return Err(Problem::of(&self.place, "a wall without a type, expected one")
                    .help("give the wall its type"));
            }
        };
        let base = kind.map_or("wall".to_owned(), |kind| format!("wall-{kind}"));
        let number = self.list.iter().filter(|entry| entry.name.starts_with(&base)).count();
        let name = if number == 0 { base } else { format!("{base}-{}", number + 1) };
        self.list.push(MaterialEntry {
            name: name.clone(),
            kind,
            density: None,
            model: Some(model.clone()),
            youngs_modulus,
            poisson_ratio,
        });
        Ok(name)
    }

    /// Young's modulus \[Pa\] and Poisson's ratio of a wall with which the first grains have the stiffness of a law.
    fn wall_elasticity(&self, law: &GranularLaw) -> (f64, f64) {
        let wanted = law.stiffness.effective_modulus(self.typical.radius);
        let (modulus, poisson) = law.stiffness.of_equal_bodies(wanted);
        let Some(grain) = self.list.iter().find(|entry| entry.density.is_some()) else {
            return (modulus, poisson);
        };
        let of_grain = (1.0 - grain.poisson_ratio.powi(2)) / grain.youngs_modulus;
        let left = 1.0 / wanted - of_grain;
        // A wall is not stiffer than rigid.
        let modulus = if left > 0.0 { (1.0 - poisson * poisson) / left } else { 1e4 * grain.youngs_modulus };
        (modulus, poisson)
    }

    fn of_type(&self, name: &str, kind: usize) -> Result<f64, Problem> {
        match self.scene.property(name) {
            Some(PropertyValues::PerType(values)) if kind <= values.len() => Ok(values[kind - 1]),
            _ => Err(self.missing(name)),
        }
    }

    fn of_pair(&self, name: &str, a: usize, b: usize) -> Result<f64, Problem> {
        match self.scene.property(name) {
            Some(PropertyValues::PerPair(count, values)) if a.max(b) <= *count => {
                Ok(values[(a - 1) * count + b - 1])
            }
            _ => Err(self.missing(name)),
        }
    }

    fn missing(&self, name: &str) -> Problem {
        Problem::of(&self.place, format!("there is no property `{name}`, expected one for each type"))
            .help(format!("add `fix ID all property/global {name} ...` before the run"))
    }

    fn granular(&self, a: usize, b: usize) -> Result<GranularLaw, Problem> {
        let found = match &self.scene.pair {
            Some(ContactModel::Coefficients(law)) => Some(*law),
            _ => self.scene.granular.get(&(a.min(b), a.max(b))).copied(),
        };
        found.ok_or_else(|| {
            let message = match self.scene.pair {
                None => "there is no `pair_style`, expected one before the run".to_owned(),
                Some(_) => format!("types {a} and {b} have no `pair_coeff`, expected one"),
            };
            Problem::of(&self.place, message).help("add it before the run")
        })
    }

    /// Law of two materials, of which at least one is of grains.
    fn law(&self, a: &MaterialEntry, b: &MaterialEntry) -> Result<PairNumbers, Problem> {
        let wall = [a, b].into_iter().find_map(|entry| entry.model.as_ref());
        let is_wall = wall.is_some();
        match wall.or(self.scene.pair.as_ref()) {
            Some(ContactModel::OfMaterials { has_friction, has_rolling, .. }) => {
                let (a, b) = (a.kind.unwrap_or(1), b.kind.unwrap_or(1));
                let if_any = |has: bool, name: &str| if has { self.of_pair(name, a, b) } else { Ok(0.0) };
                Ok(PairNumbers {
                    restitution: self.of_pair("coefficientRestitution", a, b)?,
                    friction: if_any(*has_friction, "coefficientFriction")?,
                    rolling: if_any(*has_rolling, "coefficientRollingFriction")?,
                    adhesion: 0.0,
                })
            }
            Some(ContactModel::Coefficients(law)) => Ok(self.numbers(law, is_wall)),
            _ => {
                let (a, b) = (a.kind.unwrap_or(1), b.kind.unwrap_or(1));
                self.granular(a, b).map(|law| self.numbers(&law, is_wall))
            }
        }
    }

    fn numbers(&self, law: &GranularLaw, is_wall: bool) -> PairNumbers {
        let half = if is_wall { 1.0 } else { 0.5 };
        let grain = TypicalGrain { radius: half * self.typical.radius, mass: half * self.typical.mass };
        PairNumbers {
            restitution: restitution(law, grain),
            friction: law.friction,
            rolling: law.rolling,
            adhesion: law.adhesion,
        }
    }

    /// Writes `[materials]` and `[[pairs]]`.
    pub fn write(&self) -> Result<String, Problem> {
        let mut text = String::new();
        for entry in &self.list {
            let partner = self.list.iter().find(|other| other.density.is_some()).unwrap_or(entry);
            let own =
                if entry.density.is_some() { self.law(entry, entry)? } else { self.law(partner, entry)? };
            text.push_str(&format!("\n[materials.{}]\n", entry.name));
            match entry.density {
                Some(density) => text.push_str(&format!("density = {}\n", number(density))),
                None => {
                    let density = format!("density = {}", number(WALL_DENSITY));
                    text.push_str(&remarked(&density, "of a wall: without effect"));
                }
            }
            text.push_str(&format!("youngs_modulus = {}\n", number(entry.youngs_modulus)));
            text.push_str(&format!("poisson_ratio = {}\n", number(entry.poisson_ratio)));
            text.push_str(&keys(&own));
        }
        for (i, a) in self.list.iter().enumerate() {
            for b in self.list.iter().skip(i) {
                if self.list.len() > 1 && (a.density.is_some() || b.density.is_some()) {
                    let names = format!("[{}, {}]", quoted(&a.name), quoted(&b.name));
                    text.push_str(&format!("\n[[pairs]]\nmaterials = {names}\n{}", keys(&self.law(a, b)?)));
                }
            }
        }
        Ok(text)
    }

    /// The normal law of the scenario: that of the grains; remarks walls that have another.
    pub fn normal_law(&self, remarks: &mut Remarks) -> &'static str {
        let is_hertz = |model: &ContactModel| match model {
            ContactModel::OfMaterials { is_hertz, .. } => *is_hertz,
            ContactModel::Coefficients(law) => !matches!(law.stiffness, ContactStiffness::Hooke(_)),
            ContactModel::PerPair => !self
                .scene
                .granular
                .values()
                .next()
                .is_some_and(|law| matches!(law.stiffness, ContactStiffness::Hooke(_))),
        };
        let own = self.scene.pair.as_ref().is_none_or(is_hertz);
        if self.list.iter().filter_map(|entry| entry.model.as_ref()).any(|model| is_hertz(model) != own) {
            remarks.differs(
                &self.place,
                "walls have another normal law than grains: the law of the grains is that of all contacts",
            );
        }
        if own { "hertz" } else { "hooke" }
    }
}

fn keys(law: &PairNumbers) -> String {
    let mut text =
        format!("restitution = {}\nfriction = {}\n", number(law.restitution), number(law.friction));
    text.push_str(&format!("rolling_resistance = {}\n", number(law.rolling)));
    if law.adhesion != 0.0 {
        text.push_str(&format!("work_of_adhesion = {}\n", number(law.adhesion)));
    }
    text
}

impl ContactStiffness {
    /// E* of a contact of this effective radius \[m\], under the normal law of the scenario \[Pa\].
    fn effective_modulus(self, radius: f64) -> f64 {
        match self {
            ContactStiffness::Material(modulus, poisson) => 0.5 * modulus / (1.0 - poisson * poisson),
            ContactStiffness::Hertz(stiffness) => 0.75 * stiffness,
            // Hooke's law of esker: k = 4/3 E* √(R* δ) at an overlap δ of HOOKE_OVERLAP R*.
            ContactStiffness::Hooke(stiffness) => stiffness / (4.0 / 3.0 * HOOKE_OVERLAP.sqrt() * radius),
        }
    }

    /// Young's modulus \[Pa\] and Poisson's ratio of two equal bodies with this E*.
    fn of_equal_bodies(self, effective: f64) -> (f64, f64) {
        let poisson = if let ContactStiffness::Material(_, poisson) = self { poisson } else { POISSON };
        (2.0 * (1.0 - poisson * poisson) * effective, poisson)
    }
}

/// Coefficient of restitution of a law with a damper, for this effective radius and mass, at `SPEED`: the contact is followed in small
/// steps until the force pulls or the bodies are apart.
fn restitution(law: &GranularLaw, grain: TypicalGrain) -> f64 {
    if let NormalLoss::Restitution(value) = law.loss {
        return value;
    }
    let TypicalGrain { radius, mass } = grain;
    let effective = law.stiffness.effective_modulus(radius);
    let elastic = |overlap: f64| match law.stiffness {
        ContactStiffness::Hooke(stiffness) => stiffness * overlap,
        _ => 4.0 / 3.0 * effective * (radius * overlap).sqrt() * overlap,
    };
    let damper = |overlap: f64| match law.loss {
        NormalLoss::PerMass(gamma) => gamma * mass,
        NormalLoss::PerMassAndRadius(gamma) => gamma * mass * (radius * overlap).sqrt(),
        NormalLoss::Plain(gamma) => gamma,
        NormalLoss::Restitution(_) => 0.0,
    };
    // Time in which Hertz bodies of this speed separate, 2.87 (m²/(R E*² v))^(1/5), in a thousand steps.
    let step = 2.87e-3 * (mass * mass / (radius * effective * effective * SPEED)).powf(0.2);
    let (mut overlap, mut speed) = (0.0, SPEED);
    for _ in 0..20_000 {
        let force = elastic(overlap) + damper(overlap) * speed;
        speed -= step * force / mass;
        overlap += step * speed;
        if overlap <= 0.0 || (speed < 0.0 && elastic(overlap) + damper(overlap) * speed <= 0.0) {
            return (-speed / SPEED).clamp(0.0, 1.0);
        }
    }
    0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRAIN: TypicalGrain = TypicalGrain { radius: 1e-3, mass: 1e-5 };

    fn hooke(loss: NormalLoss) -> GranularLaw {
        GranularLaw {
            stiffness: ContactStiffness::Hooke(1e3),
            loss,
            friction: 0.0,
            rolling: 0.0,
            adhesion: 0.0,
        }
    }

    /// A linear spring of ω₀² = k/m with a damper γ m leaves with exp(−π β / √(ω₀² − β²)), β = γ/2, where it is let go at zero overlap;
    /// where it is let go at zero force the rebound is larger by less than β/ω₀.
    #[test]
    fn a_damper_of_a_linear_spring_has_the_restitution_of_its_formula() {
        let beta = 500.0;
        let frequency = (1e3f64 / 1e-5 - beta * beta).sqrt();
        let expected = (-std::f64::consts::PI * beta / frequency).exp();
        let found = restitution(&hooke(NormalLoss::PerMass(2.0 * beta)), GRAIN);
        assert!((found - expected).abs() < 0.05 * expected, "{found}, expected {expected}");
        assert!((restitution(&hooke(NormalLoss::PerMass(0.0)), GRAIN) - 1.0).abs() < 1e-2, "no damper");
        assert!(
            restitution(&hooke(NormalLoss::PerMass(8.0 * beta)), GRAIN) < found - 0.1,
            "a strong damper takes more"
        );
    }

    #[test]
    fn stiffnesses_of_lammps_become_moduli() {
        let (modulus, poisson) = ContactStiffness::Hertz(4.0 / 3.0 * 1e6).of_equal_bodies(1e6);
        assert!((modulus / (2.0 * (1.0 - poisson * poisson) * 1e6) - 1.0).abs() < 1e-12);
        assert!((ContactStiffness::Hertz(4.0 / 3.0 * 1e6).effective_modulus(0.1) / 1e6 - 1.0).abs() < 1e-12);
        // At 1 % of R* Hooke's force is Hertz's.
        let effective = ContactStiffness::Hooke(1e3).effective_modulus(2e-3);
        let overlap = 0.01 * 2e-3;
        let hertz = 4.0 / 3.0 * effective * (2e-3f64 * overlap).sqrt() * overlap;
        assert!((hertz / (1e3 * overlap) - 1.0).abs() < 1e-12, "{hertz}");
    }
}
