//! Finds the user at the other end of a loopback connection.
//!
//! A loopback port is open to every user of the machine; the kernel knows whose the socket at its other end is
//! (sock_diag(7), and proc(5), `/proc/net/tcp`). Only one that is still open counts: of a closed one, whose last bytes are still to be
//! read, the kernel says that it is root's.

use crate::notice::{Notice, tell};
use crate::sock_diag;
use rustix::net::{getpeername, getsockname, sockopt};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// A host that vanished is found out by TCP's own probes: the first after so long a silence, and so long between
/// two of them.
const PROBE_AFTER: Duration = Duration::from_secs(30);
const PROBE_EVERY: Duration = Duration::from_secs(10);

/// How often the kernel's table is read again: it may change while it is read.
const TRIES: usize = 3;

/// A connection whose two ends are open, as a number and in the kernel's table.
const OPEN: u8 = 1;
const ESTABLISHED: &str = "01";

/// How many users who were turned away are kept count of.
const MOST: usize = 16;

/// Which users of this machine may connect to a loopback port where nobody must prove anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LocalUsers {
    /// The one who serves, and root.
    #[default]
    Own,
    /// All of them.
    Any,
}

/// Connections that were refused.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Refused {
    /// Whose; nothing where that could not be found out.
    pub user: Option<u32>,
    /// How many.
    pub connections: u64,
}

/// Users of this machine whose connections were refused.
#[derive(Debug, Default)]
pub struct Refusals(Mutex<BTreeMap<Option<u32>, u64>>);

impl Refusals {
    /// How many connections of whom.
    pub fn counts(&self) -> Vec<Refused> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.iter().map(|(user, count)| Refused { user: *user, connections: *count }).collect()
    }

    /// One more; told the first time.
    fn add(&self, user: Option<u32>, at: Option<SocketAddr>) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !counts.contains_key(&user) {
            if counts.len() >= MOST {
                return;
            }
            tell(&Notice::Refused { user, address: at });
        }
        *counts.entry(user).or_default() += 1;
    }
}

/// Makes answers leave at once, and finds out about hosts that vanished. Without either, it works all the same.
pub(crate) fn tune(connection: impl AsFd) {
    let _ = sockopt::set_tcp_nodelay(&connection, true);
    let _ = sockopt::set_socket_keepalive(&connection, true);
    let _ = sockopt::set_tcp_keepidle(&connection, PROBE_AFTER);
    let _ = sockopt::set_tcp_keepintvl(&connection, PROBE_EVERY);
}

/// Whether whoever connected may come in, by the owner of his socket; else he is counted.
pub(crate) fn may_enter(socket: impl AsFd, refusals: &Refusals) -> bool {
    let owner = owner_of(&socket);
    let enters = owner.is_some_and(is_ours);
    if !enters {
        refusals.add(owner, ends(&socket).map(|(local, _)| local));
    }
    enters
}

/// Where a connection comes from, as far as that can be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The serving user, or root.
    Own,
    /// Another user of this machine.
    User(u32),
    /// Another machine, or the network of one: who has an IPv6 address has 2^64 of them.
    Host(IpAddr),
    /// This machine, but nobody can say whose it is.
    Unknown,
}

/// Where the connection at that socket comes from.
pub(crate) fn origin(socket: impl AsFd) -> Origin {
    let Some((_, peer)) = ends(&socket) else { return Origin::Unknown };
    match peer.ip().to_canonical() {
        near if near.is_loopback() => match owner_of(&socket) {
            Some(user) if is_ours(user) => Origin::Own,
            Some(user) => Origin::User(user),
            None => Origin::Unknown,
        },
        IpAddr::V6(far) => Origin::Host(Ipv6Addr::from_bits(far.to_bits() >> 64 << 64).into()),
        far => Origin::Host(far),
    }
}

fn is_ours(user: u32) -> bool {
    user == 0 || user == rustix::process::geteuid().as_raw()
}

/// Our address and the peer's.
fn ends(socket: impl AsFd) -> Option<(SocketAddr, SocketAddr)> {
    let local = SocketAddr::try_from(getsockname(&socket).ok()?).ok()?;
    let peer = SocketAddr::try_from(getpeername(&socket).ok()??).ok()?;
    Some((local, peer))
}

fn owner_of(socket: impl AsFd) -> Option<u32> {
    let (local, peer) = ends(socket)?;
    (0..TRIES).find_map(|_| owner(peer, local))
}

/// The user whose socket at `from` is connected `to` one of this machine.
fn owner(from: SocketAddr, to: SocketAddr) -> Option<u32> {
    match sock_diag::find(from, to) {
        Ok(found) => found.filter(|found| found.state == OPEN && found.inode != 0).map(|found| found.user),
        // A kernel without it.
        Err(_) => owner_in_table(from, to),
    }
}

/// The same from the kernel's table of all connections.
fn owner_in_table(from: SocketAddr, to: SocketAddr) -> Option<u32> {
    tables().iter().find_map(|table| {
        let text = whole(table).ok()?;
        text.lines().skip(1).find_map(|line| owner_in(line, from, to))
    })
}

/// The tables themselves, opened once: a process in its sandbox opens nothing.
pub(crate) fn tables() -> &'static [File] {
    static TABLES: OnceLock<Vec<File>> = OnceLock::new();
    // An IPv6 socket can talk to an IPv4 one.
    TABLES.get_or_init(|| {
        ["/proc/self/net/tcp", "/proc/self/net/tcp6"]
            .into_iter()
            .filter_map(|path| File::open(path).ok())
            .collect()
    })
}

/// What is in one now. Its position is nobody's: several may read it at once.
fn whole(table: &File) -> io::Result<String> {
    let (mut bytes, mut piece) = (Vec::new(), [0; 64 << 10]);
    loop {
        match table.read_at(&mut piece, bytes.len() as u64)? {
            0 => return Ok(String::from_utf8_lossy(&bytes).into_owned()),
            read => bytes.extend(piece.get(..read).unwrap_or_default()),
        }
    }
}

/// "0: 0100007F:2A39 0100007F:C1A4 01 00000000:00000000 00:00000000 00000000 1000 0 23456 …"
fn owner_in(line: &str, from: SocketAddr, to: SocketAddr) -> Option<u32> {
    let mut words = line.split_ascii_whitespace();
    let (_, local, remote, state) = (words.next()?, words.next()?, words.next()?, words.next()?);
    if state != ESTABLISHED || !is(local, from) || !is(remote, to) {
        return None;
    }
    let user = words.nth(3)?.parse().ok()?;
    // A socket that nobody has open any more has no inode, and is called root's.
    (words.nth(1)? != "0").then_some(user)
}

fn is(text: &str, address: SocketAddr) -> bool {
    parse(text).is_some_and(|(ip, port)| ip == address.ip().to_canonical() && port == address.port())
}

/// An address in words of 32 bits, each as this machine holds it, and a port.
fn parse(text: &str) -> Option<(IpAddr, u16)> {
    let (ip, port) = text.split_once(':')?;
    let word = |at: usize| u32::from_str_radix(ip.get(at..at + 8)?, 16).ok().map(u32::to_ne_bytes);
    let ip: IpAddr = match ip.len() {
        8 => Ipv4Addr::from(word(0)?).into(),
        32 => {
            let words = [word(0)?, word(8)?, word(16)?, word(24)?];
            let mut bytes = [0; 16];
            bytes.copy_from_slice(words.as_flattened());
            Ipv6Addr::from(bytes).into()
        }
        _ => return None,
    };
    Some((ip.to_canonical(), u16::from_str_radix(port, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    #[cfg(target_endian = "little")]
    fn addresses_are_read_as_the_kernel_writes_them() {
        let parsed = |text| parse(text).map(|(ip, port)| SocketAddr::new(ip, port).to_string());
        assert_eq!(parsed("0100007F:2A39").as_deref(), Some("127.0.0.1:10809"));
        assert_eq!(parsed("00000000000000000000000001000000:0050").as_deref(), Some("[::1]:80"));
        assert_eq!(parsed("0000000000000000FFFF00000100007F:0050").as_deref(), Some("127.0.0.1:80"));
        for text in ["", "0100007F", "0100007:2A39", "0100007F:2A390", "ü100007F:2A39", "XX00007F:2A39"] {
            assert_eq!(parsed(text), None, "{text}");
        }
    }

    #[test]
    fn an_open_socket_has_an_owner_and_a_closed_one_has_none() {
        let own = rustix::process::geteuid().as_raw();
        for at in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(at) else { continue };
            let to = listener.local_addr().unwrap();
            let client = TcpStream::connect(to).unwrap();
            let (server, from) = listener.accept().unwrap();
            assert_eq!((owner(from, to), owner_in_table(from, to)), (Some(own), Some(own)));
            assert!(may_enter(&server, &Refusals::default()) && origin(&server) == Origin::Own);
            // It has sent what it wanted to, and is gone: nobody can say whose it was.
            drop(client);
            assert_eq!((owner(from, to), owner_in_table(from, to)), (None, None));
            let refusals = Refusals::default();
            assert!(!may_enter(&server, &refusals));
            assert_eq!(refusals.counts(), [Refused { user: None, connections: 1 }]);
        }
    }

    #[test]
    fn of_a_stranger_nothing_but_an_open_connection_counts() {
        let (from, to) = ("127.0.0.1:49572".parse().unwrap(), "127.0.0.1:10809".parse().unwrap());
        let line = |state, user, inode| {
            format!(
                "   7: 0100007F:C1A4 0100007F:2A39 {state} 00000000:00000000 00:00000000 00000000  {user}        0 {inode} 1 0 20"
            )
        };
        if cfg!(target_endian = "little") {
            assert_eq!(owner_in(&line("01", 65534, 9), from, to), Some(65534));
            for (state, inode) in [("04", 9), ("05", 0), ("06", 0), ("01", 0), ("08", 9)] {
                assert_eq!(owner_in(&line(state, 0, inode), from, to), None, "{state} {inode}");
            }
            assert_eq!(owner_in(&line("01", 0, 9), to, from), None);
        }
    }
}
