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

#[cfg(test)]
#[path = "../tests/inner/address.rs"]
mod tests;
