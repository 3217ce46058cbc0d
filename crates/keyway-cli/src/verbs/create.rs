//! `create`: a new container, a device formatted as one, or a hidden volume inside another.

use crate::asking::Terminal;
use crate::new_volume_args::{BitLockerArgs, NEW_FORMATS};
use crate::progress::Later;
use crate::unlock_args::{HiddenArgs, SecretArgs};
use crate::verbs::*;
use keyway::create::{CreateRequest, Created, CreatedDetails, FileSystem, HashName};

/// Make a new volume in a file or on a device, or a hidden one inside
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// A file that does not exist yet, or a block device; with --hidden also an existing volume
    path: PathBuf,
    /// The file's size, headers included: 512M, 10G. A device is taken whole
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    size: Option<u64>,
    /// Make a hidden volume of this size inside the one at PATH, or with --size inside the new one
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    hidden: Option<u64>,
    /// The format; what is made inside BitLocker is NTFS, exFAT or FAT
    #[arg(long, value_parser = choice(NEW_FORMATS), default_value = "veracrypt")]
    format: Family,
    /// The cipher or cascade, outermost first; `keyway bench` lists them (default aes). BitLocker: aes-xts-128 (default), aes-xts-256, aes-cbc-128, aes-cbc-256
    #[arg(long, alias = "encryption", value_name = "CIPHER", value_parser = size::cipher)]
    cipher: Option<String>,
    /// The key derivation: sha512 (default), sha256, whirlpool, streebog, blake2s, argon2id; with --hidden alone the hidden volume's: the outer one's is --outer-hash, or found out
    #[arg(long, value_name = "HASH", value_parser = parsed::<HashName>)]
    hash: Option<HashName>,
    /// The key derivation of the outer volume that is there; a search of all takes longer
    #[arg(long, value_name = "HASH", requires = "hidden", conflicts_with = "size", value_parser = parsed::<HashName>)]
    outer_hash: Option<HashName>,
    /// The file system to make inside: ext4, exfat, ntfs, fat, btrfs, xfs or none
    #[arg(long, value_name = "FS", default_value = "none", value_parser = filesystem)]
    filesystem: Inside,
    /// The file system's name
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
    /// Do not fill the volume with random bytes first, the outer or the hidden one; faster, but it shows how much is used
    #[arg(long)]
    quick: bool,
    /// Replace the file that is at PATH; with --hidden alone, make it also over the outer volume's files
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    dry: DryRunArgs,
    #[command(flatten)]
    secret: SecretArgs,
    #[command(flatten)]
    inner: HiddenArgs,
    #[command(flatten)]
    bitlocker: BitLockerArgs,
}

/// What goes inside.
#[derive(Debug, Clone, Copy)]
struct Inside(Option<FileSystem>);

fn filesystem(text: &str) -> Result<Inside, String> {
    match text.eq_ignore_ascii_case("none") {
        true => Ok(Inside(None)),
        false => parsed(text).map(|fs| Inside(Some(fs))),
    }
}

/// Runs the verb. Only the volume's own file is ever replaced, not those of its keys.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let plan = args.request().plan().map_err(|e| match Failure::from(e) {
        exists if exists.kind == Kind::Exists && exists.path.as_deref() == Some(&args.path) => exists
            .hint("choose another name, or replace it with --force; for a hidden volume use --hidden SIZE"),
        other => other,
    })?;
    let lost = json!({"loses": plan.loses, "there": plan.there, "path": in_json(&args.path), "hidden_bytes": args.hidden, "force": args.force});
    let question = plan.loses.map(|_| said("create loses", &lost));
    let once = plan.told_once();
    out.must_be_heard(once)?;
    out.warnings(&plan.warnings);
    if !args.dry.go_on(&plan, question.as_deref(), out)? {
        return Ok(());
    }
    let label = |stage| match (stage, args.filesystem.0) {
        (keyway::Stage::MakingFileSystem, Some(fs)) => format!("making {fs}"),
        _ => "filling".to_owned(),
    };
    let made = plan.run(&Terminal, &Later::new(label))?;
    out.warnings(&made.told_last);
    out.told(&made, || words(&made, args), once.map(|_| || said("create untold", &made.untold())))
}

impl Args {
    fn request(&self) -> CreateRequest {
        let mut request = CreateRequest::new(&self.path);
        (request.bytes, request.hidden_bytes, request.replace) = (self.size, self.hidden, self.force);
        (request.format, request.quick, request.outer_hash) = (self.format, self.quick, self.outer_hash);
        (request.cipher, request.hash) = (self.cipher.clone(), self.hash);
        (request.filesystem, request.label) = (self.filesystem.0, self.label.clone());
        (request.secret, request.hidden_secret) = (self.secret.source(), self.inner.source());
        (request.to_go, request.protectors) = (self.bitlocker.to_go, self.bitlocker.protectors());
        request
    }
}

fn words(made: &Created, args: &Args) -> String {
    // Not all that was made: a recovery password is copied to no place where it need not be.
    let hidden = matches!(made.details, CreatedDetails::VeraCrypt { hidden: true, .. });
    let (outer, inner) = (args.secret.source(), args.inner.source());
    let facts = json!({
        "path": in_json(&made.path),
        "format": made.format,
        "filesystem": made.filesystem,
        "hidden": hidden,
        "needs": size::options(if hidden { &inner } else { &outer }, "") + &made.needed_key(),
        "outer_needs": size::options(&outer, "") + " --protect-hidden" + &size::options(&inner, "protect-"),
    });
    let behind = ["create open", "create bare"].map(|word| said(word, &facts)).concat();
    said("create made", &facts) + &pairs(&made.rows()) + &behind
}
