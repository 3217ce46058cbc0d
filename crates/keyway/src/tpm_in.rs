//! A TPM and its PIN among the things that open a BitLocker volume.

use crate::failure::Failure;
use crate::prompt;
use crate::secrets_in::SecretSource;
use keyway_tpm::{Address, Pcrs, Tpm, TpmError};
use keyway_volume::bitlocker::tpm::{Pin, TpmProtectorError, TpmSecrets, unseal_any};
use keyway_volume::bitlocker::{Protection, Secret, Seen, StartupKey};
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// The variable that names another TPM than the machine's own where no option names one.
const VARIABLE: &str = "KEYWAY_TPM";

/// The options of a TPM that is asked for a key.
#[derive(clap::Args, Debug, Clone, Default)]
pub(crate) struct TpmArgs {
    /// Ask this machine's TPM for the key, or another one: a device's path, `swtpm:host=HOST,port=N`, `swtpm:path=SOCKET`
    #[arg(long, value_name = "ADDRESS", require_equals = true)]
    tpm: Option<Option<Address>>,
    /// Read the PIN of the TPM's protector from FILE; `-` is standard input. One trailing newline is dropped
    #[arg(long, value_name = "FILE", requires = "tpm")]
    pin_file: Option<PathBuf>,
    /// Read that PIN from the open descriptor N
    #[arg(long, value_name = "N", requires = "tpm", conflicts_with = "pin_file")]
    pin_fd: Option<u32>,
}

impl TpmArgs {
    /// Whether a TPM is to be asked.
    pub(crate) fn is_given(&self) -> bool {
        self.tpm.is_some()
    }

    /// Where the PIN comes from, if it is named.
    pub(crate) fn pin_source(&self) -> SecretSource {
        SecretSource {
            password_file: self.pin_file.clone(),
            password_fd: self.pin_fd,
            ..SecretSource::default()
        }
    }

    /// The volume master key as the TPM gives it. Asks for a PIN on the terminal where a protector
    /// wants one and none was named.
    pub(crate) fn master_key(
        &self,
        name: &str,
        seen: &Seen,
        startup_keys: &[StartupKey],
    ) -> Result<Secret, Failure> {
        let wants_pin = seen
            .info
            .key_protectors
            .iter()
            .any(|p| matches!(p.kind, Protection::TpmPin | Protection::TpmPinStartupKey));
        let source = self.pin_source();
        let typed = if source.has_password() {
            Some(source.read(name)?.password)
        } else if wants_pin && io::stdin().is_terminal() {
            Some(prompt::password(&format!("PIN of {name}: "))?)
        } else {
            None
        };
        let pin = typed.as_deref().map(Pin::new).transpose().map_err(TpmProtectorError::from)?;
        let secrets = TpmSecrets { pin: pin.as_ref(), startup_keys, stop: &AtomicBool::new(false) };
        let entries = &seen.metadata.block().dataset.entries;
        let (master, _) =
            unseal_any(entries, None, &mut open(self.tpm.as_ref().and_then(Option::as_ref))?, &secrets)?;
        Ok(Secret::MasterKey(master.bytes))
    }
}

/// The options of a TPM that is to seal a key.
#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "New secret")]
pub(crate) struct NewTpmArgs {
    /// The TPM that seals the key, where it isn't this machine's own; written as with --tpm
    #[arg(long, value_name = "ADDRESS")]
    new_tpm: Option<Address>,
    /// The measurements that the key is bound to: numbers of PCRs such as 7,11. Windows' choice for this machine when left out
    #[arg(long, value_name = "LIST")]
    pub(crate) pcrs: Option<Pcrs>,
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
        self.new_tpm.is_some() || self.pcrs.is_some() || self.pin_source().has_password()
    }

    /// Where the new PIN comes from, if it is named.
    pub(crate) fn pin_source(&self) -> SecretSource {
        SecretSource {
            password_file: self.new_pin_file.clone(),
            password_fd: self.new_pin_fd,
            ..SecretSource::default()
        }
    }

    /// The TPM that seals.
    pub(crate) fn open(&self) -> Result<Tpm, Failure> {
        open(self.new_tpm.as_ref())
    }

    /// The new PIN; asks twice on the terminal where none was named.
    pub(crate) fn new_pin(&self, name: &str) -> Result<Pin, Failure> {
        let source = self.pin_source();
        let typed = if source.has_password() {
            source.read(name)?.password
        } else {
            let first = prompt::password(&format!("New PIN of {name}: "))?;
            if !first.same_as(&prompt::password("The same again: ")?) {
                return Err(Failure::usage("the two PINs differ", "try again and type them slowly"));
            }
            first
        };
        Ok(Pin::new_to_set(&typed).map_err(TpmProtectorError::from)?)
    }
}

/// The TPM of that address; else of the variable; else this machine's.
fn open(named: Option<&Address>) -> Result<Tpm, Failure> {
    let address = match (named, std::env::var(VARIABLE)) {
        (Some(address), _) => address.clone(),
        (None, Ok(named)) if !named.is_empty() => {
            let fault = |e| Failure::usage(format!("{VARIABLE}: {e}"), "correct it or unset it");
            named.parse().map_err(fault)?
        }
        _ => Address::default(),
    };
    Tpm::open(&address).map_err(|e| TpmProtectorError::from(e).into())
}

impl From<TpmProtectorError> for Failure {
    fn from(error: TpmProtectorError) -> Self {
        use TpmProtectorError as E;
        let told = Self::told(error.exit_code(), &error.to_string());
        match error {
            E::NoProtector | E::OtherKind(..) => told
                .kind("no-such-protector")
                .hint("leave out --tpm, and give what the volume has: keyway protector list VOLUME"),
            E::NeedsPin => told.kind("no-secret").hint("use --pin-file FILE or --pin-fd N"),
            E::NeedsStartupKey(_) => told.kind("no-secret").hint("name it with --startup-key FILE.BEK"),
            E::OtherStartupKey(_) => told.kind("other-startup-key"),
            E::WrongStartupKey(_) => told.kind("wrong-startup-key"),
            E::Pin(_) => told.kind("pin"),
            E::Blob(_) | E::Damaged(_) => told.kind("damaged"),
            E::OldPin => told.kind("unsupported"),
            E::Stopped => told.kind("interrupted"),
            E::Random(_) => told,
            E::Tpm(error) => match error {
                TpmError::NoTpm { .. } => told.kind("no-tpm"),
                TpmError::WrongAuthorization { .. } => told.kind("wrong-pin"),
                TpmError::LockedOut { .. } => told.kind("tpm-locked"),
                TpmError::MeasurementsChanged { .. } => told.kind("measurements-changed"),
                TpmError::NotThisTpm => told.kind("other-tpm"),
                TpmError::Unfit(_) => told.kind("unsupported"),
                TpmError::NotPermitted { .. } | TpmError::Busy { .. } => told,
                _ => told.kind("tpm"),
            },
        }
    }
}
