//! Kernels: pipelines, their bind groups (by name), and how a stage is put into a command stream.

use std::collections::BTreeMap;

use crate::engine::is_guarded;
use crate::error::Error;
use crate::settings::{Acceleration, Settings};
use crate::world::World;

use super::buffers::{Buffers, Capacity};
use super::counted::CountedPass;
use super::device::Device;
use super::layout::Turn;
use super::shader::{Edit, Reflection, SOURCES, Variable, VariableKind};
use super::step::{self, AGAIN, Aliases, COLOURS, Kernel, Over, Pass, RESIDUAL, STEP, Stage, Work};

/// Distance of two entries in the buffer of turns: the alignment of dynamic offsets everywhere.
const TURN_STRIDE: u32 = 256;
/// Turns of colours, rounds and plain sweeps; those of accelerated sweeps come after them.
const PLAIN_TURNS: u32 = 16;
/// Dispatches of a pass over all contacts: the colours, the rest, its sides.
const PLACES: u32 = COLOURS + 2;
/// Sweeps after which the momentum no longer grows \[E12\].
const GROWING: u32 = 28;

type Name = (&'static str, &'static str);

/// All pipelines, and the bind groups for the present buffers.
pub struct Kernels {
    pipelines: BTreeMap<Name, Pipeline>,
    groups: BTreeMap<(Name, Aliases), wgpu::BindGroup>,
    turn_group: wgpu::BindGroup,
    turn_layout: wgpu::BindGroupLayout,
    features: Features,
    edits: Vec<Edit>,
    /// Groups per row of a folded dispatch, as the shaders have it.
    groups_per_row: u32,
}

/// What a scene has; kernels leave out the code for what it has not. Each is an `override` in WGSL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Features {
    /// Bodies with locked axes.
    pub locks: bool,
    /// Sinks, so that grains may be removed.
    pub sinks: bool,
    /// Free boundaries.
    pub free_boundaries: bool,
    /// Bodies that may have very many contacts: free boundaries, or grains of very different size.
    pub hubs: bool,
    /// Periodic axes.
    pub period: bool,
    /// Grains of different sizes.
    pub sizes: bool,
    /// Sliders.
    pub sliders: bool,
    /// Sweeps that go on from one another.
    pub momentum: bool,
    /// Substeps in which friction and rolling make energy are found out.
    pub guard: bool,
    /// A tolerance at which sweeps end.
    pub tolerance: bool,
    /// Materials that resist rolling.
    pub rolling: bool,
}

impl Features {
    /// Those of a world and of how it is solved.
    pub fn of(world: &World, settings: &Settings) -> Features {
        Features {
            locks: world.bodies.locked.iter().any(|axes| axes.bits() != 0),
            sinks: world.has_drains(),
            free_boundaries: world.free_boundaries().next().is_some(),
            hubs: world.free_boundaries().next().is_some() || has_hubs(world),
            period: !world.periodic.is_none(),
            sizes: !world.spheres.is_sorted_by(|a, b| a.radius == b.radius),
            sliders: world.sliders().next().is_some(),
            momentum: settings.acceleration == Acceleration::Nesterov,
            guard: is_guarded(settings, world),
            tolerance: settings.tolerance > 0.0,
            rolling: world.materials.laws().iter().any(|law| law.rolling_resistance > 0.0),
        }
    }

    /// Values of the overrides that a shader declares.
    fn constants(self, module: &naga::Module) -> Vec<(&'static str, f64)> {
        let all = [
            ("HAS_LOCKS", self.locks),
            ("HAS_SINKS", self.sinks),
            ("HAS_PERIOD", self.period),
            ("HAS_FREE_BOUNDARIES", self.free_boundaries),
            ("HAS_HUBS", self.hubs),
            ("HAS_SIZES", self.sizes),
            ("HAS_SLIDERS", self.sliders),
            ("HAS_MOMENTUM", self.momentum),
            ("HAS_GUARD", self.guard),
            ("HAS_TOLERANCE", self.tolerance),
            ("HAS_ROLLING", self.rolling),
        ];
        let is_declared = |name: &str| module.overrides.iter().any(|(_, o)| o.name.as_deref() == Some(name));
        all.into_iter()
            .filter(|(name, _)| is_declared(name))
            .map(|(name, on)| (name, f64::from(u8::from(on))))
            .collect()
    }
}

/// Whether some grain is more than twice as large as another: see `HUB` in WGSL.
fn has_hubs(world: &World) -> bool {
    let radii = || world.spheres.iter().map(|sphere| sphere.radius);
    radii().fold(0.0, f64::max) > 2.0 * radii().fold(f64::INFINITY, f64::min)
}

struct Pipeline {
    pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
    variables: Vec<Variable>,
    takes_turn: bool,
}

const SCAN: [&str; 3] = ["sum_blocks", "scan_block_sums", "add_block_sums"];

impl Kernels {
    pub(super) fn new(device: &Device, buffers: &Buffers, features: Features) -> Result<Kernels, Error> {
        let (turn_layout, turn_group) = make_turns(device);
        let mut kernels = Kernels {
            pipelines: BTreeMap::new(),
            groups: BTreeMap::new(),
            turn_group,
            turn_layout,
            features,
            edits: Vec::new(),
            groups_per_row: 0,
        };
        kernels.compile(device)?;
        kernels.bind(device, buffers)?;
        Ok(kernels)
    }

    /// Compiles the kernels anew if the scene has come to have what they left out.
    pub(super) fn adapt(
        &mut self,
        device: &Device,
        buffers: &Buffers,
        features: Features,
    ) -> Result<(), Error> {
        if self.features == features {
            return Ok(());
        }
        self.features = features;
        self.compile(device)?;
        self.bind(device, buffers)
    }

    /// Compiles the kernels anew from edited sources.
    pub(super) fn edit(&mut self, device: &Device, buffers: &Buffers, edits: &[Edit]) -> Result<(), Error> {
        for Edit { from, .. } in edits {
            assert!(
                SOURCES.iter().any(|source| source.text().contains(from)),
                "no shader has the text `{from}`"
            );
        }
        self.edits = edits.to_vec();
        self.compile(device)?;
        self.bind(device, buffers)
    }

    fn compile(&mut self, device: &Device) -> Result<(), Error> {
        for source in &SOURCES {
            let text = self.edits.iter().fold(source.text(), |text, edit| text.replace(edit.from, edit.to));
            let reflection = source.reflect_text(&text)?;
            self.groups_per_row = reflection.constant("GROUPS_PER_ROW").ok_or_else(|| Error::Shader {
                shader: source.name.into(),
                reason: "has no constant GROUPS_PER_ROW".into(),
            })?;
            let module = create_module(device, source.name, text);
            for name in names().filter(|(shader, _)| *shader == source.name) {
                let pipeline = self.make_pipeline(device, &module, &reflection, name)?;
                self.pipelines.insert(name, pipeline);
            }
        }
        Ok(())
    }

    fn make_pipeline(
        &self,
        device: &Device,
        module: &wgpu::ShaderModule,
        reflection: &Reflection,
        (shader, entry): Name,
    ) -> Result<Pipeline, Error> {
        let variables = reflection.variables(entry).ok_or_else(|| Error::Shader {
            shader: shader.into(),
            reason: format!("has no kernel {entry}"),
        })?;
        let takes_turn = variables.iter().any(|variable| variable.group == 1);
        let variables: Vec<Variable> = variables.into_iter().filter(|variable| variable.group == 0).collect();
        let entries: Vec<_> = variables.iter().map(layout_entry).collect();
        let layout = device.raw().create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some(entry),
            entries: &entries,
        });
        let mut layouts = vec![Some(&layout)];
        layouts.extend(takes_turn.then_some(Some(&self.turn_layout)));
        let pipeline_layout = device.raw().create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(entry),
            bind_group_layouts: &layouts,
            immediate_size: 0,
        });
        let constants = self.features.constants(&reflection.module);
        let pipeline = device.raw().create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(entry),
            layout: Some(&pipeline_layout),
            module,
            entry_point: Some(entry),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants: &constants,
                zero_initialize_workgroup_memory: false,
            },
            cache: None,
        });
        Ok(Pipeline { pipeline, layout, variables, takes_turn })
    }

    /// Binds every variable that a kernel declares to the buffer of the same name, or of its alias.
    pub(super) fn bind(&mut self, device: &Device, buffers: &Buffers) -> Result<(), Error> {
        self.groups.clear();
        for (name, aliases) in uses() {
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
        let pipeline = &self.pipelines[&name];
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

    /// Puts a stage into a pass.
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
            Work::Book(kernel) if buffers.capacity().keeps_books => self.run(pass, kernel, 0, buffers),
            Work::Weigh(kernel) if buffers.capacity().boundaries > 0 => self.run(pass, kernel, 0, buffers),
            Work::Book(_) | Work::Weigh(_) => {}
            Work::Scan(over, aliases) => self.scan(pass, *over, aliases, buffers),
            Work::Rounds(kernels, times) => {
                for round in 0..*times {
                    kernels.iter().for_each(|kernel| self.run(pass, kernel, round, buffers));
                }
            }
            Work::Colours(kernels) if settings.warm_start.updates_velocities() => {
                self.colours(pass, kernels, [0, 0], buffers);
            }
            Work::Colours(_) => {}
            Work::Impacts(passes, between) => {
                for _ in 0..settings.impact_iterations.div_ceil(2) {
                    passes.iter().for_each(|kernels| self.colours(pass, kernels, [0, 0], buffers));
                    between.iter().for_each(|work| self.encode_work(pass, work, settings, buffers));
                }
            }
            Work::Sweeps(kernels) => {
                for sweep in 0..settings.iterations {
                    self.sweep(pass, kernels, sweep, settings, buffers);
                    if settings.tolerance > 0.0 {
                        self.run(pass, &step::CHECK, 0, buffers);
                    }
                }
            }
        }
    }

    /// The sweep after so many.
    fn sweep(
        &self,
        pass: &mut CountedPass<'_>,
        kernels: &Pass,
        before: u32,
        settings: &Settings,
        buffers: &Buffers,
    ) {
        let Some(carry_on) = kernels.carried_on(settings) else {
            return self.colours(pass, kernels, [0, 0], buffers);
        };
        let turn = |before: u32| first_turn(before, before + 1 < settings.iterations);
        let goes_on_by_itself = settings.tolerance > 0.0;
        if before > 0 && goes_on_by_itself {
            self.run(pass, carry_on, turn(before), buffers);
        }
        let is_last = before + 1 == settings.iterations;
        let next = if is_last || goes_on_by_itself { 0 } else { turn(before + 1) };
        self.colours(pass, kernels, [turn(before), next], buffers);
    }

    /// Sets a kernel, and its turn if it is told one.
    fn set(&self, pass: &mut CountedPass<'_>, name: Name, aliases: Aliases, turn: u32) {
        let pipeline = &self.pipelines[&name];
        pass.set_pipeline(&pipeline.pipeline);
        pass.set_bind_group(0, &self.groups[&(name, aliases)], &[]);
        if pipeline.takes_turn {
            pass.set_bind_group(1, &self.turn_group, &[turn * TURN_STRIDE]);
        }
    }

    fn run(&self, pass: &mut CountedPass<'_>, kernel: &Kernel, turn: u32, buffers: &Buffers) {
        self.set(pass, (kernel.shader, kernel.entry), kernel.aliases, turn);
        self.dispatch_over(pass, kernel.over, buffers);
    }

    fn scan(&self, pass: &mut CountedPass<'_>, over: Over, aliases: Aliases, buffers: &Buffers) {
        for (kernel, over) in SCAN.into_iter().zip([over, Over::Search, over]) {
            self.set(pass, ("scan", kernel), aliases, 0);
            self.dispatch_over(pass, over, buffers);
        }
    }

    /// Workgroups that cover what a kernel runs over.
    fn dispatch_over(&self, pass: &mut CountedPass<'_>, over: Over, buffers: &Buffers) {
        let Capacity { grains, boundaries, sinks, .. } = *buffers.capacity();
        let invocations = match over {
            Over::Grains => grains,
            Over::GrainsNearSinks if sinks == 0 => 0,
            Over::GrainsNearSinks => grains,
            Over::Bodies => boundaries + grains,
            Over::Boundaries => boundaries,
            planned => match planned.place() {
                Some(place) => return dispatch_planned(pass, place, buffers),
                None => 1,
            },
        };
        self.dispatch(pass, invocations.div_ceil(64));
    }

    /// So many groups, in rows: devices take no more than 65 535 in one.
    fn dispatch(&self, pass: &mut CountedPass<'_>, groups: u32) {
        if groups > 0 {
            pass.dispatch_workgroups(
                groups.min(self.groups_per_row),
                groups.div_ceil(self.groups_per_row),
                1,
            );
        }
    }

    /// A pass over all contacts; its turns begin with the first of these, and those of what comes after it with the second.
    fn colours(&self, pass: &mut CountedPass<'_>, kernels: &Pass, [turn, next]: [u32; 2], buffers: &Buffers) {
        let colours = (0..COLOURS).map(|colour| (&kernels.colour, turn, colour));
        let all = colours.chain([(&kernels.rest, turn, COLOURS), (&kernels.gather, next, COLOURS + 1)]);
        for (Kernel { shader, entry, aliases, .. }, turn, place) in all {
            self.set(pass, (shader, entry), aliases, turn + place);
            dispatch_planned(pass, kernels.arguments + place, buffers);
        }
    }
}

/// A module, with every access checked in builds with debug assertions, and unchecked in others.
fn create_module(device: &Device, name: &'static str, text: String) -> wgpu::ShaderModule {
    let descriptor =
        wgpu::ShaderModuleDescriptor { label: Some(name), source: wgpu::ShaderSource::Wgsl(text.into()) };
    if cfg!(debug_assertions) {
        return device.raw().create_shader_module(descriptor);
    }
    // SAFETY: indices come from counts that are compared with the room before anything is written (`status.halted`),
    // and loops end; the tests run the same kernels with all checks on and come to the same bits.
    unsafe { device.raw().create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked()) }
}

/// Name of the buffer that a variable stands for: its own, or that of its alias.
fn buffer_of(variable: &str, aliases: Aliases) -> &str {
    aliases.iter().find(|(from, _)| *from == variable).map_or(variable, |(_, to)| to)
}

/// As many workgroups as the device has written down.
fn dispatch_planned(pass: &mut CountedPass<'_>, place: u32, buffers: &Buffers) {
    pass.dispatch_workgroups_indirect(buffers.get("arguments"), 12 * u64::from(place));
}

/// Every kernel of the step list with its aliases.
fn uses() -> Vec<(Name, Aliases)> {
    let mut uses = vec![((step::CHECK.shader, step::CHECK.entry), step::CHECK.aliases)];
    for work in STEP.iter().chain([&AGAIN, &RESIDUAL]).flat_map(|stage| stage.work) {
        let of_stage = work.kernels().into_iter();
        uses.extend(of_stage.map(|kernel| ((kernel.shader, kernel.entry), kernel.aliases)));
        if let Work::Scan(_, aliases) = work {
            uses.extend(SCAN.map(|entry| (("scan", entry), *aliases)));
        }
    }
    uses
}

/// Names of all kernels in use, each once.
fn names() -> impl Iterator<Item = Name> {
    let mut names: Vec<Name> = uses().into_iter().map(|(name, _)| name).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter()
}

fn layout_entry(variable: &Variable) -> wgpu::BindGroupLayoutEntry {
    let ty = match variable.kind {
        VariableKind::Uniform => wgpu::BufferBindingType::Uniform,
        VariableKind::Read => wgpu::BufferBindingType::Storage { read_only: true },
        VariableKind::ReadWrite => wgpu::BufferBindingType::Storage { read_only: false },
    };
    wgpu::BindGroupLayoutEntry {
        binding: variable.binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    }
}

/// First turn of the accelerated sweep after so many, whose rows overshoot or do not.
fn first_turn(before: u32, overshoots: bool) -> u32 {
    PLAIN_TURNS + (2 * before.min(GROWING) + u32::from(overshoots)) * PLACES
}

/// All turns, in order.
fn turns() -> Vec<Turn> {
    let plain = (0..PLAIN_TURNS).map(|index| Turn::new(index, 0, false));
    let of_sweep = |before, overshoots| (0..PLACES).map(move |place| Turn::new(place, before, overshoots));
    let accelerated =
        (0..=GROWING).flat_map(|before| [false, true].map(|overshoots| of_sweep(before, overshoots)));
    plain.chain(accelerated.flatten()).collect()
}

/// A uniform that tells a kernel its turn.
fn make_turns(device: &Device) -> (wgpu::BindGroupLayout, wgpu::BindGroup) {
    let layout = device.raw().create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("turn"),
        entries: &[wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Uniform,
                has_dynamic_offset: true,
                min_binding_size: wgpu::BufferSize::new(size_of::<Turn>() as u64),
            },
            count: None,
        }],
    });
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
    let group = device.raw().create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("turn"),
        layout: &layout,
        entries: &[wgpu::BindGroupEntry {
            binding: 0,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &buffer,
                offset: 0,
                size: wgpu::BufferSize::new(size_of::<Turn>() as u64),
            }),
        }],
    });
    (layout, group)
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
                for place in 0..PLACES {
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
