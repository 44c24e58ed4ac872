//! Forms of the regions of a script.

use glam::DVec3;

/// Form of a region \[m\]; bounds may be infinite.
#[derive(Debug, Clone, PartialEq)]
pub enum RegionForm {
    /// Box along the axes.
    Block {
        /// Lower corner.
        min: DVec3,
        /// Upper corner.
        max: DVec3,
    },
    /// Cylinder or cone along an axis.
    Cylinder {
        /// Axis, 0 to 2.
        axis: usize,
        /// Centre on the other two axes, in their order.
        centre: [f64; 2],
        /// Radii at the low and the high end.
        radii: [f64; 2],
        /// Low and high end along the axis.
        ends: [f64; 2],
    },
    /// Ball.
    Sphere {
        /// Centre.
        centre: DVec3,
        /// Radius.
        radius: f64,
    },
    /// Half space that a normal points into.
    Plane {
        /// Point of the plane.
        point: DVec3,
        /// Unit vector.
        normal: DVec3,
    },
    /// A form that is not taken.
    Other(String),
}

/// The two axes across an axis, in the order in which scripts give a centre: y, z for x; x, z for y; x, y for z.
pub fn across(axis: usize) -> [usize; 2] {
    [[1, 2], [0, 2], [0, 1]][axis]
}

impl RegionForm {
    /// Whether a point is inside.
    pub fn contains(&self, point: DVec3) -> bool {
        match self {
            RegionForm::Block { min, max } => point.cmpge(*min).all() && point.cmple(*max).all(),
            RegionForm::Sphere { centre, radius } => point.distance(*centre) <= *radius,
            RegionForm::Plane { point: base, normal } => (point - *base).dot(*normal) >= 0.0,
            RegionForm::Cylinder { axis, centre, radii, ends } => {
                let [u, v] = across(*axis);
                let along = point[*axis];
                let share = ((along - ends[0]) / (ends[1] - ends[0])).clamp(0.0, 1.0);
                let radius =
                    if radii[0] == radii[1] { radii[0] } else { radii[0] + share * (radii[1] - radii[0]) };
                let inside = (ends[0]..=ends[1]).contains(&along);
                inside && (point[u] - centre[0]).hypot(point[v] - centre[1]) <= radius
            }
            RegionForm::Other(_) => false,
        }
    }

    /// Volume \[m³\]; `None` if it is not bounded or not known.
    pub fn volume(&self) -> Option<f64> {
        let volume = match self {
            RegionForm::Block { min, max } => (*max - *min).element_product(),
            RegionForm::Sphere { radius, .. } => 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3),
            RegionForm::Cylinder { radii: [low, high], ends, .. } => {
                std::f64::consts::PI / 3.0 * (low * low + low * high + high * high) * (ends[1] - ends[0])
            }
            RegionForm::Plane { .. } | RegionForm::Other(_) => return None,
        };
        volume.is_finite().then_some(volume)
    }

    /// Corners of the box around it \[m\]; `None` if it is not known.
    pub fn corners(&self) -> Option<[DVec3; 2]> {
        match self {
            RegionForm::Block { min, max } => Some([*min, *max]),
            RegionForm::Sphere { centre, radius } => Some([*centre - *radius, *centre + *radius]),
            RegionForm::Cylinder { axis, centre, radii, ends } => {
                let radius = radii[0].max(radii[1]);
                let [u, v] = across(*axis);
                let mut corners = [DVec3::ZERO; 2];
                for (i, sign) in [-1.0, 1.0].into_iter().enumerate() {
                    corners[i][*axis] = ends[i];
                    corners[i][u] = centre[0] + sign * radius;
                    corners[i][v] = centre[1] + sign * radius;
                }
                Some(corners)
            }
            RegionForm::Plane { .. } | RegionForm::Other(_) => None,
        }
    }
}
