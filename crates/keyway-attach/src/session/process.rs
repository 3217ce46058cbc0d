//! A process as `/proc` shows it.

use rustix::process::Signal;

/// Set in a task that is in `exit(2)` (include/linux/sched.h).
const PF_EXITING: u64 = 4;

/// What `/proc/PID/stat` says (proc(5)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Process {
    /// `T` where it is stopped, `t` where a debugger holds it, `D` where it waits for a medium.
    pub(super) state: char,
    /// The number of its session's leader; 0 where that is none of this container's, or the kernel has let go of it already (-1).
    pub(super) leader: u32,
    /// The kernel's own flags of its main thread.
    flags: u64,
    /// The CPU time of all its threads, in clock ticks.
    pub(super) worked: u64,
    /// When it started, in clock ticks since boot: with its number that names one process.
    pub(super) started: u64,
}

impl Process {
    /// Looks at the process of that number; `None` where there is none, or none to be seen.
    pub(super) fn look(pid: u32) -> Option<Self> {
        let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        Self::parse(&String::from_utf8_lossy(&stat))
    }

    fn parse(stat: &str) -> Option<Self> {
        // The second field is the name in parentheses, which may hold anything.
        let (_, fields) = stat.rsplit_once(')')?;
        // The first of these is field 3.
        let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
        let field = |number: usize| fields.get(number.checked_sub(3)?).copied();
        let number = |at: usize| field(at)?.parse::<u64>().ok();
        Some(Self {
            state: field(3)?.chars().next()?,
            leader: field(6)?.parse().unwrap_or(0),
            flags: number(9)?,
            worked: number(14)?.saturating_add(number(15)?),
            started: number(22)?,
        })
    }

    /// Whether its main thread is ending or has ended. Not all of its threads may have: what they share, files and
    /// their locks among it, goes with the last of them.
    const fn is_ending(&self) -> bool {
        matches!(self.state, 'Z' | 'X') || self.flags & PF_EXITING != 0
    }

    /// Whether it does nothing at all until somebody lets it go on.
    pub(super) const fn is_stopped(&self) -> bool {
        matches!(self.state, 'T' | 't')
    }
}

/// When a process started, in clock ticks since boot: with its number that names one process.
pub fn started(pid: u32) -> Option<u64> {
    Process::look(pid).map(|process| process.started)
}

/// Whether a process is ending or has ended: nothing but the kernel's clearing up is to be waited for. One that can't
/// be seen, as in a container of its own, is not known to.
pub(super) fn is_ending(pid: u32) -> bool {
    Process::look(pid).is_some_and(|process| process.is_ending()) || is_killed(pid)
}

/// Whether SIGKILL has been sent to the process, and it has not come to that yet.
fn is_killed(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    waits_for(&status, Signal::KILL)
}

/// Whether `/proc/PID/status` has the signal among those that wait for the process or its main thread.
fn waits_for(status: &str, signal: Signal) -> bool {
    let bit = 1_u64.checked_shl(signal.as_raw().unsigned_abs().saturating_sub(1)).unwrap_or(0);
    let sets = status.lines().filter_map(|line| line.split_once(':'));
    sets.filter(|(name, _)| matches!(*name, "SigPnd" | "ShdPnd"))
        .filter_map(|(_, set)| u64::from_str_radix(set.trim(), 16).ok())
        .any(|set| set & bit != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_killed_process_is_one_that_ends() {
        let status = |own: &str, all: &str| format!("Name:\tkeyway\nSigPnd:\t{own}\nShdPnd:\t{all}\n");
        let (none, kill, term) = ("0000000000000000", "0000000000000100", "0000000000004000");
        assert!(waits_for(&status(none, kill), Signal::KILL) && waits_for(&status(kill, none), Signal::KILL));
        assert!(!waits_for(&status(term, none), Signal::KILL) && !waits_for("", Signal::KILL));
        assert!(!is_ending(std::process::id()) && !is_ending(u32::MAX));

        let mut child = std::process::Command::new("sleep").arg("1000").spawn().expect("sleep");
        assert!(!is_ending(child.id()));
        child.kill().expect("ours");
        // Nobody has waited for it: it stays there as a zombie.
        while !is_ending(child.id()) {
            std::thread::yield_now();
        }
        child.wait().expect("ours");
    }

    #[test]
    fn a_name_may_hold_anything() {
        let stat = "42 (a) T 1 (x) S 1 42 40 0 -1 4194560 100 0 0 0 7 5 0 0 20 0 9 0 123456 0 0";
        let seen = Process::parse(stat).expect("whole");
        assert_eq!(seen, Process { state: 'S', leader: 40, flags: 4_194_560, worked: 12, started: 123_456 });
        assert!(!seen.is_stopped());
        let going =
            Process::parse("42 (a) X 1 -1 -1 0 -1 4194564 0 0 0 0 0 0 0 0 20 0 1 0 9 0 0").expect("whole");
        assert!(going.is_ending() && going.leader == 0);
        assert_eq!(Process::parse("42 (a) S 1"), None);
        let own = Process::look(std::process::id()).expect("it runs");
        assert!(own.started > 0 && Process::look(u32::MAX).is_none());
    }
}
