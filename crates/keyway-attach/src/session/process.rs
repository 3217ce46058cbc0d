//! A process as `/proc` shows it.

/// What `/proc/PID/stat` says (proc(5)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Process {
    /// `T` where it is stopped, `t` where a debugger holds it, `D` where it waits for a medium.
    pub(super) state: char,
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
            worked: number(14)?.saturating_add(number(15)?),
            started: number(22)?,
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let stat = "42 (a) T 1 (x) S 1 42 42 0 -1 4194560 100 0 0 0 7 5 0 0 20 0 9 0 123456 0 0";
        let seen = Process::parse(stat).expect("whole");
        assert_eq!(seen, Process { state: 'S', worked: 12, started: 123_456 });
        assert!(!seen.is_stopped());
        assert_eq!(Process::parse("42 (a) S 1"), None);
        let own = Process::look(std::process::id()).expect("it runs");
        assert!(own.started > 0 && Process::look(u32::MAX).is_none());
    }
}
