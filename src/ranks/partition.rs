//! Partition of space among ranks by planes, such that each rank has about as many grains.
//!
//! Space is divided across the longest side of the box around the grains, part by part (Berger & Bokhari 1987), in proportion to the ranks
//! on either side. A rank owns the grains whose centre is in its region.

use glam::DVec3;

use crate::model::Periodic;

/// Partition of space into one region per rank.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Partition {
    /// Cuts, each before those of its two sides; empty for one rank.
    cuts: Vec<CutFace>,
}

/// A plane that divides a region.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
struct CutFace {
    axis: usize,
    /// Coordinate of the plane \[m\]; what is below it is on the low side.
    at: f64,
    low: CutSide,
    high: CutSide,
}

/// One side of a cut.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
enum CutSide {
    /// The region of a rank.
    Rank(u32),
    /// A region that another cut divides, by its index.
    Cut(u32),
}

impl Partition {
    /// Divides space among `ranks` ranks so that each has about as many of these positions \[m\].
    pub fn new(mut positions: Vec<DVec3>, ranks: usize) -> Partition {
        let mut partition = Partition::default();
        partition.divide(&mut positions, 0, ranks);
        partition
    }

    /// Divides the region of these positions among the ranks `first` to `first + ranks`.
    fn divide(&mut self, positions: &mut [DVec3], first: usize, ranks: usize) -> CutSide {
        if ranks < 2 {
            return CutSide::Rank(first as u32);
        }
        let lower = ranks / 2;
        let (axis, at, count) = cut(positions, lower as f64 / ranks as f64);
        let index = self.cuts.len();
        let own = CutSide::Cut(index as u32);
        self.cuts.push(CutFace { axis, at, low: own, high: own });
        let (below, above) = positions.split_at_mut(count);
        self.cuts[index].low = self.divide(below, first, lower);
        self.cuts[index].high = self.divide(above, first + lower, ranks - lower);
        own
    }

    /// The whole of space, before any cut.
    fn root(&self) -> CutSide {
        if self.cuts.is_empty() { CutSide::Rank(0) } else { CutSide::Cut(0) }
    }

    /// Rank in whose region a position is.
    pub fn owner(&self, position: DVec3) -> usize {
        let mut part = self.root();
        loop {
            match part {
                CutSide::Rank(rank) => return rank as usize,
                CutSide::Cut(cut) => {
                    let cut = &self.cuts[cut as usize];
                    part = if position[cut.axis] < cut.at { cut.low } else { cut.high };
                }
            }
        }
    }

    /// Collects the ranks whose regions may meet a cube about a position, or about one of its periodic images, of twice `reach` \[m\] along
    /// each edge.
    pub fn near(&self, periodic: &Periodic, position: DVec3, reach: f64, found: &mut Vec<usize>) {
        found.clear();
        periodic.images(position, reach).for_each(|image| self.collect(self.root(), image, reach, found));
        found.sort_unstable();
        found.dedup();
    }

    fn collect(&self, part: CutSide, position: DVec3, reach: f64, found: &mut Vec<usize>) {
        match part {
            CutSide::Rank(rank) => found.push(rank as usize),
            CutSide::Cut(cut) => {
                let cut = &self.cuts[cut as usize];
                let along = position[cut.axis] - cut.at;
                if along < reach {
                    self.collect(cut.low, position, reach, found);
                }
                if along > -reach {
                    self.collect(cut.high, position, reach, found);
                }
            }
        }
    }
}

/// Finds the plane with about this share of the positions below it: its axis, its coordinate \[m\], and the number of positions below it,
/// which come first then.
fn cut(positions: &mut [DVec3], share: f64) -> (usize, f64, usize) {
    let low = positions.iter().fold(DVec3::MAX, |low, place| low.min(*place));
    let high = positions.iter().fold(DVec3::MIN, |high, place| high.max(*place));
    let axis = if positions.is_empty() { 0 } else { (high - low).max_position() };
    let count = (share * positions.len() as f64).round() as usize;
    if count == 0 || count >= positions.len() {
        // Too few to be divided: one side has none.
        return (axis, if positions.is_empty() { 0.0 } else { low[axis] }, 0);
    }
    positions.select_nth_unstable_by(count, |a, b| a[axis].total_cmp(&b[axis]));
    let (below, above) = positions.split_at(count);
    let last = below.iter().fold(f64::MIN, |last, place| last.max(place[axis]));
    let at = if last < above[0][axis] { 0.5 * (last + above[0][axis]) } else { above[0][axis] };
    // Positions with the very coordinate of the plane are above it.
    positions.sort_by_key(|place| place[axis] >= at);
    (axis, at, positions.partition_point(|place| place[axis] < at))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points all over a box, no two of which have a coordinate in common.
    fn scattered(count: u32, edges: DVec3) -> Vec<DVec3> {
        let place = |i: u32| (f64::from(i) * DVec3::new(0.618_034, 0.754_878, 0.569_840)).fract() * edges;
        (1..=count).map(place).collect()
    }

    fn shares(partition: &Partition, places: &[DVec3], ranks: usize) -> Vec<usize> {
        let mut counts = vec![0; ranks];
        places.iter().for_each(|&place| counts[partition.owner(place)] += 1);
        counts
    }

    #[test]
    fn each_rank_has_as_many_grains() {
        let places = scattered(720, DVec3::new(3.0, 1.0, 2.0));
        for ranks in [1, 2, 3, 4, 6, 8] {
            let counts = shares(&Partition::new(places.clone(), ranks), &places, ranks);
            let each = 720 / ranks;
            assert!(counts.iter().all(|count| count.abs_diff(each) <= 1), "{ranks} ranks: {counts:?}");
        }
    }

    #[test]
    fn grains_in_one_place_or_none_at_all_are_no_obstacle() {
        let one = vec![DVec3::ONE; 5];
        let partition = Partition::new(one.clone(), 4);
        assert_eq!(shares(&partition, &one, 4).iter().sum::<usize>(), 5);
        assert!(Partition::new(Vec::new(), 3).owner(DVec3::ZERO) < 3);
    }

    #[test]
    fn a_grain_is_near_the_regions_that_its_ball_meets() {
        let corners = [0.0, 1.0, 6.0, 7.0].map(|x| [0.0, 1.0, 6.0, 7.0].map(|y| DVec3::new(x, y, 0.0)));
        let partition = Partition::new(corners.concat(), 4);
        let cell = Periodic { min: DVec3::splat(-0.5), length: DVec3::new(8.0, 0.0, 0.0), ..Periodic::NONE };
        let near = |periodic: &Periodic, x: f64, y: f64, reach: f64| {
            let mut found = vec![9];
            partition.near(periodic, DVec3::new(x, y, 0.0), reach, &mut found);
            found
        };
        let open = Periodic::default();
        let own = |x: f64, y: f64| vec![partition.owner(DVec3::new(x, y, 0.0))];
        assert_eq!(near(&open, 1.0, 1.0, 1.0), own(1.0, 1.0));
        assert_eq!(near(&open, 3.4, 3.4, 1.0), [0, 1, 2, 3]);
        assert_eq!(near(&open, 3.4, 1.0, 1.0).len(), 2);
        assert_eq!(near(&open, 0.0, 1.0, 1.0).len(), 1);
        assert_eq!(
            near(&cell, 0.0, 1.0, 1.0).len(),
            2,
            "its image beyond the end of the cell is in another region"
        );
    }
}
