//! Memory of a world: room for grains, and its size in bytes.

use super::bond::BondState;
use super::{Bodies, Bond, GrainParts, Sphere, Surface, World};

impl World {
    /// Reserves room for `grains` grains in all.
    pub fn reserve(&mut self, grains: usize) {
        let more = grains.saturating_sub(self.grain_count());
        self.takes_grains |= grains > 0;
        self.bodies.reserve(more);
        self.spheres.reserve_exact(self.planned_spheres(grains).saturating_sub(self.spheres.len()));
        self.grains.reserve_exact(more);
        self.removed.reserve_exact(more);
        self.ids.reserve_exact(more);
        self.arrivals.reserve_exact((self.residences.len() * grains).saturating_sub(self.arrivals.len()));
    }

    /// Sets the room to `grains` grains in all, or to the present grains if these are more.
    #[cfg(feature = "scenario")]
    pub(crate) fn set_room(&mut self, grains: usize) {
        self.bodies.shrink();
        self.spheres.shrink_to_fit();
        self.grains.shrink_to_fit();
        self.removed.shrink_to_fit();
        self.ids.shrink_to_fit();
        self.arrivals.shrink_to_fit();
        self.vacancies.places.shrink_to_fit();
        self.reserve(grains);
    }

    /// Bytes of the reserved room of the grains, bodies and meshes; boundaries that are no meshes are not counted.
    pub fn bytes(&self) -> u64 {
        let (spheres, removed) = (self.spheres.capacity(), self.removed.capacity());
        let bytes = spheres * size_of::<Sphere>()
            + self.grains.capacity() * size_of::<GrainParts>()
            + removed * size_of::<Option<u32>>()
            + self.arrivals.capacity() * size_of::<f64>()
            + (self.ids.capacity() + self.vacancies.places.capacity()) * size_of::<u32>();
        self.bodies.bytes() + bytes as u64 + self.mesh_bytes() + self.bond_bytes()
    }

    /// Bytes of the meshes and of the surfaces that are patches of them.
    fn mesh_bytes(&self) -> u64 {
        if self.meshes.is_empty() {
            return 0;
        }
        let meshes: u64 = self.meshes.list().iter().map(|mesh| mesh.bytes()).sum();
        meshes + (self.surfaces.len() * size_of::<Surface>()) as u64
    }

    /// Bytes of the bonds.
    fn bond_bytes(&self) -> u64 {
        (self.bonds.list.len() * (size_of::<Bond>() + size_of::<BondState>())) as u64
    }

    /// Bytes of a world with `grains` grains and its meshes; other boundaries are not counted.
    pub fn planned_bytes(&self, grains: usize) -> u64 {
        let more = self.planned_spheres(grains).saturating_sub(grains);
        let per_grain = World::BYTES_PER_GRAIN + (self.residences.len() * size_of::<f64>()) as u64;
        grains as u64 * per_grain
            + (more * size_of::<Sphere>()) as u64
            + self.mesh_bytes()
            + self.bond_bytes()
    }

    /// Bytes of a grain of one sphere.
    const BYTES_PER_GRAIN: u64 = Bodies::BYTES_PER_BODY
        + (size_of::<Sphere>() + size_of::<GrainParts>() + size_of::<Option<u32>>() + size_of::<u32>())
            as u64;
}
