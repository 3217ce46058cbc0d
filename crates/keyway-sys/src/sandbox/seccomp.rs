//! Seccomp: filters over a process's system calls, out of the lists in [`calls`](super::calls).
//!
//! There are three, and the kernel takes the strictest answer: one ends the process at what nothing but an attack
//! would call; one says of `clone3`, whose flags lie in memory where no filter sees them, that there is none, so that
//! the C library takes `clone`; the last lets through what the role needs and refuses the rest.

use super::Role;
use super::calls::{self, Call, Only};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch,
};
use std::collections::BTreeMap;
use std::io;

/// `SECCOMP_FILTER_FLAG_TSYNC`: for all threads at once.
const ALL_THREADS: libc::c_ulong = 1;
/// `SECCOMP_FILTER_FLAG_LOG`: the kernel's log says what was refused.
const LOG: libc::c_ulong = 2;
/// `SECCOMP_FILTER_FLAG_SPEC_ALLOW`: no mitigation is turned on that costs all of the process's memory accesses; it
/// runs no code of others.
const SAME_SPEED: libc::c_ulong = 4;

/// Whether this kernel has filters.
pub(super) fn is_available() -> bool {
    let kill = libc::SECCOMP_RET_KILL_PROCESS;
    // SAFETY: the operation reads one number from where it is told, and changes nothing.
    let done = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0 as libc::c_ulong, &raw const kill)
    };
    done == 0 && TargetArch::try_from(std::env::consts::ARCH).is_ok()
}

/// All threads of this process are left with the role's calls.
pub(super) fn enter(role: Role) -> io::Result<()> {
    let no_such_call = SeccompAction::Errno(libc::ENOSYS as u32);
    let refused = SeccompAction::Errno(libc::EPERM as u32);
    let attacks = calls::ATTACKS.iter().map(|call| Call(*call, Only::Any)).collect::<Vec<_>>();
    let attacks = compile(&attacks, SeccompAction::Allow, SeccompAction::KillProcess)?;
    let clone3 = compile(&[Call(libc::SYS_clone3, Only::Any)], SeccompAction::Allow, no_such_call)?;
    let needed = compile(&calls::of(role), refused, SeccompAction::Allow)?;
    install(&attacks, LOG)?;
    // The C library asks for it with each thread, and nobody wants to read that.
    install(&clone3, 0)?;
    // The last one: it lets no other follow.
    install(&needed, LOG)
}

fn compile(calls: &[Call], other: SeccompAction, these: SeccompAction) -> io::Result<BpfProgram> {
    let mut rules = BTreeMap::<i64, Vec<SeccompRule>>::new();
    for Call(number, only) in calls {
        rules.entry(*number).or_default().extend(conditions(only).map_err(io::Error::other)?);
    }
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let filter = SeccompFilter::new(rules, other, these, arch).map_err(io::Error::other)?;
    BpfProgram::try_from(filter).map_err(io::Error::other)
}

/// A rule for each value that an argument may have; none where it may have any.
fn conditions(only: &Only) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let rule = |argument, operator, value| {
        let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)?;
        SeccompRule::new(vec![condition])
    };
    match *only {
        Only::Any => Ok(Vec::new()),
        Only::OneOf(argument, values) => {
            values.iter().map(|value| rule(argument, SeccompCmpOp::Eq, u64::from(*value))).collect()
        }
        Only::Bits(argument, mask, value) => {
            Ok(vec![rule(argument, SeccompCmpOp::MaskedEq(u64::from(mask)), u64::from(value))?])
        }
        Only::Us(argument) => Ok(vec![rule(argument, SeccompCmpOp::Eq, u64::from(std::process::id()))?]),
    }
}

fn install(program: &BpfProgram, log: libc::c_ulong) -> io::Result<()> {
    let as_kernel = |line: &seccompiler::sock_filter| libc::sock_filter {
        code: line.code,
        jt: line.jt,
        jf: line.jf,
        k: line.k,
    };
    let mut lines: Vec<libc::sock_filter> = program.iter().map(as_kernel).collect();
    let len = u16::try_from(lines.len()).map_err(io::Error::other)?;
    let program = libc::sock_fprog { len, filter: lines.as_mut_ptr() };
    let set = |flags: libc::c_ulong| {
        // SAFETY: the kernel reads the program and the lines that it points to, which live until the end of this
        // function, and keeps a copy.
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) }
    };
    let mut done = set(ALL_THREADS | log | SAME_SPEED);
    if done < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL) {
        // Before Linux 4.17.
        done = set(ALL_THREADS);
    }
    match done {
        0 => Ok(()),
        ..0 => Err(io::Error::last_os_error()),
        thread => Err(io::Error::other(format!("thread {thread} has filters of its own"))),
    }
}
