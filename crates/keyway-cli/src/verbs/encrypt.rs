//! `encrypt`: the file system on a device becomes an encrypted volume with the same content.

use super::drive;
use crate::conversion::HowArgs;
use crate::failure::Failure;
use crate::given::KeyArgs;
use crate::new_protectors::{BitLockerArgs, NewFormatArg};
use crate::output::Output;
use crate::secrets_in::{NewArgs, SecretArgs};
use crate::words::parsed;
use keyway::conversion::{FreeSpace, Goal, NewVolume, Request};
use keyway_volume::HashName;
use std::path::PathBuf;

/// Encrypt a file system in place, with everything in it; or give a volume another cipher, new keys, another format
///
/// The file system must not be mounted. Room for VeraCrypt's headers comes from making it a little smaller
/// (ext4 and NTFS), from free space behind it, or with --grow from making its file larger. Losing power,
/// or Ctrl-C, at any moment loses nothing: `keyway resume` goes on. Making the file system smaller is
/// its own tool's work, which is not safe against that.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ sudo keyway encrypt /dev/sdb1
  $ keyway encrypt disk.img --cipher aes-twofish-serpent --password-file pw.txt --yes
  $ sudo keyway encrypt /dev/sdb1 --used-space-only --free-space trim
  $ keyway encrypt secret.hc --reencrypt --cipher serpent
  $ sudo keyway encrypt /dev/sdb1 --reencrypt --cipher aes-xts-256 --recovery-password key.txt
  $ keyway encrypt secret.hc --reencrypt --format bitlocker --recovery-file key.txt
  $ sudo keyway encrypt /dev/sdb1 --format bitlocker --used-space-only --recovery-file key.txt
  $ sudo keyway encrypt --hardware /dev/nvme0n1 --recovery-sheet /media/stick/sheet.txt")]
pub(crate) struct Args {
    /// The block device, or a file with a file system in it
    device: PathBuf,
    /// The format (default veracrypt; with --reencrypt it stays what it is)
    #[arg(long, value_enum)]
    format: Option<NewFormatArg>,
    /// The cipher or cascade, outermost first; `keyway bench` lists them (default aes)
    #[arg(long, value_name = "CIPHER")]
    cipher: Option<String>,
    /// The key derivation: sha512 (default), sha256, whirlpool, streebog, blake2s, argon2id
    #[arg(long, value_name = "HASH", value_parser = parsed::<HashName>)]
    hash: Option<HashName>,
    /// DEVICE is an encrypted volume already: give it new keys, and this cipher
    #[arg(long)]
    reencrypt: bool,
    /// Make a file larger instead of the file system in it smaller
    #[arg(long)]
    grow: bool,
    /// Encrypt only what the file system uses (NTFS, exFAT, FAT, ext): the time goes with that
    #[arg(long)]
    used_space_only: bool,
    /// What becomes of free space then: it is left with what was deleted in it, filled with noise, or trimmed
    #[arg(long, value_enum, value_name = "HOW", requires = "used_space_only", default_value = "leave")]
    free_space: FreeSpaceArg,
    #[command(flatten)]
    how: HowArgs,
    #[command(flatten)]
    secret: SecretArgs,
    #[command(flatten)]
    new: NewArgs,
    #[command(flatten)]
    bitlocker: BitLockerArgs,
    #[command(flatten)]
    keys: KeyArgs,
    #[command(flatten)]
    hardware: drive::HardwareArgs,
    #[command(flatten)]
    owner: drive::OwnerArgs,
}

/// What becomes of free space.
#[derive(clap::ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum FreeSpaceArg {
    /// Left as it is: what was deleted stays readable
    Leave,
    /// Overwritten with noise
    Fill,
    /// Given back to the drive, or to the file system that a file is on
    Trim,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let path = &args.device;
    if args.hardware.wanted() {
        let software = args.cipher.is_some() || args.hash.is_some() || args.reencrypt || args.grow;
        if software || args.new.source().is_given() {
            return Err(Failure::usage(
                "a drive that encrypts by itself has its own cipher and keys",
                "with --hardware leave out --cipher, --hash, --reencrypt, --grow and the --new-… options",
            ));
        }
        return drive::encrypt(path, &args.hardware, &args.owner, &args.secret.source(), (args.how.dry, out));
    }
    if args.owner.is_given() {
        return Err(Failure::usage(
            "only a drive that encrypts by itself has an owner and a recovery sheet",
            "add --hardware, or leave out --recovery-sheet, --admin-password-… and --leave-unlocked",
        ));
    }
    let new = args.new_volume();
    let goal = if args.reencrypt { Goal::Reencrypt(new) } else { Goal::Encrypt(new) };
    let mut request = Request::new(path, goal);
    request.sources = args.keys.sources(&args.secret.source())?;
    request.new = args.new.source().named();
    args.how.carry_out(request, out)
}

impl Args {
    /// What the volume is to be like.
    fn new_volume(&self) -> NewVolume {
        let mut new = NewVolume::default();
        new.format = self.format.map(NewFormatArg::family);
        new.cipher.clone_from(&self.cipher);
        new.hash = self.hash;
        (new.grow, new.used_space_only) = (self.grow, self.used_space_only);
        new.free_space = match self.free_space {
            FreeSpaceArg::Leave => FreeSpace::Leave,
            FreeSpaceArg::Fill => FreeSpace::Fill,
            FreeSpaceArg::Trim => FreeSpace::Trim,
        };
        (new.protectors, new.to_go) = (self.bitlocker.protectors(), self.bitlocker.to_go);
        new
    }
}
