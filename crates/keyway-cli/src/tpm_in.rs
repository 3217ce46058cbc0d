//! The options of a TPM and its PIN among the things that open a BitLocker volume.

use crate::failure::Failure;
use crate::secrets_in::SecretSource;
use crate::words::parsed;
use keyway::secrets::{NewTpmSource, TpmSource};
use keyway::tpm::{Address, Pcrs};
use std::path::PathBuf;

/// The variable that names another TPM than the machine's own where no option names one.
const VARIABLE: &str = "KEYWAY_TPM";

/// The options of a TPM that is asked for a key.
#[derive(clap::Args, Debug, Clone, Default)]
pub(crate) struct TpmArgs {
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

impl TpmArgs {
    /// Whether a TPM is to be asked.
    pub(crate) fn is_given(&self) -> bool {
        self.tpm.is_some()
    }

    /// The TPM to be asked, if there is one.
    pub(crate) fn source(&self) -> Result<Option<TpmSource>, Failure> {
        let Some(named) = &self.tpm else { return Ok(None) };
        let mut source = TpmSource::new(address(named.as_ref())?);
        source.pin = pin(&self.pin_file, self.pin_fd).named().password;
        Ok(Some(source))
    }
}

/// The options of a TPM that is to seal a key.
#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "New secret")]
pub(crate) struct NewTpmArgs {
    /// The TPM that seals the key, where it isn't this machine's own; written as with --tpm
    #[arg(long, value_name = "ADDRESS", value_parser = parsed::<Address>)]
    new_tpm: Option<Address>,
    /// The measurements that the key is bound to: numbers of PCRs such as 7,11. Windows' choice for this machine when left out
    #[arg(long, value_name = "LIST", value_parser = parsed::<Pcrs>)]
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
        pin(&self.new_pin_file, self.new_pin_fd)
    }

    /// The TPM that seals, and what with.
    pub(crate) fn source(&self) -> Result<NewTpmSource, Failure> {
        let mut source = NewTpmSource::new(address(self.new_tpm.as_ref())?);
        source.pcrs = self.pcrs;
        source.pin = self.pin_source().named().password;
        Ok(source)
    }
}

fn pin(file: &Option<PathBuf>, descriptor: Option<u32>) -> SecretSource {
    SecretSource { password_file: file.clone(), password_fd: descriptor, ..SecretSource::default() }
}

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
