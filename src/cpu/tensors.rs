//! Inertia of rigid bodies that are no spheres, as they are turned now \[E1\].

use rayon::prelude::*;

use crate::model::{Kind, World};

use super::narrowphase::CHUNK;
use super::velocity::{InverseMass, Velocity};

/// No tensor: a sphere, or a body that is prescribed.
const NONE: u32 = u32::MAX;

/// How the rigid bodies of a world give way to impulses.
#[derive(Debug, Clone, Default)]
pub struct Tensors {
    /// Per body up to the last that is rigid: its place in `list`, or [`NONE`].
    places: Vec<u32>,
    /// The rigid bodies.
    bodies: Vec<u32>,
    list: Vec<InverseMass>,
}

impl Tensors {
    /// Lists the rigid bodies; [`Tensors::refresh`] is to follow.
    pub fn new(world: &World) -> Tensors {
        let is_rigid = |&body: &usize| world.bodies.kind[body] == Kind::Rigid;
        let bodies: Vec<u32> = (0..world.bodies.len()).filter(is_rigid).map(|body| body as u32).collect();
        let mut places = vec![NONE; bodies.last().map_or(0, |&last| last as usize + 1)];
        bodies.iter().enumerate().for_each(|(place, &body)| places[body as usize] = place as u32);
        Tensors { places, bodies, list: Vec::new() }
    }

    /// Takes the inertia of all as they are turned now.
    pub fn refresh(&mut self, world: &World) {
        let Tensors { bodies, list, .. } = self;
        let tensor = |&body: &u32| {
            let body = body as usize;
            InverseMass::of(world, body, &Velocity::of(world, body))
        };
        bodies.par_iter().with_min_len(CHUNK).map(tensor).collect_into_vec(list);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// That of a body, if it is rigid.
    #[inline(always)]
    pub fn get(&self, body: u32) -> Option<&InverseMass> {
        let place = self.places.get(body as usize).copied().filter(|&place| place != NONE)?;
        Some(&self.list[place as usize])
    }

    /// How a body gives way, rigid or not.
    pub fn inverse_mass(&self, body: u32, velocity: &Velocity) -> InverseMass {
        self.get(body).copied().unwrap_or_else(|| InverseMass::of_sphere(velocity))
    }

    /// Bytes that it holds.
    pub fn bytes(&self) -> u64 {
        let words = self.places.capacity() + self.bodies.capacity();
        (words * size_of::<u32>() + self.list.capacity() * size_of::<InverseMass>()) as u64
    }
}
