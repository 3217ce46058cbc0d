//! `cat`: decrypted bytes to standard output.

use crate::failure::Failure;
use crate::given::VolumeArgs;
use crate::output::Output;
use crate::size;
use crate::volume;
use keyway_engine::{Access, Device};
use keyway_store::{AlignedBuf, Caching};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::mpsc;

/// Bytes read and decrypted at a time; a multiple of every sector size.
const PIECE: u64 = 2 << 20;

/// Write a volume's decrypted bytes to standard output
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ keyway cat secret.hc | sha256sum
  $ keyway cat /dev/sdb1 --offset 1M --length 64K --password-file pw.txt > piece.bin
  $ keyway cat bitlocker.img --recovery-password 'BitLocker Recovery Key.TXT' > plain.img")]
pub(crate) struct Args {
    /// First byte
    #[arg(long, value_name = "SIZE", value_parser = size::parse, default_value = "0")]
    offset: u64,
    /// How many bytes; all to the end when left out
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    length: Option<u64>,
    #[command(flatten)]
    target: VolumeArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    volume::must_exist(&args.target.volume)?;
    let which = args.target.which();
    let secrets = args.target.given()?;
    let open = volume::open(&which, Access::ReadOnly, Caching::Buffered, &secrets, None)?;
    drop(secrets);
    volume::warn(out, &open.warnings);
    let length = open.available(args.offset, args.length)?;
    // Not `std::io::stdout`: that one looks for line ends in what it is given.
    let target = io::stdout().as_fd().try_clone_to_owned().map(File::from);
    let target = target.map_err(|e| Failure::io("write to", Path::new("standard output"), &e))?;
    stream(&open.device, args.offset, length, target)
}

/// Copies a run of the volume: one thread reads and decrypts, this one writes. A reader that went
/// away ends it without a word.
fn stream(device: &Device, offset: u64, length: u64, mut target: impl Write) -> Result<(), Failure> {
    let end = offset + length;
    let (full, next) = mpsc::sync_channel::<Result<AlignedBuf, Failure>>(1);
    let (empty, again) = mpsc::channel::<AlignedBuf>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut at = offset;
            while at < end {
                // The first piece ends on a boundary, so that all others begin on one.
                let len = (PIECE - at % PIECE).min(end - at);
                let mut piece = again.try_recv().unwrap_or_default();
                piece.resize(len as usize);
                let read = device.read_at(&mut piece, at).map(|()| piece).map_err(Failure::from);
                let failed = read.is_err();
                if full.send(read).is_err() || failed {
                    break;
                }
                at += len;
            }
        });
        for piece in next {
            let piece = piece?;
            match target.write_all(&piece) {
                Ok(()) => {}
                Err(e) if e.kind() == io::ErrorKind::BrokenPipe => break,
                Err(e) => return Err(Failure::io("write to", Path::new("standard output"), &e)),
            }
            // The reading thread may be done already.
            let _ = empty.send(piece);
        }
        Ok(())
    })
}
