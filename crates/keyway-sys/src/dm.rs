//! The kernel's device-mapper: block devices made of others by a table.
//!
//! Numbers and structures: `include/uapi/linux/dm-ioctl.h`. A table carries no key here: keys go through
//! the kernel's keyring ([`crate::KernelKey`]).

use rustix::ioctl::{Ioctl, IoctlOutput, Opcode, ioctl};
use std::fs::{File, OpenOptions};
use std::io;

/// Where device-mapper is asked.
pub const DM_CONTROL: &str = "/dev/mapper/control";

/// `_IOWR(0xfd, number, struct dm_ioctl)`.
const fn opcode(number: u32) -> Opcode {
    (3 << 30 | (HEADER_BYTES as u32) << 16 | 0xfd << 8 | number) as Opcode
}

/// `DM_VERSION_CMD`.
const VERSION: Opcode = opcode(0);
/// `DM_LIST_DEVICES_CMD`.
const LIST_DEVICES: Opcode = opcode(2);
/// `DM_DEV_CREATE_CMD`.
const CREATE: Opcode = opcode(3);
/// `DM_DEV_REMOVE_CMD`.
const REMOVE: Opcode = opcode(4);
/// `DM_DEV_SUSPEND_CMD`; without its flag `DM_SUSPEND_FLAG` it makes the loaded table the live one.
const RESUME: Opcode = opcode(6);
/// `DM_TABLE_LOAD_CMD`.
const TABLE_LOAD: Opcode = opcode(9);
/// `DM_GET_TARGET_VERSION_CMD` (Linux 5.4); loads the target's module.
const TARGET_VERSION: Opcode = opcode(17);

/// `DM_READONLY_FLAG`.
const FLAG_READ_ONLY: u32 = 1;
/// `DM_BUFFER_FULL_FLAG`.
const FLAG_BUFFER_FULL: u32 = 1 << 8;
/// `DM_SECURE_DATA_FLAG`: the kernel wipes its copies of the buffer.
const FLAG_SECURE: u32 = 1 << 15;

/// `DM_NAME_LEN` and `DM_UUID_LEN`, with the zero at the end.
const NAME_BYTES: usize = 128;
const UUID_BYTES: usize = 129;
/// `sizeof(struct dm_ioctl)`.
const HEADER_BYTES: usize = 312;
/// Offsets in it.
const DATA_SIZE_AT: usize = 12;
const DATA_START_AT: usize = 16;
const TARGETS_AT: usize = 20;
const FLAGS_AT: usize = 28;
const DEVICE_AT: usize = 40;
const NAME_AT: usize = 48;
const UUID_AT: usize = NAME_AT + NAME_BYTES;

/// `sizeof(struct dm_target_spec)`: start, length, status, next, type.
const TARGET_BYTES: usize = 40;
/// `DM_MAX_TYPE_NAME`.
const TYPE_BYTES: usize = 16;
/// The interface that this was written for: 4.0.0, which every kernel since 2.6 serves.
const INTERFACE: [u32; 3] = [4, 0, 0];
/// Room for an answer, in bytes; it doubles while the kernel says that it is too little.
const ROOM: usize = 16 << 10;
/// The most of it.
const MOST_ROOM: usize = 4 << 20;

/// A run of sectors and what stands behind them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DmTarget {
    /// First sector of the device, in units of 512 bytes.
    pub start: u64,
    /// Length in units of 512 bytes.
    pub len: u64,
    /// The kind: "crypt", "linear", "zero".
    pub kind: &'static str,
    /// Its parameters, as the kernel's `admin-guide/device-mapper` has them.
    pub params: String,
}

/// A device as the kernel numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DmDevice {
    /// Major number.
    pub major: u32,
    /// Minor number: the N of `/dev/dm-N`.
    pub minor: u32,
}

impl DmDevice {
    /// `huge_encode_dev` of the kernel's `kdev_t.h`, undone.
    fn decode(number: u64) -> Self {
        Self { major: (number >> 8 & 0xfff) as u32, minor: (number & 0xff | number >> 12 & 0xf_ff00) as u32 }
    }
}

/// The way to ask device-mapper. Needs root (`CAP_SYS_ADMIN`).
pub struct DeviceMapper(File);

impl DeviceMapper {
    /// Opens the way, and asks for the interface's version, so that a refusal comes here.
    ///
    /// # Errors
    /// `NotFound` where the kernel has no device-mapper or has not loaded it, `PermissionDenied`.
    pub fn open() -> io::Result<Self> {
        let mapper = Self(OpenOptions::new().read(true).write(true).open(DM_CONTROL)?);
        mapper.ask(VERSION, Request::new("", 0))?;
        Ok(mapper)
    }

    /// The version of a kind of target; its module is loaded for it.
    ///
    /// # Errors
    /// `InvalidInput` or `NotFound` where the kernel has none, `Unsupported` before Linux 5.4.
    pub fn target_version(&self, kind: &str) -> io::Result<[u32; 3]> {
        let answer =
            self.ask(TARGET_VERSION, Request::new(kind, ROOM)).map_err(|e| match e.raw_os_error() {
                Some(libc::ENOTTY) => io::ErrorKind::Unsupported.into(),
                _ => e,
            })?;
        // `struct dm_target_versions`: next, version[3], name.
        let at = answer.u32_at(DATA_START_AT) as usize;
        Ok([answer.u32_at(at + 4), answer.u32_at(at + 8), answer.u32_at(at + 12)])
    }

    /// Makes a device of that name with no table.
    ///
    /// # Errors
    /// `ResourceBusy` where there is one of that name or UUID.
    pub fn create(&self, name: &str, uuid: &str) -> io::Result<DmDevice> {
        let mut request = Request::new(name, 0);
        request.text(UUID_AT, UUID_BYTES, uuid)?;
        Ok(self.ask(CREATE, request)?.device())
    }

    /// Loads a table, which the kernel checks; it is not the live one before [`DeviceMapper::resume`].
    ///
    /// # Errors
    /// `NotFound` where a cipher is unknown, `ResourceBusy` where a device under it is in use,
    /// `InvalidInput` for a table that the kernel does not take (its log says why).
    pub fn load(&self, name: &str, targets: &[DmTarget], read_only: bool) -> io::Result<()> {
        let mut request = Request::new(name, 0);
        request.put_u32(FLAGS_AT, FLAG_SECURE | if read_only { FLAG_READ_ONLY } else { 0 });
        for target in targets {
            request.target(target)?;
        }
        self.ask(TABLE_LOAD, request).map(drop)
    }

    /// Makes the loaded table the live one.
    pub fn resume(&self, name: &str) -> io::Result<DmDevice> {
        Ok(self.ask(RESUME, Request::new(name, 0))?.device())
    }

    /// Removes a device; the kernel wipes the keys of its table.
    ///
    /// # Errors
    /// `ResourceBusy` while anybody has it open; nothing changes then.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match self.ask(REMOVE, Request::new(name, 0)) {
            // ENXIO: there is none of that name.
            Err(e) if e.raw_os_error() == Some(libc::ENXIO) => Ok(()),
            done => done.map(drop),
        }
    }

    /// Every device: its name and number.
    pub fn devices(&self) -> io::Result<Vec<(String, DmDevice)>> {
        let answer = self.ask(LIST_DEVICES, Request::new("", ROOM))?;
        Ok(answer.names())
    }

    /// Asks; with more room where the answer did not fit.
    fn ask(&self, opcode: Opcode, request: Request) -> io::Result<Request> {
        let mut room = request.0.len();
        loop {
            let mut tried = Request(request.0.clone());
            tried.0.resize(room, 0);
            tried.put_u32(DATA_SIZE_AT, u32::try_from(room).map_err(|_| io::ErrorKind::InvalidInput)?);
            // SAFETY: the buffer begins with a `struct dm_ioctl` that says how long the buffer is; the
            // kernel reads and writes no more of it than that.
            unsafe { ioctl(&self.0, Exchange { opcode, buffer: &mut tried.0 }) }?;
            if tried.u32_at(FLAGS_AT) & FLAG_BUFFER_FULL == 0 {
                return Ok(tried);
            }
            room = room.saturating_mul(2).max(ROOM);
            if room > MOST_ROOM {
                return Err(io::Error::other("device-mapper's answer does not end"));
            }
        }
    }
}

/// `struct dm_ioctl` and what follows it.
struct Request(Vec<u8>);

impl Request {
    /// About a device or kind of that name, with `room` bytes for an answer.
    fn new(name: &str, room: usize) -> Self {
        let mut request = Self(vec![0; HEADER_BYTES + room]);
        for (n, number) in INTERFACE.into_iter().enumerate() {
            request.put_u32(4 * n, number);
        }
        request.put_u32(DATA_START_AT, HEADER_BYTES as u32);
        // A name that is too long is cut here and unknown to the kernel.
        let name = name.get(..name.len().min(NAME_BYTES - 1)).unwrap_or_default();
        request.put(NAME_AT, name.as_bytes());
        request
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        if let Some(place) = self.0.get_mut(at..at + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    }

    fn put_u32(&mut self, at: usize, number: u32) {
        self.put(at, &number.to_ne_bytes());
    }

    fn text(&mut self, at: usize, room: usize, text: &str) -> io::Result<()> {
        if text.len() >= room || text.contains('\0') {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.put(at, text.as_bytes());
        Ok(())
    }

    /// Appends a `struct dm_target_spec` and its parameters, padded to 8 bytes.
    fn target(&mut self, target: &DmTarget) -> io::Result<()> {
        let at = self.0.len();
        let len = (TARGET_BYTES + target.params.len() + 1).next_multiple_of(8);
        self.0.resize(at + len, 0);
        self.put(at, &target.start.to_ne_bytes());
        self.put(at + 8, &target.len.to_ne_bytes());
        self.put_u32(at + 20, u32::try_from(len).map_err(|_| io::ErrorKind::InvalidInput)?);
        self.text(at + 24, TYPE_BYTES, target.kind)?;
        self.text(at + TARGET_BYTES, target.params.len() + 1, &target.params)?;
        let targets = self.u32_at(TARGETS_AT) + 1;
        self.put_u32(TARGETS_AT, targets);
        Ok(())
    }

    fn u32_at(&self, at: usize) -> u32 {
        let bytes = self.0.get(at..at.saturating_add(4)).and_then(|b| b.try_into().ok());
        bytes.map_or(0, u32::from_ne_bytes)
    }

    fn u64_at(&self, at: usize) -> u64 {
        let bytes = self.0.get(at..at.saturating_add(8)).and_then(|b| b.try_into().ok());
        bytes.map_or(0, u64::from_ne_bytes)
    }

    fn device(&self) -> DmDevice {
        DmDevice::decode(self.u64_at(DEVICE_AT))
    }

    /// A chain of `struct dm_name_list`: device, next, name.
    fn names(&self) -> Vec<(String, DmDevice)> {
        let mut found = Vec::new();
        let mut at = self.u32_at(DATA_START_AT) as usize;
        loop {
            let device = self.u64_at(at);
            let name = self.0.get(at.saturating_add(12)..).unwrap_or_default();
            let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
            // A list of none is one entry of zeros.
            if device == 0 || name.is_empty() {
                return found;
            }
            found.push((String::from_utf8_lossy(name).into_owned(), DmDevice::decode(device)));
            match self.u32_at(at + 8) as usize {
                0 => return found,
                next => at = at.saturating_add(next),
            }
        }
    }
}

/// A call whose buffer is read and written.
struct Exchange<'a> {
    opcode: Opcode,
    buffer: &'a mut [u8],
}

// SAFETY: the pointer is to the buffer, whose length the structure in it tells.
unsafe impl Ioctl for Exchange<'_> {
    type Output = ();
    const IS_MUTATING: bool = true;
    fn opcode(&self) -> Opcode {
        self.opcode
    }
    fn as_ptr(&mut self) -> *mut rustix::ffi::c_void {
        self.buffer.as_mut_ptr().cast()
    }
    unsafe fn output_from_ptr(_: IoctlOutput, _: *mut rustix::ffi::c_void) -> rustix::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As strace(1) and the kernel's header have them.
    #[test]
    fn numbers_are_the_kernels() {
        assert_eq!(VERSION, 0xc138_fd00);
        assert_eq!(TABLE_LOAD, 0xc138_fd09);
        assert_eq!(DmDevice::decode(254 << 8 | 3), DmDevice { major: 254, minor: 3 });
        // Minor 256 lies above the major number.
        assert_eq!(DmDevice::decode(1 << 20 | 254 << 8), DmDevice { major: 254, minor: 256 });
        assert_eq!(UUID_AT + UUID_BYTES + 7, HEADER_BYTES);
    }

    #[test]
    fn targets_lie_one_behind_the_other() {
        let mut request = Request::new("name", 0);
        for (start, params) in [(0, "1234567"), (8, "")] {
            let target = DmTarget { start, len: 8, kind: "linear", params: params.to_owned() };
            request.target(&target).expect("short");
        }
        assert_eq!(request.u32_at(TARGETS_AT), 2);
        assert_eq!(request.u32_at(HEADER_BYTES + 20), 48);
        assert_eq!(request.u64_at(HEADER_BYTES + 48), 8);
        assert_eq!(request.0.len(), HEADER_BYTES + 48 + 48);
        let long = DmTarget { start: 0, len: 1, kind: "a-name-that-is-long", params: String::new() };
        assert!(request.target(&long).is_err());
    }

    #[test]
    fn an_answer_that_lies_ends() {
        let mut request = Request::new("", 64);
        request.put(HEADER_BYTES, &(254u64 << 8).to_ne_bytes());
        request.put(HEADER_BYTES + 12, b"first\0");
        request.put_u32(HEADER_BYTES + 8, 24);
        request.put(HEADER_BYTES + 24, &(254u64 << 8 | 1).to_ne_bytes());
        request.put(HEADER_BYTES + 36, b"second\0");
        request.put_u32(HEADER_BYTES + 32, u32::MAX);
        let names: Vec<String> = request.names().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["first", "second"]);
    }
}
