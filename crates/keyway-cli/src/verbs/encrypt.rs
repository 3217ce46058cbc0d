//! `encrypt`: the file system on a device becomes an encrypted volume with the same content.

use super::drive;
use crate::conversion::HowArgs;
use crate::new_volume_args::{BitLockerArgs, NEW_FORMATS};
use crate::unlock_args::{NewArgs, SecretArgs};
use crate::verbs::*;
use keyway::conversion::{ConversionRequest, FreeSpace, Goal, NewVolume};
use keyway_volume::HashName;

/// Encrypt a file system in place, or give a volume another cipher
///
/// Everything stays in it. A volume gets another cipher, new keys or another format (--reencrypt).
/// The file system must not be mounted. Room for VeraCrypt's headers comes from making it a little smaller
/// (ext4 and NTFS), from free space behind it, or with --grow from making its file larger. Losing power,
/// or Ctrl-C, at any moment loses nothing: `keyway resume` goes on. Making the file system smaller is
/// its own tool's work, which is not safe against that.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The block device, or a file with a file system in it
    device: PathBuf,
    /// The format (default veracrypt; with --reencrypt it stays what it is)
    #[arg(long, value_parser = choice(NEW_FORMATS))]
    format: Option<Family>,
    /// The cipher or cascade, outermost first; `keyway bench` lists them (default aes; with --reencrypt it stays what it is)
    #[arg(long, alias = "encryption", value_name = "CIPHER", value_parser = size::cipher)]
    cipher: Option<String>,
    /// The key derivation: sha512 (default), sha256, whirlpool, streebog, blake2s, argon2id; with --reencrypt the new volume's, which else stays what it is
    #[arg(long, value_name = "HASH", value_parser = parsed::<HashName>)]
    hash: Option<HashName>,
    /// DEVICE is an encrypted volume already: give it new keys, and this cipher
    #[arg(long)]
    reencrypt: bool,
    /// With --reencrypt, try a wrong password in other spellings, too, as `open` does; a new password is taken as it is
    #[arg(long, requires = "reencrypt")]
    try_variants: bool,
    /// Make a file larger instead of the file system in it smaller
    #[arg(long)]
    grow: bool,
    /// Encrypt only what the file system uses (NTFS, exFAT, FAT, ext): the time goes with that
    #[arg(long)]
    used_space_only: bool,
    /// What becomes of free space then: it is left with what was deleted in it, filled with noise, or trimmed
    #[arg(long, value_name = "HOW", requires = "used_space_only", default_value = "leave", value_parser = choice(FREE_SPACE))]
    free_space: FreeSpace,
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

const FREE_SPACE: [(&str, FreeSpace, &str); 3] = [
    ("leave", FreeSpace::Leave, "Left as it is: what was deleted stays readable"),
    ("fill", FreeSpace::Fill, "Overwritten with noise"),
    ("trim", FreeSpace::Trim, "Given back to the drive, or to the file system that a file is on"),
];

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
        return drive::encrypt(path, &args.hardware, &args.owner, args.secret.source(), (args.how.dry, out));
    }
    if args.owner.is_given() {
        return Err(Failure::usage(
            "only a drive that encrypts by itself has an owner and a recovery sheet",
            "add --hardware, or leave out --recovery-sheet, --admin-password-… and --leave-unlocked",
        ));
    }
    let mut new = NewVolume::default();
    new.format = args.format;
    (new.cipher, new.hash) = (args.cipher.clone(), args.hash);
    (new.grow, new.used_space_only, new.free_space) = (args.grow, args.used_space_only, args.free_space);
    (new.protectors, new.to_go) = (args.bitlocker.protectors(), args.bitlocker.to_go);
    let goal = if args.reencrypt { Goal::Reencrypt(new) } else { Goal::Encrypt(new) };
    let mut request = ConversionRequest::new(path, goal);
    request.sources = args.keys.sources(args.secret.source())?.in_variants(args.try_variants);
    request.new = args.new.source();
    args.how.carry_out(request, out)
}
