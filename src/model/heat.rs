//! Heat: temperatures of bodies, and what boundaries do with heat \[E21\].

use super::{Course, Grain, MaterialId, World};

/// Temperature and heat capacity of a body.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct BodyHeat {
    /// Temperature \[K\]; 0 in a scene without heat.
    pub temperature: f64,
    /// 1/C, with C the heat capacity m c \[K/J\]; 0 where the temperature is held.
    pub inverse_capacity: f64,
}

/// What a boundary does with heat.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum WallHeat {
    /// It takes no heat and gives none.
    #[default]
    Insulated,
    /// Its temperature is held, as a function of time \[K\].
    Held(Course),
    /// Its temperature follows from the heat that it takes up.
    Free {
        /// Temperature at the start \[K\].
        temperature: f64,
        /// Heat capacity C \[J/K\].
        capacity: f64,
    },
}

/// Heat of a scene: what does not change, and what was summed since the start.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Heat {
    /// Temperature of grains that have none of their own \[K\].
    pub initial_temperature: f64,
    /// Fraction of the energy that contacts take out of the motion which warms their bodies \[-\].
    pub friction_share: f64,
    /// Per boundary, what it does with heat.
    pub walls: Vec<WallHeat>,
    /// Per boundary, the heat that contacts brought to it since the start \[J\].
    pub received: Vec<f64>,
    /// Heat that contacts made of the energy of the motion since the start \[J\].
    pub made: f64,
}

impl Heat {
    /// Heat of a scene with these boundaries, at an initial temperature \[K\].
    pub fn new(initial_temperature: f64, walls: Vec<WallHeat>) -> Heat {
        let received = vec![0.0; walls.len()];
        Heat { initial_temperature, walls, received, ..Heat::default() }
    }

    /// Whether contacts conduct heat to a body: to every one but insulated boundaries.
    #[inline]
    pub fn conducts(&self, body: usize) -> bool {
        self.walls.get(body).is_none_or(|wall| *wall != WallHeat::Insulated)
    }
}

impl World {
    /// Gives the scene heat: sets the temperatures of its boundaries and of the grains that are there.
    ///
    /// # Panics
    /// If there is not one [`WallHeat`] per boundary.
    pub fn set_heat(&mut self, heat: Heat) {
        assert_eq!(heat.walls.len(), self.boundaries.len(), "one per boundary");
        let initial = heat.initial_temperature;
        for (body, wall) in heat.walls.iter().enumerate() {
            self.bodies.heat[body] = match wall {
                WallHeat::Insulated => BodyHeat { temperature: initial, inverse_capacity: 0.0 },
                WallHeat::Held(course) => {
                    BodyHeat { temperature: course.at(self.time), inverse_capacity: 0.0 }
                }
                WallHeat::Free { temperature, capacity } => {
                    BodyHeat { temperature: *temperature, inverse_capacity: 1.0 / capacity }
                }
            };
        }
        self.heat = Some(heat);
        for grain in 0..self.grain_count() {
            let inverse_capacity = 1.0 / self.grain_heat_capacity(grain);
            let body = self.grain_body(grain);
            self.bodies.heat[body] = BodyHeat { temperature: initial, inverse_capacity };
        }
    }

    /// Heat of the scene, if contacts make heat of the energy of the motion.
    pub fn friction_heat(&self) -> Option<&Heat> {
        self.heat.as_ref().filter(|heat| heat.friction_share > 0.0)
    }

    /// Sets the boundaries whose temperatures are held to those at `time` \[s\].
    pub fn heat_boundaries(&mut self, time: f64) {
        let Some(heat) = &self.heat else { return };
        for (wall, body) in heat.walls.iter().zip(&mut self.bodies.heat) {
            if let WallHeat::Held(course) = wall {
                body.temperature = course.at(time);
            }
        }
    }

    /// Temperature and heat capacity of a grain to be added; none in a scene without heat.
    pub(super) fn heat_of(&self, grain: &Grain) -> BodyHeat {
        let Some(heat) = &self.heat else { return BodyHeat::default() };
        let capacity = self.mass_of(grain) * self.specific_heat(grain.material);
        BodyHeat {
            temperature: grain.temperature.unwrap_or(heat.initial_temperature),
            inverse_capacity: if grain.holds_temperature { 0.0 } else { 1.0 / capacity },
        }
    }

    fn specific_heat(&self, material: MaterialId) -> f64 {
        self.materials.list[material as usize].heat_capacity
    }

    /// Heat capacity m c of a grain, removed or not \[J/K\].
    pub fn grain_heat_capacity(&self, grain: usize) -> f64 {
        self.grain_mass(grain) * self.specific_heat(self.grain_material(grain))
    }

    /// Temperature of a grain \[K\].
    pub fn grain_temperature(&self, grain: usize) -> f64 {
        self.bodies.heat[self.grain_body(grain)].temperature
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::law::pair::Material;
    use crate::model::Materials;

    #[test]
    fn grains_start_at_their_temperature_and_hold_it_if_told() {
        let copper = Material { conductivity: 400.0, heat_capacity: 385.0, ..Material::glass() };
        let mut world = World::new(DVec3::ZERO, Materials::new(vec![copper]));
        world.add_grains([Grain::at(DVec3::ZERO, 0.01, 0)]);
        world.set_heat(Heat::new(300.0, Vec::new()));
        let plain = Grain::at(DVec3::X, 0.01, 0);
        let hot = Grain { temperature: Some(350.0), ..plain };
        world.add_grains([plain, hot, Grain { holds_temperature: true, ..hot }]);
        let found: Vec<f64> = (0..4).map(|grain| world.grain_temperature(grain)).collect();
        assert_eq!(found, [300.0, 300.0, 350.0, 350.0]);
        let capacity = 2500.0 * crate::model::sphere_volume(0.01) * 385.0;
        approx::assert_relative_eq!(world.grain_heat_capacity(2), capacity, max_relative = 1e-14);
        let inverses: Vec<f64> =
            world.bodies.heat.iter().map(|heat| heat.inverse_capacity * capacity).collect();
        assert!(inverses[..3].iter().all(|inverse| (inverse - 1.0).abs() < 1e-14) && inverses[3] == 0.0);
    }
}
