//! Which system calls a role needs, and which arguments of them.

use super::Role;
use libc::c_long;

/// A system call that may be made, and with what.
pub(super) struct Call(pub(super) c_long, pub(super) Only);

/// What an argument (counted from 0) of a call must be. Filters see 32 bits of it.
pub(super) enum Only {
    /// No matter.
    Any,
    /// One of these.
    OneOf(u8, &'static [u32]),
    /// These bits of it have that value.
    Bits(u8, u32, u32),
    /// This process.
    Us(u8),
}

/// The numbers of an `ioctl` on what is open already: `TCGETS`, `TIOCGWINSZ`, `FIONBIO`, `FIONREAD`; `BLKFLSBUF`,
/// `BLKSSZGET`, `BLKGETSIZE64`, `BLKDISCARD`, `BLKZEROOUT` (`asm-generic/ioctls.h`, `linux/fs.h`).
const IOCTLS: &[u32] = &[0x5401, 0x5413, 0x5421, 0x541B, 0x1261, 0x1268, 0x8008_1272, 0x1277, 0x127F];

/// `PR_SET_NAME`, `PR_GET_NAME`, and the name of a piece of memory (`PR_SET_VMA`).
const PRCTLS: &[u32] = &[15, 16, 0x5356_4D41];

/// A socket that asks the kernel whose a connection is: `AF_NETLINK`; everything else would lead out.
const NETLINK: &[u32] = &[16];

/// Memory, threads, time, and what is open already.
const EVERYWHERE: &[c_long] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_preadv,
    libc::SYS_pwritev,
    libc::SYS_preadv2,
    libc::SYS_pwritev2,
    libc::SYS_lseek,
    libc::SYS_close,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_fcntl,
    libc::SYS_flock,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_fstatfs,
    libc::SYS_readlinkat,
    // A relative path is still told as a whole one.
    libc::SYS_getcwd,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_fallocate,
    libc::SYS_ftruncate,
    libc::SYS_fadvise64,
    libc::SYS_readahead,
    libc::SYS_ppoll,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_mlock,
    libc::SYS_mlock2,
    libc::SYS_munlock,
    libc::SYS_msync,
    libc::SYS_mincore,
    libc::SYS_membarrier,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_set_robust_list,
    libc::SYS_get_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_rseq,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_setaffinity,
    libc::SYS_getcpu,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_getrandom,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_getppid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getrusage,
    libc::SYS_uname,
    libc::SYS_sysinfo,
    libc::SYS_exit,
    libc::SYS_exit_group,
    // Answered with ENOSYS by a filter of its own.
    libc::SYS_clone3,
];

/// What newer processors' kernels have no number for.
#[cfg(target_arch = "x86_64")]
const EVERYWHERE_OLD: &[c_long] =
    &[libc::SYS_poll, libc::SYS_dup2, libc::SYS_readlink, libc::SYS_stat, libc::SYS_lstat, libc::SYS_time];
#[cfg(not(target_arch = "x86_64"))]
const EVERYWHERE_OLD: &[c_long] = &[];

/// New files below the folder that landlock leaves, and in the place of old ones.
const FOLDER: &[c_long] = &[
    libc::SYS_openat,
    libc::SYS_mkdirat,
    libc::SYS_unlinkat,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_utimensat,
];

/// A session's control socket, and those who ask at it.
const CONTROL: &[c_long] = &[
    libc::SYS_accept4,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_setsockopt,
    libc::SYS_getsockopt,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    libc::SYS_shutdown,
];

/// A warden that is there already is asked for what takes a path.
const WARDED: &[c_long] = &[libc::SYS_recvmsg];

/// Rings that were made before.
const RINGS: &[c_long] = &[libc::SYS_io_uring_enter];

/// A virtual machine's notices: events, and who waits for many.
const EVENTS: &[c_long] = &[
    libc::SYS_eventfd2,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_timerfd_create,
    libc::SYS_timerfd_settime,
];
#[cfg(target_arch = "x86_64")]
const EVENTS_OLD: &[c_long] = &[libc::SYS_epoll_wait];
#[cfg(not(target_arch = "x86_64"))]
const EVENTS_OLD: &[c_long] = &[];

/// What nothing in this program calls once it is in a role, by mistake either: it ends the process. Whatever a
/// library might try, and do without, is refused instead.
pub(super) const ATTACKS: &[c_long] = &[
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_open_by_handle_at,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_bpf,
    libc::SYS_userfaultfd,
    libc::SYS_perf_event_open,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_chroot,
    libc::SYS_pivot_root,
    libc::SYS_personality,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
];

/// The calls of a role.
pub(super) fn of(role: Role) -> Vec<Call> {
    let more: &[&[c_long]] = match role {
        Role::Volume => &[],
        Role::CopyIn => &[&[libc::SYS_openat]],
        Role::CopyOut => &[FOLDER],
        Role::Convert => &[WARDED],
        Role::Fuse => &[CONTROL, RINGS],
        Role::Network => &[CONTROL],
        Role::VhostUser => &[CONTROL, EVENTS, EVENTS_OLD],
    };
    let plain = [EVERYWHERE, EVERYWHERE_OLD].iter().chain(more).copied().flatten();
    let mut calls: Vec<Call> = plain.map(|number| Call(*number, Only::Any)).collect();
    calls.extend([
        Call(libc::SYS_clone, Only::Bits(0, libc::CLONE_THREAD as u32, libc::CLONE_THREAD as u32)),
        Call(libc::SYS_mmap, Only::Bits(2, libc::PROT_EXEC as u32, 0)),
        Call(libc::SYS_mprotect, Only::Bits(2, libc::PROT_EXEC as u32, 0)),
        Call(libc::SYS_ioctl, Only::OneOf(1, IOCTLS)),
        Call(libc::SYS_prctl, Only::OneOf(0, PRCTLS)),
        // A panic that ends the process, and a thread that another one wakes.
        Call(libc::SYS_tgkill, Only::Us(0)),
        // Its own limits, of which the C library asks.
        Call(libc::SYS_prlimit64, Only::OneOf(0, &[0])),
    ]);
    if role == Role::Convert {
        // To whom the socket is connected: an address has a length.
        calls.push(Call(libc::SYS_sendto, Only::OneOf(5, &[0])));
    }
    if role == Role::Network {
        calls.push(Call(libc::SYS_socket, Only::OneOf(0, NETLINK)));
    }
    calls
}
