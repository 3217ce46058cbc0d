//! `create`: a new container, a device formatted as one, or a hidden volume inside another.

use super::create_bitlocker::{self, BitLockerArgs};
use super::name_of;
use crate::failure::Failure;
use crate::output::{Output, bytes, pairs};
use crate::progress::Progress;
use crate::secrets_in::{HiddenArgs, SecretArgs, one_stdin};
use crate::shown::shown;
use crate::volume::about;
use crate::words;
use crate::words::parsed;
use crate::{size, volume};
use keyway::Error;
use keyway::create::{NewPlace, Progress as _, Stage, VeraCryptCreated, VeraCryptOptions};
use keyway_cipher::Chain;
use keyway_error::Kind;
use keyway_fs::mkfs::{self, FileSystem};
use keyway_volume::veracrypt::CreateError;
use keyway_volume::{HashName, Secrets};
use serde::Serialize;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

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
    #[arg(long, value_name = "HASH", value_parser = parsed::<HashName>)]
    pub(super) hash: Option<HashName>,
    /// The file system to make inside: ext4, exfat, ntfs, fat, btrfs, xfs or none
    #[arg(long, value_name = "FS", default_value = "none", value_parser = filesystem)]
    pub(super) filesystem: Inside,
    /// The file system's name
    #[arg(long, value_name = "NAME")]
    pub(super) label: Option<String>,
    /// Do not fill the volume with random bytes first, the outer or the hidden one; faster, but it shows how much is used
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
    text.parse().map(|fs| Inside(Some(fs))).map_err(|e: mkfs::MkfsError| words::told(&e))
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
        let place = normal(args, out)?;
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
            let new = normal(args, out)?;
            let secrets = own.read_new(&name_of(path))?;
            let made = make(args, |options, progress| options.create(&new, &secrets, progress))?;
            tell(args, &made, &secrets, out)
        }
        Some(size) if args.size.is_some() || meta.is_none() => {
            let new = normal(args, out)?;
            let outer = own.read_new(&format!("the outer volume {}", name_of(path)))?;
            let secrets = inner.read_new(&format!("the hidden volume in {}", name_of(path)))?;
            let notes = make(args, |options, progress| options.create(&new, &outer, progress))?.notes;
            let mut made = hide(args, size, Some(&outer), &secrets)?;
            made.notes.extend(notes);
            tell(args, &made, &secrets, out)
        }
        Some(size) => {
            super::open::refuse_if_open(path, false)?;
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
        None => Ok(VeraCryptOptions::default().cipher),
        Some(text) => text.parse().map_err(|e: keyway_cipher::CipherError| {
            Failure::usage(e.to_string(), "`keyway bench` lists the ciphers")
        }),
    }
}

/// What the words say that the volume shall be like.
fn options(args: &Args) -> Result<VeraCryptOptions, Failure> {
    let mut options = VeraCryptOptions::default();
    options.cipher = cipher(args)?;
    options.hash = args.hash.unwrap_or(options.hash);
    options.quick = args.quick;
    options.filesystem = args.filesystem.0;
    options.label.clone_from(&args.label);
    Ok(options)
}

/// Everything that can be refused is refused before anyone types a password.
fn normal(args: &Args, out: Output) -> Result<NewPlace, Failure> {
    let path = &args.path;
    let place = NewPlace::find(path, args.size, args.force).map_err(|e| match Failure::from(e) {
        exists if exists.kind == Kind::Exists => exists
            .hint("choose another name, or replace it with --force; for a hidden volume use --hidden SIZE"),
        other => other,
    })?;
    if place.is_device() {
        out.confirm(&format!("Everything on {} will be lost.", path.display()))?;
    } else if path.exists() {
        super::open::refuse_if_open(path, false)?;
    }
    Ok(place)
}

/// Makes a volume where anybody watches how far it is.
fn make(
    args: &Args,
    create: impl FnOnce(&VeraCryptOptions, &dyn keyway::create::Progress) -> Result<VeraCryptCreated, Error>,
) -> Result<VeraCryptCreated, Failure> {
    // Before there is a file, which an interrupt would leave.
    let progress = Progress::interruptible("filling")?;
    let options = options(args)?;
    let told = AtomicBool::new(false);
    let watch = |stage: Stage, done: u64, total: u64| {
        if let (Stage::FileSystem, Some(fs), false) = (stage, options.filesystem, told.load(Relaxed)) {
            told.store(true, Relaxed);
            progress.label(&format!("making {fs}"));
        }
        progress.at(stage, done, total)
    };
    Ok(create(&options, &watch)?)
}

/// Makes a hidden volume inside the one at the path.
fn hide(
    args: &Args,
    size: u64,
    outer: Option<&Secrets>,
    secrets: &Secrets,
) -> Result<VeraCryptCreated, Failure> {
    make(args, |options, progress| options.create_hidden(&args.path, size, outer, secrets, progress))
}

fn tell(args: &Args, made: &VeraCryptCreated, secrets: &Secrets, out: Output) -> Result<(), Failure> {
    let options = options(args)?;
    let document = Document {
        path: &args.path,
        format: "veracrypt",
        cipher: options.cipher.to_string(),
        mode: "xts",
        hash: options.hash,
        pim: secrets.pim,
        sector_bytes: made.sector_bytes,
        data_offset: made.data_offset,
        data_bytes: made.data_bytes,
        hidden: made.hidden,
        filesystem: args.filesystem.0.map(FileSystem::name),
        warnings: made.notes.iter().map(ToString::to_string).collect(),
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
    let text = format!("{kind} is in {}.\n{}", shown(d.path), pairs(&rows));
    format!("{text}Open it with: keyway open {}\n", shown(d.path))
}
