//! Shader sources, and their reflection: kernels, variables, constants.
//!
//! WGSL does not care about the order of declarations, so a stage is the plain concatenation of the
//! shared files it uses and its own file.

use std::collections::BTreeSet;

use crate::error::Error;

use super::constants;

/// Shader source of a stage.
pub struct ShaderSource {
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
    ($name:literal uses$( $part:literal)*) => {
        ShaderSource {
            name: $name,
            parts: &[$(shared!($part),)* include_str!(concat!("../../shaders/", $name, ".wgsl"))],
        }
    };
}

/// All shaders.
pub const SOURCES: [ShaderSource; 25] = [
    source!("scan" uses "types"),
    source!("search" uses "types" "plan"),
    source!("broadphase" uses "types" "motion" "surface" "mesh" "centre" "ball" "convex" "separation" "placed_solid" "plan"),
    source!("matching" uses "types" "impulses"),
    source!("tiles" uses "types" "plan" "tile"),
    source!("colouring" uses "types" "tile"),
    source!("overflow" uses "types" "hubs"),
    source!("narrowphase" uses "types" "motion" "surface" "mesh" "centre" "ball" "constraints" "arms" "impulses"),
    source!("solids" uses "types" "motion" "surface" "mesh" "centre" "ball" "convex" "separation" "placed_solid" "outline" "manifold" "constraints" "arms"),
    source!("facets" uses "types" "motion" "surface" "mesh" "centre" "ball" "convex" "separation" "placed_solid" "outline" "manifold" "constraints" "arms" "touches" "facet" "solid_facets"),
    source!("parts" uses "types" "motion" "surface" "mesh" "centre" "ball" "convex" "separation" "placed_solid" "outline" "manifold" "constraints" "arms" "touches" "facet" "solid_facets" "facet_pair"),
    source!("impact" uses "types" "motion" "constraints" "plan" "plan_sweep" "rigid" "pulled"),
    source!("springs" uses "types" "motion" "constraints" "solve" "impulses"),
    source!("predict" uses "types" "motion" "constraints" "arms" "plan" "plan_sweep" "solve" "impulses" "rigid" "pulled" "slope"),
    source!("warm_start" uses "types" "motion" "constraints" "solve" "impulses" "colour" "hubs" "rigid" "split" "pulled"),
    source!("sweep" uses "types" "motion" "constraints" "solve" "impulses" "colour" "hubs" "rigid" "split" "gather" "slope"),
    source!("gradient" uses "types" "motion" "constraints" "plan" "solve" "impulses" "rigid" "slope"),
    source!("joints" uses "types" "motion" "colour" "rigid" "joint" "placed"),
    source!("residual" uses "types" "motion" "constraints" "solve" "impulses" "rigid" "slope"),
    source!("integrate" uses "types" "motion" "centre" "pulled" "rigid"),
    source!("sinks" uses "types" "motion" "surface" "passage"),
    source!("balance" uses "types" "motion" "constraints" "impulses" "blocks" "rigid" "pulled" "joint"),
    source!("loads" uses "types" "motion" "constraints" "impulses" "tally"),
    source!("stress" uses "types" "motion" "surface" "passage" "constraints" "impulses" "blocks" "tally"),
    source!("response" uses "types" "motion" "constraints" "solve" "impulses" "rigid"),
];

/// Shader that finds the sizes of the dispatches in a launch of many worlds; no stage of a step.
pub const LAUNCH: ShaderSource = source!("launch" uses);

impl ShaderSource {
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
    /// Size of an element of a list, or of the struct that is no list \[bytes\].
    pub element: u32,
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

    /// Returns the names of the overrides that a kernel uses, in its own code or in that of functions that it calls; `None` when there
    /// is no such kernel.
    pub fn overrides(&self, kernel: &str) -> Option<BTreeSet<&str>> {
        let entry = self.module.entry_points.iter().find(|entry| entry.name == kernel)?;
        let mut functions = vec![&entry.function];
        let mut called = BTreeSet::new();
        let mut found = BTreeSet::new();
        while let Some(function) = functions.pop() {
            found.extend(function.expressions.iter().filter_map(|(_, expression)| match expression {
                naga::Expression::Override(handle) => self.module.overrides[*handle].name.as_deref(),
                _ => None,
            }));
            let mut calls = Vec::new();
            collect_calls(&function.body, &mut calls);
            let new = calls.into_iter().filter(|&callee| called.insert(callee));
            functions.extend(new.map(|callee| &self.module.functions[callee]));
        }
        Some(found)
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
            .filter_map(|(_, variable)| describe(&self.module, variable))
            .collect();
        variables.sort_by_key(|variable| (variable.group, variable.binding));
        Some(variables)
    }

    /// Returns all variables of the module that are bound.
    pub(super) fn all_variables(&self) -> impl Iterator<Item = Variable> {
        self.module.global_variables.iter().filter_map(|(_, variable)| describe(&self.module, variable))
    }

    /// Whether a kernel writes a variable, in its own code or in that of functions that it calls.
    pub(super) fn writes(&self, kernel: &str, variable: &str) -> bool {
        let index = self.module.entry_points.iter().position(|entry| entry.name == kernel);
        let mut named =
            self.module.global_variables.iter().filter(|(_, known)| known.name.as_deref() == Some(variable));
        index.zip(named.next()).is_some_and(|(index, (handle, _))| {
            self.info.get_entry_point(index)[handle].contains(naga::valid::GlobalUse::WRITE)
        })
    }
}

/// Collects the functions that a block calls.
fn collect_calls(block: &naga::Block, calls: &mut Vec<naga::Handle<naga::Function>>) {
    for statement in block.iter() {
        match statement {
            naga::Statement::Call { function, .. } => calls.push(*function),
            naga::Statement::Block(inner) => collect_calls(inner, calls),
            naga::Statement::If { accept, reject, .. } => {
                collect_calls(accept, calls);
                collect_calls(reject, calls);
            }
            naga::Statement::Switch { cases, .. } => {
                cases.iter().for_each(|case| collect_calls(&case.body, calls));
            }
            naga::Statement::Loop { body, continuing, .. } => {
                collect_calls(body, calls);
                collect_calls(continuing, calls);
            }
            _ => {}
        }
    }
}

fn describe(module: &naga::Module, variable: &naga::GlobalVariable) -> Option<Variable> {
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
    let element = match module.types[variable.ty].inner {
        naga::TypeInner::Array { stride, .. } => stride,
        ref inner => inner.size(module.to_ctx()),
    };
    Some(Variable { name, group: binding.group, binding: binding.binding, kind, element })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
mod tests {
    use super::*;

    #[test]
    fn the_overrides_of_a_kernel_are_those_in_its_code_and_in_what_it_calls() {
        let text = "
            override OWN: bool = true;
            override CALLED: u32 = 1u;
            override OF_ANOTHER: u32 = 2u;
            @group(0) @binding(0) var<storage, read_write> numbers: array<u32>;
            fn deep() -> u32 { return CALLED; }
            fn middle(i: u32) { for (var k = 0u; k < i; k++) { if k > 1u { numbers[k] = deep(); } } }
            @compute @workgroup_size(1) fn one() { if OWN { middle(3u); } }
            @compute @workgroup_size(1) fn another() { numbers[0] = OF_ANOTHER; }
            ";
        let reflection = SOURCES[0].reflect_text(text).unwrap();
        assert_eq!(reflection.overrides("one").unwrap(), BTreeSet::from(["CALLED", "OWN"]));
        assert_eq!(reflection.overrides("another").unwrap(), BTreeSet::from(["OF_ANOTHER"]));
        assert!(reflection.overrides("none").is_none());
    }

    /// Else a kernel could depend on an override that none of its expressions names.
    #[test]
    fn no_override_and_no_type_depends_on_another_override() {
        for source in &SOURCES {
            let module = source.reflect().unwrap().module;
            for (_, declared) in module.overrides.iter() {
                let value = declared.init.map(|init| &module.global_expressions[init]);
                assert!(
                    matches!(value, Some(naga::Expression::Literal(_))),
                    "{}: {:?}",
                    source.name,
                    declared.name
                );
            }
            for (_, ty) in module.types.iter() {
                let size = match ty.inner {
                    naga::TypeInner::Array { size, .. } => size,
                    _ => continue,
                };
                assert!(!matches!(size, naga::ArraySize::Pending(_)), "{}: {:?}", source.name, ty.name);
            }
        }
    }
}
