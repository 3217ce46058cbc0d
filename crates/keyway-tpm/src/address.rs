//! Where the TPM is: a device of the kernel or an emulator's socket.

use keyway_error::explain;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Where to find a TPM.
///
/// Written as `device:/dev/tpmrm0`, `swtpm:host=127.0.0.1,port=2321` or `swtpm:path=/run/tpm.sock`;
/// an absolute path alone is a device. The spelling is that of tpm2-tools' TCTI option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A character device that takes TPM commands.
    Device(PathBuf),
    /// The command port of `swtpm socket --server type=tcp`.
    Tcp {
        /// Name or address of the host.
        host: String,
        /// TCP port.
        port: u16,
    },
    /// The socket of `swtpm socket --server type=unixio`.
    Unix(PathBuf),
}

impl Default for Address {
    /// The device behind the kernel's resource manager, which cleans up after each of its users.
    fn default() -> Self {
        Self::Device("/dev/tpmrm0".into())
    }
}

/// An address that isn't one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no address of a TPM")]
pub struct AddressFault(String);

explain!(AddressFault => [Usage Request, WriteTpmAddress]);

impl FromStr for Address {
    type Err = AddressFault;

    fn from_str(text: &str) -> Result<Self, AddressFault> {
        parse(text).ok_or_else(|| AddressFault(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Address> {
    if text.starts_with('/') {
        return Some(Address::Device(text.into()));
    }
    let (kind, rest) = text.split_once(':')?;
    match kind {
        "device" if !rest.is_empty() => Some(Address::Device(rest.into())),
        "swtpm" => parse_socket(rest),
        _ => None,
    }
}

/// The port that `swtpm`'s and tpm2-tools' manuals use.
const USUAL_PORT: u16 = 2321;

fn parse_socket(options: &str) -> Option<Address> {
    let (mut host, mut port, mut path) = (None, None, None);
    for option in options.split(',').filter(|option| !option.is_empty()) {
        let (name, value) = option.split_once('=')?;
        match name {
            "host" if !value.is_empty() => host = Some(value.to_owned()),
            "port" => port = Some(value.parse().ok()?),
            "path" if !value.is_empty() => path = Some(PathBuf::from(value)),
            _ => return None,
        }
    }
    match (path, host, port) {
        (Some(path), None, None) => Some(Address::Unix(path)),
        (None, host, port) => Some(Address::Tcp {
            host: host.unwrap_or_else(|| "127.0.0.1".to_owned()),
            port: port.unwrap_or(USUAL_PORT),
        }),
        _ => None,
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Device(path) => write!(f, "{}", path.display()),
            Self::Tcp { host, port } => write!(f, "swtpm:host={host},port={port}"),
            Self::Unix(path) => write!(f, "swtpm:path={}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ok(text: &str) -> Address {
        text.parse().expect(text)
    }

    #[test]
    fn addresses_are_read() {
        assert_eq!(ok("/dev/tpm0"), Address::Device("/dev/tpm0".into()));
        assert_eq!(ok("device:/dev/tpmrm0"), Address::default());
        assert_eq!(ok("swtpm:host=h,port=7"), Address::Tcp { host: "h".into(), port: 7 });
        assert_eq!(ok("swtpm:"), Address::Tcp { host: "127.0.0.1".into(), port: 2321 });
        assert_eq!(ok("swtpm:path=/run/x"), Address::Unix("/run/x".into()));
    }

    #[test]
    fn an_address_prints_as_it_is_read() {
        for text in ["/dev/tpm0", "swtpm:host=h,port=7", "swtpm:path=/run/x"] {
            assert_eq!(ok(text).to_string(), text);
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in ["", "tpm0", "device:", "swtpm:port=x", "swtpm:path=/a,port=1", "swtpm:path=", "mssim:"] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }
}
