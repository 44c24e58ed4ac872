//! Regions that grains are placed in, counted in, or removed from.

use glam::{DQuat, DVec3};

use super::random::Random;
use super::{Form, Periodic, Plane, sphere_volume};

/// A part of space.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum Region {
    /// A box along the axes.
    Box {
        /// Corner with the least coordinates \[m\].
        min: DVec3,
        /// Corner with the largest coordinates \[m\].
        max: DVec3,
    },
    /// A circular cylinder.
    Cylinder {
        /// Centre of one end \[m\].
        base: DVec3,
        /// Unit vector to the other end.
        axis: DVec3,
        /// Distance of the ends \[m\].
        length: f64,
        /// Radius \[m\].
        radius: f64,
    },
    /// A ball.
    Sphere {
        /// Centre \[m\].
        centre: DVec3,
        /// Radius \[m\].
        radius: f64,
    },
}

/// Tolerance for rounding when a grain just fits into a region, over the radius of the grain \[-\].
const SLACK: f64 = 1e-9;

impl Region {
    /// Corners of the bounding box of the region \[m\].
    pub fn bounds(&self) -> (DVec3, DVec3) {
        match *self {
            Region::Box { min, max } => (min, max),
            Region::Sphere { centre, radius } => (centre - radius, centre + radius),
            Region::Cylinder { base, axis, length, radius } => {
                let reach = radius * (DVec3::ONE - axis * axis).max(DVec3::ZERO).map(f64::sqrt);
                let top = base + length * axis;
                (base.min(top) - reach, base.max(top) + reach)
            }
        }
    }

    /// Returns the region in which spheres of this radius \[m\] may lie: a box or a cylinder that spans a period is extended by a radius
    /// at both ends, because spheres may lie across the periodic faces.
    pub fn through_faces(&self, periodic: &Periodic, radius: f64) -> Region {
        let spans = |extent: DVec3| {
            let long_enough = extent.cmpge(periodic.length * (1.0 - SLACK));
            DVec3::select(long_enough & periodic.length.cmpgt(DVec3::ZERO), DVec3::splat(radius), DVec3::ZERO)
        };
        match *self {
            Region::Box { min, max } => {
                let more = spans(max - min);
                Region::Box { min: min - more, max: max + more }
            }
            Region::Cylinder { base, axis, length, radius: outer } => {
                let is_along = axis.abs().max_element() > 1.0 - SLACK;
                let more = if is_along { spans((length * axis).abs()).max_element() } else { 0.0 };
                Region::Cylinder {
                    base: base - more * axis,
                    axis,
                    length: length + 2.0 * more,
                    radius: outer,
                }
            }
            Region::Sphere { .. } => self.clone(),
        }
    }

    /// Volume of the region \[m³\].
    pub fn volume(&self) -> f64 {
        match *self {
            Region::Box { min, max } => (max - min).element_product(),
            Region::Sphere { radius, .. } => sphere_volume(radius),
            Region::Cylinder { length, radius, .. } => std::f64::consts::PI * radius * radius * length,
        }
    }

    /// Volume of the region \[m³\]; in a plane scene, whose discs are one metre deep, that of one metre of its section.
    pub fn volume_in(&self, plane: Option<Plane>) -> f64 {
        plane.map_or_else(|| self.volume(), |plane| self.section(plane))
    }

    /// Area of the section of the region with a plane through the origin \[m²\]; a cylinder counts as normal or as parallel to the plane.
    pub fn section(&self, plane: Plane) -> f64 {
        let across = plane.across();
        match *self {
            Region::Box { min, max } => (max - min).element_product() / (max - min)[across],
            Region::Sphere { centre, radius } => {
                std::f64::consts::PI * (radius * radius - centre[across] * centre[across]).max(0.0)
            }
            Region::Cylinder { axis, radius, .. } if axis[across].abs() > 0.5f64.sqrt() => {
                std::f64::consts::PI * radius * radius
            }
            Region::Cylinder { length, radius, .. } => 2.0 * radius * length,
        }
    }

    /// Whether a sphere lies inside the region, even after moves of up to `jitter` along each axis \[m\].
    pub fn contains(&self, centre: DVec3, radius: f64, jitter: f64) -> bool {
        let slack = SLACK * radius;
        match *self {
            Region::Box { min, max } => {
                let margin = DVec3::splat(radius + jitter - slack);
                centre.cmpge(min + margin).all() && centre.cmple(max - margin).all()
            }
            Region::Sphere { centre: middle, radius: outer } => {
                centre.distance(middle) <= outer - radius - jitter * 3f64.sqrt() + slack
            }
            Region::Cylinder { base, axis, length, radius: outer } => {
                let along = (centre - base).dot(axis);
                let radial = (centre - base - along * axis).length();
                let end = radius + jitter * axis.abs().element_sum() - slack;
                let side = radius + jitter * 3f64.sqrt() - slack;
                along >= end && along <= length - end && radial <= outer - side
            }
        }
    }

    /// Whether a sphere of this radius \[m\] at the centre of the region lies inside.
    pub fn has_room_for(&self, radius: f64) -> bool {
        self.contains(self.centre(), radius, 0.0)
    }

    /// Centre of the bounding box \[m\].
    pub fn centre(&self) -> DVec3 {
        let (min, max) = self.bounds();
        min.midpoint(max)
    }

    /// Returns the region as a solid: origin \[m\], orientation and form.
    pub fn solid(&self) -> (DVec3, DQuat, Form) {
        match *self {
            Region::Box { min, max } => {
                (min.midpoint(max), DQuat::IDENTITY, Form::Box { half: 0.5 * (max - min) })
            }
            Region::Sphere { centre, radius } => (centre, DQuat::IDENTITY, Form::Sphere { radius }),
            Region::Cylinder { base, axis, length, radius } => {
                let form = Form::Solid { bottom_radius: radius, top_radius: radius, length };
                (base + 0.5 * length * axis, DQuat::from_rotation_arc(DVec3::Z, axis), form)
            }
        }
    }

    /// Draws the centre of a sphere of this radius \[m\] that lies inside, uniformly distributed \[m\].
    pub fn place(&self, radius: f64, random: &mut Random) -> DVec3 {
        match *self {
            Region::Box { min, max } => {
                let half = (0.5 * (max - min) - radius).max(DVec3::ZERO);
                min.midpoint(max) + half * random.in_cube(1.0)
            }
            Region::Sphere { centre, radius: outer } => centre + (outer - radius).max(0.0) * in_ball(random),
            Region::Cylinder { base, axis, length, radius: outer } => {
                let (half, outer) = ((0.5 * length - radius).max(0.0), (outer - radius).max(0.0));
                let flat = outer * in_disc(random);
                let local = DVec3::new(flat.x, flat.y, random.between(-half, half));
                base + 0.5 * length * axis + DQuat::from_rotation_arc(DVec3::Z, axis) * local
            }
        }
    }
}

/// Draws a point, uniform in the unit disc about z.
fn in_disc(random: &mut Random) -> DVec3 {
    loop {
        let point = random.in_cube(1.0).with_z(0.0);
        if point.length_squared() <= 1.0 {
            return point;
        }
    }
}

/// Draws a point, uniform in the unit ball.
fn in_ball(random: &mut Random) -> DVec3 {
    loop {
        let point = random.in_cube(1.0);
        if point.length_squared() <= 1.0 {
            return point;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::Stream;
    use super::*;

    #[test]
    fn a_placed_sphere_lies_inside() {
        let mut random = Random::new(1, Stream::Grains(0));
        let axis = DVec3::new(1.0, 2.0, -0.5).normalize();
        for region in [
            Region::Box { min: DVec3::ZERO, max: DVec3::new(1.0, 2.0, 0.2) },
            Region::Cylinder { base: DVec3::ONE, axis, length: 3.0, radius: 0.4 },
            Region::Sphere { centre: DVec3::X, radius: 0.3 },
        ] {
            let (min, max) = region.bounds();
            for _ in 0..200 {
                let centre = region.place(0.1, &mut random);
                assert!(region.contains(centre, 0.1, 0.0), "{region:?} {centre}");
                assert!(centre.cmpge(min + 0.1 - 1e-9).all() && centre.cmple(max - 0.1 + 1e-9).all());
            }
        }
    }
}
