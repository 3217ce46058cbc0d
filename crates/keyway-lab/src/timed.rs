//! Keyway's own operations on a drive, timed: making a volume and filling it, unlocking one, encrypting
//! what is there in place.

use crate::error::LabError;
use crate::hardware::Hardware;
use crate::load::{PIECE, write_noise};
use crate::target::Target;
use crate::test_volume::{bitlocker_method, secrets};
use crate::workload::{IN_PLACE_ROOM, Operation, Timed};
use keyway_convert::{Stopped, bitlocker as convert_bitlocker, veracrypt as convert};
use keyway_engine::{Access, Device, Layout, Mapping, Segment};
use keyway_error::Explain;
use keyway_fs::allocation::Allocation;
use keyway_fs::mkfs::{FileSystem, format_into};
use keyway_secret::SecretBytes;
use keyway_store::{AlignedBuf, Operation as Io, Store, StoreError};
use keyway_volume::bitlocker::{self, InPlace, Method, NewProtectors, Secret};
use keyway_volume::veracrypt::{self, Fill, HashName, NewVolume};
use keyway_volume::{Secrets, Stage};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Does an operation once; tells how many seconds it took and how many bytes that was.
pub type TimedWork = dyn Fn(&Timed, &AtomicBool) -> Result<(f64, u64), LabError> + Send + Sync;

/// What BitLocker needs beside the bytes and the journal: three copies of its metadata, the first
/// sectors, and what keeps them at their alignment.
const METADATA_ROOM: u64 = 4 << 20;

/// The password of volumes that live for a turn and hold nothing.
const PASSWORD: &[u8] = b"keyway laboratory";

/// What can be timed on a target.
pub(crate) fn work(
    store: Arc<dyn Store>,
    hardware: Option<&Hardware>,
    target: &Target,
) -> Option<Arc<TimedWork>> {
    match target {
        Target::Plain => Some(Arc::new(move |timed, stop| plain(&store, timed, stop))),
        Target::VeraCrypt(cipher) => {
            let cipher: keyway_cipher::Chain = cipher.parse().ok()?;
            Some(Arc::new(move |timed, stop| volume(&store, cipher, timed, stop)))
        }
        Target::BitLocker(cipher) => {
            let method = bitlocker_method(cipher)?;
            Some(Arc::new(move |timed, stop| bitlocker(&store, method, timed, stop)))
        }
        Target::Hardware(None) => {
            let hardware = hardware?.clone();
            Some(Arc::new(move |timed, _| match timed.operation {
                Operation::InPlace => {
                    let began = Instant::now();
                    hardware.set_up()?;
                    Ok((began.elapsed().as_secs_f64(), timed.bytes))
                }
                _ => {
                    Err(unsuited("a drive that encrypts by itself is neither filled nor derives a key here"))
                }
            }))
        }
        Target::Hardware(Some(_)) | Target::At(_) => None,
    }
}

fn unsuited(why: &str) -> LabError {
    LabError::Unsuited(why.to_owned())
}

fn plain(store: &Arc<dyn Store>, timed: &Timed, stop: &AtomicBool) -> Result<(f64, u64), LabError> {
    let front = Front::of(store, timed.used_bytes.unwrap_or(timed.bytes));
    let began = Instant::now();
    match timed.operation {
        Operation::Format => write_noise(&front, front.size(), stop)?,
        Operation::Unlock => {
            return Err(LabError::NeverUnlocked);
        }
        // What any encryption in place has to do at least: read every byte and write it back.
        Operation::InPlace => {
            let mut piece = AlignedBuf::zeroed(PIECE);
            for at in (0..front.size()).step_by(PIECE) {
                check(stop)?;
                piece.resize(PIECE.min((front.size() - at) as usize));
                front.read_at(&mut piece, at)?;
                front.write_at(&piece, at)?;
            }
            front.flush()?;
        }
    }
    Ok((began.elapsed().as_secs_f64(), front.size()))
}

/// What went wrong, or that somebody wanted it to end.
fn failed(stop: &AtomicBool, e: &dyn Explain) -> LabError {
    match stop.load(Ordering::Relaxed) {
        true => LabError::Stopped,
        false => LabError::volume(e),
    }
}

fn go_on(stop: &AtomicBool) -> ControlFlow<()> {
    if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// A VeraCrypt volume, with the iterations that a user gets.
fn volume(
    store: &Arc<dyn Store>,
    cipher: keyway_cipher::Chain,
    timed: &Timed,
    stop: &AtomicBool,
) -> Result<(f64, u64), LabError> {
    let failed = |e: &dyn Explain| failed(stop, e);
    let secrets = Secrets { pim: None, ..secrets() };
    let fill = if timed.operation == Operation::Format { Fill::Random } else { Fill::Quick };
    let new = NewVolume { secrets: &secrets, cipher, hash: HashName::Sha512, fill };
    if timed.operation == Operation::InPlace {
        let front = Front::of(store, timed.bytes.saturating_add(IN_PLACE_ROOM));
        let moved = timed.bytes.min(convert::room(front.size(), true)) / 4096 * 4096;
        let began = Instant::now();
        let plan = convert::encryption(&front, moved, &new, None).map_err(|e| failed(&e))?;
        let conversion = plan.conversion(&front, None).map_err(|e| failed(&e))?;
        plan.begin(&conversion).map_err(|e| failed(&e))?;
        return match conversion.run(false, &|_, _| go_on(stop)).map_err(|e| failed(&e))? {
            Stopped::Done => Ok((began.elapsed().as_secs_f64(), moved)),
            Stopped::Paused => Err(LabError::Stopped),
        };
    }
    let front = Front::of(store, timed.bytes);
    let began = Instant::now();
    veracrypt::create(&front, &new, &|_, _, _| go_on(stop)).map_err(|e| failed(&e))?;
    if timed.operation == Operation::Format {
        return Ok((began.elapsed().as_secs_f64(), front.size()));
    }
    let began = Instant::now();
    let request = veracrypt::UnlockRequest::new(&secrets);
    veracrypt::unlock(&front, &request).map_err(|e| failed(&e))?;
    Ok((began.elapsed().as_secs_f64(), 0))
}

/// A BitLocker volume with a password.
fn bitlocker(
    store: &Arc<dyn Store>,
    method: Method,
    timed: &Timed,
    stop: &AtomicBool,
) -> Result<(f64, u64), LabError> {
    let failed = |e: &dyn Explain| failed(stop, e);
    let password = || SecretBytes::copy_of(PASSWORD);
    let protectors = NewProtectors { password: Some(password()), ..NewProtectors::default() };
    if timed.operation == Operation::InPlace {
        return bitlocker_in_place(store, method, &protectors, timed, stop);
    }
    let fill = match timed.operation {
        Operation::Format => bitlocker::Fill::Full,
        _ => bitlocker::Fill::UsedSpaceOnly,
    };
    let new = bitlocker::NewVolume {
        protectors: &protectors,
        method,
        fill,
        filesystem: None,
        to_go: false,
        description: "keyway lab",
    };
    let front = Front::of(store, timed.bytes);
    let size = front.size();
    let front: Arc<dyn Store> = Arc::new(front);
    let began = Instant::now();
    bitlocker::create(&front, &new, &|_: Stage, _, _| go_on(stop)).map_err(|e| failed(&e))?;
    if timed.operation == Operation::Format {
        return Ok((began.elapsed().as_secs_f64(), size));
    }
    let secrets = [Secret::Password(password())];
    let began = Instant::now();
    bitlocker::unlock(&front, &bitlocker::UnlockRequest::new(&secrets)).map_err(|e| failed(&e))?;
    Ok((began.elapsed().as_secs_f64(), 0))
}

/// As `keyway encrypt --format bitlocker`; where the workload says how much of the drive is in use, with
/// `--used-space-only` on an exFAT file system that has so much in it.
fn bitlocker_in_place(
    store: &Arc<dyn Store>,
    method: Method,
    protectors: &NewProtectors,
    timed: &Timed,
    stop: &AtomicBool,
) -> Result<(f64, u64), LabError> {
    let failed = |e: &dyn Explain| failed(stop, e);
    let journal = 2 * keyway_convert::segment_bytes(timed.bytes);
    // The metadata and the first sectors, with room for their places' alignment.
    let front = Front::of(store, timed.bytes.saturating_add(journal).saturating_add(METADATA_ROOM));
    if let Some(used) = timed.used_bytes {
        in_use(&front, used, stop)?;
    } else {
        // No file system is known here, whatever the turn before has left.
        front.write_at(&AlignedBuf::zeroed(4096), 0)?;
    }
    let began = Instant::now();
    let volume = InPlace {
        protectors,
        method,
        used_space_only: timed.used_bytes.is_some(),
        description: "keyway lab",
    };
    let wish =
        convert_bitlocker::Wish { volume, file_system_bytes: timed.bytes, journal: None, in_use: false };
    let plan = convert_bitlocker::Plan::encryption(&front, &wish).map_err(|e| failed(&e))?;
    let conversion = plan.conversion(&front, None).map_err(|e| failed(&e))?;
    match plan.run(&conversion, &|_, _| go_on(stop)).map_err(|e| failed(&e))? {
        Stopped::Done => Ok((began.elapsed().as_secs_f64(), plan.bytes())),
        Stopped::Paused => Err(LabError::Stopped),
    }
}

/// Makes an exFAT file system in which so many bytes are in use: as one run, as on a drive that was
/// filled once. As bad clusters, which are in use like any.
fn in_use(front: &Front, used: u64, stop: &AtomicBool) -> Result<(), LabError> {
    let failed = |e: &dyn Explain| failed(stop, e);
    let mapping = Mapping::Plain { store_offset: 0 };
    let layout = Layout::new(front.sector_bytes(), vec![Segment { start: 0, len: front.size(), mapping }])?;
    let device = Device::new(Box::new(front.clone()), layout, Access::ReadWrite).map_err(|e| failed(&e))?;
    format_into(&device, FileSystem::ExFat, None, &|_, _| go_on(stop)).map_err(|e| failed(&e))?;
    let mut map = Allocation::read(front).map_err(|e| failed(&e))?;
    let used = used.min(map.free_bytes() / 2);
    let from = map.find(0, used, 4096).map_err(|e| failed(&e))?;
    map.take(from..from.saturating_add(used));
    map.mark(front).map_err(|e| failed(&e))
}

fn check(stop: &AtomicBool) -> Result<(), LabError> {
    if stop.load(Ordering::Relaxed) { Err(LabError::Stopped) } else { Ok(()) }
}

/// The first bytes of a store: an operation on 7 GB is one on 7 GB of a drive of 4 TB as well.
#[derive(Clone)]
struct Front {
    store: Arc<dyn Store>,
    size: u64,
}

impl Front {
    fn of(store: &Arc<dyn Store>, bytes: u64) -> Self {
        Self { store: store.clone(), size: bytes.min(store.size()) / 4096 * 4096 }
    }

    fn within(&self, op: Io, offset: u64, len: usize) -> Result<(), StoreError> {
        match offset.checked_add(len as u64) {
            Some(end) if end <= self.size => Ok(()),
            _ => Err(StoreError::past_end(op, "the measured part", offset, len, self.size)),
        }
    }
}

impl Store for Front {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        self.within(Io::Read, offset, buf.len())?;
        self.store.read_at(buf, offset)
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        self.within(Io::Write, offset, buf.len())?;
        self.store.write_at(buf, offset)
    }
    fn flush(&self) -> Result<(), StoreError> {
        self.store.flush()
    }
    fn discard(&self, offset: u64, len: u64) -> Result<(), StoreError> {
        self.within(Io::Discard, offset, usize::try_from(len).unwrap_or(usize::MAX))?;
        self.store.discard(offset, len)
    }
    fn size(&self) -> u64 {
        self.size
    }
    fn sector_bytes(&self) -> u32 {
        self.store.sector_bytes()
    }
    fn is_read_only(&self) -> bool {
        self.store.is_read_only()
    }
    fn is_claimed(&self) -> bool {
        self.store.is_claimed()
    }
}
