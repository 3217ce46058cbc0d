//! `encrypt`: the file system on a device becomes an encrypted volume with the same content.

use super::encrypt_room::{Room, end_of};
use super::{drive, encrypt_bitlocker, name_of, reencrypt_between, reencrypt_bitlocker};
use crate::conversion::{self, HowArgs};
use crate::failure::{Exit, Failure};
use crate::given::{Family, KeyArgs};
use crate::in_use::Way;
use crate::narrow::NarrowArgs;
use crate::new_protectors::BitLockerArgs;
use crate::output::Output;
use crate::secrets_in::{NewArgs, SecretArgs, one_stdin};
use crate::volume::{self, Which, about};
use crate::words::parsed;
use keyway::medium::is_slow_to_scatter;
use keyway_cipher::{Algorithm, Chain};
use keyway_convert::FreeSpace;
use keyway_convert::veracrypt;
use keyway_engine::Access;
use keyway_fs::FileSystem;
use keyway_store::{Caching, FileStore, Store};
use keyway_volume::veracrypt::{Fill, NewVolume, unlock};
use keyway_volume::{HashName, bitlocker};
use std::path::{Path, PathBuf};

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
    pub(super) device: PathBuf,
    /// The format (default veracrypt; with --reencrypt it stays what it is)
    #[arg(long, value_enum)]
    format: Option<FormatArg>,
    /// The cipher or cascade, outermost first; `keyway bench` lists them (default aes)
    #[arg(long, value_name = "CIPHER")]
    pub(super) cipher: Option<String>,
    /// The key derivation: sha512 (default), sha256, whirlpool, streebog, blake2s, argon2id
    #[arg(long, value_name = "HASH", value_parser = parsed::<HashName>)]
    pub(super) hash: Option<HashName>,
    /// DEVICE is an encrypted volume already: give it new keys, and this cipher
    #[arg(long)]
    pub(super) reencrypt: bool,
    /// Make a file larger instead of the file system in it smaller
    #[arg(long)]
    pub(super) grow: bool,
    /// Encrypt only what the file system uses (NTFS, exFAT, FAT, ext): the time goes with that
    #[arg(long)]
    pub(super) used_space_only: bool,
    /// What becomes of free space then: it is left with what was deleted in it, filled with noise, or trimmed
    #[arg(long, value_enum, value_name = "HOW", requires = "used_space_only", default_value = "leave")]
    pub(super) free_space: FreeSpaceArg,
    #[command(flatten)]
    pub(super) how: HowArgs,
    #[command(flatten)]
    pub(super) secret: SecretArgs,
    #[command(flatten)]
    pub(super) new: NewArgs,
    #[command(flatten)]
    pub(super) bitlocker: BitLockerArgs,
    #[command(flatten)]
    pub(super) keys: KeyArgs,
    #[command(flatten)]
    hardware: drive::HardwareArgs,
    #[command(flatten)]
    owner: drive::OwnerArgs,
}

/// The formats that there are.
#[derive(clap::ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum FormatArg {
    /// VeraCrypt
    Veracrypt,
    /// BitLocker
    Bitlocker,
}

/// What becomes of free space.
#[derive(clap::ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FreeSpaceArg {
    /// MediumState as it is: what was deleted stays readable
    Leave,
    /// Overwritten with noise
    Fill,
    /// Given back to the drive, or to the file system that a file is on
    Trim,
}

impl From<FreeSpaceArg> for FreeSpace {
    fn from(arg: FreeSpaceArg) -> Self {
        match arg {
            FreeSpaceArg::Leave => Self::Leave,
            FreeSpaceArg::Fill => Self::Fill,
            FreeSpaceArg::Trim => Self::Trim,
        }
    }
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
        return drive::encrypt(path, &args.hardware, &args.owner, &args.secret.source(), out);
    }
    if args.owner.is_given() {
        return Err(Failure::usage(
            "only a drive that encrypts by itself has an owner and a recovery sheet",
            "add --hardware, or leave out --recovery-sheet, --admin-password-… and --leave-unlocked",
        ));
    }
    volume::must_exist(path)?;
    volume::must_be_writable(path)?;
    keyway::conversion::refuse_if_begun(path)?;
    keyway::conversion::refuse_if_used(path)?;
    let is_bitlocker = match args.reencrypt {
        true => match volume_to_reencrypt(args)? {
            (old, new) if args.used_space_only && (old != new || old != Family::BitLocker) => {
                return Err(Failure::usage(
                    "only a BitLocker volume that stays one is re-encrypted without its free space",
                    "leave --used-space-only out",
                ));
            }
            (old, new) if old != new => return reencrypt_between::run(args, old, out),
            _ if args.grow => {
                return Err(Failure::usage(
                    "a volume that keeps its format keeps its size when it is re-encrypted",
                    "leave --grow out; `keyway resize` makes a volume larger",
                ));
            }
            (family, _) => family == Family::BitLocker,
        },
        false => args.format == Some(FormatArg::Bitlocker),
    };
    if is_bitlocker {
        let run = if args.reencrypt { reencrypt_bitlocker::run } else { encrypt_bitlocker::run };
        return run(args, out);
    }
    if args.bitlocker.is_given() || args.keys.is_given() {
        return Err(Failure::usage(
            "only a BitLocker volume has a recovery password or a startup key",
            "leave these options out, or add --format bitlocker",
        ));
    }
    let cipher = args.veracrypt_cipher()?;
    let (own, new) = (args.secret.source(), args.new.source());
    one_stdin([&own, &new])?;
    if new.is_given() && !args.reencrypt {
        return Err(Failure::usage(
            "the --new-… options are for a volume that is encrypted already",
            "give the new volume's secret without \"new-\", or add --reencrypt",
        ));
    }
    args.check_free_space()?;
    let way = args.how.in_use.way(out)?;
    let wish = |secrets| NewVolume {
        secrets,
        cipher,
        hash: args.hash.unwrap_or(HashName::Sha512),
        fill: Fill::Quick,
    };
    if args.reencrypt {
        let which = Which::new(path, &NarrowArgs::default());
        out.confirm(&format!(
            "{} gets new keys in place. Make a backup first. A hidden volume in it will be lost.",
            path.display()
        ))?;
        let old = crate::given::veracrypt_secrets(&which, &own, &args.keys)?;
        let other = new.is_given().then(|| new.read_new(&name_of(path))).transpose()?;
        let store = keyway::conversion::claim(path)?;
        let opened = unlock(&store, &which.request(&old, None, None)).map_err(|e| about(path, e))?;
        keyway::conversion::allocate(path)?;
        let journal = conversion::journal_beside(path, &args.how)?;
        let plan = veracrypt::reencryption(&store, &opened, &wish(other.as_ref().unwrap_or(&old)), journal)
            .map_err(|e| about(path, e))?;
        let plan = if args.how.full_journal { plan.kept_whole() } else { plan };
        drop(opened);
        let journal = conversion::new_journal(&plan)?;
        return conversion::carry_out(path, &plan, (store, journal), None, (args.how.limit, way), out);
    }
    let fs = file_system(path)?;
    fs.kind.check(path).map_err(|e| about(path, e))?;
    let room = room_for(path, &fs, args)?;
    out.confirm(&format!(
        "Everything on {} will be encrypted in place{}. Make a backup first.",
        path.display(),
        room.in_words(&fs)
    ))?;
    let secrets = own.read_new(&name_of(path))?;
    encrypt(args, &fs, &room, &wish(&secrets), way, out)
}

impl Args {
    /// What a volume that is in use while it is encrypted can't have.
    pub(super) fn check_free_space(&self) -> Result<(), Failure> {
        if self.how.in_use.online && self.free_space != FreeSpaceArg::Leave {
            return Err(Failure::usage(
                "while it is in use a volume's free space may come into use, and can't be filled or trimmed",
                "leave --free-space out, or --online",
            ));
        }
        Ok(())
    }

    /// The cipher of a VeraCrypt volume.
    pub(super) fn veracrypt_cipher(&self) -> Result<Chain, Failure> {
        let Some(text) = &self.cipher else { return Ok(Chain::single(Algorithm::Aes256)) };
        text.parse().map_err(|e: keyway_cipher::CipherError| {
            Failure::usage(e.to_string(), "`keyway bench` lists the ciphers")
        })
    }
}

/// The format of the volume that is to be re-encrypted and the one that it gets.
fn volume_to_reencrypt(args: &Args) -> Result<(Family, Family), Failure> {
    let path = &args.device;
    let family = volume::family(&Which::new(path, &NarrowArgs::default()))?;
    let wanted = match args.format {
        None => family,
        Some(FormatArg::Veracrypt) => Family::VeraCrypt,
        Some(FormatArg::Bitlocker) => Family::BitLocker,
    };
    Ok((family, wanted))
}

pub(super) fn file_system(path: &Path) -> Result<FileSystem, Failure> {
    let store = volume::store(path, Access::ReadOnly, Caching::Buffered)?;
    if bitlocker::is_volume(&store)? {
        return Err(Failure::usage(
            format!("{} is a BitLocker volume already", path.display()),
            format!(
                "if it is half encrypted, `keyway resume {}` goes on; --reencrypt gives it another cipher",
                path.display()
            ),
        ));
    }
    FileSystem::find(&store)?.ok_or_else(|| {
        Failure::new(
            Exit::NotAVolume,
            format!("there is no file system on {} that is known here", path.display()),
            "for an empty device use `keyway create`; for new keys of a volume add --reencrypt",
        )
    })
}

/// Where the room for headers and journal comes from.
fn room_for(path: &Path, fs: &FileSystem, args: &Args) -> Result<Room, Failure> {
    let size = volume::store(path, Access::ReadOnly, Caching::Buffered)?.size();
    let on_medium = args.how.journal.is_none();
    let most_of = |size| match args.used_space_only && args.how.in_use.online {
        true => veracrypt::room_in_use(size, on_medium),
        false => veracrypt::room(size, on_medium),
    };
    let (moved, most) = (end_of(fs), most_of(size));
    if moved <= most {
        return Ok(Room::Enough);
    }
    Room::elsewhere(path, fs, most, args.grow, || {
        let mut larger = size.next_multiple_of(4096);
        while most_of(larger) < moved {
            larger += (moved - most_of(larger)).next_multiple_of(4096);
        }
        larger
    })
}

fn encrypt(
    args: &Args,
    fs: &FileSystem,
    room: &Room,
    new: &NewVolume<'_>,
    way: Option<Way>,
    out: Output,
) -> Result<(), Failure> {
    let path = &args.device;
    let file = args.how.journal.as_ref().map(std::path::absolute).transpose();
    let file = file.map_err(|e| Failure::io("find", path, &e))?;
    let free = args.used_space_only.then_some(FreeSpace::from(args.free_space));
    let whole = free.is_none_or(|free| free == FreeSpace::Fill);
    let used = |store: &FileStore, moved| {
        let stretches = veracrypt::used_stretches(store, moved);
        stretches.map_err(|e| about(path, e))
    };
    let (plan, store, journal) = room.around(
        (path, fs),
        whole,
        out,
        |store| {
            // Whether its map can be read; which it will be when the file system has its size.
            free.map(|_| used(store, end_of(fs))).transpose()?;
            let plan = veracrypt::encryption(store, room.end(fs), new, file).map_err(|e| about(path, e))?;
            Ok(if args.how.full_journal || is_slow_to_scatter(path) { plan.kept_whole() } else { plan })
        },
        |store, mut plan| {
            if let Some(free) = free {
                let stretches = used(&store, plan.marker.moved)?;
                plan = plan.of_used(stretches, free).map_err(|e| about(path, e))?;
                if way.is_some() {
                    plan = plan.for_use().map_err(|e| about(path, e))?;
                }
                keyway::conversion::allocate_ranges(path, &plan.written())?;
            }
            let journal = conversion::new_journal(&plan)?;
            Ok((plan, store, journal))
        },
    )?;
    conversion::carry_out(path, &plan, (store, journal), None, (args.how.limit, way), out)
}
