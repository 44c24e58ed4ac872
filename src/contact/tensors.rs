//! Inverse masses and inertia of rigid bodies that are no spheres, in their present orientation \[E1\].

use rayon::prelude::*;

use crate::model::{Kind, World};

use super::tasks::CHUNK;
use super::velocity::{InverseMass, Velocity};

/// Mark of a body without a tensor: a sphere, or a body with prescribed motion.
const NONE: u32 = u32::MAX;

/// Inverse masses and inertia of the rigid bodies of a world.
#[derive(Debug, Clone, Default)]
pub struct Tensors {
    /// Index in `list` of each body up to the last rigid one, or [`NONE`].
    places: Vec<u32>,
    /// Indices of the rigid bodies.
    bodies: Vec<u32>,
    list: Vec<InverseMass>,
}

impl Tensors {
    /// Lists the rigid bodies; [`Tensors::refresh`] has to follow.
    pub fn new(world: &World) -> Tensors {
        let is_rigid = |&body: &usize| world.bodies.kind[body] == Kind::Rigid;
        let bodies: Vec<u32> = (0..world.bodies.len()).filter(is_rigid).map(|body| body as u32).collect();
        let mut places = vec![NONE; bodies.last().map_or(0, |&last| last as usize + 1)];
        bodies.iter().enumerate().for_each(|(place, &body)| places[body as usize] = place as u32);
        Tensors { places, bodies, list: Vec::new() }
    }

    /// Computes the inertia of all rigid bodies in their present orientation.
    pub fn refresh(&mut self, world: &World) {
        let Tensors { bodies, list, .. } = self;
        let tensor = |&body: &u32| {
            let body = body as usize;
            InverseMass::of(world, body, &Velocity::of(world, body))
        };
        bodies.par_iter().with_min_len(CHUNK).map(tensor).collect_into_vec(list);
    }

    /// Whether there are no rigid bodies.
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// Inverse mass and inertia of a body, if it is rigid.
    #[inline(always)]
    pub fn get(&self, body: u32) -> Option<&InverseMass> {
        let place = self.places.get(body as usize).copied().filter(|&place| place != NONE)?;
        Some(&self.list[place as usize])
    }

    /// Inverse mass and inertia of a body, rigid or not.
    pub fn inverse_mass(&self, body: u32, velocity: &Velocity) -> InverseMass {
        self.get(body).copied().unwrap_or_else(|| InverseMass::of_sphere(velocity))
    }

    /// Bytes that the lists hold.
    pub fn bytes(&self) -> u64 {
        let words = self.places.capacity() + self.bodies.capacity();
        (words * size_of::<u32>() + self.list.capacity() * size_of::<InverseMass>()) as u64
    }
}
