//! `create`: a new container, a device formatted as one, or a hidden volume inside another.

use super::create_bitlocker::{self, BitLockerArgs};
use super::name_of;
use crate::failure::Failure;
use crate::output::{Output, bytes, pairs};
use crate::progress::Progress;
use crate::secrets_in::{HiddenArgs, SecretArgs, one_stdin};
use crate::volume::about;
use crate::{size, volume};
use keyway_cipher::{Algorithm, Chain};
use keyway_engine::{Access, Device};
use keyway_volume::mkfs::{self, FileSystem};
use keyway_volume::veracrypt::{self, CreateError, Created, Existing, Fill, NewVolume, Space, Target};
use keyway_volume::{HashName, Secrets};
use serde::Serialize;
use std::fs::Metadata;
use std::io::{self, IsTerminal};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Make a new volume in a file or on a device, or a hidden one inside another
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ keyway create secret.hc --size 10G --filesystem exfat
  $ sudo keyway create /dev/sdb1 --cipher aes-twofish-serpent --hash whirlpool --filesystem ext4
  $ keyway create stick.img --size 8G --format bitlocker --filesystem ntfs
  $ keyway create secret.hc --hidden 2G --password-file outer.txt --hidden-password-file hidden.txt --yes")]
pub(crate) struct Args {
    /// A file that does not exist yet, or a block device; with --hidden also an existing volume
    pub(super) path: PathBuf,
    /// The file's size, headers included: 512M, 10G. A device is taken whole
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    size: Option<u64>,
    /// Make a hidden volume of this size inside the one at PATH, or with --size inside the new one
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(super) hidden: Option<u64>,
    /// The format
    #[arg(long, value_enum, default_value = "veracrypt")]
    format: FormatArg,
    /// The cipher or cascade, outermost first; `keyway bench` lists them (default aes). BitLocker: aes-xts-128 (default), aes-xts-256, aes-cbc-128, aes-cbc-256
    #[arg(long, value_name = "CIPHER")]
    pub(super) cipher: Option<String>,
    /// The key derivation: sha512 (default), sha256, whirlpool, streebog, blake2s, argon2id
    #[arg(long, value_name = "HASH")]
    pub(super) hash: Option<HashName>,
    /// The file system to make inside: ext4, exfat, ntfs, fat, btrfs, xfs or none
    #[arg(long, value_name = "FS", default_value = "none", value_parser = filesystem)]
    pub(super) filesystem: Inside,
    /// The file system's name
    #[arg(long, value_name = "NAME")]
    pub(super) label: Option<String>,
    /// Do not fill the volume with random bytes first; faster, but it shows how much is used
    #[arg(long)]
    pub(super) quick: bool,
    /// Replace the file that is at PATH
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    pub(super) secret: SecretArgs,
    #[command(flatten)]
    pub(super) inner: HiddenArgs,
    #[command(flatten)]
    pub(super) bitlocker: BitLockerArgs,
}

/// The formats that can be made.
#[derive(clap::ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum FormatArg {
    /// VeraCrypt
    Veracrypt,
    /// BitLocker, with NTFS, exFAT or FAT inside
    Bitlocker,
}

/// What goes inside.
#[derive(Debug, Clone, Copy)]
pub(super) struct Inside(pub(super) Option<FileSystem>);

fn filesystem(text: &str) -> Result<Inside, String> {
    if text.eq_ignore_ascii_case("none") {
        return Ok(Inside(None));
    }
    text.parse().map(|fs| Inside(Some(fs))).map_err(|e: mkfs::MkfsError| e.to_string())
}

#[derive(Serialize)]
struct Document<'a> {
    path: &'a Path,
    format: &'static str,
    cipher: String,
    mode: &'static str,
    hash: HashName,
    pim: Option<u32>,
    sector_bytes: u32,
    data_offset: u64,
    data_bytes: u64,
    hidden: bool,
    filesystem: Option<&'static str>,
    warnings: Vec<String>,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    if let Some(fs) = args.filesystem.0
        && fs.find_program().is_none()
    {
        return Err(about(&args.path, CreateError::FileSystem(mkfs::MkfsError::Missing(fs))));
    }
    let (own, inner) = (args.secret.source(), args.inner.source());
    one_stdin([&own, &inner])?;
    let path = &args.path;
    let meta = path.metadata().ok();
    if args.format == FormatArg::Bitlocker {
        create_bitlocker::check(args)?;
        let place = normal(args, meta.as_ref(), out)?;
        return create_bitlocker::run(args, &place, out);
    }
    if args.bitlocker.is_given() {
        return Err(Failure::usage(
            "--to-go, --startup-key-out and the options of recovery passwords are for BitLocker volumes",
            "add --format bitlocker, or leave them out",
        ));
    }
    // Unknown names are refused before anyone types a password.
    cipher(args)?;
    match args.hidden {
        None if inner.is_given() => Err(Failure::usage(
            "the --hidden-… options are for making a hidden volume",
            "add --hidden SIZE, or leave them out",
        )),
        None => {
            let new = normal(args, meta.as_ref(), out)?;
            let secrets = own.read_new(&name_of(path))?;
            let made = make(args, &new, &secrets)?;
            tell(args, &made, &secrets, out)
        }
        Some(size) if args.size.is_some() || meta.is_none() => {
            let new = normal(args, meta.as_ref(), out)?;
            let outer = own.read_new(&format!("the outer volume {}", name_of(path)))?;
            let secrets = inner.read_new(&format!("the hidden volume in {}", name_of(path)))?;
            let notes = make(args, &new, &outer)?.notes;
            let mut made = hide(args, size, Some(&outer), &secrets)?;
            made.notes.extend(notes);
            tell(args, &made, &secrets, out)
        }
        Some(size) => {
            super::open::refuse_if_open(path)?;
            out.confirm(&format!(
                "The last {} of {} will be overwritten; files of the outer volume that lie there are lost.",
                bytes(size),
                path.display()
            ))?;
            let outer = if own.is_given() || io::stdin().is_terminal() {
                Some(own.read(&format!("the outer volume {}", name_of(path)))?)
            } else {
                None
            };
            let secrets = inner.read_new(&format!("the hidden volume in {}", name_of(path)))?;
            let made = hide(args, size, outer.as_ref(), &secrets)?;
            tell(args, &made, &secrets, out)
        }
    }
}

/// VeraCrypt's cipher of the name given.
fn cipher(args: &Args) -> Result<Chain, Failure> {
    match &args.cipher {
        None => Ok(Chain::single(Algorithm::Aes256)),
        Some(text) => text.parse().map_err(|e: keyway_cipher::CipherError| {
            Failure::usage(e.to_string(), "`keyway bench` lists the ciphers")
        }),
    }
}

fn hash(args: &Args) -> HashName {
    args.hash.unwrap_or(HashName::Sha512)
}

/// Where a normal volume goes.
pub(super) enum Place {
    /// To a device.
    Device,
    /// Into a new file of that many bytes.
    File(u64),
}

impl Place {
    /// Claims it.
    pub(super) fn take(&self, args: &Args) -> Result<Target, Failure> {
        let path = &args.path;
        let target = match *self {
            Self::Device => Target::device(path),
            Self::File(size) => {
                let existing = if args.force { Existing::Replace } else { Existing::Refuse };
                let space = if args.quick { Space::Sparse } else { Space::Reserved };
                Target::new_file(path, size, existing, space)
            }
        };
        target.map_err(|e| about(path, e))
    }
}

/// What was made, for the answer.
struct Made {
    data_offset: u64,
    data_bytes: u64,
    sector_bytes: u32,
    hidden: bool,
    notes: Vec<String>,
}

/// Everything that can be refused is refused before anyone types a password.
fn normal(args: &Args, meta: Option<&Metadata>, out: Output) -> Result<Place, Failure> {
    let path = &args.path;
    if !meta.is_some_and(|m| m.file_type().is_block_device()) {
        if meta.is_some() && !args.force {
            return Err(about(path, CreateError::Exists(path.clone())).hint(
                "choose another name, or replace it with --force; for a hidden volume use --hidden SIZE",
            ));
        }
        if meta.is_some() {
            super::open::refuse_if_open(path)?;
        }
        let size = args.size.ok_or_else(|| {
            Failure::usage("a new file needs a size", "add --size SIZE, such as --size 512M or --size 10G")
        })?;
        return Ok(Place::File(size));
    }
    if args.size.is_some() {
        return Err(Failure::usage("a device is taken whole; --size is for files", "leave --size out"));
    }
    // Claimed once before the question: nobody types a password for a mounted device.
    drop(Target::device(path).map_err(|e| about(path, e))?);
    out.confirm(&format!("Everything on {} will be lost.", path.display()))?;
    Ok(Place::Device)
}

/// Makes a normal volume.
fn make(args: &Args, place: &Place, secrets: &Secrets) -> Result<Made, Failure> {
    let path = &args.path;
    // Before there is a file, which an interrupt would leave.
    let progress = Progress::interruptible("filling")?;
    let target = place.take(args)?;
    let fill = if args.quick { Fill::Quick } else { Fill::Random };
    let new = NewVolume { secrets, cipher: cipher(args)?, hash: hash(args), fill };
    let created = veracrypt::create(target.store(), &new, &progress).map_err(|e| about(path, e))?;
    finish(args, target, created, &progress)
}

/// Makes a hidden volume inside the one at the path.
fn hide(args: &Args, size: u64, outer: Option<&Secrets>, secrets: &Secrets) -> Result<Made, Failure> {
    let path = &args.path;
    let target = Target::existing(path).map_err(|e| about(path, e))?;
    let progress = Progress::interruptible("filling")?;
    let new = NewVolume { secrets, cipher: cipher(args)?, hash: hash(args), fill: Fill::Random };
    let created =
        veracrypt::create_hidden(target.store(), size, &new, outer, &progress).map_err(|e| about(path, e))?;
    finish(args, target, created, &progress)
}

/// Puts the file system inside and keeps the volume.
fn finish(args: &Args, target: Target, created: Created, progress: &Progress) -> Result<Made, Failure> {
    let path = &args.path;
    let Created { layout, data_offset, data_bytes, sector_bytes, hidden, notes, .. } = created;
    if let Some(fs) = args.filesystem.0 {
        let store = target.reopen().map_err(|e| about(path, e))?;
        let device = Device::new(Box::new(store), layout, Access::ReadWrite)?;
        progress.label(&format!("making {fs}"));
        mkfs::format_into(&device, fs, args.label.as_deref(), progress)
            .map_err(|e| about(path, CreateError::FileSystem(e)))?;
    }
    target.keep().map_err(|e| about(path, e))?;
    let notes = notes.iter().map(ToString::to_string).collect();
    Ok(Made { data_offset, data_bytes, sector_bytes, hidden, notes })
}

fn tell(args: &Args, made: &Made, secrets: &Secrets, out: Output) -> Result<(), Failure> {
    let document = Document {
        path: &args.path,
        format: "veracrypt",
        cipher: cipher(args)?.to_string(),
        mode: "xts",
        hash: hash(args),
        pim: secrets.pim,
        sector_bytes: made.sector_bytes,
        data_offset: made.data_offset,
        data_bytes: made.data_bytes,
        hidden: made.hidden,
        filesystem: args.filesystem.0.map(FileSystem::name),
        warnings: made.notes.clone(),
    };
    volume::warn(out, &document.warnings);
    out.result(&document, || words(&document))
}

fn words(d: &Document<'_>) -> String {
    let kind = if d.hidden { "A hidden volume" } else { "A new volume" };
    let mut rows = vec![
        ("  cipher", format!("{} in XTS mode", d.cipher)),
        ("  key derivation", d.hash.to_string()),
        ("  room", bytes(d.data_bytes)),
        ("  file system", d.filesystem.unwrap_or("none yet").to_owned()),
    ];
    rows.extend(d.pim.map(|pim| ("  PIM", format!("{pim}; you need it to open the volume"))));
    let text = format!("{kind} is in {}.\n{}", d.path.display(), pairs(&rows));
    format!("{text}Open it with: keyway open {}\n", d.path.display())
}
