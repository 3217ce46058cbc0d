//! Any bytes as a TPM's answers, and as the protector that a TPM is asked for.
//!
//! The input is a run of pieces, each with its length before it (two bytes, big-endian): first the
//! protector's entries as they are on the medium, then one answer after the other.
#![no_main]

use keyway_secret::SecretBytes;
use keyway_tpm::{Pcrs, Tpm, Transport};
use keyway_volume::bitlocker::tpm::{TpmSecrets, unseal};
use keyway_volume::bitlocker::{Entries, FileTime, Guid, Protection, Protector};
use libfuzzer_sys::fuzz_target;
use std::io;
use std::sync::atomic::AtomicBool;

/// Gives the input's pieces as answers; their sizes are put right, so that more than the header is
/// read.
struct Liar(Vec<Vec<u8>>);

impl Transport for Liar {
    fn exchange(&mut self, _: &[u8]) -> io::Result<Vec<u8>> {
        let mut answer = self.0.pop().ok_or(io::ErrorKind::UnexpectedEof)?;
        let length = (answer.len() as u32).to_be_bytes();
        if let Some(size) = answer.get_mut(2..6) {
            size.copy_from_slice(&length);
        }
        // "Try again later" would be waited for.
        if let Some([_, _, 0x09, _]) = answer.get_mut(6..10) {
            answer[8] = 0;
        }
        Ok(answer)
    }
}

fn pieces(mut data: &[u8]) -> Vec<Vec<u8>> {
    let mut pieces = Vec::new();
    while let Some((length, rest)) = data.split_first_chunk() {
        let (piece, rest) = rest.split_at(usize::from(u16::from_be_bytes(*length)).min(rest.len()));
        pieces.push(piece.to_vec());
        data = rest;
    }
    pieces
}

fuzz_target!(|data: &[u8]| {
    let mut answers = pieces(data);
    answers.reverse();
    let entries = Entries::parse(&answers.pop().unwrap_or_default());
    let tpm = || Tpm::over(Box::new(Liar(answers.clone())));
    let protector =
        Protector { id: Guid([0; 16]), changed: FileTime(0), flags: 0, protection: Protection::Tpm, entries };
    let secrets = TpmSecrets { pin: None, startup_keys: &[], stop: &AtomicBool::new(false) };
    // Whoever does not know the salt can't make the answers' MACs.
    assert!(unseal(&protector, &mut tpm(), &secrets).is_err());
    assert!(tpm().seal(&SecretBytes::copy_of(b"secret"), None, Pcrs::SECURE_BOOT).is_err());
    let _ = tpm().lockout();
});
