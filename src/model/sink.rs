//! Sinks: parts of space that remove the grains that enter them.

use glam::{DQuat, DVec3};

use super::Form;
use super::passage::Part;

/// A sink: a grain whose centre comes inside on its path in a substep is removed, even if the path ends beyond the sink.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Sink {
    /// Name, for results and messages.
    pub name: String,
    /// Solid form: a plane with the half space below it, a box, a cylinder, cone or sphere.
    pub form: Form,
    /// Origin of its frame \[m\].
    pub position: DVec3,
    /// Orientation of its frame.
    pub orientation: DQuat,
    /// Bins into which the removed grains are sorted.
    pub bins: Vec<Bins>,
}

/// Number and mass of removed grains.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Taken {
    /// Number of grains.
    pub grains: u64,
    /// Their mass \[kg\].
    pub mass: f64,
}

impl Taken {
    /// Counts one more grain, of this mass \[kg\].
    pub fn add(&mut self, mass: f64) {
        self.grains += 1;
        self.mass += mass;
    }
}

/// Classes of grains by a property: below the first bound, from each bound to the next, and from the last bound on.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Bins {
    /// Property that the classes are by.
    pub by: By,
    /// Bounds of the classes \[m\], ascending.
    pub bounds: Vec<f64>,
}

/// Property that grains are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum By {
    /// Radius \[m\]; of a clump, the radius of a sphere of the same volume.
    Radius,
    /// Coordinate along an axis (0, 1, 2 for x, y, z) when the grain is removed \[m\].
    Place(usize),
}

impl Bins {
    /// Number of classes.
    pub fn count(&self) -> usize {
        self.bounds.len() + 1
    }

    /// Class of a grain with this radius and centre \[m\].
    pub fn class_of(&self, radius: f64, place: DVec3) -> usize {
        let number = match self.by {
            By::Radius => radius,
            By::Place(axis) => place[axis],
        };
        self.bounds.partition_point(|&bound| bound <= number)
    }
}

/// Least path inside a sink that counts as passed, over the size of the sink \[-\]: a path that starts on its surface may seem to start
/// inside, by rounding.
const LEAST_PASSAGE: f64 = 1e-6;

impl Sink {
    /// Share of a straight `path` \[m\] to `end` after which it enters the sink, from 0 to 1 \[-\]; `None` if it does not, or only
    /// touches it. A path that leaves a half space was in it before, and does not count.
    pub fn entry(&self, end: DVec3, path: DVec3) -> Option<f64> {
        let turn = self.orientation.conjugate();
        let (to, along) = (turn * (end - self.position), turn * path);
        let inside = self.form.passage(to - along, along);
        let is_passed = |[from, until]: Part| {
            (until - from) * path.length() > LEAST_PASSAGE * self.form.half_extent().max_element()
        };
        let is_taken = self.contains(end) || inside.is_some_and(is_passed);
        is_taken.then(|| inside.map_or(1.0, |[from, _]| from))
    }

    /// Whether a point \[m\] is inside the sink: at a negative distance from its surface.
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
            bins: Vec::new(),
        };
        assert!(sink.contains(DVec3::ZERO) && sink.contains(DVec3::new(1.0, 5.0, -0.1)));
        assert!(!sink.contains(DVec3::new(1.0, 5.0, 0.1)) && !sink.contains(DVec3::new(2.0, 0.0, 0.0)));
    }

    #[test]
    fn a_solid_takes_what_is_inside_and_not_what_lies_on_its_surface() {
        let sink = Sink {
            name: "bucket".into(),
            form: Form::Box { half: DVec3::new(1.0, 2.0, 3.0) },
            bins: Vec::new(),
            position: DVec3::new(10.0, 0.0, 0.0),
            orientation: DQuat::IDENTITY,
        };
        assert!(sink.contains(DVec3::new(10.9, 1.9, -2.9)));
        assert!(!sink.contains(DVec3::new(11.0, 0.0, 0.0)) && !sink.contains(DVec3::ZERO));
    }

    #[test]
    fn a_thin_sink_takes_what_passes_it_within_one_step() {
        let sink = Sink {
            name: "gate".into(),
            form: Form::Box { half: DVec3::new(1.0, 1.0, 0.01) },
            bins: Vec::new(),
            position: DVec3::ZERO,
            orientation: DQuat::IDENTITY,
        };
        let fall = DVec3::new(0.0, 0.0, -0.05);
        let entry = sink.entry(DVec3::new(0.0, 0.0, -0.03), fall).expect("passed");
        assert!((entry - 0.2).abs() < 1e-12);
        assert_eq!(sink.entry(DVec3::new(0.0, 0.0, 0.02), fall), None, "it ends above");
        assert_eq!(sink.entry(DVec3::new(0.0, 0.0, -0.06), fall), None, "it starts at the lower face");
        assert_eq!(sink.entry(DVec3::new(1.0, 0.0, -0.03), fall), None, "it goes along a face");
        assert_eq!(sink.entry(DVec3::ZERO, DVec3::ZERO), Some(0.0), "at rest inside");
    }

    #[test]
    fn grains_are_sorted_into_the_class_whose_bounds_they_are_between() {
        let sizes = Bins { by: By::Radius, bounds: vec![0.1, 0.2] };
        let class = |radius| sizes.class_of(radius, DVec3::ZERO);
        assert_eq!((sizes.count(), [0.05, 0.1, 0.15, 0.2, 9.0].map(class)), (3, [0, 1, 1, 2, 2]));
        let places = Bins { by: By::Place(1), bounds: vec![-1.0, 0.0, 1.0] };
        let class = |y| places.class_of(0.1, DVec3::new(5.0, y, 5.0));
        assert_eq!([-2.0, -0.5, 0.5, 1.5].map(class), [0, 1, 2, 3]);
    }
}
