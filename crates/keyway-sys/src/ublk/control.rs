//! The control plane: devices are added, described, started, recovered, stopped and deleted.

use super::{READ, READ_WRITE, command};
use io_uring::{IoUring, cqueue, opcode, squeue, types};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;

/// Where commands go.
pub const UBLK_CONTROL: &str = "/dev/ublk-control";

/// Bytes of `struct ublksrv_ctrl_cmd`.
const CTRL_CMD: usize = 32;
const ADD_DEV: u32 = command(READ_WRITE, CTRL_CMD, 0x04);
const DEL_DEV: u32 = command(READ_WRITE, CTRL_CMD, 0x05);
const START_DEV: u32 = command(READ_WRITE, CTRL_CMD, 0x06);
const STOP_DEV: u32 = command(READ_WRITE, CTRL_CMD, 0x07);
const SET_PARAMS: u32 = command(READ_WRITE, CTRL_CMD, 0x08);
const START_USER_RECOVERY: u32 = command(READ_WRITE, CTRL_CMD, 0x10);
const END_USER_RECOVERY: u32 = command(READ_WRITE, CTRL_CMD, 0x11);
/// `UBLK_U_CMD_GET_DEV_INFO2`: the other one does not answer where the path must be given.
const GET_DEV_INFO: u32 = command(READ, CTRL_CMD, 0x12);
const GET_FEATURES: u32 = command(READ, CTRL_CMD, 0x13);

/// `UBLK_F_USER_RECOVERY` and `UBLK_F_USER_RECOVERY_REISSUE`: when its server dies the device waits for another
/// one, which then gets the requests that were not answered.
const RECOVERY: u64 = 1 << 3 | 1 << 4;
/// `UBLK_F_UNPRIVILEGED_DEV`: a device of somebody without CAP_SYS_ADMIN. Every command to it must name the node of
/// its server's side, which the sender must be allowed to write to; and only its owner may open it.
const UNPRIVILEGED: u64 = 1 << 5;
/// `UBLK_F_CMD_IOCTL_ENCODE`.
const IOCTL_ENCODE: u64 = 1 << 6;

/// `UBLK_ATTR_READ_ONLY`, `UBLK_ATTR_VOLATILE_CACHE` and `UBLK_ATTR_FUA`.
const READ_ONLY: u32 = 1;
const VOLATILE_CACHE: u32 = 1 << 2;
const FUA: u32 = 1 << 3;
/// `UBLK_PARAM_TYPE_BASIC` and `UBLK_PARAM_TYPE_DISCARD`.
const BASIC_AND_DISCARD: u32 = 1 | 1 << 1;

/// What the kernel counts in, whatever a device's sectors are.
const SECTOR: u64 = 512;
/// A page, as `2^12` bytes.
const PAGE_SHIFT: u8 = 12;
/// The most that is discarded, and zeroed, by one request: the latter is written as encrypted zeros while
/// others wait.
const MAX_DISCARD: u64 = 1 << 30;
const MAX_ZEROES: u64 = 4 << 20;

/// `struct ublksrv_ctrl_dev_info`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct DeviceInfo {
    queues: u16,
    queue_depth: u16,
    state: u16,
    pad0: u16,
    max_io_bytes: u32,
    id: u32,
    server_pid: i32,
    pad1: u32,
    flags: u64,
    server_flags: u64,
    owner_uid: u32,
    owner_gid: u32,
    reserved: [u64; 2],
}

/// The first parts of `struct ublk_params`: `ublk_param_basic` and `ublk_param_discard`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Params {
    len: u32,
    types: u32,
    attributes: u32,
    logical_shift: u8,
    physical_shift: u8,
    io_opt_shift: u8,
    io_min_shift: u8,
    max_sectors: u32,
    chunk_sectors: u32,
    device_sectors: u64,
    virt_boundary_mask: u64,
    discard_alignment: u32,
    discard_granularity: u32,
    max_discard_sectors: u32,
    max_write_zeroes_sectors: u32,
    max_discard_segments: u16,
    reserved: u16,
    /// The structure's size is a multiple of 8.
    padding: u32,
}

/// What a device is like.
#[derive(Debug, Clone, Copy)]
pub struct UblkParameters {
    /// Its size in bytes.
    pub size: u64,
    /// Its logical sectors' size in bytes: a power of two from 512 to 4096.
    pub sector_bytes: u32,
    /// Whether it takes no writes.
    pub read_only: bool,
    /// Whether it has discards to offer.
    pub discards: bool,
    /// The largest read or write, in bytes.
    pub max_io_bytes: u32,
}

/// Whether a device is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UblkState {
    /// It is not there for others, or not any more.
    Dead,
    /// Somebody serves it.
    Live,
    /// Its server died. Requests wait for another one.
    Quiesced,
    /// The same, with requests failing meanwhile; or something newer.
    Other(u16),
}

/// A device as the kernel knows it.
#[derive(Debug, Clone, Copy)]
pub struct UblkDevice {
    /// Its number: `/dev/ublkcN` for its server, `/dev/ublkbN` for everybody.
    pub id: u32,
    /// Its queues.
    pub queues: u16,
    /// Requests at once in each.
    pub queue_depth: u16,
    /// The largest read or write, in bytes.
    pub max_io_bytes: u32,
    /// Whether it is served.
    pub state: UblkState,
    /// The process that serves it, or did.
    pub server: i32,
    /// Whatever was given to [`UblkControl::add`].
    pub tag: u64,
    /// Whether it belongs to a user without CAP_SYS_ADMIN. Such a device does not outlive its server.
    pub unprivileged: bool,
    /// Who made it: user and group.
    pub owner: (u32, u32),
}

/// What a device shall be like before it has parameters.
#[derive(Debug, Clone, Copy)]
pub struct NewUblk {
    /// Its number.
    pub id: u32,
    /// Its queues.
    pub queues: u16,
    /// Requests at once in each.
    pub queue_depth: u16,
    /// The largest read or write, in bytes.
    pub max_io_bytes: u32,
    /// Kept for whoever finds the device.
    pub tag: u64,
    /// Whether it is made without CAP_SYS_ADMIN, and then ends with its server.
    pub unprivileged: bool,
    /// Whether it outlives its server, where it may.
    pub outlives: bool,
}

/// The node of the side of a device that its server has.
pub fn ublk_character(id: u32) -> String {
    format!("/dev/ublkc{id}")
}

impl From<DeviceInfo> for UblkDevice {
    fn from(info: DeviceInfo) -> Self {
        Self {
            id: info.id,
            queues: info.queues,
            queue_depth: info.queue_depth,
            max_io_bytes: info.max_io_bytes,
            state: match info.state {
                0 => UblkState::Dead,
                1 => UblkState::Live,
                2 => UblkState::Quiesced,
                other => UblkState::Other(other),
            },
            server: info.server_pid,
            tag: info.server_flags,
            unprivileged: info.flags & UNPRIVILEGED != 0,
            owner: (info.owner_uid, info.owner_gid),
        }
    }
}

/// The driver's control device.
pub struct UblkControl {
    ring: IoUring<squeue::Entry128, cqueue::Entry>,
    file: File,
}

/// To whom a command goes.
#[derive(Clone, Copy)]
struct Target {
    id: u32,
    /// Whether the node must be named.
    by_path: bool,
}

impl From<&UblkDevice> for Target {
    fn from(device: &UblkDevice) -> Self {
        Self { id: device.id, by_path: device.unprivileged }
    }
}

/// A structure that is nothing but its bytes.
///
/// # Safety
/// It has no padding, and every bit pattern is a value of it.
unsafe trait Plain: Sized {
    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: as the trait says; borrowed from `self` alone.
        unsafe { std::slice::from_raw_parts_mut((&raw mut *self).cast(), size_of::<Self>()) }
    }
}

// SAFETY: numbers, all of them fields (a test knows their sizes).
unsafe impl Plain for DeviceInfo {}
// SAFETY: as above.
unsafe impl Plain for Params {}
// SAFETY: a number.
unsafe impl Plain for u64 {}

impl UblkControl {
    /// Opens the control device of a driver that can do what is needed: devices that outlive their server.
    ///
    /// # Errors
    /// `NotFound`: the driver is not there, or not loaded; `PermissionDenied`; `Unsupported`: it is too old.
    pub fn open() -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(UBLK_CONTROL)?;
        let ring = IoUring::builder().dontfork().build(4)?;
        let mut control = Self { ring, file };
        let mut features = 0u64;
        let old = io::ErrorKind::Unsupported;
        let nobody = Target { id: 0, by_path: false };
        control.send(GET_FEATURES, nobody, features.bytes(), 0).map_err(|_| old)?;
        let wanted = RECOVERY | UNPRIVILEGED | IOCTL_ENCODE;
        if features & wanted == wanted { Ok(control) } else { Err(old.into()) }
    }

    /// Adds a device: `/dev/ublkcN` appears, and whoever opens it serves its queues.
    ///
    /// # Errors
    /// `AlreadyExists`: the number is taken; the kernel's reason.
    pub fn add(&mut self, new: &NewUblk) -> io::Result<UblkDevice> {
        let mut info = DeviceInfo {
            queues: new.queues,
            queue_depth: new.queue_depth,
            max_io_bytes: new.max_io_bytes,
            id: new.id,
            flags: IOCTL_ENCODE
                | match new {
                    NewUblk { unprivileged: true, .. } => UNPRIVILEGED,
                    NewUblk { outlives: true, .. } => RECOVERY,
                    _ => 0,
                },
            server_flags: new.tag,
            ..DeviceInfo::default()
        };
        // There is no node yet that could be named.
        self.send(ADD_DEV, Target { id: new.id, by_path: false }, info.bytes(), 0)?;
        Ok(info.into())
    }

    /// What the kernel knows of a device.
    ///
    /// # Errors
    /// `NotFound`: there is none of that number; `PermissionDenied`: it is somebody else's.
    pub fn look(&mut self, id: u32) -> io::Result<UblkDevice> {
        let mut info = DeviceInfo::default();
        match self.send(GET_DEV_INFO, Target { id, by_path: true }, info.bytes(), 0) {
            Err(e) if e.raw_os_error() == Some(libc::ENODEV) => Err(io::ErrorKind::NotFound.into()),
            done => done.map(|()| info.into()),
        }
    }

    /// Describes a device that was not started yet.
    pub fn describe(&mut self, device: &UblkDevice, parameters: &UblkParameters) -> io::Result<()> {
        let shift =
            parameters.sector_bytes.checked_ilog2().filter(|_| parameters.sector_bytes.is_power_of_two());
        let shift = shift.ok_or(io::ErrorKind::InvalidInput)? as u8;
        let (read_only, discards) = (parameters.read_only, parameters.discards && !parameters.read_only);
        let sectors = |bytes: u64| (bytes / SECTOR) as u32;
        let mut params = Params {
            len: size_of::<Params>() as u32,
            types: BASIC_AND_DISCARD,
            attributes: VOLATILE_CACHE | FUA | if read_only { READ_ONLY } else { 0 },
            logical_shift: shift,
            physical_shift: shift.max(PAGE_SHIFT),
            io_opt_shift: PAGE_SHIFT,
            io_min_shift: shift.max(PAGE_SHIFT),
            max_sectors: sectors(parameters.max_io_bytes.into()),
            device_sectors: parameters.size / SECTOR,
            discard_granularity: 1 << PAGE_SHIFT,
            max_discard_sectors: if discards { sectors(MAX_DISCARD) } else { 0 },
            max_write_zeroes_sectors: if read_only { 0 } else { sectors(MAX_ZEROES) },
            max_discard_segments: 1,
            ..Params::default()
        };
        self.send(SET_PARAMS, device.into(), params.bytes(), 0)
    }

    /// Shows the device to everybody; it must be served by now. `/dev/ublkbN` appears.
    pub fn start(&mut self, device: &UblkDevice) -> io::Result<()> {
        self.send(START_DEV, device.into(), &mut [], std::process::id().into())
    }

    /// The device's server is dead and this process will serve it: called before `/dev/ublkcN` is opened.
    ///
    /// # Errors
    /// `ResourceBusy` while the kernel still cleans up after the dead one; anything else is final.
    pub fn begin_recovery(&mut self, device: &UblkDevice) -> io::Result<()> {
        self.send(START_USER_RECOVERY, device.into(), &mut [], 0)
    }

    /// All queues are served again: waiting requests come.
    pub fn end_recovery(&mut self, device: &UblkDevice) -> io::Result<()> {
        self.send(END_USER_RECOVERY, device.into(), &mut [], std::process::id().into())
    }

    /// Takes the device from everybody. Requests that are with its server are waited for; those that nobody
    /// serves fail.
    pub fn stop(&mut self, device: &UblkDevice) -> io::Result<()> {
        self.send(STOP_DEV, device.into(), &mut [], 0)
    }

    /// Deletes a device, and waits until its server has closed `/dev/ublkcN`.
    pub fn delete(&mut self, device: &UblkDevice) -> io::Result<()> {
        self.send(DEL_DEV, device.into(), &mut [], 0)
    }

    /// Sends a command with the structure that it reads or fills, if any, and waits for its end.
    fn send(&mut self, operation: u32, to: Target, structure: &mut [u8], data: u64) -> io::Result<()> {
        // The path comes first, and the kernel takes it off.
        let path = if to.by_path { ublk_character(to.id).into_bytes() } else { Vec::new() };
        let mut buffer = [&path, &*structure].concat();
        let too_long = |_| io::Error::from(io::ErrorKind::InvalidInput);
        let len = u16::try_from(buffer.len()).map_err(too_long)?;
        let path_len = u16::try_from(path.len()).map_err(too_long)?;
        let address = if buffer.is_empty() { 0 } else { buffer.as_mut_ptr() as u64 };
        let mut bytes = [0u8; 80];
        // `struct ublksrv_ctrl_cmd`: device, queue (none), the buffer's length and address, one number, the path's
        // length.
        let fields: [&[u8]; 6] = [
            &to.id.to_ne_bytes(),
            &u16::MAX.to_ne_bytes(),
            &len.to_ne_bytes(),
            &address.to_ne_bytes(),
            &data.to_ne_bytes(),
            &path_len.to_ne_bytes(),
        ];
        for (to, from) in bytes.iter_mut().zip(fields.into_iter().flatten()) {
            *to = *from;
        }
        let file = types::Fd(self.file.as_raw_fd());
        let entry = opcode::UringCmd80::new(file, operation).cmd(bytes).build();
        // SAFETY: the command reads and writes `buffer`, which is there until it has completed: that is waited for.
        unsafe { self.ring.submission().push(&entry) }
            .map_err(|_| io::Error::new(io::ErrorKind::WouldBlock, "the submission queue is full"))?;
        let done = loop {
            if let Some(done) = self.ring.completion().next() {
                break done;
            }
            match self.ring.submit_and_wait(1) {
                Err(e) if e.kind() != io::ErrorKind::Interrupted => {
                    // The kernel may still write to the buffer, and nobody can say until when.
                    std::process::abort();
                }
                _ => {}
            }
        };
        if done.result() < 0 {
            return Err(io::Error::from_raw_os_error(-done.result()));
        }
        for (to, from) in structure.iter_mut().zip(buffer.iter().skip(path.len())) {
            *to = *from;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes and numbers as the kernel's header has them.
    #[test]
    fn structures_and_commands_are_the_kernels() {
        assert_eq!(size_of::<DeviceInfo>(), 64);
        assert_eq!(std::mem::offset_of!(DeviceInfo, server_flags), 32);
        assert_eq!(size_of::<Params>(), 64);
        assert_eq!(std::mem::offset_of!(Params, device_sectors), 24);
        assert_eq!(std::mem::offset_of!(Params, discard_alignment), 40);
        // _IOWR('u', 0x04, struct ublksrv_ctrl_cmd) and _IOR('u', 0x13, …).
        assert_eq!(ADD_DEV, 0xc020_7504);
        assert_eq!(GET_FEATURES, 0x8020_7513);
    }
}
