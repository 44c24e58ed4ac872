//! OBJ files: vertices and faces. Lines and points have no area and are no faces.

use std::collections::BTreeMap;

use glam::DVec3;

use super::{MOST_TRIANGLES, Soup, Wrong, faces, too_many};

/// Keywords of what a surface of triangles does not need: texture, normals, groups and colours. Colours in lines of vertices are not read
/// either, nor a fourth number, by which none of the usual readers divides.
const NOT_NEEDED: [&str; 11] =
    ["vt", "vn", "vp", "g", "o", "s", "mg", "usemtl", "mtllib", "usemap", "maplib"];

/// A face: the line that it is in, and its vertices, from 0.
type Face = (usize, Vec<usize>);

/// Reads the triangles of a file; faces of more corners are cut.
pub fn read(bytes: Vec<u8>) -> Result<Soup, Wrong> {
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n");
    let (mut vertices, mut faces) = (Vec::new(), Vec::<Face>::new());
    let mut left_out: BTreeMap<String, usize> = BTreeMap::new();
    for (line, content) in lines(&text) {
        let mut words = content.split_whitespace();
        let Some(keyword) = words.next() else { continue };
        match keyword {
            "v" => vertices.push(vertex(words).map_err(|what| Wrong { line: Some(line), what })?),
            // Some programs still write the word of early versions.
            "f" | "fo" => {
                let corners: Result<Vec<usize>, String> =
                    words.map(|word| index(word, vertices.len())).collect();
                let corners = corners.map_err(|what| Wrong { line: Some(line), what })?;
                if corners.len() < 3 {
                    let what = format!("a face has {} corners, expected three or more", corners.len());
                    return Err(Wrong { line: Some(line), what });
                }
                faces.push((line, corners));
            }
            "l" => *left_out.entry("lines".into()).or_default() += 1,
            "p" => *left_out.entry("points".into()).or_default() += 1,
            other if NOT_NEEDED.contains(&other) => {}
            other => {
                *left_out.entry(format!("`{}`", other.chars().take(20).collect::<String>())).or_default() += 1
            }
        }
    }
    if faces.is_empty() {
        return Err(without_faces(vertices.len(), &left_out));
    }
    let (mut triangles, mut cut) = (Vec::new(), 0);
    for (line, corners) in &faces {
        let place = |&corner: &usize| {
            vertices.get(corner).copied().ok_or_else(|| Wrong {
                line: Some(*line),
                what: format!("a face names vertex {}, and there are {}", corner + 1, vertices.len()),
            })
        };
        let places: Vec<DVec3> = corners.iter().map(place).collect::<Result<_, Wrong>>()?;
        let parts = faces::cut(&places).map_err(|what| Wrong { line: Some(*line), what })?;
        cut += usize::from(parts.is_concave);
        triangles.extend(parts.triangles.into_iter().map(|part| part.map(|corner| places[corner])));
        if triangles.len() > MOST_TRIANGLES {
            return Err(too_many());
        }
    }
    let concave = if cut > 0 { format!(", {cut} of them concave") } else { String::new() };
    let what = format!("{} faces of an OBJ file{concave}", faces.len());
    let left_out = left_out.into_iter().map(|(what, count)| format!("{count} {what}")).collect();
    Ok(Soup { triangles, what, left_out })
}

/// Mistake of a file without faces, which may be of another kind.
fn without_faces(vertices: usize, left_out: &BTreeMap<String, usize>) -> Wrong {
    let others = left_out.iter().take(5).map(|(what, count)| format!("{count} {what}")).collect::<Vec<_>>();
    let others = if others.is_empty() { String::new() } else { format!(", and {}", others.join(", ")) };
    Wrong::of(format!(
        "it has no triangle with an area: no line of a face (`f 1 2 3`), {vertices} vertices{others}; is it an OBJ file?"
    ))
}

/// Lines without remarks, with the numbers of the first of those that are joined by a backslash at the end.
fn lines(text: &str) -> impl Iterator<Item = (usize, String)> {
    let mut all = text.split('\n').enumerate();
    std::iter::from_fn(move || {
        let (first, line) = all.next()?;
        let mut joined = without_remark(line);
        while let Some(part) = joined.strip_suffix('\\') {
            let rest = all.next().map_or("", |(_, line)| line);
            joined = format!("{part} {}", without_remark(rest));
        }
        Some((first + 1, joined))
    })
}

fn without_remark(line: &str) -> String {
    line.split('#').next().unwrap_or_default().trim().to_owned()
}

fn vertex<'a>(words: impl Iterator<Item = &'a str>) -> Result<DVec3, String> {
    let number = |word: &str| {
        let number = word.parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| format!("a vertex has \"{word}\", expected a finite number"))
    };
    let numbers: Vec<f64> = words.take(3).map(number).collect::<Result<_, String>>()?;
    match numbers[..] {
        [x, y, z] => Ok(DVec3::new(x, y, z)),
        _ => Err(format!("a vertex has {} coordinates, expected three", numbers.len())),
    }
}

/// Number of a vertex, from 0, in a corner of a face such as `7`, `7/1/2` or `-1`, which is the last vertex so far.
fn index(word: &str, so_far: usize) -> Result<usize, String> {
    let number = word.split('/').next().unwrap_or_default();
    match number.parse::<i64>() {
        Ok(number) if number > 0 => Ok(number as usize - 1),
        Ok(number) if number < 0 && number.unsigned_abs() as usize <= so_far => {
            Ok(so_far - number.unsigned_abs() as usize)
        }
        _ => Err(format!(
            "a face names vertex \"{number}\", expected a number from 1, or a negative one that counts back"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: &str = "mtllib colours.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nusemtl red\nf 1 2 3 4\n";

    fn count(text: &str) -> usize {
        read(text.into()).expect(text).triangles.len()
    }

    #[test]
    fn obj_is_read_with_faces_of_any_number_of_corners() {
        assert_eq!(count(SQUARE), 2);
        assert_eq!(count(&SQUARE.replace("f 1 2 3 4", "f 1 2 \\\n 3 4 # the lid")), 2);
        assert_eq!(count(&SQUARE.replace("f 1 2 3 4", "f 1/1 2//2 3/3/3 -1\nvn 0 0 1")), 2);
        assert_eq!(count(&SQUARE.replace("v 1 1 0", "v 1 1 0 0.5 0.5 0.5").replace('\n', "\r\n")), 2);
        assert_eq!(count(&SQUARE.replace("f 1 2 3 4", "fo 1 2 3 4")), 2);
        // Texture and normals are not used, so their numbers need not exist.
        assert_eq!(count(&SQUARE.replace("f 1 2 3 4", "f 1/7/9 2/8/9 3/9/9 4/-9/9")), 2);
        // A vertex may come after the faces that name it.
        assert_eq!(count("f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0\n"), 1);
    }

    #[test]
    fn no_vertex_is_divided_by_its_fourth_number() {
        let read = read(SQUARE.replace("v 1 1 0", "v 1 1 0 2").into()).expect("a square");
        assert!(read.triangles.iter().flatten().any(|place| *place == DVec3::new(1.0, 1.0, 0.0)));
    }

    #[test]
    fn lines_and_points_are_no_faces_and_are_counted() {
        let read = read(format!("{SQUARE}l 1 2 3\nl 1 2\np 1 2 3\ncurv 0 1\n").into()).expect("a square");
        assert_eq!(read.triangles.len(), 2);
        assert_eq!(read.left_out, ["1 `curv`", "2 lines", "1 points"]);
    }

    /// The square of side 2 with a notch down to y = 0.5: area 4 - 1.5 = 2.5, and nothing over (1, 1).
    #[test]
    fn the_notch_of_a_concave_face_is_open() {
        let notch = "v 0 0 0\nv 2 0 0\nv 2 2 0\nv 1 0.5 0\nv 0 2 0\n";
        for corners in ["1 2 3 4 5", "5 4 3 2 1", "3 4 5 1 2"] {
            let read = read(format!("{notch}f {corners}\n").into()).expect("a face");
            let area = |[a, b, c]: &[DVec3; 3]| 0.5 * (*b - *a).cross(*c - *a).z;
            let areas: Vec<f64> = read.triangles.iter().map(area).collect();
            let sign = if corners.starts_with('5') { -1.0 } else { 1.0 };
            assert!((areas.iter().sum::<f64>() - sign * 2.5).abs() < 1e-12, "{areas:?}");
            assert!(areas.iter().all(|area| sign * area > 0.0), "{areas:?}");
            assert!(read.what.contains("1 of them concave"), "{}", read.what);
        }
    }

    #[test]
    fn an_obj_that_cannot_be_used_is_refused_with_its_line() {
        for (text, line, what) in [
            ("v 0 0 0\nf 1 2 3\n", 2, "names vertex 2, and there are 1"),
            ("v 0 zero 0\n", 1, "\"zero\""),
            ("v 0 nan 0\n", 1, "\"nan\", expected a finite number"),
            ("v 0 0\n", 1, "2 coordinates"),
            ("v 0 0 0\nf 1 1\n", 2, "2 corners"),
            ("v 0 0 0\nf 0 1 1\n", 2, "vertex \"0\""),
            ("v 0 0 0\nf -2 1 1\n", 2, "vertex \"-2\""),
            ("v 0 0 0\nf a b c\n", 2, "vertex \"a\""),
            ("v 0 0 0\nv 2 0 0\nv 0 1 0\nv 2 1 0\nf 1 2 3 4\n", 5, "cross"),
            ("v 0 0 0\nv 2 0 0\nv 2 2 0\nv 1 0.5 0.3\nv 0 2 0\nf 1 2 3 4 5\n", 6, "not plane"),
        ] {
            let wrong = read(text.into()).map(|soup| soup.triangles).expect_err(text);
            assert_eq!(wrong.line, Some(line), "{}", wrong.what);
            assert!(wrong.what.contains(what), "{}", wrong.what);
        }
    }
}
