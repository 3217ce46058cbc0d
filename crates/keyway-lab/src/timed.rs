//! Keyway's own operations on a drive, timed: making a volume and filling it, and unlocking one. Encrypting in place
//! what is there is lent by whoever calls, for conversions stand beside the laboratory.

use crate::error::LabError;
use crate::hardware::Hardware;
use crate::load::{PIECE, write_noise};
use crate::start_of_drive::StartOfDrive;
use crate::target::Target;
use crate::test_volume::{bitlocker_method, secrets};
use crate::workload::{Operation, Timed};
use keyway_error::Explain;
use keyway_secret::SecretBytes;
use keyway_store::{AlignedBuf, Store};
use keyway_volume::bitlocker::{self, Method, NewProtectors, Secret};
use keyway_volume::veracrypt::{self, Fill, HashName, NewVolume};
use keyway_volume::{Secrets, Stage};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Does an operation once; tells how many seconds it took and how many bytes that was.
pub type TimedWork = dyn Fn(&Timed, &AtomicBool) -> Result<(f64, u64), LabError> + Send + Sync;

/// Encrypts what lies on a drive in place, as the target's volume. Tells the seconds and bytes, as all timed work does.
pub type EncryptInPlace = fn(&Arc<dyn Store>, &Target, &Timed, &AtomicBool) -> Result<(f64, u64), LabError>;

/// The password of volumes that live for a turn and hold nothing.
const PASSWORD: &[u8] = b"keyway laboratory";

/// What can be timed on a target.
pub(crate) fn work(
    store: Arc<dyn Store>,
    hardware: Option<&Hardware>,
    target: &Target,
    encrypt: EncryptInPlace,
) -> Option<Arc<TimedWork>> {
    let own: Arc<TimedWork> = match target {
        Target::Plain => return Some(Arc::new(move |timed, stop| plain(&store, timed, stop))),
        Target::VeraCrypt(cipher) => {
            let (store, cipher) = (store.clone(), cipher.parse::<keyway_cipher::Chain>().ok()?);
            Arc::new(move |timed, stop| volume(&store, cipher, timed, stop))
        }
        Target::BitLocker(cipher) => {
            let (store, method) = (store.clone(), bitlocker_method(cipher)?);
            Arc::new(move |timed, stop| bitlocker(&store, method, timed, stop))
        }
        Target::Hardware(None) => {
            let hardware = hardware?.clone();
            return Some(Arc::new(move |timed, _| match timed.operation {
                Operation::InPlace => {
                    let began = Instant::now();
                    hardware.set_up()?;
                    Ok((began.elapsed().as_secs_f64(), timed.bytes))
                }
                _ => {
                    Err(unsuited("a drive that encrypts by itself is neither filled nor derives a key here"))
                }
            }));
        }
        Target::Bare | Target::Hardware(Some(_)) | Target::At(_) => return None,
    };
    let target = target.clone();
    Some(Arc::new(move |timed, stop| match timed.operation {
        Operation::InPlace => encrypt(&store, &target, timed, stop),
        Operation::Format | Operation::Unlock => own(timed, stop),
    }))
}

fn unsuited(why: &str) -> LabError {
    LabError::Unsuited(why.to_owned())
}

fn plain(store: &Arc<dyn Store>, timed: &Timed, stop: &AtomicBool) -> Result<(f64, u64), LabError> {
    let front = StartOfDrive::of(store, timed.used_bytes.unwrap_or(timed.bytes));
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
    let front = StartOfDrive::of(store, timed.bytes);
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
    let front = StartOfDrive::of(store, timed.bytes);
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

fn check(stop: &AtomicBool) -> Result<(), LabError> {
    if stop.load(Ordering::Relaxed) { Err(LabError::Stopped) } else { Ok(()) }
}
