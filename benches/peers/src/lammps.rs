//! LAMMPS with the scene in it: contacts of Hertz and Mindlin in steps of 0.1 ms, on as many ranks as esker has threads.
//!
//! LAMMPS runs in processes of its own (`mpiexec -n RANKS lmp`) and reads its commands from a pipe, so that it takes turns with the other
//! programs. Ranks that wait for others keep a core busy, so they are stopped while the other programs run.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use esker::model::World;
use glam::DVec3;
use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, Signal, System, UpdateKind};

use crate::program::{Program, STEP};
use crate::scene::{DRUM_RATE, Scene, Shape};

/// Time step \[s\], a fifteenth of an impact of pellets of 6 MPa.
const TIME_STEP: f64 = 1e-4;
/// Time between two looks at what LAMMPS has done.
const GLANCE: Duration = Duration::from_micros(200);

/// LAMMPS with the grains of a scene.
pub struct Lammps {
    child: Child,
    folder: PathBuf,
    ranks: usize,
    /// The processes of the ranks.
    processes: System,
    /// Number of commands that were to be waited for.
    asked: u64,
    template: World,
}

impl Lammps {
    /// Starts LAMMPS, or says why it does not start: mostly because it is not installed.
    ///
    /// # Errors
    /// When a program is not there, or LAMMPS refuses its input.
    pub fn start(scene: &Scene, ranks: usize) -> Result<Lammps, Box<dyn Error>> {
        let folder = std::env::temp_dir().join(format!("peers-lammps-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        let template = scene.scenario.world.clone();
        fs::write(folder.join("grains.data"), grains(&template, scene))?;
        let mut command = Command::new("mpiexec");
        command.args(["-n", &ranks.to_string(), "lmp", "-screen", "none", "-log", "log.txt"]);
        command.current_dir(&folder).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().map_err(|error| format!("mpiexec: {error}"))?;
        let processes = System::new()?;
        let mut lammps = Lammps { child, folder, ranks, processes, asked: 0, template };
        lammps.ask(&input(scene))?;
        let what = ProcessRefreshKind::nothing().with_cwd(UpdateKind::Always);
        lammps.processes.refresh_processes_specifics(ProcessesToUpdate::All, true, what);
        if lammps.signal(Signal::Stop) < ranks {
            return Err("the ranks of LAMMPS were not found, and would run beside the other programs".into());
        }
        Ok(lammps)
    }

    /// Sends a signal to all ranks; returns how many there are.
    fn signal(&self, signal: Signal) -> usize {
        let is_rank = |process: &&sysinfo::Process| {
            process.name() == "lmp" && process.thread_kind().is_none() && process.cwd() == Some(&self.folder)
        };
        let ranks = self.processes.processes().values().filter(is_rank);
        ranks.filter(|rank| rank.kill_with(signal) == Some(true)).count()
    }

    /// Gives commands, and waits until they are carried out.
    fn ask(&mut self, commands: &str) -> Result<(), Box<dyn Error>> {
        self.signal(Signal::Continue);
        self.asked += 1;
        let sign = self.folder.join(format!("done-{}", self.asked));
        let pipe = self.child.stdin.as_mut().ok_or("LAMMPS has no pipe")?;
        let told = write!(pipe, "{commands}\nprint done file {} screen no\n", sign.display())
            .and_then(|()| pipe.flush());
        while told.is_ok() && !sign.exists() {
            if self.child.try_wait()?.is_some() {
                break;
            }
            sleep(GLANCE);
        }
        if sign.exists() {
            self.signal(Signal::Stop);
            return Ok(fs::remove_file(sign)?);
        }
        let log = fs::read_to_string(self.folder.join("log.txt")).unwrap_or_default();
        let error = log.lines().rfind(|line| line.contains("ERROR")).unwrap_or("it ended without a word");
        Err(format!("LAMMPS: {error}").into())
    }
}

impl Drop for Lammps {
    fn drop(&mut self) {
        // The end of its input ends LAMMPS.
        self.signal(Signal::Continue);
        drop(self.child.stdin.take());
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Program for Lammps {
    fn is_here(&self) -> bool {
        false
    }

    fn name(&self) -> String {
        format!("LAMMPS, steps of {} ms, {} ranks", TIME_STEP * 1e3, self.ranks)
    }

    fn advance(&mut self, steps: u64) -> Result<(), Box<dyn Error>> {
        let steps = steps * (STEP / TIME_STEP).round() as u64;
        // Neighbour lists and forces of the last run are still good.
        self.ask(&format!("run {steps} pre no post no"))
    }

    fn world(&mut self) -> Result<World, Box<dyn Error>> {
        let fields = "id x y z vx vy vz omegax omegay omegaz";
        self.ask(&format!("write_dump all custom state.txt {fields} modify sort id format float %.17g"))?;
        read(&self.folder.join("state.txt"), self.template.clone())
    }
}

/// Grains as a data file of LAMMPS, in a box that holds them and all that they may reach.
fn grains(world: &World, scene: &Scene) -> String {
    let spheres = world.present_spheres();
    let top = spheres.iter().fold(0.0f64, |top, (position, _)| top.max(position.z)) + 0.1;
    let [low, high] = match scene.shape {
        Shape::Bed { half_width } => {
            [DVec3::new(-half_width, -half_width, -0.01), DVec3::new(half_width, half_width, top)]
        }
        Shape::Drum { radius, half_length } => {
            let corner = DVec3::new(radius, half_length, radius) + 0.01;
            [-corner, corner]
        }
    };
    let mut text = format!("grains\n\n{} atoms\n1 atom types\n", spheres.len());
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
        let _ = writeln!(text, "{} {} {name}lo {name}hi", low[axis], high[axis]);
    }
    let density = world.materials.list[0].density;
    text.push_str("\nAtoms # sphere\n\n");
    for (id, (position, radius)) in spheres.iter().enumerate() {
        let DVec3 { x, y, z } = position;
        let _ = writeln!(text, "{} 1 {} {density} {x} {y} {z}", id + 1, 2.0 * radius);
    }
    text
}

/// Law of the contacts with a coefficient of friction.
fn law(world: &World, friction: f64) -> String {
    let pellet = &world.materials.list[0];
    let rolling = match pellet.rolling_resistance {
        resistance if resistance > 0.0 => format!(" rolling sds 2.0e3 0.5 {resistance}"),
        _ => String::new(),
    };
    format!(
        "hertz/material {} {} {} tangential mindlin_rescale NULL 1.0 {friction}{rolling} damping coeff_restitution",
        pellet.youngs_modulus, pellet.restitution, pellet.poisson_ratio,
    )
}

/// Commands that set the scene up.
fn input(scene: &Scene) -> String {
    let world = &scene.scenario.world;
    let rough = law(world, world.materials.list[0].friction);
    let walls = match scene.shape {
        Shape::Bed { half_width } => {
            let smooth = law(world, 0.0);
            format!(
                "fix floor all wall/gran granular {rough} zplane 0 NULL\n\
                 fix left all wall/gran granular {smooth} xplane {} {half_width}\n\
                 fix front all wall/gran granular {smooth} yplane {} {half_width}",
                -half_width, -half_width
            )
        }
        Shape::Drum { radius, half_length } => format!(
            "variable theta equal {DRUM_RATE}*step*{TIME_STEP}\n\
             region drum cylinder y 0 0 {radius} {} {half_length} side in rotate v_theta 0 0 0 0 1 0\n\
             fix wall all wall/gran/region granular {rough} region drum",
            -half_length
        ),
    };
    format!(
        "units si\natom_style sphere\nboundary f f f\nnewton off\ncomm_modify vel yes\nprocessors * * *\n\
         read_data grains.data\nneighbor {} bin\nneigh_modify delay 0 every 1 check yes\n\
         pair_style granular\npair_coeff * * {rough}\n\
         fix gravity all gravity {} vector 0 0 -1\nfix move all nve/sphere\n{walls}\n\
         timestep {TIME_STEP}\nthermo 1000000\nrun 0",
        0.1 * scene.diameter,
        -world.gravity.z,
    )
}

/// Puts the grains of a dump into a world.
fn read(path: &Path, mut world: World) -> Result<World, Box<dyn Error>> {
    let text = fs::read_to_string(path)?;
    let rows = text.lines().skip_while(|line| !line.starts_with("ITEM: ATOMS")).skip(1);
    let mut grains = 0;
    for (grain, row) in rows.enumerate() {
        let numbers: Vec<f64> = row.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        let [id, x, y, z, vx, vy, vz, wx, wy, wz] = numbers[..] else {
            return Err(format!("{}: expected 10 numbers, found {row}", path.display()).into());
        };
        if id != (grain + 1) as f64 {
            return Err(format!("LAMMPS has lost grain {}", grain + 1).into());
        }
        let body = world.grain_body(grain);
        world.bodies.position[body] = DVec3::new(x, y, z);
        world.bodies.velocity[body] = DVec3::new(vx, vy, vz);
        world.bodies.angular_velocity[body] = DVec3::new(wx, wy, wz);
        grains = grain + 1;
    }
    if grains == world.grain_count() { Ok(world) } else { Err("LAMMPS has lost grains".into()) }
}
