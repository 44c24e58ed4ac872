//! Legend of a picture: the colour bar with its numbers, and the time.

use super::field::Range;
use super::picture::{INK, Letters, Picture};
use super::raster::BACKGROUND;
use crate::observe::short;

/// Height of a line of text: its share of the height and of the width of the picture \[-\], and its least value \[pixels\].
const TEXT: ([f32; 2], f32) = ([1.0 / 32.0, 1.0 / 42.0], 12.0);
/// Approximate number of labels at a colour bar.
const NUMBERS: f64 = 6.0;

/// Colour for a share of the range, 0 to 1. The map is viridis: its steps look equal, also in a grey print.
pub fn colour(share: f64) -> [u8; 3] {
    colorous::VIRIDIS.eval_continuous(share).as_array().to_owned()
}

/// Size of letters in a picture of this width and height \[pixels\].
pub fn text_size(width: usize, height: usize) -> f32 {
    let ([of_height, of_width], least) = TEXT;
    (height as f32 * of_height).min(width as f32 * of_width).max(least)
}

/// Colour bar for a range of a quantity.
#[derive(Debug)]
pub struct Bar<'a> {
    /// Name and unit of the quantity.
    pub label: &'a str,
    /// Values at the ends of the bar.
    pub range: Range,
}

impl Bar<'_> {
    /// Width of the bar with its label and numbers \[pixels\].
    pub fn width(&self, letters: &Letters) -> usize {
        let numbers = ticks(&self.range).into_iter().map(|(_, text)| letters.width(&text));
        let beside = numbers.fold(0.0, f32::max) + 2.2 * letters.size();
        (beside.max(letters.width(self.label)) + letters.size()) as usize
    }

    /// Draws the bar at the right edge of a picture; the lowest `free` pixels stay empty.
    pub fn draw(&self, picture: &mut Picture, letters: &Letters, free: usize) {
        let size = letters.size();
        let left = picture.width.saturating_sub(self.width(letters)) as f32;
        let (top, bottom) = (3.0 * size, picture.height.saturating_sub(free) as f32 - 1.5 * size);
        let place = |share: f64| bottom - (share as f32) * (bottom - top);
        letters.write(picture, left, 1.5 * size, self.label);
        for y in top as usize..bottom as usize {
            let share = f64::from((bottom - y as f32 - 0.5) / (bottom - top));
            picture.fill([left as usize, y], [size as usize, 1], colour(share));
        }
        let end = left + size;
        for (value, text) in ticks(&self.range) {
            let y = place(self.range.share(value));
            picture.fill([end as usize, y as usize], [(0.4 * size) as usize, 1], INK);
            letters.write(picture, end + 0.7 * size, y, &text);
        }
    }
}

/// Writes the time \[s\] at the upper left of a picture.
pub fn write_time(picture: &mut Picture, letters: &Letters, time: f64) {
    let (place, words) = (letters.size(), format!("t = {} s", short(time)));
    letters.write_over(picture, place, 1.5 * place, &words, BACKGROUND);
}

/// Round numbers in a range, each with its text: steps of 1, 2 or 5 times a power of ten.
fn ticks(range: &Range) -> Vec<(f64, String)> {
    let width = range.greatest - range.least;
    let power = 10f64.powf((width / NUMBERS).log10().floor());
    let wanted = width / NUMBERS;
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|digit| digit * power).find(|&step| step >= wanted);
    let step = step.unwrap_or(10.0 * power);
    // A millionth of a step allows for rounding.
    let first = (range.least / step - 1e-6).ceil();
    let last = (range.greatest / step + 1e-6).floor();
    let count = (last - first).clamp(0.0, 20.0) as u32;
    let number = |i: u32| (first + f64::from(i)) * step;
    (0..=count).map(|i| (number(i), words(number(i), step, range))).collect()
}

/// Text of a number, with as many digits as tell it from the next one.
fn words(value: f64, step: f64, range: &Range) -> String {
    let largest = range.least.abs().max(range.greatest.abs());
    if (1e-3..1e5).contains(&largest) {
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        let text = format!("{value:.decimals$}");
        return if value == 0.0 { "0".to_owned() } else { text };
    }
    let digits = (largest.log10().floor() - step.log10().floor()).max(0.0) as usize;
    if value == 0.0 { "0".to_owned() } else { format!("{value:.digits$e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(least: f64, greatest: f64) -> Vec<String> {
        ticks(&Range { least, greatest }).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn numbers_at_a_bar_are_round_and_within_it() {
        assert_eq!(numbers(0.0, 1.0), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(numbers(-0.013, 0.026), ["-0.01", "0", "0.01", "0.02"]);
        assert_eq!(numbers(3.0, 12.0), ["4", "6", "8", "10", "12"]);
        assert_eq!(numbers(0.0, 2e-7), ["0", "5.0e-8", "1.0e-7", "1.5e-7", "2.0e-7"]);
    }

    #[test]
    fn the_ends_of_a_range_have_the_ends_of_the_colours() {
        let range = Range { least: -2.0, greatest: 6.0 };
        assert_eq!(colour(range.share(-2.0)), [68, 1, 84]);
        assert_eq!(colour(range.share(6.0)), [253, 231, 37]);
        assert_eq!(colour(range.share(-9.0)), colour(0.0));
        assert_eq!(colour(range.share(9.0)), colour(1.0));
        assert_ne!(colour(range.share(2.0)), colour(0.0));
    }
}
