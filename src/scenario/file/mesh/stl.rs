//! STL files, binary or text. Only the corners of the triangles are used: normals may be anything.

use std::iter::Peekable;

use glam::DVec3;

use super::{MOST_TRIANGLES, Soup, Wrong, too_many};

/// Bytes of the header of a binary STL, and of each triangle.
const HEADER: usize = 84;
const TRIANGLE: usize = 50;

/// Reads the triangles of a file. Some programs begin binary files, too, with the word "solid" that marks texts: a file is binary if it has
/// all the triangles that it announces. A text never announces so few that they would fit.
pub fn read(bytes: Vec<u8>) -> Result<Soup, Wrong> {
    let count = bytes.get(80..HEADER).and_then(|count| count.try_into().ok()).map(u32::from_le_bytes);
    let announced = count.map(|count| (count, HEADER as u64 + TRIANGLE as u64 * u64::from(count)));
    match announced {
        Some((count, length)) if length <= bytes.len() as u64 => binary(&bytes, count as usize, length),
        _ if is_text(&bytes) => text(&String::from_utf8_lossy(&bytes)),
        Some((count, length)) => Err(Wrong::of(format!(
            "it announces {count} triangles, which take {length} bytes, and has {}: it is cut off, or no STL file",
            bytes.len()
        ))),
        None => Err(Wrong::of(format!("its {} bytes are too few for an STL file", bytes.len()))),
    }
}

fn binary(bytes: &[u8], count: usize, length: u64) -> Result<Soup, Wrong> {
    let rest = bytes.len() - length as usize;
    if rest > 0 && rest.is_multiple_of(TRIANGLE) {
        return Err(Wrong::of(format!(
            "it announces {count} triangles and has bytes for {}: write the file anew",
            count + rest / TRIANGLE
        )));
    }
    if count > MOST_TRIANGLES {
        return Err(too_many());
    }
    let number = |bytes: &[u8]| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let (mut triangles, mut coloured) = (Vec::with_capacity(count), 0);
    for (i, triangle) in bytes[HEADER..length as usize].chunks_exact(TRIANGLE).enumerate() {
        let (_normal, rest) = triangle.split_at(12);
        let corner = |i: usize| {
            let at = |axis: usize| f64::from(number(&rest[12 * i + 4 * axis..]));
            DVec3::new(at(0), at(1), at(2))
        };
        let corners = [0, 1, 2].map(corner);
        if let Some(wrong) = corners.iter().find(|corner| !corner.is_finite()) {
            return Err(Wrong::of(format!(
                "triangle {} has a vertex at {wrong}, expected finite numbers",
                i + 1
            )));
        }
        triangles.push(corners);
        coloured += usize::from(rest[36..] != [0, 0]);
    }
    let mut left_out = vec!["normals".to_owned()];
    if coloured > 0 {
        left_out.push(format!("colours of {coloured} triangles"));
    }
    if rest > 0 {
        left_out.push(format!("{rest} bytes after the last triangle"));
    }
    Ok(Soup { triangles, what: "a binary STL".to_owned(), left_out })
}

/// Whether the first word that is no remark is that of a text.
fn is_text(bytes: &[u8]) -> bool {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(1 << 16)]);
    let start = plain(&start);
    words(&start).next().is_some_and(|(_, word)| is(word, "solid"))
}

/// The text without a mark of its encoding, with one kind of line ends.
fn plain(text: &str) -> String {
    text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n")
}

/// Words of a text with the numbers of their lines, without remarks.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_remark = |word: &&str| word.starts_with(['#', ';']) || word.starts_with("//");
    text.split('\n').enumerate().flat_map(move |(i, line)| {
        line.split_whitespace().take_while(move |word| !is_remark(word)).map(move |word| (i + 1, word))
    })
}

fn is(word: &str, keyword: &str) -> bool {
    word.eq_ignore_ascii_case(keyword)
}

/// Words of a text that is being read.
struct Reader<'a, I: Iterator<Item = (usize, &'a str)>> {
    words: Peekable<I>,
    /// Line of the last word.
    line: usize,
}

impl<'a, I: Iterator<Item = (usize, &'a str)>> Reader<'a, I> {
    fn next(&mut self) -> Option<&'a str> {
        let (line, word) = self.words.next()?;
        self.line = line;
        Some(word)
    }

    /// Passes the rest of the line, up to a facet that begins in it.
    fn pass_line(&mut self) {
        while self.words.next_if(|&(line, word)| line == self.line && !is(word, "facet")).is_some() {}
    }

    fn wrong(&self, found: &str, expected: &str) -> Wrong {
        let found: String = found.chars().take(40).collect();
        Wrong { line: Some(self.line), what: format!("\"{found}\", expected {expected}") }
    }

    /// Passes a word, or the two words that some programs make of it: "endloop" or "end loop".
    fn expect(&mut self, first: &str, second: &str) -> Result<(), Wrong> {
        let joined = format!("{first}{second}");
        let word = self.word(&joined)?;
        if first == "end" && is(word, &joined) {
            return Ok(());
        }
        if !is(word, first) {
            return Err(self.wrong(word, &joined));
        }
        let word = self.word(second)?;
        if is(word, second) { Ok(()) } else { Err(self.wrong(word, second)) }
    }

    fn word(&mut self, expected: &str) -> Result<&'a str, Wrong> {
        let ends = Wrong { line: Some(self.line), what: format!("the file ends here, expected {expected}") };
        self.next().ok_or(ends)
    }

    fn number(&mut self) -> Result<f64, Wrong> {
        let word = self.word("a coordinate")?;
        let number = word.parse::<f32>().ok().filter(|number| number.is_finite());
        number.map(f64::from).ok_or_else(|| {
            let comma = if word.contains(',') { ", with a decimal point" } else { "" };
            self.wrong(word, &format!("a finite number{comma}"))
        })
    }

    /// Reads the rest of a facet, whose first word has been read.
    fn facet(&mut self) -> Result<[DVec3; 3], Wrong> {
        // The normal is not used: it may be missing, or no numbers.
        while self
            .words
            .next_if(|(_, word)| !["outer", "vertex", "facet"].iter().any(|key| is(word, key)))
            .is_some()
        {}
        let outer = self.word("outer loop")?;
        if !is(outer, "outer") {
            return Err(self.wrong(outer, "outer loop"));
        }
        let inner = self.word("loop")?;
        if !is(inner, "loop") {
            return Err(self.wrong(inner, "loop"));
        }
        let mut corners = [DVec3::ZERO; 3];
        for corner in &mut corners {
            let word = self.word("vertex")?;
            if !is(word, "vertex") {
                return Err(self.wrong(word, "vertex: a facet has three"));
            }
            *corner = DVec3::new(self.number()?, self.number()?, self.number()?);
        }
        if self.words.peek().is_some_and(|(_, word)| is(word, "vertex")) {
            self.next();
            return Err(self.wrong("vertex", "endloop: a facet has three vertices"));
        }
        self.expect("end", "loop")?;
        self.expect("end", "facet")?;
        Ok(corners)
    }
}

fn text(text: &str) -> Result<Soup, Wrong> {
    let text = plain(text);
    let mut reader = Reader { words: words(&text).peekable(), line: 1 };
    let (mut triangles, mut begun, mut ended) = (Vec::new(), 0, 0);
    while let Some(word) = reader.next() {
        if is(word, "facet") {
            triangles.push(reader.facet()?);
            if triangles.len() > MOST_TRIANGLES {
                return Err(too_many());
            }
        } else if is(word, "solid") {
            begun += 1;
            reader.pass_line();
        } else if is(word, "endsolid") || is(word, "end") {
            ended += 1;
            reader.pass_line();
        } else if is(word, "color") || is(word, "colour") {
            reader.pass_line();
        } else {
            return Err(reader.wrong(word, "facet or endsolid"));
        }
    }
    if begun != ended {
        return Err(Wrong {
            line: Some(reader.line),
            what: format!("the file ends here, {begun} solids begin and {ended} end: it is cut off"),
        });
    }
    Ok(Soup { triangles, what: "an STL text".to_owned(), left_out: vec!["normals".to_owned()] })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "solid wedge
      facet normal 0 0 1
        outer loop
          vertex 0 0 0
          vertex 1 0 0
          vertex 0 1 0
        endloop
      endfacet
    endsolid wedge";

    fn binary(header: &[u8], triangles: &[[[f32; 3]; 3]], announced: u32) -> Vec<u8> {
        let mut bytes = vec![0; 80];
        bytes[..header.len()].copy_from_slice(header);
        bytes.extend(announced.to_le_bytes());
        for corners in triangles {
            bytes.extend([0xff; 12]);
            bytes.extend(corners.iter().flatten().flat_map(|x| x.to_le_bytes()));
            bytes.extend([0; 2]);
        }
        bytes
    }

    const TRIANGLE: [[f32; 3]; 3] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];

    fn triangles(bytes: Vec<u8>) -> Vec<[DVec3; 3]> {
        read(bytes).expect("triangles").triangles
    }

    #[test]
    fn stl_is_read_from_text_and_from_bytes() {
        let expected = vec![[DVec3::ZERO, DVec3::X, DVec3::Y]];
        assert_eq!(triangles(TEXT.into()), expected);
        assert_eq!(triangles(binary(b"", &[TRIANGLE], 1)), expected);
        assert_eq!(triangles(binary(b"solid by some program", &[TRIANGLE], 1)), expected);
        assert_eq!(triangles(format!("{TEXT}\n{TEXT}").into()), [expected.clone(), expected].concat());
    }

    /// What other programs write, and what is not used, is no mistake.
    #[test]
    fn what_does_not_matter_in_an_stl_is_passed_over() {
        let expected = vec![[DVec3::ZERO, DVec3::X, DVec3::Y]];
        for text in [
            TEXT.replace('\n', "\r\n"),
            TEXT.replace('\n', "\r"),
            TEXT.to_uppercase(),
            TEXT.replace(" wedge", ""),
            format!("\u{feff}  {TEXT}"),
            TEXT.replace("normal 0 0 1", "normal nan nan nan"),
            TEXT.replace("normal 0 0 1", ""),
            TEXT.replace("endloop", "end loop").replace("endfacet", "end facet"),
            TEXT.replace("endsolid", "end solid"),
            TEXT.replace("solid wedge\n", "solid wedge\n; exported\n# note\n// by hand\n")
                .replace("vertex 1 0 0", "vertex 1 0 0 # tip"),
            TEXT.replace("solid wedge\n", "solid wedge\ncolor 0.5 0.5 0.5\n"),
            format!("# from cad\n{TEXT}"),
            TEXT.replace('\n', " "),
        ] {
            assert_eq!(triangles(text.clone().into()), expected, "{text:?}");
        }
        let mut bytes = binary(b"solid", &[TRIANGLE], 1);
        *bytes.last_mut().expect("bytes") = 0x80;
        bytes.extend([7; 20]);
        let read = read(bytes).expect("triangles");
        assert_eq!(read.triangles, expected);
        assert_eq!(read.left_out, ["normals", "colours of 1 triangles", "20 bytes after the last triangle"]);
    }

    #[test]
    fn stl_that_is_none_is_refused_with_its_line_and_what_was_found() {
        let failure = |bytes: Vec<u8>| read(bytes).map(|soup| soup.triangles).expect_err("refused");
        let cut = failure(binary(b"", &[TRIANGLE], 4_000_000_000)).what;
        assert!(cut.contains("announces 4000000000 triangles") && cut.contains("has 134"), "{cut}");
        assert!(failure(b"hello".to_vec()).what.contains("5 bytes are too few"));
        let wrong = failure(binary(b"", &[TRIANGLE, TRIANGLE], 1)).what;
        assert!(wrong.contains("announces 1 triangles and has bytes for 2"), "{wrong}");
        let mut infinite = TRIANGLE;
        infinite[1][2] = f32::INFINITY;
        let wrong = failure(binary(b"", &[TRIANGLE, infinite], 2)).what;
        assert!(wrong.contains("triangle 2 has a vertex at [1, 0, inf]"), "{wrong}");
        for (from, to, line, what) in [
            ("endsolid wedge", "", 8, "1 solids begin and 0 end"),
            ("vertex 1 0 0", "vertex 1 x 0", 5, "\"x\", expected a finite number"),
            ("vertex 1 0 0", "vertex 1 nan 0", 5, "\"nan\", expected a finite number"),
            ("vertex 1 0 0", "vertex 1 0,5 0", 5, "with a decimal point"),
            ("vertex 1 0 0", "vertex 1 0", 6, "\"vertex\", expected a finite number"),
            ("vertex 1 0 0\n", "\n", 7, "\"endloop\", expected vertex: a facet has three"),
            ("vertex 1 0 0", "vertex 1 0 0 vertex 1 1 0", 6, "expected endloop: a facet has three"),
            ("outer loop", "outer", 4, "\"vertex\", expected loop"),
            ("endfacet", "facet", 8, "\"facet\", expected endfacet"),
            ("endsolid", "wall", 9, "\"wall\", expected facet or endsolid"),
        ] {
            let wrong = failure(TEXT.replace(from, to).into());
            assert_eq!(wrong.line, Some(line), "{} after {to}", wrong.what);
            assert!(wrong.what.contains(what), "{} after {to}", wrong.what);
        }
        let end = TEXT.find("vertex 0 1").expect("there");
        let wrong = failure(TEXT[..end + 12].into());
        assert_eq!(
            (wrong.line, wrong.what.contains("the file ends here, expected endloop")),
            (Some(6), true)
        );
    }
}
