//! Trails: where grains went in the time before a picture.

use std::collections::{BTreeMap, VecDeque};

use glam::DVec3;

use super::field::Field;
use super::{Frame, Look, Results};
use crate::error::Error;
use crate::model::World;

/// A piece of the way of a grain, from one frame to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trail {
    /// Its ends \[m\].
    pub ends: [DVec3; 2],
    /// Value of the field that grains are coloured by, at the second end.
    pub value: f64,
}

/// The trails that grains leave in the frames of a run.
#[derive(Debug)]
pub struct Trails<'a> {
    /// How long they are \[s\].
    duration: f64,
    field: Field,
    world: &'a World,
    /// The frames of the last `duration`, and the number of the one that comes next.
    passed: VecDeque<Passed>,
    next: usize,
}

/// Where the spheres of a frame were \[m\], and their values, by the id of their grain and their place in it.
#[derive(Debug)]
struct Passed {
    time: f64,
    spheres: BTreeMap<(u64, usize), (DVec3, f64)>,
}

impl<'a> Trails<'a> {
    /// Trails of so many seconds, coloured as the grains of a look.
    pub fn new(duration: f64, look: &Look, world: &'a World) -> Trails<'a> {
        let field = Field::new(&look.colour_by, world.gravity);
        Trails { duration, field, world, passed: VecDeque::new(), next: 0 }
    }

    /// A frame and the trails that lead to it. Frames are to be asked for in their order.
    ///
    /// # Errors
    /// When a frame cannot be read, or lacks the ids of its grains or the field that they are coloured by.
    pub fn lead_to(&mut self, i: usize, results: &Results) -> Result<(Frame, Vec<Trail>), Error> {
        let times = results.times();
        // Times are written with a rounding; a frame at the very start of the trail belongs to it.
        let start = times[i] - self.duration * (1.0 + 1e-9);
        let first = times.partition_point(|&time| time < start);
        for before in self.next.max(first)..i {
            self.pass(&results.load(before, self.world)?)?;
        }
        let frame = results.load(i, self.world)?;
        self.pass(&frame)?;
        self.next = i + 1;
        while self.passed.front().is_some_and(|passed| passed.time < start) {
            self.passed.pop_front();
        }
        Ok((frame, self.trails()))
    }

    fn pass(&mut self, frame: &Frame) -> Result<(), Error> {
        let (ids, values) = (Field::new("id", self.world.gravity).values(frame)?, self.field.values(frame)?);
        let mut spheres = BTreeMap::new();
        let mut seen = BTreeMap::new();
        for ((id, value), ball) in ids.into_iter().zip(values).zip(&frame.balls) {
            let place = seen.entry(id as u64).or_insert(0);
            spheres.insert((id as u64, *place), (ball.centre, value));
            *place += 1;
        }
        self.passed.push_back(Passed { time: frame.time, spheres });
        Ok(())
    }

    /// The pieces between the frames; none where a grain came, left, or went out on one side of a period and in on the other.
    fn trails(&self) -> Vec<Trail> {
        let mut trails = Vec::new();
        for (before, after) in self.passed.iter().zip(self.passed.iter().skip(1)) {
            for (key, &(to, value)) in &after.spheres {
                if let Some(&(from, _)) = before.spheres.get(key)
                    && self.world.periodic.image(to, from) == to
                {
                    trails.push(Trail { ends: [from, to], value });
                }
            }
        }
        trails
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Periodic;
    use crate::output::vtp::Array;
    use crate::render::Ball;

    /// A frame of grains with these ids and places along x.
    fn frame(time: f64, grains: &[(i32, f64)]) -> Frame {
        let ball = |&(_, x): &(i32, f64)| Ball { centre: x * DVec3::X, radius: 0.1 };
        let fields = vec![
            Array::integers("id", grains.iter().map(|grain| grain.0)),
            Array::scalars("speed", grains.iter().map(|grain| grain.1)),
        ];
        Frame {
            time,
            balls: grains.iter().map(ball).collect(),
            fields,
            forces: Vec::new(),
            poses: Vec::new(),
        }
    }

    fn trails_of(world: &World, frames: &[Frame]) -> Vec<Trail> {
        let look = Look { colour_by: "speed".to_owned(), ..Look::of_scene(world) };
        let mut trails = Trails::new(1.0, &look, world);
        frames.iter().for_each(|frame| trails.pass(frame).expect("a frame"));
        trails.trails()
    }

    #[test]
    fn trails_follow_ids_and_not_places_in_the_list() {
        let frames = [frame(0.0, &[(3, 1.0), (7, 5.0)]), frame(0.1, &[(7, 6.0), (3, 2.0), (9, 0.0)])];
        let found = trails_of(&World::default(), &frames);
        let trail = |from: f64, to: f64| Trail { ends: [from * DVec3::X, to * DVec3::X], value: to };
        assert_eq!(found, [trail(1.0, 2.0), trail(5.0, 6.0)], "the one that came has none");
    }

    #[test]
    fn the_spheres_of_a_clump_have_trails_of_their_own() {
        let frames = [frame(0.0, &[(3, 1.0), (3, 5.0)]), frame(0.1, &[(3, 2.0), (3, 6.0)])];
        let ends = trails_of(&World::default(), &frames).into_iter().map(|trail| trail.ends[1].x);
        assert_eq!(ends.collect::<Vec<_>>(), [2.0, 6.0]);
    }

    #[test]
    fn a_grain_that_goes_out_on_one_side_and_in_on_the_other_leaves_no_line_across() {
        let frames = [frame(0.0, &[(3, 9.5)]), frame(0.1, &[(3, 0.5)]), frame(0.2, &[(3, 1.0)])];
        let periodic = Periodic { length: 10.0 * DVec3::X, ..Periodic::default() };
        assert_eq!(trails_of(&World { periodic, ..World::default() }, &frames).len(), 1);
        assert_eq!(trails_of(&World::default(), &frames).len(), 2, "without periods there is one");
    }
}
