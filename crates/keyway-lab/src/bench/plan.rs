//! Which buffers and numbers of threads are measured.

use super::error::BenchError;
use super::race::Setting;
use keyway_sys::machine;
use std::time::Duration;

/// Sizes of VeraCrypt's benchmark dialog and of requests as they come.
const ALL_BUFFERS: [usize; 5] = [4 << 10, 64 << 10, 1 << 20, 10 << 20, 100 << 20];
/// Where nothing is said; as the first figure of every comparison.
const USUAL_BUFFER: usize = 1 << 20;
/// What the chosen kernel is measured with besides.
const SMALL_BUFFERS: [usize; 2] = [4 << 10, 64 << 10];
/// Twice this, source and target, is more than most caches hold: what memory itself does.
const MEMORY_BUFFER: usize = 128 << 20;

/// Which buffers are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Buffers {
    /// A list of usual ones.
    All,
    /// This many bytes.
    One(usize),
}

/// How many threads are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// One on each core.
    All,
    /// This many.
    Some(u16),
}

/// What is measured.
#[derive(Debug, PartialEq, Eq)]
pub struct BenchPlan {
    /// With every kernel that was asked for.
    pub all_kernels: Vec<Setting>,
    /// With the kernel that would be chosen.
    pub chosen_kernel: Vec<Setting>,
}

impl BenchPlan {
    /// What was asked for; a few settings more for the chosen kernel where nothing was.
    ///
    /// # Errors
    /// The buffers are more than the memory that is free.
    pub fn of(
        buffers: &[Buffers],
        threads: &[Threads],
        any_kernel: bool,
        time: Duration,
    ) -> Result<Self, BenchError> {
        let anything = buffers.is_empty() && threads.is_empty() && any_kernel;
        let mut sizes: Vec<usize> = Vec::new();
        for word in buffers {
            match word {
                Buffers::All => sizes.extend(ALL_BUFFERS),
                Buffers::One(bytes) => sizes.push(*bytes),
            }
        }
        if sizes.is_empty() {
            sizes.push(USUAL_BUFFER);
        }
        let mut numbers: Vec<u16> = threads
            .iter()
            .map(|word| match word {
                Threads::All => cores(),
                Threads::Some(number) => *number,
            })
            .collect();
        if numbers.is_empty() {
            numbers.push(1);
        }
        let mut all_kernels = Vec::new();
        for threads in numbers {
            for &buffer in &sizes {
                push_once(&mut all_kernels, Setting { buffer, threads, time });
            }
        }
        let mut chosen_kernel = Vec::new();
        if anything {
            let small = SMALL_BUFFERS.map(|buffer| Setting { buffer, threads: 1, time });
            chosen_kernel.extend(small);
            if cores() > 1 {
                chosen_kernel.push(Setting { buffer: USUAL_BUFFER, threads: cores(), time });
            }
        }
        let plan = Self { all_kernels, chosen_kernel };
        plan.check_memory()?;
        Ok(plan)
    }

    /// Where copying memory is measured: as the ciphers are, and with more than the caches hold.
    pub(super) fn memory_settings(&self) -> Vec<Setting> {
        let mut settings = Vec::new();
        let measured = || self.all_kernels.iter().chain(&self.chosen_kernel);
        measured().for_each(|&setting| push_once(&mut settings, setting));
        let Some(first) = measured().next() else { return settings };
        for threads in [1, cores()] {
            // The time is for one pass of each turn at least.
            let setting = Setting { buffer: MEMORY_BUFFER, threads, ..*first };
            if fits(setting) {
                push_once(&mut settings, setting);
            }
        }
        settings
    }

    fn check_memory(&self) -> Result<(), BenchError> {
        let settings = self.all_kernels.iter().chain(&self.chosen_kernel);
        match settings.copied().find(|setting| !fits(*setting)) {
            None => Ok(()),
            Some(Setting { buffer, threads, .. }) => Err(BenchError::Memory { buffer, threads }),
        }
    }
}

fn push_once(settings: &mut Vec<Setting>, setting: Setting) {
    if !settings.contains(&setting) {
        settings.push(setting);
    }
}

/// Whether two buffers for each thread can be had.
fn fits(setting: Setting) -> bool {
    let needed = 2 * setting.buffer as u64 * u64::from(setting.threads);
    machine::memory().1.is_none_or(|available| needed <= available)
}

/// Cores that this process may use.
pub(super) fn cores() -> u16 {
    std::thread::available_parallelism().map_or(1, |n| u16::try_from(n.get()).unwrap_or(1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: Duration = Duration::from_millis(1);

    #[test]
    fn what_is_asked_for_is_measured_with_every_kernel() {
        let asked = [Buffers::One(512), Buffers::All, Buffers::One(4096)];
        let plan = BenchPlan::of(&asked, &[Threads::Some(1), Threads::Some(3)], true, TIME).expect("fits");
        assert_eq!(plan.all_kernels.len(), 2 * (1 + 5));
        assert_eq!(plan.all_kernels[0], Setting { buffer: 512, threads: 1, time: TIME });
        assert_eq!(plan.chosen_kernel, []);
    }

    #[test]
    fn the_chosen_kernel_shows_more_where_nothing_is_asked() {
        let plan = BenchPlan::of(&[], &[], true, TIME).expect("fits");
        assert_eq!(plan.all_kernels, [Setting { buffer: 1 << 20, threads: 1, time: TIME }]);
        assert_eq!(plan.chosen_kernel.len(), 2 + usize::from(cores() > 1));
        let named = BenchPlan::of(&[], &[], false, TIME).expect("fits");
        assert_eq!(named.chosen_kernel, []);
        let memory = plan.memory_settings();
        assert!(plan.all_kernels.iter().chain(&plan.chosen_kernel).all(|s| memory.contains(s)));
        assert!(memory.iter().any(|s| s.buffer == MEMORY_BUFFER && s.threads == 1));
    }

    #[test]
    fn more_than_the_memory_is_refused() {
        let refused = BenchPlan::of(&[Buffers::One(1 << 30)], &[Threads::Some(1024)], true, TIME);
        assert!(matches!(refused, Err(BenchError::Memory { buffer: 0x4000_0000, threads: 1024 })));
    }
}
