//! Trails: the paths of the grains in the time before a picture.

use std::collections::{BTreeMap, VecDeque};

use glam::DVec3;

use super::field::Field;
use super::{Frame, Look, Results};
use crate::error::Error;
use crate::model::World;

/// Piece of the path of a grain, from one frame to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trail {
    /// Ends of the piece \[m\].
    pub ends: [DVec3; 2],
    /// Value at the second end, of the field that grains are coloured by.
    pub value: f64,
}

/// Trails of the grains in the frames of a run.
#[derive(Debug)]
pub struct Trails<'a> {
    /// Simulated time that a trail covers \[s\].
    duration: f64,
    field: Field,
    world: &'a World,
    /// Last frame that was passed, and number of the next frame to pass.
    last: Option<Passed>,
    next: usize,
    /// Pieces of the trails, one entry per pair of successive frames.
    pieces: VecDeque<Pieces>,
}

/// Centres of the spheres in a frame \[m\] with their field values, by the id of the grain and the number of the sphere in the grain.
#[derive(Debug)]
struct Passed {
    time: f64,
    spheres: BTreeMap<(u64, usize), (DVec3, f64)>,
}

/// Pieces of the trails between two frames.
#[derive(Debug)]
struct Pieces {
    /// Times of the two frames \[s\].
    times: [f64; 2],
    trails: Vec<Trail>,
}

impl<'a> Trails<'a> {
    /// Trails that cover `duration` \[s\], coloured like the grains of a look.
    pub fn new(duration: f64, look: &Look, world: &'a World) -> Trails<'a> {
        let field = Field::new(&look.colour_by, world.gravity);
        Trails { duration, field, world, last: None, next: 0, pieces: VecDeque::new() }
    }

    /// Returns frame `i` and the trails that lead to it. Frames that are asked for in order are read once.
    ///
    /// # Errors
    /// When a frame cannot be read, or lacks the ids of its grains or the field that they are coloured by.
    pub fn lead_to(&mut self, i: usize, results: &Results) -> Result<(Frame, Vec<Trail>), Error> {
        let times = results.times();
        let start = times[i] - self.duration;
        // The last frame before the trail begins.
        let first = times.partition_point(|&time| time <= start).saturating_sub(1);
        if !(first..=i).contains(&self.next) {
            *self = Trails {
                last: None,
                next: first,
                pieces: VecDeque::new(),
                field: self.field.clone(),
                ..*self
            };
        }
        for before in self.next..i {
            self.pass(&results.load(before, self.world)?)?;
        }
        let frame = results.load(i, self.world)?;
        self.pass(&frame)?;
        self.next = i + 1;
        Ok((frame, self.since(start)))
    }

    /// Adds the pieces from the last frame to this one.
    fn pass(&mut self, frame: &Frame) -> Result<(), Error> {
        let ids = frame.fields.iter().find(|array| array.name == "id").ok_or_else(|| Error::Unusable {
            origin: "--trails".to_owned(),
            found: "follows grains by their ids, and the frames have no array `id`".to_owned(),
            advice: "expected frames as `esker run` writes them: run the scenario again".to_owned(),
        })?;
        let values = self.field.values(frame)?;
        let (mut spheres, mut seen) = (BTreeMap::new(), BTreeMap::new());
        for (i, (ball, value)) in frame.balls.iter().zip(values).enumerate() {
            let id = ids.component(i, 0) as u64;
            let place = seen.entry(id).or_insert(0);
            spheres.insert((id, *place), (ball.centre, value));
            *place += 1;
        }
        let passed = Passed { time: frame.time, spheres };
        if let Some(before) = self.last.replace(passed)
            && let Some(after) = &self.last
        {
            let trails = self.between(&before, after);
            self.pieces.push_back(Pieces { times: [before.time, after.time], trails });
        }
        Ok(())
    }

    /// Pieces between two frames. A grain that came, left or crossed a periodic boundary has none.
    fn between(&self, before: &Passed, after: &Passed) -> Vec<Trail> {
        let piece = |(key, &(to, value)): (&(u64, usize), &(DVec3, f64))| {
            let &(from, _) = before.spheres.get(key)?;
            (self.world.periodic.image(to, from) == to).then_some(Trail { ends: [from, to], value })
        };
        after.spheres.iter().filter_map(piece).collect()
    }

    /// Trails since a time \[s\], which may lie between two frames.
    fn since(&mut self, start: f64) -> Vec<Trail> {
        while self.pieces.front().is_some_and(|pieces| pieces.times[1] <= start) {
            self.pieces.pop_front();
        }
        let from_start = |Pieces { times: [from, to], trails }: &Pieces| {
            let share = ((start - from) / (to - from)).max(0.0);
            let cut = move |trail: &Trail| {
                let [first, last] = trail.ends;
                Trail { ends: [first.lerp(last, share), last], ..*trail }
            };
            trails.iter().map(cut).collect::<Vec<_>>()
        };
        self.pieces.iter().flat_map(from_start).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Periodic;
    use crate::output::vtp::Array;
    use crate::render::DrawnBall;

    /// A frame of grains with these ids and positions along x.
    fn frame(time: f64, grains: &[(i32, f64)]) -> Frame {
        let ball = |&(_, x): &(i32, f64)| DrawnBall { centre: x * DVec3::X, radius: 0.1, polyhedron: None };
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

    /// Trails of these frames since a time.
    fn trails_since(start: f64, world: &World, frames: &[Frame]) -> Vec<Trail> {
        let look = Look { colour_by: "speed".to_owned(), ..Look::of_scene(world) };
        let mut trails = Trails::new(1.0, &look, world);
        frames.iter().for_each(|frame| trails.pass(frame).expect("a frame"));
        trails.since(start)
    }

    #[test]
    fn trails_follow_ids_and_not_places_in_the_list() {
        let frames = [frame(0.0, &[(3, 1.0), (7, 5.0)]), frame(0.1, &[(7, 6.0), (3, 2.0), (9, 0.0)])];
        let found = trails_since(0.0, &World::default(), &frames);
        let trail = |from: f64, to: f64| Trail { ends: [from * DVec3::X, to * DVec3::X], value: to };
        assert_eq!(found, [trail(1.0, 2.0), trail(5.0, 6.0)], "the one that came has none");
    }

    #[test]
    fn the_spheres_of_a_clump_have_trails_of_their_own() {
        let frames = [frame(0.0, &[(3, 1.0), (3, 5.0)]), frame(0.1, &[(3, 2.0), (3, 6.0)])];
        let ends = trails_since(0.0, &World::default(), &frames).into_iter().map(|trail| trail.ends[1].x);
        assert_eq!(ends.collect::<Vec<_>>(), [2.0, 6.0]);
    }

    #[test]
    fn a_grain_that_goes_out_on_one_side_and_in_on_the_other_leaves_no_line_across() {
        let frames = [frame(0.0, &[(3, 9.5)]), frame(0.1, &[(3, 0.5)]), frame(0.2, &[(3, 1.0)])];
        let periodic = Periodic { length: 10.0 * DVec3::X, ..Periodic::default() };
        assert_eq!(trails_since(0.0, &World { periodic, ..World::default() }, &frames).len(), 1);
        assert_eq!(trails_since(0.0, &World::default(), &frames).len(), 2, "without periods there is one");
    }

    #[test]
    fn a_trail_begins_between_two_frames_where_it_must() {
        let frames = [frame(0.0, &[(3, 1.0)]), frame(0.5, &[(3, 2.0)]), frame(1.0, &[(3, 4.0)])];
        let starts = |start| {
            let trails = trails_since(start, &World::default(), &frames);
            trails.iter().map(|trail| trail.ends[0].x).collect::<Vec<_>>()
        };
        assert_eq!(starts(-1.0), [1.0, 2.0], "nothing was before the first frame");
        assert_eq!(starts(0.25), [1.5, 2.0]);
        assert_eq!(starts(0.5), [2.0]);
        assert_eq!(starts(0.75), [3.0]);
    }
}
