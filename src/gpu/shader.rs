//! Shader sources, and their reflection: kernels, variables, constants.
//!
//! WGSL does not care about the order of declarations, so a stage is the plain concatenation of the
//! shared files it uses and its own file.

use crate::error::Error;

use super::constants;

/// Shader source of a stage.
pub struct Source {
    /// Name of the stage.
    pub name: &'static str,
    parts: &'static [&'static str],
}

macro_rules! shared {
    ($name:literal) => {
        include_str!(concat!("../../shaders/shared/", $name, ".wgsl"))
    };
}

macro_rules! source {
    ($name:literal uses $($part:literal)*) => {
        Source {
            name: $name,
            parts: &[$(shared!($part),)* include_str!(concat!("../../shaders/", $name, ".wgsl"))],
        }
    };
}

/// All shaders.
pub const SOURCES: [Source; 20] = [
    source!("scan" uses "types"),
    source!("search" uses "types" "plan"),
    source!("broadphase" uses "types" "motion" "surface" "mesh" "centre" "ball" "plan"),
    source!("matching" uses "types" "impulses"),
    source!("colouring" uses "types" "plan"),
    source!("overflow" uses "types" "hubs"),
    source!("narrowphase" uses "types" "motion" "surface" "mesh" "centre" "ball" "constraints" "impulses"),
    source!("impact" uses "types" "motion" "constraints" "plan" "plan_sweep" "rigid" "pulled"),
    source!("springs" uses "types" "motion" "constraints" "solve" "impulses"),
    source!("predict" uses "types" "motion" "constraints" "plan" "plan_sweep" "solve" "impulses" "rigid" "pulled" "slope"),
    source!("warm_start" uses "types" "motion" "constraints" "solve" "impulses" "colour" "hubs" "rigid" "split"),
    source!("sweep" uses "types" "motion" "constraints" "solve" "impulses" "colour" "hubs" "rigid" "split" "gather" "slope"),
    source!("gradient" uses "types" "motion" "constraints" "plan" "solve" "impulses" "rigid" "slope"),
    source!("joints" uses "types" "motion" "colour" "rigid" "joint" "placed"),
    source!("residual" uses "types" "motion" "constraints" "solve" "impulses" "rigid" "slope"),
    source!("integrate" uses "types" "motion" "centre" "pulled" "rigid"),
    source!("sinks" uses "types" "motion" "surface"),
    source!("balance" uses "types" "motion" "constraints" "impulses" "rigid" "pulled" "joint"),
    source!("loads" uses "types" "impulses"),
    source!("response" uses "types" "motion" "constraints" "solve" "impulses" "rigid"),
];

impl Source {
    /// Returns the WGSL text.
    pub fn text(&self) -> String {
        constants::text() + &self.parts.concat()
    }

    /// Parses and validates the module.
    ///
    /// # Errors
    /// With the message of the parser or validator.
    pub fn reflect(&self) -> Result<Reflection, Error> {
        self.reflect_text(&self.text())
    }

    /// Parses and validates an edited text, like [`Source::reflect`].
    pub(super) fn reflect_text(&self, text: &str) -> Result<Reflection, Error> {
        let refuse = |reason: String| Error::Shader { shader: self.name.into(), reason };
        let module =
            naga::front::wgsl::parse_str(text).map_err(|error| refuse(error.emit_to_string(text)))?;
        let mut validator = naga::valid::Validator::new(
            naga::valid::ValidationFlags::all(),
            naga::valid::Capabilities::empty(),
        );
        let info = validator.validate(&module).map_err(|error| refuse(error.emit_to_string(text)))?;
        Ok(Reflection { module, info })
    }
}

/// Replacement of a piece of WGSL by another, for tests that break a law on purpose.
#[derive(Debug, Clone, Copy)]
pub struct Edit {
    /// Text to be found in at least one shader.
    pub from: &'static str,
    /// Text in its place.
    pub to: &'static str,
}

/// Module with the information of the validator.
pub struct Reflection {
    /// The module.
    pub module: naga::Module,
    info: naga::valid::ModuleInfo,
}

/// A variable that a kernel binds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name in the shader.
    pub name: String,
    /// Bind group.
    pub group: u32,
    /// Binding in the group.
    pub binding: u32,
    /// How it is bound.
    pub kind: VariableKind,
}

/// How a variable is bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableKind {
    /// `var<uniform>`.
    Uniform,
    /// `var<storage, read>`.
    Read,
    /// `var<storage, read_write>`.
    ReadWrite,
}

impl Reflection {
    /// Returns the names of the kernels.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.module.entry_points.iter().map(|entry| entry.name.as_str())
    }

    /// Returns the value of a constant, if it is a whole number.
    pub fn constant(&self, name: &str) -> Option<u32> {
        let mut constants = self.module.constants.iter().map(|(_, constant)| constant);
        let constant = constants.find(|constant| constant.name.as_deref() == Some(name))?;
        match self.module.global_expressions[constant.init] {
            naga::Expression::Literal(naga::Literal::U32(value)) => Some(value),
            _ => None,
        }
    }

    /// Returns the variables that a kernel uses, in binding order; `None` when there is no such kernel.
    pub fn variables(&self, kernel: &str) -> Option<Vec<Variable>> {
        let index = self.module.entry_points.iter().position(|entry| entry.name == kernel)?;
        let uses = self.info.get_entry_point(index);
        let mut variables: Vec<Variable> = self
            .module
            .global_variables
            .iter()
            .filter(|(handle, _)| !uses[*handle].is_empty())
            .filter_map(|(_, variable)| describe(variable))
            .collect();
        variables.sort_by_key(|variable| (variable.group, variable.binding));
        Some(variables)
    }
}

fn describe(variable: &naga::GlobalVariable) -> Option<Variable> {
    let binding = variable.binding?;
    let kind = match variable.space {
        naga::AddressSpace::Uniform => VariableKind::Uniform,
        naga::AddressSpace::Storage { access } if access.contains(naga::StorageAccess::STORE) => {
            VariableKind::ReadWrite
        }
        naga::AddressSpace::Storage { .. } => VariableKind::Read,
        _ => return None,
    };
    let name = variable.name.clone()?;
    Some(Variable { name, group: binding.group, binding: binding.binding, kind })
}
