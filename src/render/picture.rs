//! Picture in pixels, conversion of its colours, and text on it.

use ab_glyph::{Font, FontRef, PxScale, ScaleFont};

use crate::error::Error;

/// Colour of text and edges.
pub const INK: [u8; 3] = [40, 44, 52];

/// Picture: rows of pixels from the top, in sRGB.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Width \[pixels\].
    pub width: usize,
    /// Height \[pixels\].
    pub height: usize,
    /// Pixels, row after row.
    pub pixels: Vec<[u8; 3]>,
}

impl Picture {
    /// Bytes of the pixels, row after row.
    pub fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.pixels)
    }

    /// Fills the part of a rectangle that lies in the picture.
    pub fn fill(&mut self, [x, y]: [usize; 2], [width, height]: [usize; 2], colour: [u8; 3]) {
        for row in y..(y + height).min(self.height) {
            let (from, to) = (x.min(self.width), (x + width).min(self.width));
            self.pixels[row * self.width + from..row * self.width + to].fill(colour);
        }
    }

    /// Mixes a colour into a pixel. Does nothing outside of the picture.
    pub fn blend(&mut self, [x, y]: [i64; 2], colour: [u8; 3], coverage: f32) {
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else { return };
        if x < self.width && y < self.height {
            let pixel = &mut self.pixels[y * self.width + x];
            for (channel, ink) in pixel.iter_mut().zip(colour) {
                let mixed = f32::from(*channel) + coverage.min(1.0) * (f32::from(ink) - f32::from(*channel));
                *channel = mixed.round() as u8;
            }
        }
    }
}

/// Converts sRGB to linear light, 0 to 1.
pub fn linear(colour: [u8; 3]) -> [f32; 3] {
    colour.map(|channel| {
        let value = f32::from(channel) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    })
}

/// Converts linear light to sRGB.
pub fn encoded(light: [f32; 3]) -> [u8; 3] {
    light.map(|value| {
        let value = value.clamp(0.0, 1.0);
        let curved = if value <= 0.003_130_8 { 12.92 * value } else { 1.055 * value.powf(1.0 / 2.4) - 0.055 };
        (255.0 * curved).round() as u8
    })
}

/// Font at one size.
#[derive(Debug)]
pub struct Letters {
    font: FontRef<'static>,
    size: f32,
}

impl Letters {
    /// The font at this height of a line, from its top to its bottom \[pixels\].
    ///
    /// # Errors
    /// When the font in the program is damaged.
    pub fn new(size: f32) -> Result<Letters, Error> {
        let font = FontRef::try_from_slice(epaint_default_fonts::UBUNTU_LIGHT);
        let font = font.map_err(|error| Error::Unusable {
            origin: "the font in the program".to_owned(),
            found: error.to_string(),
            advice: "this is a defect of esker, please report it".to_owned(),
        })?;
        Ok(Letters { font, size })
    }

    /// Height of a line \[pixels\].
    pub fn size(&self) -> f32 {
        self.size
    }

    /// Width of a line of text \[pixels\].
    pub fn width(&self, text: &str) -> f32 {
        let font = self.font.as_scaled(PxScale::from(self.size));
        text.chars().map(|letter| font.h_advance(font.glyph_id(letter))).sum()
    }

    /// Writes a line of text; `x` is its left end and `y` the middle of its height \[pixels\].
    pub fn write(&self, picture: &mut Picture, x: f32, y: f32, text: &str) {
        self.write_in(picture, [x, y], text, INK);
    }

    /// Writes a line of text with a rim in the colour of the background, which keeps it legible on anything.
    pub fn write_over(&self, picture: &mut Picture, x: f32, y: f32, text: &str, background: [u8; 3]) {
        for (right, down) in (-2..=2).flat_map(|right| (-2..=2).map(move |down| (right, down))) {
            self.write_in(picture, [x + right as f32, y + down as f32], text, background);
        }
        self.write(picture, x, y, text);
    }

    fn write_in(&self, picture: &mut Picture, [x, y]: [f32; 2], text: &str, colour: [u8; 3]) {
        let font = self.font.as_scaled(PxScale::from(self.size));
        let baseline = y + 0.5 * (font.ascent() + font.descent());
        let mut pen = x;
        for letter in text.chars() {
            let id = font.glyph_id(letter);
            let glyph = id.with_scale_and_position(self.size, ab_glyph::point(pen, baseline));
            pen += font.h_advance(id);
            if let Some(outline) = self.font.outline_glyph(glyph) {
                let corner = outline.px_bounds().min;
                outline.draw(|column, row, coverage| {
                    let (x, y) = (corner.x as i64 + i64::from(column), corner.y as i64 + i64::from(row));
                    picture.blend([x, y], colour, coverage);
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_colour_survives_the_way_to_light_and_back() {
        for channel in 0..=255 {
            assert_eq!(encoded(linear([channel; 3])), [channel; 3]);
        }
    }

    #[test]
    fn words_leave_ink_where_they_stand_and_nowhere_else() {
        let mut picture = Picture { width: 120, height: 40, pixels: vec![[255; 3]; 120 * 40] };
        let letters = Letters::new(16.0).expect("a font");
        letters.write(&mut picture, 10.0, 20.0, "m/s²");
        let end = (10.0 + letters.width("m/s²")).ceil() as usize;
        let inked: Vec<usize> = (0..120 * 40).filter(|&i| picture.pixels[i] != [255; 3]).collect();
        assert!(inked.len() > 50, "{} pixels", inked.len());
        let is_near = |&i: &usize| (9..=end).contains(&(i % 120)) && (11..29).contains(&(i / 120));
        assert!(inked.iter().all(is_near), "ink beside the words");
    }
}
