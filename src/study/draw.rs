//! Drawing of plots as SVG and PNG.

use std::ops::Range;
use std::sync::OnceLock;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontStyle, register_font};

use crate::observe::short;
use crate::scenario::study::AxisScale;

/// Figure: a plot with its points.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Title above the plot.
    pub title: String,
    /// Label below the x axis.
    pub x_label: String,
    /// Label beside the y axis.
    pub y_label: String,
    /// Scale of x.
    pub x_scale: AxisScale,
    /// Scale of y.
    pub y_scale: AxisScale,
    /// The curves.
    pub curves: Vec<DrawnCurve>,
}

/// Curve: points that are joined by lines.
#[derive(Debug, Clone, PartialEq)]
pub struct DrawnCurve {
    /// Name in the legend.
    pub label: String,
    /// Index of the colour.
    pub colour: usize,
    /// Index of the mark at the points.
    pub mark: usize,
    /// Points in the order in which they are joined.
    pub points: Vec<(f64, f64)>,
}

/// Size of a plot in SVG \[pixels\].
const SIZE: (u32, u32) = (860, 520);
/// Ratio of the size in PNG to the size in SVG.
const PNG_SCALE: u32 = 2;
/// Width of the legend per character, and its constant part \[pixels\].
const LEGEND: (u32, u32) = (8, 50);
/// Name of the font in SVG.
const FONT: &str = "sans-serif";
/// Largest number of points of a curve with marks.
const MOST_MARKS: usize = 40;
/// Colours that are distinguishable with any colour vision (Okabe & Ito 2008).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(60, 60, 60),
];

/// Reason why a plot could not be drawn.
pub type DrawError = Box<dyn std::error::Error>;

/// Draws a figure as SVG.
///
/// # Errors
/// Errors of the drawing library.
pub fn svg(figure: &Figure) -> Result<String, DrawError> {
    let mut text = String::new();
    let root = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
    draw(figure, &root, 1)?;
    drop(root);
    Ok(text)
}

/// Draws a figure as PNG.
///
/// # Errors
/// Errors of the drawing library or the encoder.
pub fn png(figure: &Figure) -> Result<Vec<u8>, DrawError> {
    let (width, height) = (SIZE.0 * PNG_SCALE, SIZE.1 * PNG_SCALE);
    let mut pixels = vec![0; (width * height * 3) as usize];
    let root = BitMapBackend::with_buffer(&mut pixels, (width, height)).into_drawing_area();
    draw(figure, &root, PNG_SCALE)?;
    drop(root);
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(&pixels)?;
    Ok(file)
}

fn draw<B>(figure: &Figure, root: &DrawingArea<B, Shift>, scale: u32) -> Result<(), DrawError>
where
    B: DrawingBackend,
    B::ErrorType: 'static,
{
    make_font_known();
    root.fill(&WHITE)?;
    let size = |points: u32| (FONT, points * scale);
    let legend = legend_width(figure) * scale;
    let (plot, _) = root.split_horizontally(root.dim_in_pixel().0 - legend);
    let points = || figure.curves.iter().flat_map(|curve| curve.points.iter().copied());
    let x = Ruler::over(points().map(|point| point.0), figure.x_scale);
    let y = Ruler::over(points().map(|point| point.1), figure.y_scale);
    let mut chart = ChartBuilder::on(&plot)
        .caption(&figure.title, size(18))
        .margin(12 * scale)
        .x_label_area_size(46 * scale)
        .y_label_area_size(66 * scale)
        .build_cartesian_2d(x, y)?;
    chart
        .configure_mesh()
        .max_light_lines(0)
        .bold_line_style(BLACK.mix(0.12))
        .x_desc(&figure.x_label)
        .y_desc(&figure.y_label)
        .label_style(size(13))
        .axis_desc_style(size(15))
        .x_label_formatter(&|value| short(*value))
        .y_label_formatter(&|value| short(*value))
        .draw()?;
    for curve in &figure.curves {
        let style = colour_of(curve).stroke_width(2 * scale);
        chart.draw_series(LineSeries::new(curve.points.iter().copied(), style))?;
        if curve.points.len() <= MOST_MARKS {
            let places: Vec<_> = curve.points.iter().map(|point| chart.backend_coord(point)).collect();
            places.into_iter().try_for_each(|place| draw_mark(root, place, curve, scale))?;
        }
    }
    draw_legend(figure, root, scale)
}

fn colour_of(curve: &DrawnCurve) -> RGBColor {
    COLOURS[curve.colour % COLOURS.len()]
}

/// Draws the mark of a curve at a place \[pixels\].
fn draw_mark<B>(
    root: &DrawingArea<B, Shift>,
    place: (i32, i32),
    curve: &DrawnCurve,
    scale: u32,
) -> Result<(), DrawError>
where
    B: DrawingBackend,
    B::ErrorType: 'static,
{
    let radius = (4 * scale) as i32;
    let filled = colour_of(curve).filled();
    let line = colour_of(curve).stroke_width(2 * scale);
    match curve.mark % 4 {
        0 => root.draw(&Circle::new(place, radius, filled))?,
        1 => {
            root.draw(&Circle::new(place, radius, WHITE.filled()))?;
            root.draw(&Circle::new(place, radius, line))?;
        }
        2 => root.draw(&TriangleMarker::new(place, radius + radius / 2, filled))?,
        _ => root.draw(&Cross::new(place, radius, line))?,
    }
    Ok(())
}

/// Width of the legend \[pixels\]; a small margin for a single curve.
fn legend_width(figure: &Figure) -> u32 {
    let longest = figure.curves.iter().map(|curve| curve.label.chars().count()).max().unwrap_or(0);
    match figure.curves.len() {
        0 | 1 => 8,
        // A longer label runs out of the picture, not into the plot.
        _ => (LEGEND.1 + LEGEND.0 * longest as u32).min(SIZE.0 / 2),
    }
}

fn draw_legend<B>(figure: &Figure, root: &DrawingArea<B, Shift>, scale: u32) -> Result<(), DrawError>
where
    B: DrawingBackend,
    B::ErrorType: 'static,
{
    if figure.curves.len() < 2 {
        return Ok(());
    }
    let left = (SIZE.0 - legend_width(figure)) as i32;
    let at = |x: i32, y: i32| ((left + x) * scale as i32, y * scale as i32);
    let style = (FONT, 13 * scale).into_font().color(&BLACK).pos(Pos::new(HPos::Left, VPos::Center));
    for (i, curve) in figure.curves.iter().enumerate() {
        let y = 56 + 21 * i as i32;
        root.draw(&PathElement::new([at(0, y), at(28, y)], colour_of(curve).stroke_width(2 * scale)))?;
        if curve.points.len() <= MOST_MARKS {
            draw_mark(root, at(14, y), curve, scale)?;
        }
        root.draw(&Text::new(curve.label.clone(), at(35, y), style.clone()))?;
    }
    Ok(())
}

/// Registers the font once; without it, drawing text fails.
fn make_font_known() {
    static KNOWN: OnceLock<bool> = OnceLock::new();
    KNOWN.get_or_init(|| register_font(FONT, FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT).is_ok());
}

/// Axis of a plot, linear or logarithmic.
#[derive(Debug, Clone, PartialEq)]
struct Ruler {
    scale: AxisScale,
    range: Range<f64>,
}

impl Ruler {
    /// Creates an axis over some values, with a margin at both ends.
    fn over(values: impl Iterator<Item = f64>, scale: AxisScale) -> Ruler {
        let (least, most) =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), x| (least.min(x), most.max(x)));
        let (least, most) = if least <= most { (least, most) } else { (1.0, 10.0) };
        let range = match scale {
            AxisScale::Logarithmic => {
                let room = (most / least).powf(0.04).max(1.1);
                least / room..most * room
            }
            AxisScale::Linear => {
                let room = if most > least { 0.04 * (most - least) } else { 0.5 * most.abs().max(1e-9) };
                // Values that begin near zero are shown from zero on.
                let begin = if least >= 0.0 && least < 0.3 * most { 0.0 } else { least - room };
                begin..most + room
            }
        };
        Ruler { scale, range }
    }

    /// Returns round numbers within the range.
    fn ticks(&self) -> Vec<f64> {
        let Range { start, end } = self.range;
        let (first, last) = (start.log10().floor() as i32, end.log10().ceil() as i32);
        let is_inside = |x: &f64| (start..=end).contains(x);
        match self.scale {
            AxisScale::Logarithmic => {
                let digits: &[f64] = if (end / start).log10() > 3.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
                let decade = |power| digits.iter().map(move |digit| digit * 10f64.powi(power));
                // Powers are skipped if there are more than the axis has room for.
                let every = (last - first) / 12 + 1;
                let powers = (first..=last).filter(|power| power.rem_euclid(every) == 0);
                powers.flat_map(decade).filter(is_inside).collect()
            }
            AxisScale::Linear => {
                let rough = (end - start) / 7.0;
                let power = 10f64.powf(rough.log10().floor());
                let step =
                    [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power).into_iter().find(|step| *step >= rough);
                let step = step.unwrap_or(rough);
                let begin = (start / step).ceil() as i64;
                (begin..).map(|k| k as f64 * step).take_while(|x| *x <= end).collect()
            }
        }
    }
}

impl Ranged for Ruler {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let along = |x: f64| match self.scale {
            AxisScale::Linear => x,
            AxisScale::Logarithmic => x.ln(),
        };
        let (start, end) = (along(self.range.start), along(self.range.end));
        let share = (along(*value) - start) / (end - start);
        limit.0 + (share * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.ticks()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(y_scale: AxisScale) -> Figure {
        let points = vec![(5.0, 0.2), (50.0, 0.01), (500.0, 0.0004)];
        let curve =
            |label: &str, colour| DrawnCurve { label: label.into(), colour, mark: 0, points: points.clone() };
        Figure {
            title: "Höhe über λ".into(),
            x_label: "iterations [-]".into(),
            y_label: "error [-]".into(),
            x_scale: AxisScale::Logarithmic,
            y_scale,
            curves: vec![curve("cold", 0), curve("history", 1)],
        }
    }

    #[test]
    fn ticks_are_round_numbers_within_the_range() {
        let ruler = |values: &[f64], scale| Ruler::over(values.iter().copied(), scale).ticks();
        assert_eq!(
            ruler(&[5.0, 500.0], AxisScale::Logarithmic),
            [5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0]
        );
        assert_eq!(ruler(&[1e-6, 1.0], AxisScale::Logarithmic).len(), 7);
        assert_eq!(ruler(&[1e-17, 1.0], AxisScale::Logarithmic).last(), Some(&1.0));
        assert!(ruler(&[1e-17, 1.0], AxisScale::Logarithmic).len() < 13);
        assert_eq!(ruler(&[0.0, 100.0], AxisScale::Linear), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert!(
            !ruler(&[3.0, 3.0], AxisScale::Linear).is_empty() && !ruler(&[], AxisScale::Linear).is_empty()
        );
    }

    #[test]
    fn equal_ratios_are_equal_lengths_on_a_logarithmic_axis() {
        let ruler = Ruler { scale: AxisScale::Logarithmic, range: 1.0..100.0 };
        assert_eq!(ruler.map(&10.0, (0, 1000)), 500);
        assert_eq!(Ruler { scale: AxisScale::Linear, ..ruler }.map(&10.0, (0, 990)), 90);
    }

    #[test]
    fn a_plot_has_its_words_and_its_curves() {
        let text = svg(&figure(AxisScale::Logarithmic)).expect("drawn");
        for word in ["Höhe über λ", "iterations [-]", "error [-]", "history", "200", "#0072B2", "#D55E00"]
        {
            assert!(text.contains(word), "no {word} in\n{text}");
        }
        assert_ne!(text, svg(&figure(AxisScale::Linear)).expect("drawn"));
    }

    #[test]
    fn a_picture_shows_both_colours_and_text() {
        let file = png(&figure(AxisScale::Logarithmic)).expect("drawn");
        let mut reader = png::Decoder::new(std::io::Cursor::new(&file)).read_info().expect("a picture");
        let mut pixels = vec![0; reader.output_buffer_size().expect("of some size")];
        let info = reader.next_frame(&mut pixels).expect("a frame");
        assert_eq!((info.width, info.height), (SIZE.0 * PNG_SCALE, SIZE.1 * PNG_SCALE));
        let count = |colour: RGBColor| {
            pixels.chunks(3).filter(|pixel| **pixel == [colour.0, colour.1, colour.2]).count()
        };
        assert!(count(COLOURS[0]) > 200 && count(COLOURS[1]) > 200 && count(BLACK) > 200);
        assert_eq!(count(COLOURS[3]), 0, "a colour that is not used");
    }
}
