//! Raster: turns the scene that a camera sees into pixels, without a graphics card.
//!
//! The picture is cut into bands of rows, which are drawn in parallel. A band first finds the nearest ball or edge of
//! every sample. Then it colours the samples, with the shadows that balls cast, lays the glass of the boundaries over
//! them, draws the force lines on top, and averages the samples of each pixel in linear light. A pixel depends on the
//! order of the scene alone, not on the threads.

use glam::{DMat3, DVec2, DVec3};
use rayon::prelude::*;

use super::camera::{Camera, Ray};
use super::picture::{INK, Picture, encoded, linear};
use crate::output::outline::{Extent, HalfSpace};

/// Samples of a pixel along each axis.
pub const SAMPLES: usize = 3;
/// Rows of pixels in a band.
const BAND: usize = 16;
/// Colour where nothing is seen.
pub const BACKGROUND: [u8; 3] = [252, 252, 250];
/// Direction towards the light, in the frame of the camera (z away from the camera).
const LIGHT: DVec3 = DVec3::new(-0.37, 0.60, -0.71);
/// Share of the light that reaches surfaces in shadow \[-\].
const AMBIENT: f64 = 0.35;
/// Rays of light along each side of the square that holds all balls.
const LIGHT_RAYS: usize = 2048;
/// Depth behind the first ball on a ray of light up to which a point is still lit, over the radius of the smallest grain
/// \[-\]. A smaller value gives grains stripes of their own shadow.
const SLACK: f64 = 0.3;
/// Share of light that a floor in shadow takes in addition \[-\]. Walls show no shadows: these would lie over the grains behind.
const GLASS_SHADE: f64 = 0.3;
/// Light that a highlight adds at its brightest \[-\].
const HIGHLIGHT: f64 = 0.10;
/// Depth by which a grain may reach through a boundary and still be drawn behind it, over the radius of the smallest grain
/// \[-\]: contacts overlap.
const OVERLAP: f64 = 0.15;
/// Colour of glass.
const GLASS: [u8; 3] = [150, 168, 186];
/// Share of light that glass takes \[-\]: when looked at straight, and edge on.
const GLASS_TAKES: [f32; 2] = [0.10, 0.6];
/// Index that stands for neither ball nor edge.
const NOTHING: u32 = u32::MAX;

/// A ball in the frame of the camera, or a polyhedron within it.
#[derive(Debug, Clone, Copy)]
pub struct SeenBall {
    /// Centre \[m\].
    pub centre: DVec3,
    /// Radius \[m\].
    pub radius: f64,
    /// First of the faces of a polyhedron in [`Seen::faces`], and the one after its last; equal for a ball.
    pub faces: [u32; 2],
    /// Colour in full light, linear.
    pub colour: [f32; 3],
}

/// A line in the frame of the camera.
#[derive(Debug, Clone, Copy)]
pub struct SeenLine {
    /// Ends \[m\].
    pub ends: [DVec3; 2],
    /// Half of the width of the line at each end \[samples\].
    pub half_widths: [f64; 2],
    /// Colour, linear.
    pub colour: [f32; 3],
}

/// Scene in the frame of the camera.
#[derive(Debug, Default)]
pub struct Seen {
    /// Grains.
    pub balls: Vec<SeenBall>,
    /// Faces of polyhedra, each about the centre of its grain.
    pub faces: Vec<HalfSpace>,
    /// Share of the background in the colour of the grains \[-\]: 0 for opaque grains.
    pub faintness: f32,
    /// Edges of the boundaries, hidden by the grains before them.
    pub edges: Vec<SeenLine>,
    /// Convex flat polygons of glass \[m\].
    pub glass: Vec<Vec<DVec3>>,
    /// Lines on top of everything else (forces and trails); near lines hide far ones.
    pub lines: Vec<SeenLine>,
    /// Upward direction of the scene, in the frame of the camera.
    pub up: DVec3,
    /// Half space that is not cut away, in the frame of the camera; `None`: everything.
    pub kept: Option<HalfSpace>,
}

impl Seen {
    /// Faces of a polyhedron; none of a ball.
    fn faces_of(&self, ball: &SeenBall) -> &[HalfSpace] {
        &self.faces[ball.faces[0] as usize..ball.faces[1] as usize]
    }
}

/// Draws a scene; `width` and `height` are in pixels, the camera is in samples.
pub fn draw(seen: &Seen, camera: &Camera, width: usize, height: usize) -> Picture {
    let mut scene = Scene::new(seen, camera);
    // Faint grains only help orientation and need no shadows.
    scene.shadows = (seen.faintness == 0.0).then(|| Shadows::of(seen)).flatten();
    let mut pixels = vec![BACKGROUND; width * height];
    pixels.par_chunks_mut(width * BAND).enumerate().for_each(|(i, rows)| {
        let band = RowBand::new(&scene, i * BAND * SAMPLES, width * SAMPLES, rows.len() / width * SAMPLES);
        band.finish(rows, width);
    });
    Picture { width, height, pixels }
}

/// Scene in the form that bands are drawn from.
struct Scene<'a> {
    seen: &'a Seen,
    camera: &'a Camera,
    /// Balls from the nearest to the farthest, each with the box of samples that it may cover.
    balls: Vec<(u32, [DVec2; 2])>,
    edges: Vec<Stroke>,
    glass: Vec<Pane>,
    lines: Vec<Stroke>,
    /// Radius of the smallest ball \[m\]; 0 without balls.
    smallest: f64,
    shadows: Option<Shadows>,
}

impl<'a> Scene<'a> {
    fn new(seen: &'a Seen, camera: &'a Camera) -> Scene<'a> {
        let ball = |(i, ball): (usize, &SeenBall)| Some((i as u32, camera.bounds(ball.centre, ball.radius)?));
        let mut balls: Vec<(u32, [DVec2; 2])> = seen.balls.iter().enumerate().filter_map(ball).collect();
        let nearest = |i: u32| {
            let ball = &seen.balls[i as usize];
            ball.centre.z - ball.radius
        };
        balls.sort_by(|&(a, _), &(b, _)| nearest(a).total_cmp(&nearest(b)).then(a.cmp(&b)));
        let strokes = |lines: &[SeenLine]| -> Vec<Stroke> {
            lines.iter().filter_map(|line| Stroke::new(line, camera)).collect()
        };
        let smallest = seen.balls.iter().map(|ball| ball.radius).reduce(f64::min).unwrap_or(0.0);
        Scene {
            seen,
            camera,
            smallest,
            shadows: None,
            balls,
            edges: strokes(&seen.edges),
            glass: seen.glass.iter().filter_map(|facet| Pane::new(facet, camera)).collect(),
            lines: strokes(&seen.lines),
        }
    }
}

impl Scene<'_> {
    /// Share of the light that reaches a point \[-\].
    fn light_at(&self, place: DVec3) -> f64 {
        self.shadows.as_ref().map_or(1.0, |shadows| shadows.reaches(place))
    }
}

/// Shadow map: the depth to which light gets along each of many parallel rays.
struct Shadows {
    /// Rotation into the frame of the light, whose z axis points along the light.
    turn: DMat3,
    camera: Camera,
    /// Depth of the first ball on each ray, row after row \[m\].
    depth: Vec<f64>,
    /// Depth behind the first ball up to which a point is still lit \[m\].
    slack: f64,
}

impl Shadows {
    /// Shadow map of all balls; `None` without balls.
    fn of(seen: &Seen) -> Option<Shadows> {
        let (right, up) = LIGHT.normalize().any_orthonormal_pair();
        let turn = DMat3::from_cols(right, up, -LIGHT.normalize()).transpose();
        let turned = |ball: &SeenBall| SeenBall { centre: turn * ball.centre, ..*ball };
        let balls: Vec<SeenBall> = seen.balls.iter().map(turned).collect();
        let extent = balls.iter().fold(Extent::NOTHING, |extent, ball| extent.with(ball.centre, ball.radius));
        if extent.is_nothing() {
            return None;
        }
        let camera = Camera::along_z(extent, LIGHT_RAYS);
        let balls = balls.iter().map(|ball| SeenBall { centre: camera.see(ball.centre), ..*ball });
        let kept = seen.kept.map(|half_space| {
            let normal = turn * half_space.normal;
            HalfSpace { normal, offset: half_space.offset + normal.dot(camera.see(DVec3::ZERO)) }
        });
        let faces = seen.faces.iter().map(|face| HalfSpace { normal: turn * face.normal, ..*face });
        let lit = Seen { balls: balls.collect(), faces: faces.collect(), kept, ..Seen::default() };
        let scene = Scene::new(&lit, &camera);
        let mut depth = vec![f64::INFINITY; LIGHT_RAYS * LIGHT_RAYS];
        let band = |(i, rows): (usize, &mut [f64])| {
            let mut band = RowBand::empty(i * BAND, LIGHT_RAYS, rows.len() / LIGHT_RAYS);
            band.find_balls(&scene);
            rows.copy_from_slice(&band.depth);
        };
        depth.par_chunks_mut(LIGHT_RAYS * BAND).enumerate().for_each(band);
        Some(Shadows { turn, camera, depth, slack: SLACK * scene.smallest })
    }

    /// Share of the light that reaches a point \[-\]: the mean over the nine nearest rays.
    fn reaches(&self, place: DVec3) -> f64 {
        let seen = self.camera.see(self.turn * place);
        let Some(at) = self.camera.project(seen) else { return 1.0 };
        let limit = LIGHT_RAYS as i64;
        let is_lit = |(right, down): (i64, i64)| {
            let (x, y) = (at.x.floor() as i64 + right, at.y.floor() as i64 + down);
            let is_inside = (0..limit).contains(&x) && (0..limit).contains(&y);
            !is_inside || seen.z <= self.depth[(y * limit + x) as usize] + self.slack
        };
        let rays = (-1..=1).flat_map(|right| (-1..=1).map(move |down| (right, down)));
        rays.filter(|&ray| is_lit(ray)).count() as f64 / 9.0
    }
}

/// Point where a ray meets a ball.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Position \[m\].
    pub place: DVec3,
    /// Outward normal of the surface that is met.
    pub normal: DVec3,
}

/// Returns where a ray first meets the part of a ball, or of the polyhedron of these faces within it, that is not cut away: its surface, or
/// the face of the cut.
pub fn meet(ray: &Ray, ball: &SeenBall, faces: &[HalfSpace], kept: Option<&HalfSpace>) -> Option<Hit> {
    let from_centre = ray.origin - ball.centre;
    let along = from_centre.dot(ray.direction);
    // `aside` is the distance of the ray from the centre. The origin of the ray may be far away.
    let aside = from_centre - along * ray.direction;
    let half = ball.radius * ball.radius - aside.length_squared();
    if half <= 0.0 {
        return None;
    }
    let root = half.sqrt();
    let (mut enters, mut leaves) = (-along - root, -along + root);
    let mut face = None;
    let flat = faces.iter().map(|face| (face, face.outside(from_centre)));
    for (half_space, outside) in flat.chain(kept.map(|kept| (kept, kept.outside(ray.origin)))) {
        let slope = half_space.normal.dot(ray.direction);
        let crossing = -outside / slope;
        if slope < 0.0 && crossing > enters {
            (enters, face) = (crossing, Some(half_space.normal));
        } else if slope > 0.0 {
            leaves = leaves.min(crossing);
        } else if slope == 0.0 && outside > 0.0 {
            return None;
        }
    }
    if enters >= leaves {
        return None;
    }
    let place = ray.at(enters);
    Some(Hit { place, normal: face.unwrap_or((place - ball.centre) / ball.radius) })
}

/// Line in the picture.
struct Stroke {
    from: DVec2,
    to: DVec2,
    half_widths: [f64; 2],
    /// Depths of the ends \[m\]. `weights` are the samples per metre at each end.
    depths: [f64; 2],
    weights: [f64; 2],
    colour: [f32; 3],
}

/// Position of a sample on a stroke.
struct OnStroke {
    depth: f64,
    /// Distance from the middle line of the stroke, over its half width there \[-\].
    aside: f64,
}

impl Stroke {
    fn new(line: &SeenLine, camera: &Camera) -> Option<Stroke> {
        let [a, b] = line.ends;
        Some(Stroke {
            from: camera.project(a)?,
            to: camera.project(b)?,
            half_widths: line.half_widths,
            depths: [a.z, b.z],
            weights: [camera.scale_at(a)?, camera.scale_at(b)?],
            colour: line.colour,
        })
    }

    fn bounds(&self) -> [DVec2; 2] {
        let reach = self.half_widths[0].max(self.half_widths[1]);
        [self.from.min(self.to) - reach, self.from.max(self.to) + reach]
    }

    /// Position of a sample on the stroke, whose ends are round; `None` beside the stroke.
    fn at(&self, sample: DVec2) -> Option<OnStroke> {
        let along = self.to - self.from;
        let share = (sample - self.from).dot(along) / along.length_squared().max(1e-12);
        let share = share.clamp(0.0, 1.0);
        let half_width = self.half_widths[0] + share * (self.half_widths[1] - self.half_widths[0]);
        let aside = sample.distance(self.from + share * along) / half_width;
        if aside > 1.0 {
            return None;
        }
        // Foreshortening: equal steps in the picture are not equal steps along the line.
        let (near, far) = ((1.0 - share) * self.weights[0], share * self.weights[1]);
        let depth = (near * self.depths[0] + far * self.depths[1]) / (near + far);
        Some(OnStroke { depth, aside })
    }
}

/// Facet of glass in the picture.
struct Pane {
    corners: Vec<DVec2>,
    /// A corner in the frame of the camera \[m\].
    place: DVec3,
    normal: DVec3,
}

impl Pane {
    fn new(facet: &[DVec3], camera: &Camera) -> Option<Pane> {
        let corners = facet.iter().map(|&corner| camera.project(corner)).collect::<Option<Vec<_>>>()?;
        let place = *facet.first()?;
        let fan = facet.windows(2).map(|pair| (pair[0] - place).cross(pair[1] - place));
        let normal = fan.sum::<DVec3>().try_normalize()?;
        Some(Pane { corners, place, normal })
    }

    /// Interval of x in a row of samples that the facet covers. Facets that share an edge share no sample and leave none out.
    fn covered(&self, y: f64) -> Option<[f64; 2]> {
        let mut covered = [f64::INFINITY, f64::NEG_INFINITY];
        for (i, &corner) in self.corners.iter().enumerate() {
            let next = self.corners[(i + 1) % self.corners.len()];
            let is_upward = (corner.y, corner.x) < (next.y, next.x);
            let (low, high) = if is_upward { (corner, next) } else { (next, corner) };
            if low.y <= y && y < high.y {
                let x = low.x + (y - low.y) / (high.y - low.y) * (high.x - low.x);
                covered = [covered[0].min(x), covered[1].max(x)];
            }
        }
        (covered[0] < covered[1]).then_some(covered)
    }

    fn rows(&self) -> [f64; 2] {
        self.corners.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], corner| {
            [least.min(corner.y), most.max(corner.y)]
        })
    }
}

/// Samples whose middle lies in `[from, to)`, within `limit`.
fn samples(from: f64, to: f64, limit: usize) -> std::ops::Range<usize> {
    let first = |place: f64| (place - 0.5).ceil().clamp(0.0, limit as f64) as usize;
    first(from)..first(to)
}

/// Band of rows of samples.
struct RowBand {
    /// First row of the band in the picture.
    top: usize,
    width: usize,
    rows: usize,
    /// Depth of the nearest ball or edge at each sample \[m\].
    depth: Vec<f64>,
    /// Index of the nearest ball or edge at each sample: balls are counted first, then edges.
    nearest: Vec<u32>,
    /// Share of light that the glass before each sample lets through \[-\].
    clear: Vec<f32>,
    light: Vec<[f32; 3]>,
}

impl RowBand {
    fn empty(top: usize, width: usize, rows: usize) -> RowBand {
        let count = width * rows;
        RowBand {
            top,
            width,
            rows,
            depth: vec![f64::INFINITY; count],
            nearest: vec![NOTHING; count],
            clear: vec![1.0; count],
            light: vec![linear(BACKGROUND); count],
        }
    }

    fn new(scene: &Scene<'_>, top: usize, width: usize, rows: usize) -> RowBand {
        let mut band = RowBand::empty(top, width, rows);
        band.find_balls(scene);
        band.find_edges(scene);
        band.colour(scene);
        band.lay_glass(scene);
        band.draw_lines(scene);
        band
    }

    /// Rows of the band, from its top, whose middle lies in `[from, to)`.
    fn rows_between(&self, from: f64, to: f64) -> std::ops::Range<usize> {
        samples(from - self.top as f64, to - self.top as f64, self.rows)
    }

    fn y(&self, row: usize) -> f64 {
        (self.top + row) as f64 + 0.5
    }

    /// Samples in a box of the picture: index in the band, and place in the picture.
    fn samples_in(&self, [least, most]: [DVec2; 2]) -> impl Iterator<Item = (usize, DVec2)> + use<> {
        let (columns, width, top) = (samples(least.x, most.x, self.width), self.width, self.top);
        self.rows_between(least.y, most.y).flat_map(move |row| {
            let y = (top + row) as f64 + 0.5;
            columns.clone().map(move |column| (row * width + column, DVec2::new(column as f64 + 0.5, y)))
        })
    }

    fn find_balls(&mut self, scene: &Scene<'_>) {
        let kept = scene.seen.kept.as_ref();
        for &(i, bounds) in &scene.balls {
            let ball = &scene.seen.balls[i as usize];
            let nearest = ball.centre.z - ball.radius;
            for (sample, place) in self.samples_in(bounds) {
                if self.depth[sample] <= nearest {
                    continue;
                }
                if let Some(hit) =
                    meet(&scene.camera.ray(place.x, place.y), ball, scene.seen.faces_of(ball), kept)
                    && hit.place.z < self.depth[sample]
                {
                    self.depth[sample] = hit.place.z;
                    self.nearest[sample] = i;
                }
            }
        }
    }

    fn find_edges(&mut self, scene: &Scene<'_>) {
        let (first, overlap) = (scene.seen.balls.len() as u32, OVERLAP * scene.smallest);
        for (i, edge) in (first..).zip(&scene.edges) {
            for (sample, place) in self.samples_in(edge.bounds()) {
                if let Some(on) = edge.at(place)
                    && on.depth - overlap < self.depth[sample]
                {
                    self.depth[sample] = on.depth - overlap;
                    self.nearest[sample] = i;
                }
            }
        }
    }

    fn colour(&mut self, scene: &Scene<'_>) {
        let (seen, kept) = (scene.seen, scene.seen.kept.as_ref());
        let background = linear(BACKGROUND);
        for sample in 0..self.nearest.len() {
            let nearest = self.nearest[sample] as usize;
            let (row, column) = (sample / self.width, sample % self.width);
            if let Some(ball) = seen.balls.get(nearest) {
                let ray = scene.camera.ray(column as f64 + 0.5, self.y(row));
                if let Some(hit) = meet(&ray, ball, seen.faces_of(ball), kept) {
                    let light = shaded(ball.colour, &hit, ray.direction, scene.light_at(hit.place));
                    self.light[sample] = mix(light, background, seen.faintness);
                }
            } else if nearest != NOTHING as usize {
                self.light[sample] = scene.edges[nearest - seen.balls.len()].colour;
            }
        }
    }

    fn lay_glass(&mut self, scene: &Scene<'_>) {
        let overlap = OVERLAP * scene.smallest;
        for pane in &scene.glass {
            let [least, most] = pane.rows();
            let offset = pane.normal.dot(pane.place);
            let shade = if pane.normal.dot(scene.seen.up).abs() > 0.9 { GLASS_SHADE } else { 0.0 };
            for row in self.rows_between(least, most) {
                let y = self.y(row);
                let Some([from, to]) = pane.covered(y) else { continue };
                for column in samples(from, to, self.width) {
                    let ray = scene.camera.ray(column as f64 + 0.5, y);
                    let slope = pane.normal.dot(ray.direction);
                    let place = ray.at((offset - pane.normal.dot(ray.origin)) / slope);
                    let sample = row * self.width + column;
                    if place.z < self.depth[sample] + overlap {
                        let shadow = if shade > 0.0 { shade * (1.0 - scene.light_at(place)) } else { 0.0 };
                        self.clear[sample] *= (1.0 - glass_takes(slope)) * (1.0 - shadow as f32);
                    }
                }
            }
        }
        let glass = linear(GLASS);
        for (light, &clear) in self.light.iter_mut().zip(&self.clear) {
            *light = mix_as_seen(*light, glass, 1.0 - clear);
        }
    }

    fn draw_lines(&mut self, scene: &Scene<'_>) {
        if scene.lines.is_empty() {
            return;
        }
        self.depth.fill(f64::INFINITY);
        for line in &scene.lines {
            for (sample, place) in self.samples_in(line.bounds()) {
                if let Some(on) = line.at(place)
                    && on.depth < self.depth[sample]
                {
                    self.depth[sample] = on.depth;
                    // A line looks like a rod: darker towards its sides.
                    let brightness = 0.45 + 0.55 * (1.0 - on.aside * on.aside).sqrt();
                    self.light[sample] = scaled(line.colour, brightness as f32);
                }
            }
        }
    }

    /// Sets each pixel to the mean of its samples.
    fn finish(&self, pixels: &mut [[u8; 3]], width: usize) {
        let share = 1.0 / (SAMPLES * SAMPLES) as f32;
        for (i, pixel) in pixels.iter_mut().enumerate() {
            let corner = i / width * SAMPLES * self.width + i % width * SAMPLES;
            let mut sum = [0.0; 3];
            for row in 0..SAMPLES {
                for light in &self.light[corner + row * self.width..][..SAMPLES] {
                    sum = std::array::from_fn(|channel| sum[channel] + light[channel]);
                }
            }
            *pixel = encoded(scaled(sum, share));
        }
    }
}

/// Light of a surface that is lit from one side: darker towards the rim of the silhouette, with a highlight that tells
/// dark grains apart.
fn shaded(colour: [f32; 3], hit: &Hit, direction: DVec3, light: f64) -> [f32; 3] {
    let normal = hit.normal;
    let lit = light * normal.dot(LIGHT).max(0.0);
    let facing = (-normal.dot(direction)).max(0.0);
    let brightness = (AMBIENT + (1.0 - AMBIENT) * lit) * (0.55 + 0.45 * facing) * 1.15;
    let mirrored = direction - 2.0 * direction.dot(normal) * normal;
    let highlight = light * HIGHLIGHT * mirrored.dot(LIGHT).max(0.0).powi(12);
    colour.map(|channel| channel * brightness.min(1.0) as f32 + highlight as f32)
}

fn glass_takes(slope: f64) -> f32 {
    let [straight, edge_on] = GLASS_TAKES;
    let grazing = 1.0 - slope.abs().min(1.0) as f32;
    straight + (edge_on - straight) * grazing.powi(5)
}

fn scaled(colour: [f32; 3], by: f32) -> [f32; 3] {
    colour.map(|channel| channel * by)
}

/// Mixes a share of `b` into `a`.
fn mix(a: [f32; 3], b: [f32; 3], share: f32) -> [f32; 3] {
    std::array::from_fn(|channel| a[channel] + share * (b[channel] - a[channel]))
}

/// As [`mix`], but in steps that look equal: to the eye, brightness is about the square root of light. Mixed in linear
/// light, glass would hide dark surfaces.
fn mix_as_seen(a: [f32; 3], b: [f32; 3], share: f32) -> [f32; 3] {
    let root = |colour: [f32; 3]| colour.map(f32::sqrt);
    mix(root(a), root(b), share).map(|channel| channel * channel)
}

/// Colour of edges, linear.
pub fn ink() -> [f32; 3] {
    linear(INK)
}

#[cfg(test)]
mod tests;
