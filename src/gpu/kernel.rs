//! Kernels: pipelines, their bind groups (by name), and how a stage is put into a command stream.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::settings::{Bookkeeping, Settings};
use crate::world::World;

use super::buffers::{Buffers, Capacity};
use super::device::Device;
use super::shader::{Edit, Reflection, SOURCES, Variable, VariableKind};
use super::step::{self, Aliases, DISPATCHED_COLOURS, Kernel, Over, Pass, RESIDUAL, STEP, Stage, Work};

/// Distance of two entries in the buffer of indices: the alignment of dynamic offsets everywhere.
const INDEX_STRIDE: u32 = 256;
/// Indices that a kernel can be told: colours and rounds.
const INDICES: u32 = 64;
/// Groups per row of a folded dispatch (`GROUPS_PER_ROW` in WGSL).
const GROUPS_PER_ROW: u32 = 32768;

type Name = (&'static str, &'static str);

/// All pipelines, and the bind groups for the present buffers.
pub struct Kernels {
    pipelines: BTreeMap<Name, Pipeline>,
    groups: BTreeMap<(Name, Aliases), wgpu::BindGroup>,
    index_group: wgpu::BindGroup,
    index_layout: wgpu::BindGroupLayout,
    features: Features,
    edits: Vec<Edit>,
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
    /// Periodic axes.
    pub period: bool,
    /// Grains of different sizes.
    pub sizes: bool,
}

impl Features {
    /// Those of a world.
    pub fn of(world: &World) -> Features {
        Features {
            locks: world.bodies.locked.iter().any(|axes| axes.bits() != 0),
            sinks: !world.sinks.is_empty(),
            free_boundaries: world.free_boundaries().next().is_some(),
            period: !world.periodic.is_none(),
            sizes: !world.spheres.is_sorted_by(|a, b| a.radius == b.radius),
        }
    }

    /// Values of the overrides that a shader declares.
    fn constants(self, module: &naga::Module) -> Vec<(&'static str, f64)> {
        let all = [
            ("HAS_LOCKS", self.locks),
            ("HAS_SINKS", self.sinks),
            ("HAS_PERIOD", self.period),
            ("HAS_FREE_BOUNDARIES", self.free_boundaries),
            ("HAS_SIZES", self.sizes),
        ];
        let is_declared = |name: &str| module.overrides.iter().any(|(_, o)| o.name.as_deref() == Some(name));
        all.into_iter()
            .filter(|(name, _)| is_declared(name))
            .map(|(name, on)| (name, f64::from(u8::from(on))))
            .collect()
    }
}

struct Pipeline {
    pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
    variables: Vec<Variable>,
    takes_index: bool,
}

const SCAN: [&str; 3] = ["sum_blocks", "scan_block_sums", "add_block_sums"];

impl Kernels {
    pub(super) fn new(device: &Device, buffers: &Buffers, features: Features) -> Result<Kernels, Error> {
        let (index_layout, index_group) = make_indices(device);
        let mut kernels = Kernels {
            pipelines: BTreeMap::new(),
            groups: BTreeMap::new(),
            index_group,
            index_layout,
            features,
            edits: Vec::new(),
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
            let module = device.raw().create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(source.name),
                source: wgpu::ShaderSource::Wgsl(text.into()),
            });
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
        let takes_index = variables.iter().any(|variable| variable.group == 1);
        let variables: Vec<Variable> = variables.into_iter().filter(|variable| variable.group == 0).collect();
        let entries: Vec<_> = variables.iter().map(layout_entry).collect();
        let layout = device.raw().create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some(entry),
            entries: &entries,
        });
        let mut layouts = vec![Some(&layout)];
        layouts.extend(takes_index.then_some(Some(&self.index_layout)));
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
        Ok(Pipeline { pipeline, layout, variables, takes_index })
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
        pass: &mut wgpu::ComputePass<'_>,
        stage: &Stage,
        settings: &Settings,
        buffers: &Buffers,
    ) {
        for work in stage.work {
            match work {
                Work::Run(kernel) => self.run(pass, kernel, 0, buffers),
                Work::Book(kernel) if settings.bookkeeping == Bookkeeping::On => {
                    self.run(pass, kernel, 0, buffers);
                }
                Work::Book(_) => {}
                Work::Share(kernel) if self.features.free_boundaries => self.run(pass, kernel, 0, buffers),
                Work::Share(_) => {}
                Work::Scan(aliases) => self.scan(pass, aliases, buffers),
                Work::Rounds(kernels, times) => {
                    for round in 0..*times {
                        kernels.iter().for_each(|kernel| self.run(pass, kernel, round, buffers));
                    }
                }
                Work::Colours(kernels) => self.colours(pass, kernels, buffers),
                Work::Sweeps(kernels) => {
                    for _ in 0..settings.iterations {
                        self.colours(pass, kernels, buffers);
                        if settings.tolerance > 0.0 {
                            self.run(pass, &step::CHECK, 0, buffers);
                        }
                    }
                }
            }
        }
    }

    fn set(&self, pass: &mut wgpu::ComputePass<'_>, name: Name, aliases: Aliases, index: u32) {
        let pipeline = &self.pipelines[&name];
        pass.set_pipeline(&pipeline.pipeline);
        pass.set_bind_group(0, &self.groups[&(name, aliases)], &[]);
        if pipeline.takes_index {
            pass.set_bind_group(1, &self.index_group, &[index * INDEX_STRIDE]);
        }
    }

    fn run(&self, pass: &mut wgpu::ComputePass<'_>, kernel: &Kernel, index: u32, buffers: &Buffers) {
        self.set(pass, (kernel.shader, kernel.entry), kernel.aliases, index);
        match extent(kernel.over, buffers.capacity()) {
            Extent::Groups(groups) => dispatch(pass, groups),
            Extent::Indirect(place) => {
                pass.dispatch_workgroups_indirect(buffers.get("arguments"), 12 * u64::from(place));
            }
        }
    }

    fn scan(&self, pass: &mut wgpu::ComputePass<'_>, aliases: Aliases, buffers: &Buffers) {
        let values = buffer_of("scan_values", aliases);
        let blocks = (buffers.get(values).size() / 4).div_ceil(1024) as u32;
        for (kernel, groups) in SCAN.into_iter().zip([blocks, 1, blocks]) {
            self.set(pass, ("scan", kernel), aliases, 0);
            dispatch(pass, groups);
        }
    }

    fn colours(&self, pass: &mut wgpu::ComputePass<'_>, kernels: &Pass, buffers: &Buffers) {
        let arguments = buffers.get("arguments");
        let offset = |place: u32| 12 * u64::from(kernels.arguments + place);
        for colour in 0..DISPATCHED_COLOURS {
            let gather = self.features.free_boundaries.then_some(&kernels.gather);
            for Kernel { shader, entry, aliases, .. } in std::iter::once(&kernels.colour).chain(gather) {
                self.set(pass, (shader, entry), aliases, colour);
                pass.dispatch_workgroups_indirect(arguments, offset(colour));
            }
        }
        let Kernel { shader, entry, aliases, .. } = kernels.rest;
        self.set(pass, (shader, entry), aliases, 0);
        pass.dispatch_workgroups_indirect(arguments, offset(DISPATCHED_COLOURS));
    }
}

/// Name of the buffer that a variable stands for: its own, or that of its alias.
fn buffer_of(variable: &str, aliases: Aliases) -> &str {
    aliases.iter().find(|(from, _)| *from == variable).map_or(variable, |(_, to)| to)
}

enum Extent {
    Groups(u32),
    Indirect(u32),
}

/// Workgroups that cover what a kernel runs over.
fn extent(over: Over, capacity: &Capacity) -> Extent {
    let groups = |count: u32| Extent::Groups(count.div_ceil(64));
    match over {
        Over::Once => Extent::Groups(1),
        Over::Grains => groups(capacity.corners + capacity.grains + 1),
        Over::GrainsNearSinks if capacity.sinks == 0 => Extent::Groups(0),
        Over::GrainsNearSinks => groups(capacity.grains),
        Over::Bodies => groups(capacity.boundaries + capacity.grains),
        Over::Boundaries => groups(capacity.boundaries),
        Over::Buckets => groups(capacity.buckets),
        Over::ContactBlocks => Extent::Groups(capacity.contacts.div_ceil(256)),
        Over::Contacts => Extent::Indirect(0),
        Over::Pending => Extent::Indirect(1),
        Over::ImpactContacts => Extent::Indirect(2),
    }
}

fn dispatch(pass: &mut wgpu::ComputePass<'_>, groups: u32) {
    if groups > 0 {
        pass.dispatch_workgroups(groups.min(GROUPS_PER_ROW), groups.div_ceil(GROUPS_PER_ROW), 1);
    }
}

/// Every kernel of the step list with its aliases.
fn uses() -> Vec<(Name, Aliases)> {
    let mut uses = vec![((step::CHECK.shader, step::CHECK.entry), step::CHECK.aliases)];
    let mut add = |kernel: &Kernel| uses.push(((kernel.shader, kernel.entry), kernel.aliases));
    for work in STEP.iter().chain([&RESIDUAL]).flat_map(|stage| stage.work) {
        match work {
            Work::Run(kernel) | Work::Book(kernel) | Work::Share(kernel) => add(kernel),
            Work::Rounds(kernels, _) => kernels.iter().for_each(&mut add),
            Work::Colours(pass) | Work::Sweeps(pass) => {
                [&pass.colour, &pass.gather, &pass.rest].into_iter().for_each(&mut add)
            }
            Work::Scan(aliases) => SCAN.into_iter().for_each(|entry| {
                add(&Kernel { shader: "scan", entry, over: Over::Once, aliases });
            }),
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

/// A uniform that tells a kernel a number: entry `i` holds `i`.
fn make_indices(device: &Device) -> (wgpu::BindGroupLayout, wgpu::BindGroup) {
    let layout = device.raw().create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("index"),
        entries: &[wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Uniform,
                has_dynamic_offset: true,
                min_binding_size: wgpu::BufferSize::new(4),
            },
            count: None,
        }],
    });
    let mut words = vec![0u32; (INDICES * INDEX_STRIDE / 4) as usize];
    for index in 0..INDICES {
        words[(index * INDEX_STRIDE / 4) as usize] = index;
    }
    let buffer = device.raw().create_buffer(&wgpu::BufferDescriptor {
        label: Some("indices"),
        size: u64::from(INDICES * INDEX_STRIDE),
        usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    device.queue().write_buffer(&buffer, 0, bytemuck::cast_slice(&words));
    let group = device.raw().create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("index"),
        layout: &layout,
        entries: &[wgpu::BindGroupEntry {
            binding: 0,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &buffer,
                offset: 0,
                size: wgpu::BufferSize::new(16),
            }),
        }],
    });
    (layout, group)
}
