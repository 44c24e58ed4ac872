//! The stages of a step: their names, in order, and what each does. Shaders, twins on the CPU, entries in the list of the device,
//! timers and benchmarks are called by these names, and the tables in the documentation are made of this list.

/// A stage of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageName {
    /// Name: of the shader, of its twin in Rust, of the timer.
    pub name: &'static str,
    /// Part of a step that the stage belongs to.
    pub part: &'static str,
    /// Short description of the stage.
    pub does: &'static str,
}

/// Declares the stages, and a macro that gives their table as documentation.
macro_rules! stages {
    ($($part:literal { $($name:literal $does:literal;)+ })+) => {
        /// All stages, in the order of a step.
        pub const STAGES: &[StageName] = &[$($(StageName { name: $name, part: $part, does: $does },)+)+];

        /// The table of the stages, in Markdown.
        macro_rules! stage_table {
            () => {
                concat!(
                    "| Part of a step | Stage | What it does |\n|---|---|---|\n",
                    $($("| ", $part, " | `", $name, "` | ", $does, " |\n",)+)+
                )
            };
        }
    };
}

stages! {
    "find contacts, if need be" {
        "search" "asks whether the neighbour list still holds all pairs that can touch in this step; if it does, the next three do nothing";
        "broadphase" "lists all pairs closer than the skin, by a grid";
        "matching" "gives every pair the impulse that it had in the last step";
        "colouring" "gives pairs colours, so that no two of one colour share a body; what finds none is solved by mass splitting";
    }
    "solve velocities, in each substep" {
        "narrowphase" "geometry of every contact, and its law \\[E2\\]; liquid bridges form and break \\[E22\\]";
        "springs" "forces of springs and dampers, under the smooth method, which has no impacts and no sweeps \\[E13\\]";
        "impact" "contacts that close fast bounce \\[E6\\]";
        "predict" "velocities under gravity and applied forces alone \\[E1\\]";
        "warm_start" "applies the impulses that the sweeps start from \\[E7\\]";
        "sweep" "projected Gauss-Seidel sweeps, colour by colour \\[E5\\], \\[E12\\]";
        "balance" "energy balance: works of all impulses \\[E10\\]";
        "loads" "sums up what boundaries were given, and stresses where they are observed \\[E17\\]";
    }
    "move, in each substep" {
        "integrate" "moves all bodies; bonds break, sinks remove grains \\[E1\\], \\[E20\\]";
    }
}

pub(crate) use stage_table;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_is_listed_once() {
        let mut names: Vec<&str> = STAGES.iter().map(|stage| stage.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), STAGES.len());
        assert!(stage_table!().contains("| `sweep` |"));
    }
}
