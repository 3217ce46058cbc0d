//! Processor time and energy.

use rustix::time::{ClockId, clock_gettime};

/// Processor time and energy since a moment.
pub(crate) struct Meter {
    cpu: f64,
    energy: Option<f64>,
}

impl Meter {
    /// From now on.
    pub(crate) fn start() -> Self {
        Self { cpu: cpu_seconds(), energy: package_joules() }
    }

    /// Processor seconds of this process, and joules of the package where the machine tells them.
    pub(crate) fn spent(&self) -> (f64, Option<f64>) {
        let joules = self.energy.zip(package_joules()).map(|(from, to)| to - from);
        // The counter wraps; a turn in which it did has no figure.
        (cpu_seconds() - self.cpu, joules.filter(|j| *j >= 0.0))
    }
}

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The processor packages' energy counters together, in joules
/// (`Documentation/power/powercap/powercap.rst` in the kernel).
fn package_joules() -> Option<f64> {
    let zones = std::fs::read_dir("/sys/class/powercap").ok()?;
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
