//! The address that a server listens on.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

/// An address to listen on. Its `Display` is the URI that NBD clients take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listen {
    /// A unix socket at this path. A socket left there by a dead server is replaced.
    Unix(PathBuf),
    /// A TCP address; port 0 chooses a free one.
    Tcp(SocketAddr),
}

impl fmt::Display for Listen {
    /// As in `doc/uri.md` of the protocol's repository.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "nbd://{address}"),
            Self::Unix(path) => {
                f.write_str("nbd+unix:///?socket=")?;
                for byte in path.as_os_str().as_encoded_bytes() {
                    match byte {
                        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                            write!(f, "{}", char::from(*byte))?;
                        }
                        other => write!(f, "%{other:02X}")?,
                    }
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_are_quoted() {
        let unix = Listen::Unix("/run/user/1000/key way/ü.sock".into());
        assert_eq!(unix.to_string(), "nbd+unix:///?socket=/run/user/1000/key%20way/%C3%BC.sock");
        let tcp = Listen::Tcp("[::1]:10809".parse().unwrap());
        assert_eq!(tcp.to_string(), "nbd://[::1]:10809");
    }
}
