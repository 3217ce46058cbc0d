//! Addresses that a volume is served at, as words.

use keyway::session::NbdAddress;
use std::net::SocketAddr;

/// An address for NBD clients.
pub(crate) fn address(text: &str) -> Result<NbdAddress, String> {
    if let Some(path) = text.strip_prefix("unix:")
        && !path.is_empty()
    {
        return Ok(NbdAddress::Unix(path.into()));
    }
    let at = text.strip_prefix("tcp:").ok_or("write unix:PATH or tcp:127.0.0.1:PORT")?;
    socket_address(at).map(NbdAddress::Tcp)
}

/// An address and port of a network.
pub(crate) fn socket_address(text: &str) -> Result<SocketAddr, String> {
    text.replacen("localhost:", "127.0.0.1:", 1)
        .parse()
        .map_err(|_| "write 127.0.0.1:PORT or [::1]:PORT".to_owned())
}

/// Who can reach an address without proof can read and write what is served there.
pub(crate) fn on_this_machine(at: SocketAddr) -> Result<(), String> {
    if at.ip().is_loopback() {
        return Ok(());
    }
    Err(format!(
        "{} is not this machine's loopback; other machines could read the volume and write to it, and see what others do",
        at.ip()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        assert_eq!(address("unix:/tmp/s"), Ok(NbdAddress::Unix("/tmp/s".into())));
        let tcp = |text| address(text).map(|a| format!("{a:?}"));
        assert_eq!(tcp("tcp:127.0.0.1:10809"), Ok("Tcp(127.0.0.1:10809)".to_owned()));
        assert_eq!(tcp("tcp:localhost:1"), Ok("Tcp(127.0.0.1:1)".to_owned()));
        assert_eq!(tcp("tcp:[::1]:1"), Ok("Tcp([::1]:1)".to_owned()));
        for text in ["", "unix:", "tcp:", "tcp:127.0.0.1", "/tmp/s"] {
            assert!(address(text).is_err(), "{text}");
        }
        for text in ["0.0.0.0:1", "192.168.1.1:1", "[::]:1"] {
            assert!(socket_address(text).and_then(on_this_machine).is_err(), "{text}");
        }
    }
}
