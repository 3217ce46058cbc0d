//! What is said at each stop of the tour.

use crate::failure::{Exit, Failure};
use crate::output::bytes;
use keyway::tour::{CoreSpeeds, DATA_BYTES, TourError, TourFound, TourLack, TourStep, VOLUME_BYTES};
use keyway_error::Kind;
use sha2::{Digest, Sha256};

/// A stop's word for scripts, and what will be done there.
pub(super) const fn of(step: TourStep) -> (&'static str, &'static str) {
    match step {
        TourStep::Create => (
            "create",
            "Make a volume as VeraCrypt makes it: AES, SHA-512 with 500,000 iterations, filled with random bytes.",
        ),
        TourStep::Unlock => ("unlock", "Unlock it without saying which cipher or hash it has."),
        TourStep::Fuse => (
            "fuse",
            "Open it: a process of its own holds the key and shows the plain bytes as a file. Write, flush, close.",
        ),
        TourStep::Nbd => (
            "nbd",
            "Open it as a network block device on a socket, as a virtual machine would use it. Write, flush, close.",
        ),
        TourStep::Verify => {
            ("verify", "Unlock it again and compare by SHA-256; look for the plain bytes in the file.")
        }
        TourStep::Cascade => (
            "cascade",
            "A volume with three ciphers, each with keys of its own; PIM 1 makes it quick to open, and weak.",
        ),
        TourStep::Hidden => {
            ("hidden", "A hidden volume in the free space of another; nobody can show that it is there.")
        }
        TourStep::Protect => {
            ("protect", "Open the outer volume with the hidden one protected and write over all of it.")
        }
        _ => ("mount", "A volume with ext4 inside, opened and mounted in one step, as root can."),
    }
}

/// What was found there.
pub(super) fn found(step: TourStep, found: &TourFound) -> String {
    let written = bytes(DATA_BYTES as u64);
    match (step, found) {
        (TourStep::Create, _) => {
            format!("{} of noise; the key is in the noise, under the password", bytes(VOLUME_BYTES))
        }
        (TourStep::Cascade, TourFound::Header(info)) => {
            format!("{}: written through a socket, closed, verified", info.cipher())
        }
        (TourStep::Hidden, TourFound::Header(info)) => {
            format!(
                "the same file opens as {} or as the outer volume, as the password says",
                bytes(info.data_bytes())
            )
        }
        (_, TourFound::Header(info)) => {
            format!("found {} in {} mode, {}", info.cipher(), info.mode(), info.hash())
        }
        (_, TourFound::File(file)) => format!("{written} written to {} and read back", file.display()),
        (TourStep::Nbd, _) => format!("{written} written through the socket and read back"),
        (_, TourFound::Data(data)) => {
            let short: String =
                Sha256::digest(data).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
            format!("SHA-256 {short}… on both sides; the file itself shows only noise")
        }
        (_, TourFound::RefusedAt(at)) => format!("refused at {}; the hidden volume is unharmed", bytes(*at)),
        _ => "a letter written, closed, opened again, read".to_owned(),
    }
}

/// What is left out with it.
pub(super) const fn left_out(step: TourStep) -> &'static str {
    if matches!(step, TourStep::Fuse) { "the volume as a file" } else { "mounting the file system inside" }
}

/// Why it is left out.
pub(super) fn why(lack: &TourLack) -> String {
    match lack {
        TourLack::Need(lack) => lack.to_string(),
        TourLack::Program(fs) => {
            format!("mkfs.{} is missing; install the package {}", fs.name(), fs.package())
        }
        _ => "something is missing".to_owned(),
    }
}

/// Ciphers against copying memory.
pub(super) fn speeds(speeds: &CoreSpeeds) -> String {
    let mut lines = format!("What one core does, in MB/s (copying memory alone: {:.0}):", speeds.memcpy_mb_s);
    for row in &speeds.ciphers {
        let (cipher, encrypts, decrypts) = (&row.cipher, row.encrypt_mb_s, row.decrypt_mb_s);
        let how = format!("{cipher:<20} encrypts {encrypts:>6.0}  decrypts {decrypts:>6.0}");
        lines.push_str(&format!("\n   {how}  ({})", row.kernel));
    }
    format!("{lines}\n\n")
}

impl From<TourError> for Failure {
    fn from(error: TourError) -> Self {
        let help = "please report this with the output of `keyway doctor --json`";
        match error {
            TourError::Keyway(error) => error.into(),
            error => Self::new(Exit::Failed, error.to_string(), help).kind(Kind::Verify),
        }
    }
}
