//! Kernels: bind groups of the pipelines by name, and the encoding of a stage into a compute pass.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::settings::{Acceleration, FIRST_STEEPNESS, FLATTER, STEEPER, Settings};

use super::buffers::Buffers;
use super::capacity::Capacity;
use super::constants::{GROUPS_PER_ROW, PASS};
use super::counted::CountedPass;
use super::device::Device;
use super::features::Features;
use super::launcher::Launcher;
use super::layout::Turn;
use super::pipelines::{Name, Pipelines, SCAN, uses};
use super::shader::Variable;
use super::step::{self, Aliases, Kernel, Over, Pass, Stage, Work};

/// Distance of two entries in the buffer of turns \[bytes\]: an alignment of dynamic offsets that every device accepts.
const TURN_STRIDE: u32 = 256;
/// Number of turns of plain sweeps; the turns of accelerated sweeps come after them.
const PLAIN_TURNS: u32 = PASS;
/// Steepness from which projected gradient descent accepts every try; WGSL `STEEPEST`.
pub const STEEPEST: f64 = 3072.0;
/// Number of sweeps after which the momentum no longer grows \[E12\].
const GROWING: u32 = 28;

/// All pipelines, and the bind groups for the present buffers.
pub struct Kernels {
    pipelines: Pipelines,
    groups: BTreeMap<(Name, Aliases), wgpu::BindGroup>,
    turn_group: wgpu::BindGroup,
}

impl Kernels {
    pub(super) fn new(device: &Device, buffers: &Buffers, pipelines: Pipelines) -> Result<Kernels, Error> {
        let turn_group = make_turns(device, &pipelines.turn_layout);
        let mut kernels = Kernels { pipelines, groups: BTreeMap::new(), turn_group };
        kernels.bind(device, buffers)?;
        Ok(kernels)
    }

    /// Returns the features of the scene for which the kernels are compiled.
    pub(super) fn features(&self) -> Features {
        self.pipelines.features
    }

    /// Binds every variable that a kernel declares to the buffer of the same name, or of its alias.
    pub(super) fn bind(&mut self, device: &Device, buffers: &Buffers) -> Result<(), Error> {
        self.groups.clear();
        for (name, aliases) in uses(self.pipelines.features) {
            let group = self.make_group(device, buffers, name, aliases)?;
            self.groups.insert((name, aliases), group);
        }
        Ok(())
    }

    fn make_group(
        &self,
        device: &Device,
        buffers: &Buffers,
        name: Name,
        aliases: Aliases,
    ) -> Result<wgpu::BindGroup, Error> {
        let pipeline = &self.pipelines.by_name[&name];
        let entry = |variable: &Variable| {
            let buffer = buffer_of(&variable.name, aliases);
            let buffer = buffers.find(buffer).ok_or_else(|| Error::Shader {
                shader: name.0.into(),
                reason: format!("kernel {} binds {buffer}, and there is no such buffer", name.1),
            })?;
            Ok(wgpu::BindGroupEntry { binding: variable.binding, resource: buffer.as_entire_binding() })
        };
        let entries = pipeline.variables.iter().map(entry).collect::<Result<Vec<_>, Error>>()?;
        Ok(device.raw().create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(name.1),
            layout: &pipeline.layout,
            entries: &entries,
        }))
    }

    /// Encodes a stage into a compute pass.
    pub(super) fn encode(
        &self,
        pass: &mut CountedPass<'_>,
        stage: &Stage,
        settings: &Settings,
        buffers: &Buffers,
    ) {
        for work in stage.work {
            self.encode_work(pass, work, settings, buffers);
        }
    }

    fn encode_work(&self, pass: &mut CountedPass<'_>, work: &Work, settings: &Settings, buffers: &Buffers) {
        match work {
            Work::Run(kernel) => self.run(pass, kernel, 0, buffers),
            Work::Book(kernel) if buffers.capacity().keeps_balance => self.run(pass, kernel, 0, buffers),
            Work::Pause(kernel) if self.features().settles => self.run(pass, kernel, 0, buffers),
            Work::Weigh(kernel) if buffers.capacity().boundaries > 0 => self.run(pass, kernel, 0, buffers),
            Work::Measure(kernel) if self.features().measure(kernel.entry) => {
                self.run(pass, kernel, 0, buffers);
            }
            Work::Join(kernel) if self.features().meshes => self.run(pass, kernel, 0, buffers),
            Work::Meet(kernel) if self.features().measure(kernel.entry) => self.run(pass, kernel, 0, buffers),
            Work::Merge(kernel) if self.features().flush => self.run(pass, kernel, 0, buffers),
            Work::Hold(kernel) if self.features().joints => self.run(pass, kernel, 0, buffers),
            Work::BookJoints(kernel) if self.features().joints && buffers.capacity().keeps_balance => {
                self.run(pass, kernel, 0, buffers);
            }
            Work::Book(_) | Work::Pause(_) | Work::Weigh(_) | Work::Measure(_) => {}
            Work::Join(_) | Work::Meet(_) | Work::Merge(_) | Work::Hold(_) | Work::BookJoints(_) => {}
            Work::Scan(over, aliases) => self.scan(pass, *over, aliases, buffers),
            Work::Visit(kernels) => self.visit(pass, kernels, 0, buffers),
            Work::Sum(works) if settings.warm_start.updates_velocities() => {
                works.iter().for_each(|work| self.encode_work(pass, work, settings, buffers));
            }
            Work::Sum(_) => {}
            Work::Impacts(passes, between) => {
                for _ in 0..settings.impact_iterations.div_ceil(2) {
                    for (kernels, is_last) in passes.iter().zip([false, true]) {
                        self.visit(pass, kernels, 0, buffers);
                        self.end_visit(pass, kernels, 0, is_last, buffers);
                    }
                    between.iter().for_each(|work| self.encode_work(pass, work, settings, buffers));
                }
            }
            Work::Descend { aim, give, arrive, judge } => {
                for _ in 0..most_tries(settings.iterations) {
                    self.run(pass, aim, 0, buffers);
                    self.visit(pass, give, 0, buffers);
                    self.end_visit(pass, give, 0, true, buffers);
                    self.run(pass, arrive, 0, buffers);
                    self.run(pass, judge, 0, buffers);
                }
            }
            Work::Sweeps(kernels) => {
                for sweep in 0..settings.iterations {
                    let is_last = sweep + 1 == settings.iterations;
                    let is_accelerated = settings.acceleration == Acceleration::Nesterov;
                    let turn = if is_accelerated { first_turn(sweep, !is_last) } else { 0 };
                    self.visit(pass, kernels, turn, buffers);
                    self.end_visit(pass, kernels, turn, is_last, buffers);
                    if settings.tolerance > 0.0 {
                        self.run(pass, &step::CHECK, 0, buffers);
                    }
                }
            }
        }
    }

    /// Sets pipeline and bind groups of a kernel, with its turn if it reads one. `place` is the place of its dispatch in `arguments`, if
    /// the device computes the size.
    fn set(
        &self,
        pass: &mut CountedPass<'_>,
        (name, aliases): (Name, Aliases),
        turn: u32,
        place: Option<u32>,
        buffers: &Buffers,
    ) {
        let pipeline = &self.pipelines.by_name[&name];
        pass.set_pipeline(&pipeline.pipeline);
        pass.set_bind_group(0, &self.groups[&(name, aliases)], &[]);
        if pipeline.takes_turn {
            pass.set_bind_group(1, &self.turn_group, &[turn * TURN_STRIDE]);
        }
        if let Some(launcher) = buffers.launcher() {
            launcher.bind(pass, place);
        }
    }

    fn run(&self, pass: &mut CountedPass<'_>, kernel: &Kernel, turn: u32, buffers: &Buffers) {
        let name = (kernel.shader, kernel.entry);
        self.set(pass, (name, kernel.aliases), turn, place_of(kernel.over), buffers);
        dispatch_over(pass, kernel.over, buffers);
        if let Some(launcher) = buffers.launcher().filter(|_| self.pipelines.by_name[&name].plans) {
            launcher.find_sizes(pass);
        }
    }

    fn scan(&self, pass: &mut CountedPass<'_>, over: Over, aliases: Aliases, buffers: &Buffers) {
        for kernel in SCAN {
            self.set(pass, (("scan", kernel), aliases), 0, place_of(over), buffers);
            dispatch_over(pass, over, buffers);
        }
    }

    /// Encodes a pass over all contacts. The turns of its dispatches begin at `turn`.
    fn visit(&self, pass: &mut CountedPass<'_>, kernels: &Pass, turn: u32, buffers: &Buffers) {
        let Pass { contacts, overflow, .. } = kernels;
        let all: [&Kernel; PASS as usize] = [contacts, contacts, overflow];
        for (Kernel { shader, entry, aliases, .. }, place) in all.into_iter().zip(0..) {
            let at = kernels.arguments.place() + place;
            self.set(pass, ((shader, entry), aliases), turn + place, Some(at), buffers);
            dispatch_planned(pass, at, buffers);
        }
    }

    /// Encodes what follows a pass: the gathering after the last one or before joints, and the joints.
    fn end_visit(
        &self,
        pass: &mut CountedPass<'_>,
        kernels: &Pass,
        turn: u32,
        is_last: bool,
        buffers: &Buffers,
    ) {
        let joints = kernels.joints.as_ref().filter(|_| self.features().joints);
        if is_last || joints.is_some() {
            self.run(pass, &kernels.gather, turn, buffers);
        }
        if let Some(joints) = joints {
            self.run(pass, joints, turn, buffers);
        }
    }
}

/// Returns the name of the buffer that a variable stands for: its own, or that of its alias.
fn buffer_of(variable: &str, aliases: Aliases) -> &str {
    aliases.iter().find(|(from, _)| *from == variable).map_or(variable, |(_, to)| to)
}

/// Returns the place in `arguments` of a size that the device computes.
fn place_of(over: Over) -> Option<u32> {
    match over {
        Over::At(planned) => Some(planned.place()),
        _ => None,
    }
}

/// Dispatches the workgroups that cover the elements of a kernel.
fn dispatch_over(pass: &mut CountedPass<'_>, over: Over, buffers: &Buffers) {
    let Capacity { grains, spheres, boundaries, rigids, sinks, joints, machines, .. } = *buffers.capacity();
    let invocations = match over {
        Over::Spheres => spheres,
        Over::SpheresNearSinks if sinks == 0 => 0,
        Over::SpheresNearSinks => spheres,
        Over::Bodies => boundaries + grains,
        Over::Aimed => boundaries.max(rigids),
        Over::Joints => joints,
        Over::Machines => return dispatch(pass, machines, buffers),
        Over::Once => 1,
        Over::At(planned) => return dispatch_planned(pass, planned.place(), buffers),
    };
    dispatch(pass, invocations.div_ceil(64), buffers);
}

/// Dispatches `groups` workgroups for each world, folded into rows: devices accept no more than 65 535 in one row.
fn dispatch(pass: &mut CountedPass<'_>, groups: u32, buffers: &Buffers) {
    let worlds = buffers.launcher().map_or(1, Launcher::count);
    if groups > 0 && worlds > 0 {
        pass.dispatch_workgroups(groups.min(GROUPS_PER_ROW), groups.div_ceil(GROUPS_PER_ROW), worlds);
    }
}

/// Dispatches the number of workgroups that the device has written at `place` of `arguments`.
fn dispatch_planned(pass: &mut CountedPass<'_>, place: u32, buffers: &Buffers) {
    let arguments = buffers.launcher().map_or_else(|| buffers.get("arguments"), Launcher::launches);
    pass.dispatch_workgroups_indirect(arguments, 12 * u64::from(place));
}

/// Returns the largest number of tries that `iterations` iterations of projected gradient descent take \[E15\]. A failed try doubles
/// the steepness, which is at most 3 072 before, and every iteration takes a tenth off it.
fn most_tries(iterations: u32) -> u32 {
    let [steepest, flatter] =
        [STEEPER * STEEPEST / FIRST_STEEPNESS, FLATTER].map(|factor| factor.log(STEEPER));
    let failures = steepest - f64::from(iterations) * flatter;
    iterations + failures.ceil() as u32
}

/// Returns the first turn of the accelerated sweep that follows `before` others, with over-relaxation if it `overshoots`.
fn first_turn(before: u32, overshoots: bool) -> u32 {
    PLAIN_TURNS + (2 * before.min(GROWING) + u32::from(overshoots)) * PASS
}

/// Returns all turns, in order.
fn turns() -> Vec<Turn> {
    let plain = (0..PLAIN_TURNS).map(|index| Turn::new(index, 0, false));
    let of_sweep = |before, overshoots| (0..PASS).map(move |place| Turn::new(place, before, overshoots));
    let accelerated =
        (0..=GROWING).flat_map(|before| [false, true].map(|overshoots| of_sweep(before, overshoots)));
    plain.chain(accelerated.flatten()).collect()
}

/// Creates the uniform buffer of all turns, and returns its bind group.
fn make_turns(device: &Device, layout: &wgpu::BindGroupLayout) -> wgpu::BindGroup {
    let turns = turns();
    let mut bytes = vec![0u8; turns.len() * TURN_STRIDE as usize];
    for (turn, room) in turns.iter().zip(bytes.chunks_exact_mut(TURN_STRIDE as usize)) {
        room[..size_of::<Turn>()].copy_from_slice(bytemuck::bytes_of(turn));
    }
    let buffer = device.raw().create_buffer(&wgpu::BufferDescriptor {
        label: Some("turns"),
        size: bytes.len() as u64,
        usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    device.queue().write_buffer(&buffer, 0, &bytes);
    device.raw().create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("turn"),
        layout,
        entries: &[wgpu::BindGroupEntry {
            binding: 0,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &buffer,
                offset: 0,
                size: wgpu::BufferSize::new(size_of::<Turn>() as u64),
            }),
        }],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{LARGEST_MOMENTUM, OVER_RELAXATION};

    #[test]
    fn every_turn_is_where_its_dispatch_looks_for_it() {
        let turns = turns();
        for before in [0, 1, 2, GROWING - 1, GROWING, 3 * GROWING] {
            for overshoots in [false, true] {
                for place in 0..PASS {
                    let turn = turns[(first_turn(before, overshoots) + place) as usize];
                    let relaxation = if overshoots { OVER_RELAXATION } else { 1.0 };
                    let share = if before == 0 { 0.0 } else { crate::settings::momentum(before) };
                    assert_eq!((turn.index, turn.follows), (place, u32::from(before > 0)));
                    assert_eq!((turn.relaxation, turn.share), (relaxation as f32, share as f32));
                }
            }
        }
        assert!(f64::from(turns[first_turn(GROWING - 1, true) as usize].share) < LARGEST_MOMENTUM - 1e-3);
    }
}
