//! Energy that the processors of this machine have taken, where the system tells it: the counters of RAPL, which Linux shows under
//! `/sys/class/powercap` for processors of Intel and AMD. As a rule only root may read them.

use std::fs;
use std::path::{Path, PathBuf};

/// Folder of the counters.
const COUNTERS: &str = "/sys/class/powercap";

/// Counters of the energy of all processors.
#[derive(Debug, Clone)]
pub struct EnergyMeter(Vec<Counter>);

/// Counter of one processor.
#[derive(Debug, Clone)]
struct Counter {
    /// File with the count \[µJ\].
    file: PathBuf,
    /// Count at which it begins again from 0 \[µJ\].
    range: u64,
}

impl EnergyMeter {
    /// Meter of this machine, or `None` where its counters are not there or may not be read.
    pub fn of_machine() -> Option<EnergyMeter> {
        EnergyMeter::at(Path::new(COUNTERS))
    }

    fn at(folder: &Path) -> Option<EnergyMeter> {
        let zones = fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
        // A processor is a `package`; its cores and its memory have counters of their own, which are parts of it or not there.
        let is_package = |zone: &PathBuf| {
            fs::read_to_string(zone.join("name")).is_ok_and(|name| name.starts_with("package"))
        };
        let counter = |zone: PathBuf| {
            Some(Counter { range: number(&zone.join("max_energy_range_uj"))?, file: zone.join("energy_uj") })
        };
        let counters: Vec<Counter> = zones.filter(is_package).filter_map(counter).collect();
        let meter = EnergyMeter(counters);
        (!meter.0.is_empty() && meter.read().is_some()).then_some(meter)
    }

    /// Counts of all processors \[µJ\]; `None` if one cannot be read.
    fn read(&self) -> Option<Vec<u64>> {
        self.0.iter().map(|counter| number(&counter.file)).collect()
    }

    /// Energy between two readings \[J\]. A counter may have begun again once.
    fn joules(&self, before: &[u64], after: &[u64]) -> f64 {
        let taken = |((before, after), counter): ((&u64, &u64), &Counter)| {
            if after >= before { after - before } else { after + (counter.range - before) }
        };
        before.iter().zip(after).zip(&self.0).map(taken).sum::<u64>() as f64 * 1e-6
    }
}

/// Does `work`, and returns what comes of it with the energy that it took \[J\], if there is a meter that tells.
pub fn measured<T>(meter: Option<&EnergyMeter>, work: impl FnOnce() -> T) -> (T, Option<f64>) {
    let Some(meter) = meter else { return (work(), None) };
    let before = meter.read();
    let done = work();
    let readings = before.zip(meter.read());
    (done, readings.map(|(before, after)| meter.joules(&before, &after)))
}

fn number(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counters as Linux shows them: two processors, and the cores of the first.
    fn counters() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let zones =
            [("intel-rapl:0", "package-0"), ("intel-rapl:0:0", "core"), ("intel-rapl:1", "package-1")];
        for (zone, name) in zones {
            let zone = folder.path().join(zone);
            fs::create_dir(&zone).expect("a zone");
            for (file, text) in [("name", name), ("max_energy_range_uj", "1000"), ("energy_uj", "100")] {
                fs::write(zone.join(file), format!("{text}\n")).expect("a file");
            }
        }
        folder
    }

    #[test]
    fn energy_is_the_sum_over_processors_also_when_a_counter_begins_again() {
        let folder = counters();
        let meter = EnergyMeter::at(folder.path()).expect("counters that can be read");
        let before = meter.read().expect("counts");
        assert_eq!(before, [100, 100], "cores are part of a processor");
        let taken = |zone: &str, count: &str| {
            fs::write(folder.path().join(zone).join("energy_uj"), count).expect("a count");
            meter.joules(&before, &meter.read().expect("counts"))
        };
        assert_eq!(taken("intel-rapl:0", "350"), 250e-6);
        assert_eq!(taken("intel-rapl:1", "40"), (250.0 + 940.0) * 1e-6, "900 to the end, and 40");
    }

    #[test]
    fn a_machine_without_counters_has_no_meter() {
        let folder = counters();
        assert!(EnergyMeter::at(&folder.path().join("none")).is_none());
        fs::remove_file(folder.path().join("intel-rapl:1/energy_uj")).expect("it was there");
        assert!(EnergyMeter::at(folder.path()).is_none(), "half of the energy is no answer");
    }
}
