//! Walls of a script as `[[boundaries]]`.

use std::f64::consts::FRAC_PI_2;
use std::path::{Path, PathBuf};

use glam::DVec3;

use super::courses::MeshCourse;
use super::faces::FlatFace;
use super::forms::RegionForm;
use super::materials::MaterialList;
use super::motions::{motion_of, moved_by};
use super::parts::{ScriptPart, surfaces};
use super::remarks::Remarks;
use super::scene::{BoxFace, MeshServo, ScriptMesh, ScriptScene, ScriptWall, WallForm};
use super::text::{number, on_axis, quoted, remarked, turned, vector};
use crate::model::MotionLaw;
use crate::scenario::Problem;

/// Share of the force of a servo that its slider weighs \[-\].
const SERVO_WEIGHT: f64 = 0.01;
/// Standard gravity, where a script has none \[m/s²\].
const STANDARD: f64 = 9.81;

/// What boundaries are written from.
pub struct WallWriter<'a, 'b> {
    /// The part of the script.
    pub part: &'a ScriptPart<'a>,
    /// Materials.
    pub materials: &'a mut MaterialList<'b>,
    /// Remarks.
    pub remarks: &'a mut Remarks,
    /// Folder of the script.
    pub folder: &'a Path,
    /// Path from the folder of the scenario to that of the script.
    pub there: &'a Path,
}

impl WallWriter<'_, '_> {
    /// Writes all walls.
    pub fn write(&mut self) -> Result<String, Problem> {
        let scene = self.part.scene();
        let mut text = String::new();
        let mut meshes: Vec<&str> = Vec::new();
        for (fix, wall, _) in surfaces(scene) {
            for form in &wall.forms {
                if let WallForm::Mesh(mesh) = form {
                    if meshes.contains(&mesh.as_str()) {
                        self.remarks.not_taken(
                            &fix.place,
                            format!("mesh `{mesh}` in a second wall: it is one already"),
                        );
                        continue;
                    }
                    meshes.push(mesh);
                }
                text.push_str(&self.wall(&fix.id, &fix.place, (wall, form))?);
            }
        }
        Ok(text)
    }

    fn wall(
        &mut self,
        id: &str,
        place: &str,
        (wall, form): (&ScriptWall, &WallForm),
    ) -> Result<String, Problem> {
        let scene = self.part.scene();
        match form {
            WallForm::Mesh(mesh) => {
                let made = scene.fix(mesh).map_or(place, |fix| fix.place.as_str()).to_owned();
                let Some((placed, course)) = self.part.mesh(mesh) else { return Ok(String::new()) };
                let material = self.materials.of_wall(Some(placed.material), &wall.model)?;
                self.mesh(mesh, &made, (&placed, &course, &material))
            }
            _ => {
                let material = self.materials.of_wall(wall.material, &wall.model)?;
                self.primitive(id, place, (form, &material))
            }
        }
    }

    fn primitive(
        &mut self,
        id: &str,
        place: &str,
        (form, material): (&WallForm, &str),
    ) -> Result<String, Problem> {
        let scene = self.part.scene();
        let head = |suffix: &str| head(&format!("{id}{suffix}"), material);
        match form {
            WallForm::Plane { axis, at, grains_above, belt, wiggle } => {
                let above = grains_above.unwrap_or_else(|| middle(scene)[*axis] >= *at);
                let normal = if above { 1.0 } else { -1.0 } * DVec3::AXES[*axis];
                // Several planes of one fix are numbered by the side on which grains are.
                let suffix = if grains_above.is_some() { if above { "-low" } else { "-high" } } else { "" };
                let mut text = head(suffix) + &plane(DVec3::AXES[*axis] * *at, normal);
                if let Some((amplitude, period)) = wiggle {
                    let phase = -FRAC_PI_2 + std::f64::consts::TAU * self.part.start() / period;
                    let (amplitude, frequency) = (*amplitude, 1.0 / period);
                    text.push_str(&moved_by(MotionLaw::Oscillation { amplitude, frequency, phase }));
                }
                if let Some(velocity) = belt {
                    text.push_str(&format!("surface_velocity = {}\n", vector(*velocity)));
                }
                Ok(text)
            }
            WallForm::Cylinder { axis, centre, radius, rate } => {
                let ends = beyond(scene, *axis);
                let mut text = head("") + &cylinder((*axis, *centre, [*radius; 2]), ends);
                if *rate != 0.0 {
                    let (point, rate) = (on_axis(*axis, *centre, ends[0]), *rate * DVec3::AXES[*axis]);
                    text.push_str(&moved_by(MotionLaw::Rotation { point, rate }));
                }
                Ok(text)
            }
            WallForm::Region(name, form) => self.region(place, (form, name), &head),
            WallForm::Mesh(_) => Ok(String::new()),
        }
    }

    /// Writes the surface of a region, seen from inside.
    fn region(
        &mut self,
        place: &str,
        (form, name): (&RegionForm, &str),
        head: &dyn Fn(&str) -> String,
    ) -> Result<String, Problem> {
        let scene = self.part.scene();
        match form {
            RegionForm::Plane { point, normal } => Ok(head("") + &plane(*point, *normal)),
            RegionForm::Block { min, max } => {
                let RegionForm::Block { min: low, max: high } = scene.within_box(form) else {
                    return Ok(String::new());
                };
                let names = [["-x", "+x"], ["-y", "+y"], ["-z", "+z"]];
                let is_open = |axis: usize| [min[axis].is_infinite(), max[axis].is_infinite()];
                let open: Vec<String> = (0..3)
                    .flat_map(|axis| names[axis].into_iter().zip(is_open(axis)))
                    .filter(|(_, open)| *open)
                    .map(|(name, _)| quoted(name))
                    .collect();
                let open =
                    if open.is_empty() { String::new() } else { format!(", open = [{}]", open.join(", ")) };
                let shape = format!(
                    "shape = {{ kind = \"box\", min = {}, max = {}{open} }}\n",
                    vector(low),
                    vector(high)
                );
                Ok(head("") + &shape)
            }
            RegionForm::Cylinder { axis, centre, radii, ends } => {
                let box_ends = beyond(scene, *axis);
                let whole = [0, 1].map(|i| if ends[i].is_finite() { ends[i] } else { box_ends[i] });
                let mut text = head("") + &cylinder((*axis, *centre, *radii), whole);
                let up = -scene.gravity().normalize_or_zero()[*axis];
                for (i, sign) in [(0, 1.0), (1, -1.0)] {
                    if !ends[i].is_finite() {
                        continue;
                    }
                    let is_top = -sign * up > 0.5;
                    if is_top {
                        self.remarks.differs(
                            place,
                            format!(
                                "the upper end of region `{name}` is open, so that grains can come from above"
                            ),
                        );
                        continue;
                    }
                    let suffix = if i == 0 { "-low-end" } else { "-high-end" };
                    text.push_str(&head(suffix));
                    text.push_str(&plane(on_axis(*axis, *centre, ends[i]), sign * DVec3::AXES[*axis]));
                }
                Ok(text)
            }
            RegionForm::Sphere { .. } | RegionForm::Other(_) => {
                self.remarks.not_taken(
                    place,
                    format!("a wall around region `{name}`: planes, blocks, cylinders and cones are taken"),
                );
                Ok(String::new())
            }
        }
    }

    fn mesh(
        &mut self,
        id: &str,
        place: &str,
        (mesh, course, material): (&ScriptMesh, &MeshCourse, &str),
    ) -> Result<String, Problem> {
        let extension =
            Path::new(&mesh.file).extension().map(|kind| kind.to_string_lossy().to_ascii_lowercase());
        if !matches!(extension.as_deref(), Some("stl" | "obj")) {
            self.remarks
                .not_taken(place, format!("mesh `{id}` from {}: esker reads .stl and .obj", mesh.file));
            return Ok(String::new());
        }
        if let Some(servo) = &mesh.servo {
            return self.servo(id, place, (mesh, material, servo));
        }
        let mut text = head(id, material) + &self.mesh_shape(mesh);
        if course.motions.is_empty() {
            text.push_str(&self.surface_motion(id, place, mesh)?);
            return Ok(text);
        }
        if mesh.belt.is_some() || mesh.spin.is_some() {
            self.remarks.not_taken(
                place,
                format!("mesh `{id}` moves, and its surface moves in itself: its own motion is taken"),
            );
        }
        if let Some(rows) = course.rows {
            let what = format!(
                "the motions of mesh `{id}` are no motions in frames that move: their sum is a table of {rows} poses"
            );
            self.remarks.differs(place, what);
        }
        text.push_str(&motion_of(&course.motions));
        Ok(text)
    }

    fn mesh_shape(&self, mesh: &ScriptMesh) -> String {
        let file: PathBuf = self.there.join(&mesh.file);
        let scale =
            if mesh.scale == 1.0 { String::new() } else { format!(", scale = {}", number(mesh.scale)) };
        let position = if mesh.shift == DVec3::ZERO {
            String::new()
        } else {
            format!(", position = {}", vector(mesh.shift))
        };
        let file = quoted(&file.to_string_lossy());
        format!(
            "shape = {{ kind = \"mesh\", file = {file}{scale}{position}{}, sheet = true }}\n",
            turned(mesh.turn)
        )
    }

    /// Writes the motion of a surface in itself.
    fn surface_motion(&mut self, id: &str, place: &str, mesh: &ScriptMesh) -> Result<String, Problem> {
        if let Some((point, rate)) = mesh.spin {
            return Ok(moved_by(MotionLaw::Rotation { point, rate }));
        }
        let Some(velocity) = mesh.belt else { return Ok(String::new()) };
        let face = FlatFace::read(self.folder, mesh)
            .map_err(|wrong| Problem::of(place, wrong).help("put the file beside the script"))?;
        if face.is_along(velocity) {
            return Ok(format!("surface_velocity = {}\n", vector(velocity)));
        }
        let text = format!(
            "surface_vel of mesh `{id}` leads out of some of its triangles: a belt is flat or extruded along its velocity"
        );
        self.remarks.not_taken(place, text);
        Ok(String::new())
    }

    /// Writes a plate that a force pushes: a box behind the face, on a rail, with a motor of that force.
    fn servo(
        &mut self,
        id: &str,
        place: &str,
        (mesh, material, servo): (&ScriptMesh, &str, &MeshServo),
    ) -> Result<String, Problem> {
        let face = FlatFace::read(self.folder, mesh)
            .map_err(|wrong| Problem::of(place, wrong).help("put the file beside the script"))?;
        let along = (0..3).find(|&axis| servo.axis[axis].abs() > 1.0 - 1e-9);
        let (Some(along), Some(_)) =
            (along, face.normal.filter(|normal| normal.dot(servo.axis).abs() > 1.0 - 1e-6))
        else {
            self.remarks.not_taken(
                place,
                format!("servo `{id}`: a plate that moves along its normal, which is x, y or z, is taken"),
            );
            return Ok(String::new());
        };
        let [mut low, mut high] = face.corners;
        let thickness = 0.1 * (high - low).max_element();
        // Behind the face, seen along the push.
        if servo.axis[along] < 0.0 {
            high[along] += thickness
        } else {
            low[along] -= thickness
        }
        let gravity = self.part.scene().gravity();
        let strength = if gravity == DVec3::ZERO { STANDARD } else { gravity.length() };
        let mass = SERVO_WEIGHT * servo.force / strength;
        let limit = servo.force - mass * gravity.dot(servo.axis);
        Ok(head(id, material)
            + &format!(
                "shape = {{ kind = \"box\", min = {}, max = {}, side = \"outside\" }}\n",
                vector(low),
                vector(high)
            )
            + "\n[boundaries.motion]\nkind = \"slider\"\n"
            + &remarked(
                &format!("mass = {}", number(mass)),
                "kg, with a hundredth of the force as its weight",
            )
            + &format!("axis = {}\n", vector(servo.axis))
            + &format!(
                "drive = [{{ velocity = {}, force_limit = {} }}]\n",
                number(servo.top_speed),
                number(limit)
            ))
    }
}

/// Head of a boundary; a name that is that of a grain in results gets a word before it.
fn head(name: &str, material: &str) -> String {
    let digits = name.strip_prefix("grain-").unwrap_or(name);
    let is_of_a_grain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let name = if is_of_a_grain { format!("wall-{name}") } else { name.to_owned() };
    format!("\n[[boundaries]]\nname = {}\nmaterial = {}\n", quoted(&name), quoted(material))
}

fn plane(point: DVec3, normal: DVec3) -> String {
    format!("shape = {{ kind = \"plane\", point = {}, normal = {} }}\n", vector(point), vector(normal))
}

/// Cylinder or cone along an axis, seen from inside.
fn cylinder((axis, centre, [low, high]): (usize, [f64; 2], [f64; 2]), ends: [f64; 2]) -> String {
    let base = vector(on_axis(axis, centre, ends[0]));
    let (direction, length) = (vector(DVec3::AXES[axis]), number(ends[1] - ends[0]));
    let form = if low == high {
        format!(
            "kind = \"cylinder\", base = {base}, axis = {direction}, length = {length}, radius = {}",
            number(low)
        )
    } else {
        let radii = format!("base_radius = {}, top_radius = {}", number(low), number(high));
        format!("kind = \"cone\", base = {base}, axis = {direction}, length = {length}, {radii}")
    };
    format!("shape = {{ {form} }}\n")
}

/// Middle of the box \[m\].
fn middle(scene: &ScriptScene) -> DVec3 {
    scene.bounds.map_or(DVec3::ZERO, |[low, high]| low.midpoint(high))
}

/// Ends of a wall without ends: a box length beyond the box, or the box itself along a periodic axis \[m\].
fn beyond(scene: &ScriptScene, axis: usize) -> [f64; 2] {
    let [low, high] = scene.bounds.unwrap_or([DVec3::NEG_ONE, DVec3::ONE]).map(|corner| corner[axis]);
    let more = if scene.faces[axis][0] == BoxFace::Periodic { 0.0 } else { high - low };
    [low - more, high + more]
}
