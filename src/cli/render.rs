//! `esker render`: pictures of results, or of the initial state of a scenario.

use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use glam::DVec3;
use indicatif::ProgressBar;

use crate::cpu::CpuEngine;
use crate::engine::Engine;
use crate::error::Error;
use crate::files;
use crate::model::World;
use crate::output;
use crate::render::file::{PictureFolder, PictureTarget, write_animation, write_png};
use crate::render::{BoundaryStyle, CutPlane, Look, Projection, SIZES, Show};
use crate::render::{Frame, Painter, Picture, Results, Survey, Trails, frame_of};
use crate::scenario::{Problem, Problems, Scenario};

use super::terminal::{note, say};
use super::{ExitOutcome, Failure, short};

/// Largest number of pictures per second in an animation.
const FASTEST: i64 = 100;

/// Arguments of `esker render`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Folder that `esker run` wrote, or a scenario file, whose initial state is drawn.
    #[arg(value_name = "DIR|FILE")]
    source: PathBuf,
    /// A folder for one picture per frame, a .png for one picture, or an animation: .apng, .gif, .mp4 (by ffmpeg)
    /// [default: DIR/pictures; DIR/picture.png with --at; of a scenario <scenario>.png].
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Draw only the frame nearest to this time [s].
    #[arg(long, value_name = "T", value_parser = parse_number)]
    at: Option<f64>,
    /// Pictures per second of an animation.
    #[arg(long, value_name = "N", default_value = "25", value_parser = clap::value_parser!(u16).range(1..=FASTEST))]
    fps: u16,
    /// Change a value of a scenario file, such as grains.0.packing.count=50; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    #[command(flatten)]
    look: LookArguments,
}

/// What departs from the look of the scenario, or from what suits the scene.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Look")]
struct LookArguments {
    /// Width and height [pixels] [default: 960x720].
    #[arg(long, value_name = "WxH", value_parser = parse_size)]
    size: Option<[u32; 2]>,
    /// Where the camera stands [degrees]: 0 looks along +y, 90 along -x [default: 30, or along the axis of a drum].
    #[arg(long, value_name = "DEG", allow_negative_numbers = true, value_parser = parse_number)]
    azimuth: Option<f64>,
    /// How high the camera stands [degrees], 90 looks down [default: 20; of a drum 0].
    #[arg(long, value_name = "DEG", allow_negative_numbers = true, value_parser = parse_tilt)]
    elevation: Option<f64>,
    /// orthographic (default) or perspective.
    #[arg(long, value_name = "WORD", value_parser = words(Projection::WORDS))]
    projection: Option<String>,
    /// Magnification over that at which everything fits [default: 1].
    #[arg(long, value_name = "FACTOR", value_parser = parse_positive)]
    zoom: Option<f64>,
    /// Corners of the box that is to fit [m] [default: everything].
    #[arg(long, value_name = "X,Y,Z:X,Y,Z", allow_hyphen_values = true, value_parser = parse_box)]
    fit: Option<[DVec3; 2]>,
    /// Cut away what lies before a plane: x=, y= or z= a place [m], or a point and a normal.
    #[arg(long, value_name = "y=0.1|X,Y,Z:NX,NY,NZ", allow_hyphen_values = true, value_parser = parse_cut)]
    cut: Option<CutPlane>,
    /// grains (default), forces: normal forces as lines as wide as the force, or compatible_forces.
    #[arg(long, value_name = "WORD", value_parser = words(Show::WORDS))]
    show: Option<String>,
    /// Tell the directions of the forces that are shown in a corner: by number filled, by force as an outline.
    #[arg(long)]
    rose: bool,
    /// Draw where grains went in so many seconds before a frame, as lines in the colours of the grains.
    #[arg(long, value_name = "T", value_parser = parse_positive)]
    trails: Option<f64>,
    /// Field that grains are coloured by: velocity, velocity_z, relative_velocity (to the first boundary that turns),
    /// height, coordination_number, radius, id ... [default: velocity; of a scenario height].
    #[arg(long, value_name = "FIELD")]
    colour_by: Option<String>,
    /// Values at the ends of the colours [default: least and greatest of all frames].
    #[arg(long, value_name = "MIN,MAX", allow_hyphen_values = true, value_parser = parse_range)]
    range: Option<[f64; 2]>,
    /// glass (default), edges or hidden.
    #[arg(long, value_name = "WORD", value_parser = words(BoundaryStyle::WORDS))]
    boundaries: Option<String>,
}

impl LookArguments {
    /// Returns the look with the options of the command line.
    fn applied_to(&self, look: Look) -> Result<Look, Failure> {
        let word = |word: &Option<String>| word.clone().unwrap_or_default();
        let show = Show::of(&word(&self.show)).unwrap_or(look.show);
        if show.array().is_some() && self.colour_by.is_some() {
            let found = "colours grains, and where forces are shown they have the colours";
            return Err(wrong("--colour-by", found, "leave out one of the two"));
        }
        let rose = self.rose || (look.rose && show.array().is_some());
        if rose && show.array().is_none() {
            let found = "tells the directions of forces, and grains are shown";
            return Err(wrong("--rose", found, "add `--show forces`"));
        }
        if self.trails.is_some() && show.array().is_some() {
            let found = "draws where grains went, and forces are shown";
            return Err(wrong("--trails", found, "add `--show grains`, or leave it out"));
        }
        // A range of values is for one field, and is dropped when the field changes.
        let is_same =
            show == look.show && self.colour_by.as_ref().is_none_or(|field| *field == look.colour_by);
        Ok(Look {
            size: self.size.unwrap_or(look.size),
            azimuth_deg: self.azimuth.unwrap_or(look.azimuth_deg),
            elevation_deg: self.elevation.unwrap_or(look.elevation_deg),
            projection: Projection::of(&word(&self.projection)).unwrap_or(look.projection),
            zoom: self.zoom.unwrap_or(look.zoom),
            fit: self.fit.or(look.fit),
            cut: self.cut.or(look.cut),
            show,
            rose,
            colour_by: self.colour_by.clone().unwrap_or(look.colour_by),
            range: self.range.or(look.range.filter(|_| is_same)),
            boundaries: BoundaryStyle::of(&word(&self.boundaries)).unwrap_or(look.boundaries),
        })
    }
}

/// Draws results, or the initial state of a scenario.
pub(super) fn render(arguments: &Arguments) -> Result<ExitOutcome, Failure> {
    let made = if arguments.source.is_dir() { of_results(arguments)? } else { of_scenario(arguments)? };
    say!("{made}");
    Ok(ExitOutcome::Done)
}

/// Draws frames of a run; returns a text on what was drawn.
fn of_results(arguments: &Arguments) -> Result<String, Failure> {
    let folder = &arguments.source;
    if !arguments.overrides.is_empty() {
        return Err(wrong("--set", "changes a scenario, and this is a folder of results", "leave it out"));
    }
    let (world, look) = surroundings(folder)?;
    let look = arguments.look.applied_to(look)?;
    let results = Results::open(folder, look.show).map_err(input)?;
    if arguments.look.trails.is_some() && results.len() < 2 {
        let advice = "run the scenario with a shorter `output.every`";
        return Err(wrong("--trails", "leads from frame to frame, and there is one", advice));
    }
    let target = target(arguments, || match arguments.at {
        Some(_) => folder.join("picture.png"),
        None => folder.join(output::PICTURES),
    })?;
    let chosen: Vec<usize> = match (target.kind, arguments.at) {
        (PictureTarget::Png, at) => vec![results.nearest(at.unwrap_or(f64::INFINITY))],
        _ => (0..results.len()).collect(),
    };
    tell_of_other_times(arguments.at, &results);
    let bar = ProgressBar::new((results.len() + chosen.len()) as u64);
    let mut survey = Survey::new(&look, &world);
    for i in 0..results.len() {
        survey.add(&results.load(i, &world).map_err(input)?).map_err(input)?;
        bar.inc(1);
    }
    let painter = survey.painter()?;
    let mut trails = arguments.look.trails.map(|duration| Trails::new(duration, &look, &world));
    let mut drawn = chosen.iter().map(|&i| {
        bar.inc(1);
        match &mut trails {
            None => painter.draw(&results.load(i, &world)?),
            Some(trails) => {
                let (frame, trails) = trails.lead_to(i, &results)?;
                painter.draw_with(&frame, Some(&trails))
            }
        }
    });
    let written = target.write(&mut drawn, chosen.len(), arguments.fps);
    bar.finish_and_clear();
    written.map_err(input)?;
    Ok(target.told(chosen.len()))
}

/// Says which frame is drawn where the results have none of the time that was asked for.
fn tell_of_other_times(at: Option<f64>, results: &Results) {
    let times = results.times();
    let (Some(at), [first, .., last] | [first @ last]) = (at, times.as_slice()) else { return };
    // The last output may be a rounding away from the end that a user has in mind.
    let rounding = 1e-9 * last.abs();
    if at > last + rounding {
        note!(
            "warning: the results end at t = {} s: the last frame is drawn in place of one at {} s",
            short(*last),
            short(at)
        );
    } else if at < first - rounding {
        note!(
            "warning: the results begin at t = {} s: the first frame is drawn in place of one at {} s",
            short(*first),
            short(at)
        );
    }
}

/// Surroundings of the grains of a run, and the look of pictures in its scenario.
pub(super) fn surroundings(folder: &Path) -> Result<(World, Look), Failure> {
    let path = folder.join("scenario.toml");
    if !path.exists() {
        note!("warning: no scenario.toml in {}: boundaries are left out", folder.display());
        let world = World::default();
        let look = Look::of_scene(&world);
        return Ok((world, look));
    }
    files::check_plain(&path).map_err(Error::file(&path))?;
    Ok(Scenario::load_surroundings(&path)?)
}

/// Refuses a path that is no folder.
pub(super) fn check_results(folder: &Path) -> Result<(), Failure> {
    let shown = folder.display().to_string();
    match (folder.is_dir(), folder.exists()) {
        (true, _) => Ok(()),
        (false, true) => {
            Err(wrong(&shown, "is a file", "expected a folder of results, which `esker run` writes"))
        }
        (false, false) => {
            Err(wrong(&shown, "there is no such folder", "run the scenario first: `esker run FILE`"))
        }
    }
}

/// Draws the initial state of a scenario; returns a text on what was drawn.
fn of_scenario(arguments: &Arguments) -> Result<String, Failure> {
    let scenario = Scenario::load(&arguments.source, &arguments.overrides)?;
    if arguments.at.is_some_and(|time| time != 0.0) {
        let advice = "run the scenario and draw its folder, or leave out `--at`";
        return Err(wrong("--at", "a scenario file has its initial state alone", advice));
    }
    // Most scenes start at rest: colours by speed would show nothing.
    let standard = Look { colour_by: "height".to_owned(), ..Look::of_scene(&scenario.world) };
    let look = scenario.output.pictures.as_ref().map_or(standard, |pictures| pictures.look.clone());
    let look = arguments.look.applied_to(look)?;
    let target = target(arguments, || PathBuf::from(format!("{}.png", scenario.name)))?;
    output::protect_from(&target.path, &scenario.inputs)?;
    if target.kind != PictureTarget::Png {
        let advice = "expected a .png: run the scenario and draw its folder to see it move";
        return Err(wrong("--out", "a scenario file has its initial state alone", advice));
    }
    if arguments.look.trails.is_some() {
        let advice = "run the scenario and draw its folder";
        return Err(wrong("--trails", "a scenario file has its initial state alone", advice));
    }
    let mut engine = CpuEngine::new(scenario.world.clone(), scenario.settings);
    let frame = frame_of(&engine.snapshot()?, look.show)?;
    let picture = paint(&look, &scenario, &frame).map_err(input)?;
    write_png(&target.path, &picture)?;
    Ok(target.told(1))
}

fn paint(look: &Look, scenario: &Scenario, frame: &Frame) -> Result<Picture, Error> {
    let mut survey = Survey::new(look, &scenario.world);
    survey.add(frame)?;
    let painter: Painter<'_> = survey.painter()?;
    painter.draw(frame)
}

/// Output of the pictures: path and kind.
struct Destination {
    path: PathBuf,
    kind: PictureTarget,
}

fn target(arguments: &Arguments, standard: impl Fn() -> PathBuf) -> Result<Destination, Failure> {
    let path = arguments.out.clone().unwrap_or_else(standard);
    let kind = PictureTarget::of(&path).map_err(input)?;
    if arguments.at.is_some() && kind != PictureTarget::Png {
        return Err(wrong("--at", "draws one frame, and `--out` is no .png", "leave out one of the two"));
    }
    let folder = if kind == PictureTarget::Folder { Some(path.as_path()) } else { path.parent() };
    folder.map_or(Ok(()), output::check_folder)?;
    Ok(Destination { path, kind })
}

impl Destination {
    fn write(
        &self,
        drawn: &mut impl Iterator<Item = Result<Picture, Error>>,
        count: usize,
        fps: u16,
    ) -> Result<(), Error> {
        if let Some(parent) = self.path.parent() {
            std::fs::create_dir_all(parent).map_err(Error::file(parent))?;
        }
        match self.kind {
            PictureTarget::Folder => {
                let mut folder = PictureFolder::create(&self.path)?;
                drawn.try_for_each(|picture| folder.add(&picture?))
            }
            PictureTarget::Png => drawn.try_for_each(|picture| write_png(&self.path, &picture?)),
            animation => write_animation(&self.path, animation, (count, fps), drawn),
        }
    }

    fn told(&self, count: usize) -> String {
        let plural = if count == 1 { "" } else { "s" };
        format!("{count} picture{plural} in {}", self.path.display())
    }
}

/// Counts results that cannot be drawn as wrong input. Other errors are failures.
pub(super) fn input(error: Error) -> Failure {
    match error {
        Error::Unusable { origin, found, advice } => wrong(&origin, &found, &advice),
        other => Failure::Run(other),
    }
}

fn wrong(origin: &str, found: &str, advice: &str) -> Failure {
    Failure::Input(Problems::new(origin, vec![Problem::of(origin, found).help(advice)]))
}

fn words(known: &'static [&'static str]) -> PossibleValuesParser {
    PossibleValuesParser::new(known.iter().copied())
}

fn parse_number(text: &str) -> Result<f64, String> {
    let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| format!("`{}` is not a number", text.trim()))
}

fn parse_positive(text: &str) -> Result<f64, String> {
    parse_number(text).ok().filter(|&number| number > 0.0).ok_or("expected a positive number".to_owned())
}

fn parse_tilt(text: &str) -> Result<f64, String> {
    let angle = parse_number(text)?;
    if angle.abs() <= 90.0 { Ok(angle) } else { Err("expected an angle from -90 to 90 degrees".to_owned()) }
}

fn parse_size(text: &str) -> Result<[u32; 2], String> {
    let pixels = |text: &str| text.trim().parse().ok().filter(|pixels| SIZES.contains(pixels));
    let sizes = text.split_once('x').and_then(|(width, height)| Some([pixels(width)?, pixels(height)?]));
    let (least, most) = (SIZES.start(), SIZES.end());
    sizes.ok_or_else(|| format!("expected width x height, each {least} to {most}, such as 960x720"))
}

fn parse_range(text: &str) -> Result<[f64; 2], String> {
    let expected = "expected two numbers that ascend, such as 0,1.5";
    let (least, greatest) = text.split_once(',').ok_or(expected)?;
    match [parse_number(least)?, parse_number(greatest)?] {
        [least, greatest] if least < greatest => Ok([least, greatest]),
        _ => Err(expected.to_owned()),
    }
}

fn parse_place(text: &str) -> Result<DVec3, String> {
    let numbers = text.split(',').map(parse_number).collect::<Result<Vec<_>, _>>()?;
    let numbers: [f64; 3] = numbers
        .try_into()
        .map_err(|found: Vec<f64>| format!("expected X,Y,Z, found {} numbers", found.len()))?;
    Ok(DVec3::from_array(numbers))
}

fn parse_box(text: &str) -> Result<[DVec3; 2], String> {
    let (min, max) = text.split_once(':').ok_or("expected two corners X,Y,Z:X,Y,Z")?;
    let (min, max) = (parse_place(min)?, parse_place(max)?);
    if min.cmplt(max).all() { Ok([min, max]) } else { Err(format!("{} is not below {}", row(min), row(max))) }
}

fn row(place: DVec3) -> String {
    place.to_array().map(short).join(",")
}

fn parse_cut(text: &str) -> Result<CutPlane, String> {
    let axes = [("x=", DVec3::X), ("y=", DVec3::Y), ("z=", DVec3::Z)];
    let on_axis = axes.into_iter().find_map(|(start, axis)| Some((text.trim().strip_prefix(start)?, axis)));
    if let Some((place, normal)) = on_axis {
        return Ok(CutPlane { point: parse_number(place)? * normal, normal });
    }
    let expected = "expected a plane such as y=0.1, or a point and a normal X,Y,Z:NX,NY,NZ";
    let (point, normal) = text.split_once(':').ok_or(expected)?;
    let normal = parse_place(normal)?.try_normalize().ok_or("the normal is zero, expected a direction")?;
    Ok(CutPlane { point: parse_place(point)?, normal })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_are_read_by_axis_or_by_point_and_normal() {
        assert_eq!(parse_cut("y=-0.5"), Ok(CutPlane { point: DVec3::new(0.0, -0.5, 0.0), normal: DVec3::Y }));
        assert_eq!(
            parse_cut("1,2,3:0,0,2"),
            Ok(CutPlane { point: DVec3::new(1.0, 2.0, 3.0), normal: DVec3::Z })
        );
        for wrong in ["w=1", "y=", "1,2,3:0,0,0", "1,2:0,0,1", "1,2,3"] {
            assert!(parse_cut(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_ranges_and_boxes_that_make_no_sense_are_refused() {
        assert_eq!(parse_size("640x480"), Ok([640, 480]));
        assert!(["640", "0x480", "640x99999", "axb"].into_iter().all(|text| parse_size(text).is_err()));
        assert_eq!(parse_range("-1,2.5"), Ok([-1.0, 2.5]));
        assert!(["1", "2,1", "1,1", "0,inf"].into_iter().all(|text| parse_range(text).is_err()));
        assert!(parse_box("0,0,0:1,1,1").is_ok());
        assert!(["0,0,0", "0,0,0:1,1,0"].into_iter().all(|text| parse_box(text).is_err()));
    }
}
