//! Unlock arguments: which volume is meant, what it is looked for as, and what opens it. VeraCrypt volumes have one secret,
//! BitLocker's several kinds of keys.

use crate::asking::Terminal;
use crate::failure::Failure;
use crate::output::note;
use crate::progress::SEARCH;
use crate::verbs::choice;
use crate::words::{parsed, said};
use keyway::secrets::{NewTpmSource, PasswordSource, SecretFrom, SecretRole, Sources, TpmSource};
use keyway::told::facts;
use keyway::tpm::{Address, Pcrs};
use keyway::unlock::{UnlockArguments, VolumeFormat};
use keyway::{LockedVolume, Sandbox};
use keyway_volume::{HashName, HeaderChoice};
use serde_json::Value;
use std::ffi::OsString;
use std::path::PathBuf;

/// Declares the four options of one secret, each with a prefix: `--new-password-file` and so on.
macro_rules! secret_args {
    ($(#[$doc:meta])* $name:ident, $role:ident, $prefix:literal, $heading:literal, $whose:literal) => {
        $(#[$doc])*
        #[derive(clap::Args, Debug, Clone, Default)]
        #[group(id = concat!($prefix, "secret"))]
        #[command(next_help_heading = $heading)]
        pub(crate) struct $name {
            #[arg(help = concat!("Read the password ", $whose, " from FILE; `-` is standard input. One trailing newline is dropped"),
                id = concat!($prefix, "password-file"), long = concat!($prefix, "password-file"), value_name = "FILE")]
            file: Option<PathBuf>,
            #[arg(help = concat!("Read the password ", $whose, " from the open descriptor N"),
                id = concat!($prefix, "password-fd"), long = concat!($prefix, "password-fd"), value_name = "N",
                conflicts_with = concat!($prefix, "password-file"))]
            descriptor: Option<u32>,
            #[arg(help = concat!("A keyfile ", $whose, "; a folder means its files. Repeatable"),
                id = concat!($prefix, "keyfile"), long = concat!($prefix, "keyfile"), value_name = "PATH", value_hint = clap::ValueHint::AnyPath)]
            keyfiles: Vec<OsString>,
            #[arg(help = concat!("The PIM ", $whose),
                id = concat!($prefix, "pim"), long = concat!($prefix, "pim"), alias = concat!($prefix, "veracrypt-pim"), value_name = "N", value_parser = keyway::spelled::pim)]
            pim: Option<u32>,
        }

        impl $name {
            /// Where the secret comes from.
            pub(crate) fn source(&self) -> PasswordSource {
                let mut source = PasswordSource::new().with_keyfiles(&self.keyfiles);
                source.password = SecretFrom::named(self.file.as_deref(), self.descriptor);
                (source.pim, source.role) = (self.pim, SecretRole::$role);
                source
            }
        }
    };
}

secret_args!(
    /// The volume's own secret.
    SecretArgs, Own, "", "Secret", "of the volume"
);
secret_args!(
    /// The secret of the hidden volume that an outer one must not damage.
    ProtectArgs, Protected, "protect-", "Protected hidden volume", "of the hidden volume"
);
secret_args!(
    /// The secret of the hidden volume, beside the outer one's.
    HiddenArgs, Hidden, "hidden-", "Hidden volume", "of the hidden volume"
);
secret_args!(
    /// The secret that replaces the present one.
    NewArgs, New, "new-", "New secret", "to be set"
);

impl ProtectArgs {
    /// Where the hidden volume's secret comes from, where that is to be protected: because it was asked for, or named.
    pub(crate) fn wanted(&self, asked: bool) -> Option<PasswordSource> {
        let source = self.source();
        (asked || source.is_given()).then_some(source)
    }
}

/// The options of secrets that only BitLocker volumes have.
#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "BitLocker")]
pub(crate) struct KeyArgs {
    /// The recovery password: its 48 digits, or a file that holds it; `-` is standard input. Without a value, as the last
    /// word, it is asked for
    #[arg(long, value_name = "TEXT-OR-FILE", num_args = 0..=1)]
    recovery_password: Option<Option<OsString>>,
    /// The startup key's file, or a folder in which the volume's one is looked for
    #[arg(long, value_name = "FILE.BEK")]
    startup_key: Option<PathBuf>,
    /// Ask this machine's TPM for the key, or another one: a device's path, `swtpm:host=HOST,port=N`, `swtpm:path=SOCKET`
    #[arg(long, value_name = "ADDRESS", require_equals = true, value_parser = parsed::<Address>)]
    tpm: Option<Option<Address>>,
    /// Read the PIN of the TPM's protector from FILE; `-` is standard input. One trailing newline is dropped
    #[arg(long, value_name = "FILE", requires = "tpm")]
    pin_file: Option<PathBuf>,
    /// Read that PIN from the open descriptor N
    #[arg(long, value_name = "N", requires = "tpm", conflicts_with = "pin_file")]
    pin_fd: Option<u32>,
}

impl KeyArgs {
    /// What the options name, beside a password.
    pub(crate) fn sources(&self, password: PasswordSource) -> Result<Sources, Failure> {
        let mut sources = Sources::new();
        sources.password = password;
        // A variable that is empty names nothing.
        sources.recovery_password =
            self.recovery_password.clone().flatten().filter(|given| !given.is_empty());
        sources.asks_recovery_password =
            self.recovery_password.is_some() && sources.recovery_password.is_none();
        sources.startup_key.clone_from(&self.startup_key);
        if let Some(named) = &self.tpm {
            let mut tpm = TpmSource::new(address(named.as_ref())?);
            tpm.pin = SecretFrom::named(self.pin_file.as_deref(), self.pin_fd);
            sources.tpm = Some(tpm);
        }
        Ok(sources)
    }
}

/// The options of a TPM that is to seal a key.
#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "New secret")]
pub(crate) struct NewTpmArgs {
    /// The TPM that seals the key, where it isn't this machine's own; written as with --tpm
    #[arg(long, value_name = "ADDRESS", value_parser = parsed::<Address>)]
    new_tpm: Option<Address>,
    /// The measurements that the key is bound to: numbers of PCRs such as 7,11. Windows' choice for this machine when left out,
    /// or those of the protector that is changed
    #[arg(long, value_name = "LIST", value_parser = parsed::<Pcrs>)]
    pcrs: Option<Pcrs>,
    /// Read the new PIN from FILE; `-` is standard input. One trailing newline is dropped
    #[arg(long, value_name = "FILE")]
    new_pin_file: Option<PathBuf>,
    /// Read the new PIN from the open descriptor N
    #[arg(long, value_name = "N", conflicts_with = "new_pin_file")]
    new_pin_fd: Option<u32>,
}

impl NewTpmArgs {
    /// Whether any was named.
    pub(crate) fn is_given(&self) -> bool {
        self.new_tpm.is_some() || self.pcrs.is_some() || self.pin().is_some()
    }

    fn pin(&self) -> Option<SecretFrom> {
        SecretFrom::named(self.new_pin_file.as_deref(), self.new_pin_fd)
    }

    /// The TPM that seals, and what with.
    pub(crate) fn source(&self) -> Result<NewTpmSource, Failure> {
        let mut source = NewTpmSource::new(address(self.new_tpm.as_ref())?);
        (source.pcrs, source.pin) = (self.pcrs, self.pin());
        Ok(source)
    }
}

/// The variable that names another TPM than the machine's own where no option names one.
const VARIABLE: &str = "KEYWAY_TPM";

/// The address that was named; else the variable's; else this machine's own.
fn address(named: Option<&Address>) -> Result<Address, Failure> {
    match (named, std::env::var(VARIABLE)) {
        (Some(address), _) => Ok(address.clone()),
        (None, Ok(named)) if !named.is_empty() => {
            let fault = |e| Failure::usage(format!("{VARIABLE}: {e}"), "correct it or unset it");
            parsed(&named).map_err(fault)
        }
        _ => Ok(Address::default()),
    }
}

const FORMATS: [(&str, VolumeFormat, &str); 3] = [
    ("veracrypt", VolumeFormat::VeraCrypt, "VeraCrypt"),
    ("truecrypt", VolumeFormat::TrueCrypt, "TrueCrypt"),
    ("bitlocker", VolumeFormat::BitLocker, "BitLocker"),
];

const HEADERS: [(&str, HeaderChoice, &str); 3] = [
    ("auto", HeaderChoice::Auto, "The primary one, and where that does not open, the backup"),
    ("primary", HeaderChoice::Primary, "Only the one at the beginning"),
    ("backup", HeaderChoice::Backup, "Only the one at the end"),
];

/// Options that narrow what a volume is looked for as. None is needed: everything is found out.
#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "Narrowing the search")]
struct NarrowArgs {
    /// Only look for this format
    #[arg(long, value_parser = choice(FORMATS))]
    format: Option<VolumeFormat>,
    /// Only try this key derivation's hash: sha512, sha256, blake2s, whirlpool, streebog, ripemd160, sha1, argon2id
    #[arg(long, value_name = "HASH", value_parser = parsed::<HashName>)]
    hash: Option<HashName>,
    /// Which copy of the header to use
    #[arg(long, value_parser = choice(HEADERS), default_value = "auto")]
    header: HeaderChoice,
    /// VOLUME is a disk, and this partition of it is meant; 0 is the disk as a whole
    #[arg(long, value_name = "N", conflicts_with_all = ["system", "system_header"])]
    partition: Option<u32>,
    /// The volume is an encrypted system partition or drive
    #[arg(long)]
    system: bool,
    /// VOLUME is one partition of an encrypted system: its drive, the drive's image, or the 512 bytes of its header
    #[arg(long, value_name = "FILE_OR_DEVICE")]
    system_header: Option<PathBuf>,
}

/// The option of verbs whose process gives up what it doesn't need.
#[derive(clap::Args, Debug, Clone, Copy, Default)]
pub(crate) struct SandboxArgs {
    /// Refuse where this kernel lacks a layer of the sandbox (`keyway doctor`)
    #[arg(long, display_order = 903, help_heading = None::<&str>)]
    pub(crate) require_sandbox: bool,
}

impl SandboxArgs {
    /// The volume, whose process enters the sandbox when it is open.
    pub(crate) fn around(self, volume: LockedVolume<'_>) -> LockedVolume<'_> {
        volume.within(Sandbox::new(self.require_sandbox))
    }
}

/// A volume, what opens it, and what it is looked for as: what nearly every verb takes.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct VolumeArgs {
    /// The volume's file or block device
    pub(crate) volume: PathBuf,
    #[command(flatten)]
    secret: SecretArgs,
    /// Try a wrong password in other spellings and as of other keyboard layouts, too; each takes as long as the password
    #[arg(long, help_heading = "Secret")]
    try_variants: bool,
    #[command(flatten)]
    keys: KeyArgs,
    #[command(flatten)]
    narrow: NarrowArgs,
}

impl VolumeArgs {
    /// What it is looked for as.
    pub(crate) fn arguments(&self) -> UnlockArguments {
        let NarrowArgs { format, hash, header, partition, system, system_header } = self.narrow.clone();
        let mut arguments = UnlockArguments::new();
        (arguments.format, arguments.hash, arguments.header) = (format, hash, header);
        arguments.partition = partition;
        arguments.system = system || system_header.is_some();
        arguments.system_header = system_header;
        arguments
    }

    /// The same for the library, which asks on the terminal for what wasn't named. Of a disk it is said first what is meant.
    pub(crate) fn locked(&self) -> Result<LockedVolume<'static>, Failure> {
        let mut volume = LockedVolume::new(&self.volume, &Terminal);
        (volume.arguments, volume.sources, volume.progress) = (self.arguments(), self.sources()?, &SEARCH);
        if let Some(meant) = volume.find_partition()? {
            note(&said("disk meant", &facts(&meant, Value::Null)));
        }
        Ok(volume)
    }

    /// Where its password and keyfiles come from.
    pub(crate) fn source(&self) -> PasswordSource {
        self.secret.source()
    }

    /// Where all comes from that was named to open it.
    pub(crate) fn sources(&self) -> Result<Sources, Failure> {
        Ok(self.keys.sources(self.source())?.in_variants(self.try_variants))
    }
}
