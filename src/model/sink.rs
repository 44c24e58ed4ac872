//! Sinks: parts of space that remove the grains that come into them.

use glam::{DQuat, DVec3};

use super::Form;

/// A sink: a grain whose centre is inside at the end of a substep is removed.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Sink {
    /// Name, for results and messages.
    pub name: String,
    /// A solid: a plane with the half space below it, a box, a cylinder, cone or sphere.
    pub form: Form,
    /// Origin of its frame \[m\].
    pub position: DVec3,
    /// Orientation of its frame.
    pub orientation: DQuat,
}

impl Sink {
    /// Whether a point \[m\] is inside: at a negative distance from the surface.
    pub fn contains(&self, point: DVec3) -> bool {
        let local = self.orientation.conjugate() * (point - self.position);
        self.form.distance(local, 0.0).is_some_and(|(distance, _)| distance < 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plane_takes_what_is_behind_it() {
        let normal = DVec3::new(1.0, 0.0, 1.0).normalize();
        let sink = Sink {
            name: "outlet".into(),
            form: Form::Plane,
            position: DVec3::X,
            orientation: DQuat::from_rotation_arc(DVec3::Z, normal),
        };
        assert!(sink.contains(DVec3::ZERO) && sink.contains(DVec3::new(1.0, 5.0, -0.1)));
        assert!(!sink.contains(DVec3::new(1.0, 5.0, 0.1)) && !sink.contains(DVec3::new(2.0, 0.0, 0.0)));
    }

    #[test]
    fn a_solid_takes_what_is_inside_and_not_what_lies_on_its_surface() {
        let sink = Sink {
            name: "bucket".into(),
            form: Form::Box { half: DVec3::new(1.0, 2.0, 3.0) },
            position: DVec3::new(10.0, 0.0, 0.0),
            orientation: DQuat::IDENTITY,
        };
        assert!(sink.contains(DVec3::new(10.9, 1.9, -2.9)));
        assert!(!sink.contains(DVec3::new(11.0, 0.0, 0.0)) && !sink.contains(DVec3::ZERO));
    }
}
