//! Processor time and energy.

use rustix::param::clock_ticks_per_second;
use rustix::time::{ClockId, clock_gettime};
use std::path::Path;

/// Processor time and energy since a moment.
pub(crate) struct Meter {
    cpu: f64,
    energy: Option<f64>,
    all: Option<f64>,
}

impl Meter {
    /// From now on.
    pub(crate) fn start() -> Self {
        Self { cpu: cpu_seconds(), energy: package_joules(POWERCAP.as_ref()), all: all_seconds() }
    }

    /// Processor seconds of this process, and joules of the package where the machine tells them.
    pub(crate) fn spent(&self) -> (f64, Option<f64>) {
        let joules = self.energy.zip(package_joules(POWERCAP.as_ref())).map(|(from, to)| to - from);
        // The counter wraps; a turn in which it did has no figure.
        (cpu_seconds() - self.cpu, joules.filter(|j| *j >= 0.0))
    }

    /// Processor seconds of the whole machine, whoever used them.
    pub(crate) fn spent_by_all(&self) -> Option<f64> {
        self.all.zip(all_seconds()).map(|(from, to)| to - from)
    }
}

/// Where the kernel shows the counters of energy.
const POWERCAP: &str = "/sys/class/powercap";

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The processor packages' energy counters together, in joules
/// (`Documentation/power/powercap/powercap.rst` in the kernel).
fn package_joules(powercap: &Path) -> Option<f64> {
    let zones = std::fs::read_dir(powercap).ok()?;
    let mut joules = None;
    for zone in zones.flatten() {
        let name = zone.file_name();
        // `intel-rapl:0` is a package, `intel-rapl:0:0` a part of one; AMD's have the same names.
        let Some(name) = name.to_str().filter(|n| n.starts_with("intel-rapl:")) else { continue };
        if name.matches(':').count() != 1 {
            continue;
        }
        let text = std::fs::read_to_string(zone.path().join("energy_uj")).ok()?;
        *joules.get_or_insert(0.0) += text.trim().parse::<f64>().ok()? / 1e6;
    }
    joules
}

/// What all processors together have worked since the machine began.
fn all_seconds() -> Option<f64> {
    let ticks = busy_ticks(&std::fs::read_to_string("/proc/stat").ok()?)?;
    Some(ticks as f64 / clock_ticks_per_second() as f64)
}

/// Of /proc/stat's first line (proc_stat(5)): user, nice, system, then idle and iowait, which are none, then irq and softirq.
/// What was stolen was somebody else's, and guests are in user.
fn busy_ticks(stat: &str) -> Option<u64> {
    let fields: Option<Vec<u64>> =
        stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace().map(|n| n.parse().ok()).collect();
    let fields = fields?;
    [0, 1, 2, 5, 6].iter().map(|n| fields.get(*n)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_added_up_and_their_parts_are_not() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(package_joules(folder.path()), None, "no counter");
        for (zone, microjoules) in [
            ("intel-rapl:0", "1500000\n"),
            ("intel-rapl:0:0", "900000\n"),
            ("intel-rapl:1", "2000000\n"),
            ("dtpm", "7\n"),
        ] {
            std::fs::create_dir(folder.path().join(zone)).expect("a zone");
            std::fs::write(folder.path().join(zone).join("energy_uj"), microjoules).expect("written");
        }
        assert_eq!(package_joules(folder.path()), Some(3.5));
    }

    #[test]
    fn who_waits_does_not_work() {
        assert_eq!(busy_ticks("cpu  100 20 30 4000 500 6 7 80 9 0\ncpu0 1 2 3 4\n"), Some(163));
        for broken in ["", "cpu", "cpu 1 2", "cpu0 1 2 3 4 5 6 7", "cpu 1 2 three 4 5 6 7"] {
            assert_eq!(busy_ticks(broken), None, "{broken}");
        }
    }

    #[test]
    fn work_of_this_process_is_work_of_the_machine() {
        let meter = Meter::start();
        let until = std::time::Instant::now() + std::time::Duration::from_millis(200);
        while std::time::Instant::now() < until {
            std::hint::spin_loop();
        }
        let own = meter.spent().0;
        // The kernel counts in ticks, of which one may be missing at either end.
        let all = meter.spent_by_all().expect("/proc/stat");
        assert!(own > 0.0 && all > own - 0.03, "{own} of {all}");
    }
}
