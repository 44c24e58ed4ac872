//! The domain: the box in which grains are to stay.

use glam::{DQuat, DVec3};

use super::{Form, Sink};

/// A box along the axes, and the rule for grains whose centre leaves it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Domain {
    /// Corner with the least coordinates \[m\]; may be infinite.
    pub min: DVec3,
    /// Corner with the largest coordinates \[m\]; may be infinite.
    pub max: DVec3,
    /// Rule for a grain outside.
    pub outside: Outside,
}

/// Rule for a grain whose centre is outside of the domain at the end of a substep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum Outside {
    /// The grain flies on, and is counted.
    Keep,
    /// The grain is removed, and counted.
    #[default]
    Remove,
    /// The grain ends the run.
    Stop,
}

impl Domain {
    /// Whether a point \[m\] is inside or on a face.
    pub fn contains(&self, point: DVec3) -> bool {
        point.cmpge(self.min).all() && point.cmple(self.max).all()
    }

    /// Whether a grain outside is removed or ends the run.
    pub fn takes_out(&self) -> bool {
        self.outside != Outside::Keep
    }

    /// Half spaces behind the finite faces, as sinks.
    pub fn faces(&self) -> Vec<Sink> {
        let corners = [(self.min, 1.0), (self.max, -1.0)];
        let face = |(corner, inwards): (DVec3, f64), axis: usize| {
            let along = DVec3::AXES[axis];
            corner[axis].is_finite().then(|| Sink {
                name: "domain".into(),
                form: Form::Plane,
                bins: Vec::new(),
                position: corner[axis] * along,
                orientation: DQuat::from_rotation_arc(DVec3::Z, inwards * along),
            })
        };
        corners.into_iter().flat_map(|corner| (0..3).filter_map(move |axis| face(corner, axis))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behind_its_faces_is_what_it_does_not_contain() {
        let (min, max) = (DVec3::new(-1.0, f64::NEG_INFINITY, 0.0), DVec3::new(1.0, 2.0, f64::INFINITY));
        let domain = Domain { min, max, outside: Outside::Remove };
        let faces = domain.faces();
        assert_eq!(faces.len(), 4, "infinite faces are none");
        for x in [-1.5, -1.0, 0.5, 1.0, 1.5] {
            for y in [-3.0, 1.0, 2.0, 2.5] {
                for z in [-0.5, 0.0, 7.0] {
                    let point = DVec3::new(x, y, z);
                    let is_behind = faces.iter().any(|face| face.contains(point));
                    assert_eq!(is_behind, !domain.contains(point), "{point}");
                }
            }
        }
    }
}
