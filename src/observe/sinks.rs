//! Grains that sinks have removed: number and mass, by size and by place.

use crate::engine::Snapshot;
pub use crate::model::Taken;
use crate::model::{Bins, By, Sink};

/// Number and mass of the grains that each sink has removed, in the order of the sinks.
pub fn taken(snapshot: &Snapshot) -> Vec<Taken> {
    let world = &snapshot.world;
    let mut taken = vec![Taken::default(); world.sinks.len()];
    for (grain, sink) in removed(snapshot) {
        // Grains that left the domain have the number after the last sink: they do not count here.
        if let Some(taken) = taken.get_mut(sink) {
            taken.add(world.grain_mass(grain));
        }
    }
    for (taken, gone) in taken.iter_mut().zip(&world.replaced) {
        taken.grains += gone.taken.grains;
        taken.mass += gone.taken.mass;
    }
    taken.iter_mut().for_each(|taken| join(snapshot, taken));
    taken
}

/// Removed grains that this process counts, each with the sink that took it.
fn removed(snapshot: &Snapshot) -> impl Iterator<Item = (usize, usize)> + '_ {
    let counted =
        snapshot.world.removed.iter().enumerate().filter(|(grain, _)| snapshot.share.counts(*grain));
    counted.filter_map(|(grain, sink)| Some((grain, (*sink)? as usize)))
}

/// Sums what each rank found.
fn join(snapshot: &Snapshot, taken: &mut Taken) {
    *taken = Taken {
        grains: snapshot.share.total(taken.grains as usize) as u64,
        mass: snapshot.share.sum(taken.mass),
    };
}

/// Class of size or place into which a sink sorts the grains that it removes.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Class {
    /// Name of the sink and number of the class, from 0: `outlet:2`.
    pub name: String,
    sink: usize,
    bins: usize,
    class: usize,
}

/// All classes of the sinks by radius, or all by place along an axis.
pub fn classes(sinks: &[Sink], by_radius: bool) -> Vec<Class> {
    let of_sink = |(sink, of): (usize, &Sink)| {
        let is_wanted = move |(_, bins): &(usize, &Bins)| (bins.by == By::Radius) == by_radius;
        let bins = of.bins.iter().enumerate().filter(is_wanted);
        let of_bins = |(bins, of_bins): (usize, &Bins)| {
            let name = |class: usize| format!("{}:{class}", of.name);
            (0..of_bins.count())
                .map(|class| Class { name: name(class), sink, bins, class })
                .collect::<Vec<_>>()
        };
        bins.flat_map(of_bins).collect::<Vec<_>>()
    };
    sinks.iter().enumerate().flat_map(of_sink).collect()
}

/// Names of all classes of the sinks by radius, or of all by place along an axis.
pub fn class_names(sinks: &[Sink], by_radius: bool) -> Vec<String> {
    classes(sinks, by_radius).into_iter().map(|class| class.name).collect()
}

/// Profile of a sink: classes by place along an axis into which it sorts the grains that it removes.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Profile {
    /// Name of the sink.
    pub name: String,
    sink: usize,
    bins: usize,
}

/// Profiles of all sinks that have one.
pub fn profiles(sinks: &[Sink]) -> Vec<Profile> {
    let profile = |(sink, of): (usize, &Sink)| {
        let bins = of.bins.iter().position(|bins| bins.by != By::Radius)?;
        Some(Profile { name: of.name.clone(), sink, bins })
    };
    sinks.iter().enumerate().filter_map(profile).collect()
}

/// Names of the sinks that have a profile.
pub fn profile_names(sinks: &[Sink]) -> Vec<String> {
    profiles(sinks).into_iter().map(|profile| profile.name).collect()
}

/// Number and mass of removed grains: per sink, per set of bins, per class.
#[derive(Debug)]
pub struct Sorted(Vec<Vec<Vec<Taken>>>);

impl Sorted {
    /// Sorts all grains that sinks have removed.
    pub fn of(snapshot: &Snapshot) -> Sorted {
        let world = &snapshot.world;
        let empty = |sink: &Sink| sink.bins.iter().map(|bins| vec![Taken::default(); bins.count()]).collect();
        let mut all: Vec<Vec<Vec<Taken>>> = world.sinks.iter().map(empty).collect();
        for (counts, gone) in all.iter_mut().zip(&world.replaced).filter(|(_, gone)| !gone.classes.is_empty())
        {
            counts.clone_from(&gone.classes);
        }
        for (grain, sink) in removed(snapshot) {
            let Some(counts) = all.get_mut(sink) else { continue };
            for (counts, class) in counts.iter_mut().zip(world.classes_of_removed(grain)) {
                counts[class].add(world.grain_mass(grain));
            }
        }
        all.iter_mut().flatten().flatten().for_each(|taken| join(snapshot, taken));
        Sorted(all)
    }

    /// Number and mass of the removed grains of a class.
    pub fn get(&self, class: &Class) -> Taken {
        self.0[class.sink][class.bins][class.class]
    }

    /// Coefficient of variation of the masses in the parts of a profile: standard deviation over mean \[-\]. Grains beyond the ends of the
    /// profile do not count; not a number where no grains lie between its ends.
    pub fn variation(&self, profile: &Profile) -> f64 {
        let all = &self.0[profile.sink][profile.bins];
        let parts = &all[1..all.len() - 1];
        let count = parts.len() as f64;
        let mean = parts.iter().map(|part| part.mass).sum::<f64>() / count;
        let squares: f64 = parts.iter().map(|part| (part.mass - mean).powi(2)).sum();
        (squares / count).sqrt() / mean
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_worlds::drained_stack;
    use super::*;

    #[test]
    fn each_sink_counts_its_own_grains_and_their_mass() {
        let taken = taken(&drained_stack());
        assert_eq!(taken[0], Taken::default());
        assert_eq!(taken[1].grains, 1);
        approx::assert_relative_eq!(taken[1].mass, 16.0, max_relative = 1e-12);
    }

    #[test]
    fn a_profile_varies_by_the_deviation_over_the_mean_of_its_parts() {
        let mut world = drained_stack().world;
        world.sinks[1].bins = vec![
            Bins { by: By::Radius, bounds: vec![1.0] },
            Bins { by: By::Place(0), bounds: vec![0.0, 1.0, 2.0] },
        ];
        let profiles = profiles(&world.sinks);
        assert_eq!(profiles.iter().map(|profile| profile.name.as_str()).collect::<Vec<_>>(), ["spill"]);
        let taken = |mass| Taken { grains: 1, mass };
        // What lies beyond the ends, 50 kg and 70 kg, does not count: 3 kg and 1 kg deviate by 1 kg from 2 kg.
        let parts = [50.0, 3.0, 1.0, 70.0].map(taken).to_vec();
        let sorted = |parts| Sorted(vec![Vec::new(), vec![vec![taken(9.0); 2], parts]]);
        assert_eq!(sorted(parts).variation(&profiles[0]), 0.5);
        assert!(
            sorted(vec![taken(5.0), taken(0.0), taken(0.0), taken(5.0)]).variation(&profiles[0]).is_nan()
        );
    }

    #[test]
    fn classes_add_up_to_what_the_sink_took() {
        let mut snapshot = drained_stack();
        let by = |by| Bins { by, bounds: vec![0.5, 1.0, 1.5] };
        snapshot.world.sinks[1].bins = vec![by(By::Radius), by(By::Place(2))];
        let all = taken(&snapshot)[1];
        for by_radius in [true, false] {
            let classes = classes(&snapshot.world.sinks, by_radius);
            assert_eq!(classes.len(), 4);
            assert!(classes[3].name.ends_with(":3"), "{}", classes[3].name);
            let sorted = Sorted::of(&snapshot);
            let sum = classes.iter().map(|class| sorted.get(class));
            assert_eq!(sum.map(|taken| taken.grains).sum::<u64>(), all.grains);
        }
    }
}
