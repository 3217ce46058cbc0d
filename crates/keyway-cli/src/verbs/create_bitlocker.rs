//! `create --format bitlocker`: a BitLocker volume with a recovery password made for it.

use super::create::Args;
use super::name_of;
use crate::failure::Failure;
use crate::output::{Output, bytes, pairs};
use crate::progress::Progress;
use crate::secrets_in::SecretSource;
use crate::shown::shown;
use crate::volume::{self, about};

pub(super) use keyway::create::{KeyFiles, description, protector_id};

use keyway::create::{BitLockerCreated, BitLockerOptions, NewPlace};
use keyway_fs::mkfs::FileSystem;
use keyway_secret::SecretBytes;
use keyway_volume::bitlocker::{self, Guid, Method, NewProtectors, RecoveryPassword, StartupKey};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The options that only BitLocker volumes have.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "BitLocker")]
pub(crate) struct BitLockerArgs {
    /// Let programs that know no BitLocker see a small file system with a note in it
    #[arg(long)]
    pub(super) to_go: bool,
    /// Write the recovery password to this new file instead of printing it
    #[arg(long, value_name = "FILE")]
    pub(super) recovery_file: Option<PathBuf>,
    /// Make no recovery password
    #[arg(long, conflicts_with = "recovery_file")]
    pub(super) no_recovery_password: bool,
    /// Set no password
    #[arg(long)]
    pub(super) no_password: bool,
    /// Make a startup key and write its .BEK file into this folder
    #[arg(long, value_name = "FOLDER")]
    pub(super) startup_key_out: Option<PathBuf>,
}

impl BitLockerArgs {
    /// Whether any was named.
    pub(crate) fn is_given(&self) -> bool {
        self.to_go
            || self.no_recovery_password
            || self.no_password
            || self.recovery_file.is_some()
            || self.startup_key_out.is_some()
    }
}

impl BitLockerArgs {
    /// Makes what is to open a new volume; its password is asked for on the terminal where none was named.
    pub(super) fn new_protectors(
        &self,
        source: &SecretSource,
        path: &Path,
    ) -> Result<NewProtectors, Failure> {
        let password = match self.no_password {
            true => None,
            false => Some(source.read_new(&name_of(path))?.password),
        };
        let recovery = match self.no_recovery_password {
            true => None,
            false => Some(RecoveryPassword::random().map_err(bitlocker::CreateError::from)?),
        };
        let startup_key = match &self.startup_key_out {
            Some(_) => Some(StartupKey::random().map_err(bitlocker::CreateError::from)?),
            None => None,
        };
        Ok(NewProtectors { password, recovery, startup_key })
    }

    /// What can be refused before anyone types a password.
    pub(super) fn check(&self, source: &SecretSource, path: &Path) -> Result<(), Failure> {
        if !source.keyfiles.is_empty() || source.pim.is_some() {
            return Err(Failure::usage(
                "a BitLocker volume has no keyfiles and no PIM",
                "leave --keyfile and --pim out",
            ));
        }
        if self.no_password && source.has_password() {
            return Err(Failure::usage(
                "a password was given along with --no-password",
                "leave one of them out",
            ));
        }
        if self.no_password && self.no_recovery_password && self.startup_key_out.is_none() {
            return Err(about(path, bitlocker::CreateError::NoProtector));
        }
        Ok(())
    }

    /// The same for a volume that is made in place of what is there: whatever interrupts that, its keys must be known.
    pub(super) fn check_in_place(&self, source: &SecretSource, path: &Path) -> Result<(), Failure> {
        self.check(source, path)?;
        if self.no_password && self.recovery_file.is_none() && self.startup_key_out.is_none() {
            return Err(Failure::usage(
                "the recovery password alone would open the volume, and it is shown at the end: nobody could go on \
                 with a conversion that is interrupted before",
                "say with --recovery-file where to write it before anything is changed",
            ));
        }
        Ok(())
    }
}

#[derive(Serialize)]
struct Document<'a> {
    path: &'a Path,
    format: &'static str,
    cipher: Method,
    mode: &'static str,
    hash: &'static str,
    sector_bytes: u32,
    data_bytes: u64,
    usable_bytes: u64,
    volume_id: Guid,
    to_go: bool,
    filesystem: Option<&'static str>,
    recovery_password: Option<String>,
    recovery_password_id: Option<Guid>,
    recovery_file: Option<&'a Path>,
    startup_key: Option<PathBuf>,
    warnings: Vec<String>,
}

/// The method of that name.
pub(super) fn method(text: Option<&str>) -> Result<Method, Failure> {
    let Some(text) = text else { return Ok(BitLockerOptions::default().method) };
    Method::ALL.into_iter().find(|method| method.name().eq_ignore_ascii_case(text)).ok_or_else(|| {
        Failure::usage(
            format!("BitLocker has no cipher called {text}"),
            "take aes-xts-128, aes-xts-256, aes-cbc-128 or aes-cbc-256",
        )
    })
}

/// Everything that can be refused is refused before anyone types a password.
pub(crate) fn check(args: &Args) -> Result<(), Failure> {
    method(args.cipher.as_deref())?;
    let own = args.secret.source();
    if args.hidden.is_some() || args.inner.source().is_given() {
        return Err(Failure::usage(
            "a BitLocker volume can't hold a hidden one",
            "leave --hidden out, or make a VeraCrypt volume",
        ));
    }
    if args.hash.is_some() {
        return Err(Failure::usage("a BitLocker volume has no choice of a hash", "leave --hash out"));
    }
    if let Some(fs) = args.filesystem.0
        && !matches!(fs, FileSystem::Ntfs | FileSystem::ExFat | FileSystem::Fat)
    {
        return Err(about(&args.path, bitlocker::CreateError::FileSystemNotOffered(fs)));
    }
    args.bitlocker.check(&own, &args.path)
}

/// Makes the volume at a place that was found fit for it.
pub(crate) fn run(args: &Args, place: &NewPlace, out: Output) -> Result<(), Failure> {
    let options = &args.bitlocker;
    let method = method(args.cipher.as_deref())?;
    let protectors = options.new_protectors(&args.secret.source(), &args.path)?;
    let mut new = BitLockerOptions::default();
    new.method = method;
    new.quick = args.quick;
    new.filesystem = args.filesystem.0;
    new.label.clone_from(&args.label);
    new.to_go = options.to_go;
    new.recovery_file.clone_from(&options.recovery_file);
    new.startup_key_folder.clone_from(&options.startup_key_out);
    // Before there is a file, which an interrupt would leave.
    let progress = Progress::interruptible("filling")?;
    let created = new.create(place, &protectors, &progress)?;
    progress.done();
    tell(args, method, &protectors, created, out)
}

fn tell(
    args: &Args,
    method: Method,
    protectors: &NewProtectors,
    created: BitLockerCreated,
    out: Output,
) -> Result<(), Failure> {
    let recovery_file = args.bitlocker.recovery_file.as_deref();
    // The one place where it leaves locked memory: it is to be shown.
    let shown = |text: SecretBytes| String::from_utf8_lossy(&text).into_owned();
    let document = Document {
        path: &args.path,
        format: "bitlocker",
        cipher: method,
        mode: method.mode().name(),
        hash: "sha256",
        sector_bytes: created.sector_bytes,
        data_bytes: created.data_bytes,
        usable_bytes: created.usable_bytes,
        volume_id: created.id,
        to_go: args.bitlocker.to_go,
        filesystem: args.filesystem.0.map(FileSystem::name),
        recovery_password: protectors
            .recovery
            .as_ref()
            .filter(|_| recovery_file.is_none())
            .map(|r| shown(r.to_text())),
        recovery_password_id: created.recovery_id,
        recovery_file,
        startup_key: created.startup_key,
        warnings: created.notes.iter().map(ToString::to_string).collect(),
    };
    volume::warn(out, &document.warnings);
    out.result(&document, || words(&document))
}

fn words(d: &Document<'_>) -> String {
    let mut rows = vec![
        ("  encryption method", d.cipher.windows_name().to_owned()),
        ("  room", bytes(d.usable_bytes)),
        ("  file system", d.filesystem.unwrap_or("none yet").to_owned()),
    ];
    if let Some(id) = d.recovery_password_id {
        rows.push(("  recovery password's identifier", id.to_string()));
    }
    let text = |path: Option<&Path>| path.map(|path| path.display().to_string());
    rows.extend(key_rows(
        d.recovery_password.as_deref(),
        text(d.recovery_file).as_deref(),
        text(d.startup_key.as_deref()).as_deref(),
    ));
    let text = format!("A new BitLocker volume is in {}.\n{}", shown(d.path), pairs(&rows));
    format!("{text}Open it with: keyway open {}\n", shown(d.path))
}

/// What a new volume's keeper is told of its keys: the recovery password or the file it is in, and the startup key's file.
pub(crate) fn key_rows(
    password: Option<&str>,
    file: Option<&str>,
    startup_key: Option<&str>,
) -> impl Iterator<Item = (&'static str, String)> {
    let password = password.map(|text| format!("{text}; write it down and keep it apart from the drive"));
    let file = file.map(|file| format!("in {file}; keep it elsewhere"));
    let startup_key = startup_key.map(|file| format!("in {file}"));
    [("  recovery password", password), ("  recovery password", file), ("  startup key", startup_key)]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
}
