//! Survey, which finds the extent and the values of the frames, and painter, which draws a frame.

use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

use super::camera::{self, Camera};
use super::field::{Field, Range};
use super::legend::{self, Bar};
use super::picture::{Letters, linear};
use super::raster::{self, BACKGROUND, SAMPLES, Seen, SeenBall, SeenLine};
use super::rose;
use super::{BoundaryStyle, Force, Frame, Look, Picture, Trail};
use crate::error::Error;
use crate::model::World;
use crate::output::outline::{Extent, HalfSpace, Outline, ROOM, around_source, bounded, outline};

/// Width of an edge over the height of the picture \[-\].
const EDGE: f64 = 1.0 / 700.0;
/// Width of the line of the largest force, over the mean diameter of the grains \[-\].
const FORCE_WIDTH: f64 = 0.45;
/// Width of a trail over the mean diameter of the grains \[-\].
const TRAIL_WIDTH: f64 = 0.12;
/// Colour of the grains behind forces and trails, and the share of the background in it.
const FAINT: ([u8; 3], f32) = ([200, 202, 206], 0.65);

/// Survey of a number of frames: their extent and their range of values.
#[derive(Debug, Clone)]
pub struct Survey<'a> {
    look: &'a Look,
    world: &'a World,
    view: camera::CameraAxes,
    field: Field,
    sights: Sights,
    /// Distance by which planes are drawn beyond the room, over its largest edge \[-\].
    room_share: f64,
}

/// Findings of a survey.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Sights {
    /// Box around all grains and bounded boundaries, along the axes of the scene \[m\].
    room: Extent,
    /// Box around the same, along the axes of the camera, from the origin of the scene \[m\].
    extent: Extent,
    range: Range,
    /// Sum of the radii \[m\] and number of the grains.
    radii: (f64, u64),
    /// Poses of the boundaries in the last frame.
    poses: Vec<(DVec3, DQuat)>,
}

impl Sights {
    /// Findings before the first frame.
    const NONE: Sights = Sights {
        room: Extent::NOTHING,
        extent: Extent::NOTHING,
        range: Range::NOTHING,
        radii: (0.0, 0),
        poses: Vec::new(),
    };
}

impl<'a> Survey<'a> {
    /// A survey of frames between the boundaries of `world`; its grains do not count.
    pub fn new(look: &'a Look, world: &'a World) -> Survey<'a> {
        let field = Field::new(&look.colour_by, world.gravity);
        Survey {
            look,
            world,
            view: camera::CameraAxes::of(look),
            field,
            sights: Sights::NONE,
            room_share: ROOM,
        }
    }

    /// Findings so far.
    pub fn sights(&self) -> &Sights {
        &self.sights
    }

    /// Returns the survey with these findings.
    #[must_use]
    pub fn with_sights(self, sights: Sights) -> Survey<'a> {
        Survey { sights, ..self }
    }

    /// Returns the survey with planes drawn beyond the room by `share` of its largest edge \[-\].
    #[must_use]
    pub fn with_room(self, share: f64) -> Survey<'a> {
        Survey { room_share: share, ..self }
    }

    /// Adds a frame.
    ///
    /// # Errors
    /// [`Error::Unusable`] when the frame lacks the field that grains are coloured by.
    pub fn add(&mut self, frame: &Frame) -> Result<(), Error> {
        for ball in &frame.balls {
            self.see(ball.centre, ball.radius);
        }
        self.sights.poses.clone_from(&frame.poses);
        if self.look.boundaries != BoundaryStyle::Hidden {
            bounded(self.world, &frame.poses)
                .facets
                .iter()
                .flatten()
                .for_each(|&corner| self.see(corner, 0.0));
        }
        self.add_values(frame)
    }

    /// Adds a box in which grains will appear \[m\], and the ground under it as far as the grains may spread: half as far as
    /// they fall.
    pub fn add_source(&mut self, min: DVec3, max: DVec3) {
        around_source(self.world, Extent { min, max }).into_iter().for_each(|place| self.see(place, 0.0));
    }

    /// Adds the values of a frame, but not the positions of its grains.
    ///
    /// # Errors
    /// [`Error::Unusable`] when the frame lacks the field that grains are coloured by.
    pub fn add_values(&mut self, frame: &Frame) -> Result<(), Error> {
        let radii = frame.balls.iter().map(|ball| ball.radius);
        self.sights.radii =
            (self.sights.radii.0 + radii.sum::<f64>(), self.sights.radii.1 + frame.balls.len() as u64);
        self.sights.range = match self.look.show.array() {
            None => self.field.values(frame)?.into_iter().fold(self.sights.range, Range::with),
            Some(_) => {
                frame.forces.iter().map(|force| force.size).fold(self.sights.range.with(0.0), Range::with)
            }
        };
        Ok(())
    }

    fn see(&mut self, place: DVec3, radius: f64) {
        self.sights.room = self.sights.room.with(place, radius);
        self.sights.extent = self.sights.extent.with(self.view.turn(place), radius);
    }

    /// Values at the ends of the colours.
    fn colours(&self) -> Range {
        match self.look.range {
            Some([least, greatest]) => Range { least, greatest },
            None => self.sights.range.opened(),
        }
    }

    fn mean_radius(&self) -> f64 {
        self.sights.radii.0 / self.sights.radii.1.max(1) as f64
    }

    /// Corners of the planes, as far as the planes are drawn.
    fn planes(&self, room: &Extent) -> Vec<DVec3> {
        match self.look.boundaries {
            BoundaryStyle::Hidden => Vec::new(),
            _ => outline(self.world, &self.sights.poses, room).facets.into_iter().flatten().collect(),
        }
    }

    /// Returns a painter whose camera sees all that was surveyed, or the box that the look gives.
    ///
    /// # Errors
    /// When the font in the program is damaged.
    pub fn painter(&self) -> Result<Painter<'a>, Error> {
        let [width, height] = self.look.size.map(|size| size as usize);
        let letters = Letters::new(legend::text_size(width, height))?;
        let label = match self.look.show.array() {
            None => self.field.label(),
            Some(force) => format!("{} [N]", force.replace('_', " ")),
        };
        let range = self.colours();
        let bar = Bar { label: &label, range }.width(&letters);
        let scene_width = width - bar.min(width / 2);
        let room = self.sights.room.grown(self.room_share);
        let turned = |extent: Extent| {
            extent.corners().fold(Extent::NOTHING, |seen, corner| seen.with(self.view.turn(corner), 0.0))
        };
        let extent = match self.look.fit {
            Some([min, max]) => turned(Extent { min, max }),
            None => self
                .planes(&room)
                .into_iter()
                .fold(self.sights.extent, |seen, corner| seen.with(self.view.turn(corner), 0.0)),
        };
        let [columns, rows] = [scene_width, height].map(|size| (size * SAMPLES) as f64);
        let camera = Camera::new(self.look, extent, columns, rows);
        Ok(Painter {
            look: self.look,
            world: self.world,
            field: self.field.clone(),
            label,
            range,
            camera,
            room,
            scene_width,
            letters,
            mean_radius: self.mean_radius(),
        })
    }
}

/// Painter of frames, all from the same camera position and with the same colours.
#[derive(Debug)]
pub struct Painter<'a> {
    look: &'a Look,
    world: &'a World,
    field: Field,
    label: String,
    range: Range,
    camera: Camera,
    room: Extent,
    /// Width of the scene beside the colour bar \[pixels\].
    scene_width: usize,
    letters: Letters,
    mean_radius: f64,
}

impl<'a> Painter<'a> {
    /// Returns the painter with the present range of values and mean radius of a survey.
    #[must_use]
    pub fn with_colours_of(self, survey: &Survey<'a>) -> Painter<'a> {
        Painter { range: survey.colours(), mean_radius: survey.mean_radius(), ..self }
    }

    /// Draws a frame.
    ///
    /// # Errors
    /// [`Error::Unusable`] when the frame lacks the field that grains are coloured by.
    pub fn draw(&self, frame: &Frame) -> Result<Picture, Error> {
        self.draw_with(frame, None)
    }

    /// Draws a frame. With trails, these alone have colours and the grains are faint.
    ///
    /// # Errors
    /// As [`Painter::draw`].
    pub fn draw_with(&self, frame: &Frame, trails: Option<&[Trail]>) -> Result<Picture, Error> {
        let seen = self.see(frame, trails)?;
        let [width, height] = self.look.size.map(|size| size as usize);
        let scene = raster::draw(&seen, &self.camera, self.scene_width, height);
        let mut picture = Picture { width, height, pixels: vec![BACKGROUND; width * height] };
        for (row, pixels) in picture.pixels.chunks_mut(width).zip(scene.pixels.chunks(self.scene_width)) {
            row[..self.scene_width].copy_from_slice(pixels);
        }
        // The rose stands below the bar, is as wide, and hides nothing.
        let rose = if self.look.rose { (width - self.scene_width).min(height / 2) } else { 0 };
        Bar { label: &self.label, range: self.range }.draw(&mut picture, &self.letters, rose);
        if self.look.rose {
            let kept = self.kept();
            let shown = frame.forces.iter().filter(|force| self.force(force, kept).is_some());
            rose::draw(&mut picture, rose, shown, &self.camera);
        }
        legend::write_time(&mut picture, &self.letters, frame.time);
        Ok(picture)
    }

    fn see(&self, frame: &Frame, trails: Option<&[Trail]>) -> Result<Seen, Error> {
        let kept = self.kept();
        let up = self.camera.turn(DVec3::Z);
        let has_lines = self.look.show.array().is_some() || trails.is_some();
        let mut seen = Seen { kept, up, ..Seen::default() };
        self.see_balls(frame, has_lines, &mut seen)?;
        let outline = match self.look.boundaries {
            BoundaryStyle::Hidden => Outline::default(),
            BoundaryStyle::Edges => {
                Outline { facets: Vec::new(), surfaces: Vec::new(), ..self.outline(frame) }
            }
            BoundaryStyle::Glass => self.outline(frame),
        };
        let facets = outline.facets.iter().map(|facet| {
            let facet: Vec<DVec3> = facet.iter().map(|&corner| self.camera.see(corner)).collect();
            kept.map_or(facet.clone(), |half_space| half_space.clip(&facet))
        });
        seen.glass = facets.filter(|facet| !facet.is_empty()).collect();
        let half_width = 0.5 * EDGE * (f64::from(self.look.size[1]) * SAMPLES as f64);
        let edge = |ends: &[DVec3; 2]| self.line(*ends, kept, [half_width; 2], raster::ink());
        seen.edges = outline.edges.iter().filter_map(edge).collect();
        if has_lines {
            seen.faintness = FAINT.1;
            let forces = frame.forces.iter().filter_map(|force| self.force(force, kept));
            let trails = trails.unwrap_or_default().iter().filter_map(|trail| self.trail(trail, kept));
            seen.lines = forces.chain(trails).collect();
        }
        Ok(seen)
    }

    fn outline(&self, frame: &Frame) -> Outline {
        outline(self.world, &frame.poses, &self.room)
    }

    /// Half space that is not cut away, in the frame of the camera: the side of the cut that faces away from the camera.
    fn kept(&self) -> Option<HalfSpace> {
        let cut = self.look.cut?;
        let (place, normal) = (self.camera.see(cut.point), self.camera.turn(cut.normal));
        let ray = self.camera.project(place).map(|at| self.camera.ray(at.x, at.y).direction);
        let towards = normal.dot(ray.unwrap_or(DVec3::Z));
        let normal = if towards > 0.0 { -normal } else { normal };
        Some(HalfSpace { normal, offset: normal.dot(place) })
    }

    fn see_balls(&self, frame: &Frame, are_faint: bool, seen: &mut Seen) -> Result<(), Error> {
        let colours: Vec<[f32; 3]> = if are_faint {
            vec![linear(FAINT.0); frame.balls.len()]
        } else {
            self.field.values(frame)?.into_iter().map(|value| self.colour(value)).collect()
        };
        for (ball, colour) in frame.balls.iter().zip(colours) {
            let first = seen.faces.len();
            let faces = ball.faces(self.world);
            seen.faces.extend(faces.map(|face| HalfSpace { normal: self.camera.turn(face.normal), ..face }));
            seen.balls.push(SeenBall {
                centre: self.camera.see(ball.centre),
                radius: ball.radius,
                faces: [first, seen.faces.len()].map(|place| place as u32),
                colour,
            });
        }
        Ok(())
    }

    fn colour(&self, value: f64) -> [f32; 3] {
        linear(legend::colour(self.range.share(value)))
    }

    /// Line of a contact force, as wide as the force is large.
    fn force(&self, force: &Force, kept: Option<HalfSpace>) -> Option<SeenLine> {
        if self.range.greatest <= 0.0 {
            return None; // a range that no force is in
        }
        let width = FORCE_WIDTH * force.size / self.range.greatest;
        self.rod(force.ends, kept, width, self.colour(force.size))
    }

    fn trail(&self, trail: &Trail, kept: Option<HalfSpace>) -> Option<SeenLine> {
        self.rod(trail.ends, kept, TRAIL_WIDTH, self.colour(trail.value))
    }

    /// Line whose width is `width` mean diameters of the grains; in perspective it is narrower far away.
    fn rod(
        &self,
        ends: [DVec3; 2],
        kept: Option<HalfSpace>,
        width: f64,
        colour: [f32; 3],
    ) -> Option<SeenLine> {
        let half_width = width * self.mean_radius;
        let [a, b] = ends.map(|end| self.camera.scale_at(self.camera.see(end)));
        self.line(ends, kept, [half_width * a?, half_width * b?], colour)
    }

    fn line(
        &self,
        ends: [DVec3; 2],
        kept: Option<HalfSpace>,
        half_widths: [f64; 2],
        colour: [f32; 3],
    ) -> Option<SeenLine> {
        let ends = ends.map(|end| self.camera.see(end));
        let ends = match kept {
            Some(half_space) => half_space.clip_line(ends)?,
            None => ends,
        };
        Some(SeenLine { ends, half_widths, colour })
    }
}
