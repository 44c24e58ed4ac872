//! Boxes around everything that is to be drawn.

use glam::DVec3;
use serde::{Deserialize, Serialize};

/// Box from `min` to `max` along the axes of the scene, or of the frame of a camera \[m\].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Extent {
    /// Least coordinates \[m\].
    pub min: DVec3,
    /// Greatest coordinates \[m\].
    pub max: DVec3,
}

impl Extent {
    /// Extent of nothing.
    pub const NOTHING: Extent = Extent { min: DVec3::INFINITY, max: DVec3::NEG_INFINITY };

    /// Enlarges the box by a ball.
    #[must_use]
    pub fn with(self, centre: DVec3, radius: f64) -> Extent {
        Extent { min: self.min.min(centre - radius), max: self.max.max(centre + radius) }
    }

    /// Enlarges the box on all sides by a share of its largest edge.
    #[must_use]
    pub fn grown(self, share: f64) -> Extent {
        let more = share * (self.max - self.min).max_element();
        Extent { min: self.min - more, max: self.max + more }
    }

    /// Whether the box contains nothing.
    pub fn is_nothing(&self) -> bool {
        self.min.x > self.max.x
    }

    /// The eight corners of the box.
    pub fn corners(&self) -> impl Iterator<Item = DVec3> + use<> {
        let ends = [self.min, self.max];
        (0..8).map(move |i| DVec3::new(ends[i & 1].x, ends[i >> 1 & 1].y, ends[i >> 2 & 1].z))
    }
}
