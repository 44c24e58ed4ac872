//! Pipelines: every kernel compiled for the features of a scene, once per device and values of the overrides that it uses.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Error;
use crate::model::World;
use crate::settings::Settings;

use super::capacity::room_of;
use super::features::Features;
use super::layout::Turn;
use super::many_worlds::{LAUNCH_GROUP, PLACE_BYTES, for_many_worlds};
use super::shader::{Edit, LAUNCH, Reflection, SOURCES, ShaderSource, Variable, VariableKind};
use super::step::{self, AGAIN, Aliases, RESIDUAL, RESUME, Work};

/// Shader and entry point of a kernel.
pub(super) type Name = (&'static str, &'static str);

/// All kernels that a scene may need, compiled for its features.
pub(super) struct Pipelines {
    /// Features for which the kernels were compiled.
    pub(super) features: Features,
    pub(super) by_name: BTreeMap<Name, Arc<Pipeline>>,
    /// Layout of the bind group with the turn of a kernel.
    pub(super) turn_layout: wgpu::BindGroupLayout,
    /// What a launch of many worlds needs; `None` in kernels for one world.
    pub(super) of_many: Option<OfMany>,
}

/// What a launch of many worlds needs beside its kernels.
pub(super) struct OfMany {
    /// Kernel that finds the sizes of the dispatches.
    pub(super) sizing: Arc<Pipeline>,
    /// By buffer, the number of bytes of which the part of each world has to be a multiple, so that elements of every type begin there.
    pub(super) units: BTreeMap<String, u64>,
}

/// Number of worlds that the kernels step at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Worlds {
    /// One, which has the buffers to itself.
    One,
    /// Many, each with a part of every buffer.
    Many,
}

/// Overrides that the device decides: invocations of a workgroup that solves a tile, turns of the loops of one invocation.
pub(super) type OfDevice = [(&'static str, u32); 2];

/// Those of a card, which takes a colour of a tile at once.
pub(super) const OF_CARDS: OfDevice = [("LANES", 128), ("MOST_TURNS", 1 << 20)];
/// Those of a processor, which does the invocations of a workgroup one after the other. lavapipe ends the loops of an invocation after
/// 65 535 turns without a word.
pub(super) const OF_SOFTWARE: OfDevice = [("LANES", 8), ("MOST_TURNS", 60_000)];

/// Kernel as it is compiled for a scene on a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SceneKernel {
    /// Name of its shader in [`SOURCES`].
    pub shader: &'static str,
    /// Its entry point.
    pub entry: &'static str,
    /// Values of the overrides that it uses, in the order of their names.
    pub overrides: Vec<(&'static str, u32)>,
}

/// Returns the kernels that a scene may need on a card, each once.
///
/// # Errors
/// When a shader is refused.
pub fn kernels_of(world: &World, settings: &Settings) -> Result<Vec<SceneKernel>, Error> {
    let features = Features::of(world, settings);
    let mut kernels = Vec::new();
    for source in &SOURCES {
        let reflection = source.reflect()?;
        let own = names(features).filter(|(shader, _)| *shader == source.name);
        kernels.extend(own.filter_map(|(shader, entry)| {
            let overrides = values(features, OF_CARDS, &reflection.overrides(entry)?);
            Some(SceneKernel { shader, entry, overrides })
        }));
    }
    Ok(kernels)
}

/// Returns the values of these overrides.
fn values(features: Features, of_device: OfDevice, overrides: &BTreeSet<&str>) -> Vec<(&'static str, u32)> {
    let of_device = of_device.into_iter().filter(|(name, _)| overrides.contains(name));
    features.values(overrides).into_iter().chain(of_device).collect()
}

/// Modules and kernels that a device has compiled. Scenes share each kernel whose source and whose values of overrides are the same.
#[derive(Default, Clone)]
pub(super) struct Cache(Arc<Mutex<Vec<Arc<Module>>>>);

/// A shader module with the kernels that were made of it.
struct Module {
    text: String,
    reflection: Reflection,
    shader: wgpu::ShaderModule,
    kernels: Mutex<BTreeMap<Variant, Arc<Pipeline>>>,
}

/// Entry point of a kernel, and the values of the overrides that it uses.
type Variant = (&'static str, Vec<(&'static str, u32)>);

impl Cache {
    /// Returns all kernels for the features of a scene, with `edits` applied to the sources; compiles those that are new.
    ///
    /// # Errors
    /// When a shader is refused.
    pub(super) fn get(
        &self,
        device: &wgpu::Device,
        of_device: OfDevice,
        features: Features,
        edits: &[Edit],
        worlds: Worlds,
    ) -> Result<Pipelines, Error> {
        let turn_layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("turn"),
            entries: &[uniform_entry(size_of::<Turn>() as u64)],
        });
        let build = Build { device, features, of_device, turn_layout: &turn_layout };
        let of_source = |source: &ShaderSource| {
            let text = edits.iter().fold(source.text(), |text, edit| text.replace(edit.from, edit.to));
            let text = if worlds == Worlds::Many { for_many_worlds(&text) } else { text };
            let module = self.module(device, source, text)?;
            let names: Vec<Name> = names(features).filter(|(shader, _)| *shader == source.name).collect();
            let kernels =
                side_by_side(&names, |&name| module.kernel(&build, name).map(|kernel| (name, kernel)));
            Ok((module, kernels.into_iter().collect::<Result<Vec<_>, Error>>()?))
        };
        let made = side_by_side(&SOURCES, of_source).into_iter().collect::<Result<Vec<_>, Error>>()?;
        let of_many = match worlds {
            Worlds::One => None,
            Worlds::Many => {
                let launch = self.module(device, &LAUNCH, LAUNCH.text())?;
                let sizing = launch.kernel(&build, (LAUNCH.name, "size_launch"))?;
                Some(OfMany { sizing, units: units(made.iter().map(|(module, _)| &module.reflection)) })
            }
        };
        let by_name = made.into_iter().flat_map(|(_, kernels)| kernels).collect();
        Ok(Pipelines { features, by_name, turn_layout, of_many })
    }

    fn module(
        &self,
        device: &wgpu::Device,
        source: &ShaderSource,
        text: String,
    ) -> Result<Arc<Module>, Error> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().iter().find(|module| module.text == text) {
            return Ok(Arc::clone(found));
        }
        let reflection = source.reflect_text(&text)?;
        let shader = create_module(device, source.name, text.clone());
        let made = Arc::new(Module { text, reflection, shader, kernels: Mutex::default() });
        known().push(Arc::clone(&made));
        Ok(made)
    }
}

/// What kernels are compiled for.
struct Build<'a> {
    device: &'a wgpu::Device,
    features: Features,
    of_device: OfDevice,
    turn_layout: &'a wgpu::BindGroupLayout,
}

/// A kernel, ready to be bound and dispatched.
pub(super) struct Pipeline {
    pub(super) pipeline: wgpu::ComputePipeline,
    pub(super) layout: wgpu::BindGroupLayout,
    /// Variables of bind group 0.
    pub(super) variables: Vec<Variable>,
    /// Whether the kernel reads its turn, in bind group 1.
    pub(super) takes_turn: bool,
    /// Whether the kernel plans dispatches.
    pub(super) plans: bool,
}

/// Kernels of a prefix sum, in order.
pub(super) const SCAN: [&str; 2] = ["sum_blocks", "scan_blocks"];

impl Module {
    /// Returns a kernel for the features of a scene; compiles it at the first request.
    fn kernel(&self, build: &Build<'_>, (shader, entry): Name) -> Result<Arc<Pipeline>, Error> {
        let refuse = || Error::Shader { shader: shader.into(), reason: format!("has no kernel {entry}") };
        let overrides = self.reflection.overrides(entry).ok_or_else(refuse)?;
        let values = values(build.features, build.of_device, &overrides);
        let known = || self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().get(&(entry, values.clone())) {
            return Ok(Arc::clone(found));
        }
        let variables = self.reflection.variables(entry).ok_or_else(refuse)?;
        let made = Arc::new(self.compile(build, entry, &values, variables));
        known().insert((entry, values), Arc::clone(&made));
        Ok(made)
    }

    fn compile(
        &self,
        &Build { device, turn_layout, .. }: &Build<'_>,
        entry: &str,
        values: &[(&'static str, u32)],
        variables: Vec<Variable>,
    ) -> Pipeline {
        let takes_turn = variables.iter().any(|variable| variable.group == 1);
        let is_of_many = variables.iter().any(|variable| variable.group == LAUNCH_GROUP);
        let plans = self.reflection.writes(entry, "arguments");
        let variables: Vec<Variable> = variables.into_iter().filter(|variable| variable.group == 0).collect();
        let entries: Vec<_> = variables.iter().map(layout_entry).collect();
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some(entry),
            entries: &entries,
        });
        let launch = is_of_many.then(|| launch_layout(device));
        let mut layouts = vec![Some(&layout), takes_turn.then_some(turn_layout), launch.as_ref()];
        while layouts.last().is_some_and(Option::is_none) {
            layouts.pop();
        }
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(entry),
            bind_group_layouts: &layouts,
            immediate_size: 0,
        });
        let constants: Vec<_> = values.iter().map(|&(name, value)| (name, f64::from(value))).collect();
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(entry),
            layout: Some(&pipeline_layout),
            module: &self.shader,
            entry_point: Some(entry),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants: &constants,
                zero_initialize_workgroup_memory: false,
            },
            cache: None,
        });
        Pipeline { pipeline, layout, variables, takes_turn, plans }
    }
}

/// Applies a function to all items, on all cores: drivers take milliseconds for a kernel.
#[cfg(not(target_arch = "wasm32"))]
fn side_by_side<T: Sync, R: Send>(items: &[T], function: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    use rayon::prelude::*;
    items.par_iter().map(function).collect()
}

/// Applies a function to all items. A browser compiles kernels in threads of its own.
#[cfg(target_arch = "wasm32")]
fn side_by_side<T, R>(items: &[T], function: impl Fn(&T) -> R) -> Vec<R> {
    items.iter().map(function).collect()
}

/// Creates a shader module. Every access is checked in builds with debug assertions, and unchecked in others.
fn create_module(device: &wgpu::Device, name: &'static str, text: String) -> wgpu::ShaderModule {
    let descriptor =
        wgpu::ShaderModuleDescriptor { label: Some(name), source: wgpu::ShaderSource::Wgsl(text.into()) };
    if cfg!(debug_assertions) {
        return device.create_shader_module(descriptor);
    }
    // SAFETY: indices come from counts that are compared with the room before anything is written (`status.halted`),
    // and loops end; the tests run the same kernels with all checks on and come to the same bits.
    unsafe { device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked()) }
}

/// Returns every kernel that a scene with these features may need, with its aliases.
pub(super) fn uses(features: Features) -> Vec<(Name, Aliases)> {
    let mut uses = vec![((step::CHECK.shader, step::CHECK.entry), step::CHECK.aliases)];
    let stages = step::methods_of(features).into_iter().flat_map(step::Method::stages);
    for work in stages.chain([&AGAIN, &RESUME, &RESIDUAL]).flat_map(|stage| stage.work) {
        let of_stage = work.kernels().into_iter();
        let of_stage = of_stage.filter(|kernel| features.measure(kernel.entry));
        uses.extend(of_stage.map(|kernel| ((kernel.shader, kernel.entry), kernel.aliases)));
        if let Work::Scan(_, aliases) = work {
            uses.extend(SCAN.map(|entry| (("scan", entry), *aliases)));
        }
    }
    uses
}

/// Returns the names of these kernels, each once.
fn names(features: Features) -> impl Iterator<Item = Name> {
    let mut names: Vec<Name> = uses(features).into_iter().map(|(name, _)| name).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter()
}

/// Returns, by buffer, the least number of bytes that holds a whole number of elements of every type that shaders find there.
fn units<'a>(modules: impl Iterator<Item = &'a Reflection>) -> BTreeMap<String, u64> {
    let methods = [&step::NONSMOOTH, &step::DESCENDING, &step::SMOOTH];
    let works = || methods.into_iter().flat_map(step::Method::stages).flat_map(|stage| stage.work);
    let of_kernels = works().flat_map(Work::kernels).flat_map(|kernel| kernel.aliases);
    let of_scans =
        works().filter_map(|work| if let Work::Scan(_, aliases) = work { Some(*aliases) } else { None });
    let aliases: Vec<&(&str, &str)> = of_kernels.chain(of_scans.flatten()).collect();
    let mut units = BTreeMap::new();
    for variable in modules.flat_map(Reflection::all_variables).filter(|variable| variable.group == 0) {
        let others = aliases.iter().filter(|(from, _)| *from == variable.name).map(|(_, to)| *to);
        for name in others.chain([variable.name.as_str()]) {
            let unit = units.entry(room_of(name).to_owned()).or_insert(1);
            *unit = least_common_multiple(*unit, u64::from(variable.element));
        }
    }
    units
}

fn least_common_multiple(a: u64, b: u64) -> u64 {
    let (mut divisor, mut rest) = (a, b);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    a / divisor * b
}

/// Returns the layout of the bind group with the place of a dispatch in a launch of many worlds.
pub(super) fn launch_layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    let launched = Variable {
        name: "launched".into(),
        group: LAUNCH_GROUP,
        binding: 1,
        kind: VariableKind::Read,
        element: 4,
    };
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("launch"),
        entries: &[uniform_entry(PLACE_BYTES), layout_entry(&launched)],
    })
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

/// Returns the entry of a uniform buffer of elements of this size \[bytes\], one of which is bound by its offset.
fn uniform_entry(element: u64) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding: 0,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Uniform,
            has_dynamic_offset: true,
            min_binding_size: wgpu::BufferSize::new(element),
        },
        count: None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::law::pair::Material;
    use crate::model::Materials;

    #[test]
    fn a_scene_has_each_kernel_once_with_its_features() {
        let kernels = |rolling_resistance: f64| {
            let glass = Material { rolling_resistance, ..Material::glass() };
            kernels_of(&World::new(DVec3::NEG_Z, Materials::new(vec![glass])), &Settings::default()).unwrap()
        };
        let (without, with) = (kernels(0.0), kernels(0.1));
        let mut names: Vec<Name> = without.iter().map(|kernel| (kernel.shader, kernel.entry)).collect();
        names.sort_unstable();
        names.dedup();
        assert!(names.len() == without.len() && names.len() > 30, "{} of {}", names.len(), without.len());
        let rolls = |kernels: &[SceneKernel]| {
            let sweep = kernels.iter().find(|kernel| kernel.entry == "sweep_contacts").unwrap();
            sweep.overrides.contains(&("HAS_ROLLING", 1))
        };
        assert!(!rolls(&without) && rolls(&with));
        assert!(
            names.iter().all(|(shader, _)| *shader != "solids"),
            "a scene without solids has no kernel for them"
        );
    }
}
