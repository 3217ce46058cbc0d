//! The laboratory, and what it is lent: encryption in place, which stands beside it.

use keyway_convert::{LARGEST_SEGMENT, Stopped, bitlocker, segment_bytes, veracrypt};
use keyway_engine::{Access, Device, Layout, Mapping, Segment};
use keyway_error::Explain;
use keyway_fs::allocation::Allocation;
use keyway_fs::mkfs::{FileSystem, format_into};
pub use keyway_lab::*;
use keyway_secret::SecretBytes;
use keyway_store::{AlignedBuf, Store};
use keyway_volume::Secrets;
use keyway_volume::bitlocker::{InPlace, Method, NewProtectors};
use keyway_volume::veracrypt::{Fill, HashName, NewVolume};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

pub mod spelled;
pub mod told;

/// The password of volumes that live for a turn and hold nothing.
const PASSWORD: &[u8] = b"keyway laboratory";

/// What BitLocker needs beside the bytes and the journal: three copies of its metadata, the first
/// sectors, and what keeps them at their alignment.
const METADATA_BYTES: u64 = 4 << 20;

// A drive on which an encryption in place is timed has enough of them.
const _: () = assert!(workload::BESIDE_IN_PLACE >= 2 * LARGEST_SEGMENT + METADATA_BYTES);

/// Encrypts in place for [`ExperimentPlan::run`], as the conversions of this library do it.
///
/// # Errors
/// It failed, or was stopped.
pub fn encrypt_in_place(
    store: &Arc<dyn Store>,
    target: &Target,
    timed: &workload::Timed,
    stop: &AtomicBool,
) -> Result<(f64, u64), LabError> {
    let done = match target {
        Target::VeraCrypt(cipher) => {
            let cipher = cipher.parse().map_err(|e| LabError::Target(target.to_string(), format!("{e}")))?;
            to_veracrypt(store, cipher, timed, stop)
        }
        Target::BitLocker(cipher) => match bitlocker_method(cipher) {
            Some(method) => to_bitlocker(store, method, timed, stop),
            None => Err(LabError::Target(target.to_string(), "BitLocker has no such cipher".to_owned())),
        },
        _ => Err(LabError::Unsuited(format!("nothing is encrypted in place on {target}"))),
    };
    done.map_err(|e| if stop.load(Ordering::Relaxed) { LabError::Stopped } else { e })
}

fn failed<E: Explain>(error: E) -> LabError {
    LabError::volume(&error)
}

fn go_on(stop: &AtomicBool) -> ControlFlow<()> {
    if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// How long it took since, and for how many bytes.
fn took(began: Instant, bytes: u64, stopped: Stopped) -> Result<(f64, u64), LabError> {
    match stopped {
        Stopped::Done => Ok((began.elapsed().as_secs_f64(), bytes)),
        Stopped::Paused => Err(LabError::Stopped),
    }
}

/// As `keyway encrypt`, with the iterations that a user gets.
fn to_veracrypt(
    store: &Arc<dyn Store>,
    cipher: keyway_cipher::Chain,
    timed: &workload::Timed,
    stop: &AtomicBool,
) -> Result<(f64, u64), LabError> {
    let secrets = Secrets { password: SecretBytes::copy_of(PASSWORD), keyfiles: Vec::new(), pim: None };
    let new = NewVolume { secrets: &secrets, cipher, hash: HashName::Sha512, fill: Fill::Quick };
    let start = StartOfDrive::of(store, timed.bytes.saturating_add(workload::BESIDE_IN_PLACE));
    let moved = timed.bytes.min(veracrypt::content_capacity(start.size(), true)) / 4096 * 4096;
    let began = Instant::now();
    let plan = veracrypt::encryption(&start, moved, &new, None).map_err(failed)?;
    let conversion = plan.conversion(&start, None).map_err(failed)?;
    plan.begin(&conversion).map_err(failed)?;
    took(began, moved, conversion.run(false, &|_, _| go_on(stop)).map_err(failed)?)
}

/// As `keyway encrypt --format bitlocker`; where the workload says how much of the drive is in use, with
/// `--used-space-only` on an exFAT file system that has so much in it.
fn to_bitlocker(
    store: &Arc<dyn Store>,
    method: Method,
    timed: &workload::Timed,
    stop: &AtomicBool,
) -> Result<(f64, u64), LabError> {
    let password = Some(SecretBytes::copy_of(PASSWORD));
    let protectors = &NewProtectors { password, ..NewProtectors::default() };
    let journal = 2 * segment_bytes(timed.bytes);
    let bytes = timed.bytes.saturating_add(journal).saturating_add(METADATA_BYTES);
    let start = StartOfDrive::of(store, bytes);
    if let Some(used) = timed.used_bytes {
        in_use(&start, used, stop)?;
    } else {
        // No file system is known here, whatever the turn before has left.
        start.write_at(&AlignedBuf::zeroed(4096), 0)?;
    }
    let began = Instant::now();
    let used_space_only = timed.used_bytes.is_some();
    let volume = InPlace { protectors, method, used_space_only, description: "keyway lab" };
    let wish =
        bitlocker::EncryptionRequest { volume, file_system_bytes: timed.bytes, journal: None, in_use: false };
    let plan = bitlocker::BitLockerPlan::encryption(&start, &wish).map_err(failed)?;
    let conversion = plan.conversion(&start, None).map_err(failed)?;
    let stopped = plan.run(&conversion, &|_, _| go_on(stop)).map_err(failed)?;
    took(began, plan.bytes(), stopped)
}

/// Makes an exFAT file system in which so many bytes are in use: as one run, as on a drive that was
/// filled once. As bad clusters, which are in use like any.
fn in_use(start: &StartOfDrive, used: u64, stop: &AtomicBool) -> Result<(), LabError> {
    let mapping = Mapping::Plain { store_offset: 0 };
    let layout = Layout::new(start.sector_bytes(), vec![Segment { start: 0, len: start.size(), mapping }])?;
    let device = Device::new(Box::new(start.clone()), layout, Access::ReadWrite).map_err(failed)?;
    format_into(&device, FileSystem::ExFat, None, &|_, _| go_on(stop)).map_err(failed)?;
    let mut map = Allocation::read(start).map_err(failed)?;
    let used = used.min(map.free_bytes() / 2);
    let from = map.find(0, used, 4096).map_err(failed)?;
    map.take(from..from.saturating_add(used));
    map.mark(start).map_err(failed)
}
