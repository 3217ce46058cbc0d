//! One of each error of the crates below, as the program tells it. What is said of them is in docs/reference/errors.md.
#![allow(clippy::expect_used, reason = "helpers of tests fail as tests do")]

use super::Failure;
use keyway::conversion::ConversionError;
use keyway_cipher::CipherError;
use keyway_convert::ConvertError;
use keyway_engine::{DeviceError, LayoutError};
use keyway_fs::resize::ResizeToolError;
use keyway_store::{Operation, StoreError};
use keyway_volume::bitlocker::tpm::TpmProtectorError;
use keyway_volume::bitlocker::{BitLockerError, Guid, RewriteError};
use keyway_volume::{bitlocker, veracrypt};
use std::io;
use std::path::PathBuf;

explained! {
    StoreError, DeviceError, LayoutError, ResizeToolError, TpmProtectorError, BitLockerError, bitlocker::ChangeError,
    RewriteError, bitlocker::BackupError, bitlocker::ResizeError, bitlocker::CreateError, veracrypt::CreateError,
    veracrypt::ChangeError, veracrypt::ResizeError, ConvertError, CipherError, ConversionError,
}

macro_rules! failures {
    ($($error:expr,)*) => { vec![$(Failure::from($error),)*] };
}

mod conversion;
mod drives;
mod laboratory;
mod library;
mod media;
mod session;
mod tpm;
mod volume;

/// Each crate's errors, as failures of the program.
pub(super) fn all() -> Vec<Failure> {
    let mut all = media::sectors();
    all.extend(volume::veracrypt());
    all.extend(volume::bitlocker());
    all.extend(tpm::tpm());
    all.extend(volume::making());
    all.extend(volume::changing());
    all.extend(media::inside());
    all.extend(conversion::converting());
    all.extend(session::attaching());
    all.extend(laboratory::laboratory());
    all.extend(library::library());
    all.extend(drives::drives());
    all.extend(session::serving());
    all.extend(library::words());
    all
}

fn v() -> PathBuf {
    "v.hc".into()
}

/// Of the system, by Linux's number.
fn io(errno: i32) -> io::Error {
    io::Error::from_raw_os_error(errno)
}

/// A medium that fails.
fn failed(operation: Operation) -> StoreError {
    StoreError::new(operation, "v.hc", 4096, 512, io(5))
}

/// A medium that has something else than what it was given.
fn lied() -> StoreError {
    let why = keyway_error::carry(keyway_volume::ReadsBackDifferently { at: 4096 }, 5);
    StoreError::new(Operation::Read, "the medium", 4096, 512, why)
}

fn refused(operation: Operation) -> StoreError {
    StoreError::new(operation, "v.hc", 4096, 512, io(13))
}

fn id(n: u8) -> Guid {
    Guid([n; 16])
}

fn random() -> getrandom::Error {
    getrandom::Error::UNSUPPORTED
}
