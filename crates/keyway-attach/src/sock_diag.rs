//! One connection of this machine's, asked for by its two ends (sock_diag(7)): what `/proc/net/tcp` tells of all of
//! them, without the time that takes.

use rustix::io::Errno;
use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// `SOCK_DIAG_BY_FAMILY`, `NLMSG_ERROR` and `NLM_F_REQUEST` (`linux/sock_diag.h`, `linux/netlink.h`).
const BY_FAMILY: u16 = 20;
const ERROR: u16 = 2;
const REQUEST: u16 = 1;
/// Lengths of a message's head, of the request, and of what is used of the answer (`linux/inet_diag.h`).
const HEAD: usize = 16;
const ASKED: usize = 56;
const ANSWERED: usize = 72;
const INET: u8 = 2;
const INET6: u8 = 10;
const TCP: u8 = 6;

/// What the kernel says of a TCP socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TcpSocket {
    /// 1: its two ends are open.
    pub(crate) state: u8,
    pub(crate) user: u32,
    /// 0: nobody has it open.
    pub(crate) inode: u32,
}

/// The socket at `from` that is connected `to`; nothing where there is none.
pub(crate) fn find(from: SocketAddr, to: SocketAddr) -> io::Result<Option<TcpSocket>> {
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, Some(SOCK_DIAG))?;
    sendto(&socket, &request(from, to), SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    // The kernel has answered by now.
    let mut answer = [0; 1024];
    let (_, len) = recv(&socket, &mut answer[..], RecvFlags::DONTWAIT)?;
    answered(answer.get(..len).unwrap_or_default(), from, to)
}

fn request(from: SocketAddr, to: SocketAddr) -> [u8; HEAD + ASKED] {
    let (source, target) = (from.ip().to_canonical(), to.ip().to_canonical());
    let family = if source.is_ipv4() { INET } else { INET6 };
    let words = |ip: IpAddr| match ip {
        IpAddr::V4(ip) => {
            let [a, b, c, d] = ip.octets();
            [a, b, c, d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        }
        IpAddr::V6(ip) => ip.octets(),
    };
    let (source, target) = (words(source), words(target));
    let mut bytes = [0; HEAD + ASKED];
    let fields: [&[u8]; 12] = [
        &((HEAD + ASKED) as u32).to_ne_bytes(),
        &BY_FAMILY.to_ne_bytes(),
        &REQUEST.to_ne_bytes(),
        &[0; 8],
        // No extensions, all states.
        &[family, TCP, 0, 0],
        &u32::MAX.to_ne_bytes(),
        &from.port().to_be_bytes(),
        &to.port().to_be_bytes(),
        &source,
        &target,
        // Any interface, and no cookie.
        &[0; 4],
        &[0xff; 8],
    ];
    bytes.iter_mut().zip(fields.into_iter().flatten()).for_each(|(to, from)| *to = *from);
    bytes
}

fn answered(answer: &[u8], from: SocketAddr, to: SocketAddr) -> io::Result<Option<TcpSocket>> {
    let nonsense = || io::Error::from(io::ErrorKind::InvalidData);
    let number = |at: usize| answer.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes);
    let kind = answer.get(4..6).and_then(|kind| kind.try_into().ok()).map(u16::from_ne_bytes);
    if kind == Some(ERROR) {
        let error = number(HEAD).ok_or_else(nonsense)?.cast_signed().wrapping_neg();
        return match io::Error::from_raw_os_error(error) {
            e if e.raw_os_error() == Some(Errno::NOENT.raw_os_error()) => Ok(None),
            e => Err(e),
        };
    }
    let found = answer.get(HEAD..HEAD + ANSWERED).filter(|_| kind == Some(BY_FAMILY)).ok_or_else(nonsense)?;
    let [family, state, _, _, ends @ ..] = found else { return Err(nonsense()) };
    let end = |port: usize, ip: usize| {
        let port = u16::from_be_bytes(ends.get(port..port + 2)?.try_into().ok()?);
        let ip: [u8; 16] = ends.get(ip..ip + 16)?.try_into().ok()?;
        let ip = match *family {
            INET => Ipv4Addr::from(*ip.first_chunk()?).into(),
            INET6 => IpAddr::V6(Ipv6Addr::from(ip)).to_canonical(),
            _ => return None,
        };
        Some((ip, port))
    };
    let same = |found: Option<(IpAddr, u16)>, asked: SocketAddr| {
        found == Some((asked.ip().to_canonical(), asked.port()))
    };
    // Where there is no such connection, the kernel may tell of the socket that listens there.
    if !same(end(0, 4), from) || !same(end(2, 20), to) {
        return Ok(None);
    }
    let (Some(user), Some(inode)) = (number(HEAD + 64), number(HEAD + 68)) else { return Err(nonsense()) };
    Ok(Some(TcpSocket { state: *state, user, inode }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn the_kernel_knows_a_connection_by_its_ends() {
        for at in ["127.0.0.1:0", "[::1]:0", "[::ffff:127.0.0.1]:0"] {
            let Ok(listener) = TcpListener::bind(at) else { continue };
            let to = listener.local_addr().expect("bound");
            let client = TcpStream::connect(to).expect("it listens");
            let (_server, from) = listener.accept().expect("somebody came");
            let found = find(from, to).expect("it answers").expect("there is one");
            assert_eq!((found.state, found.user), (1, rustix::process::geteuid().as_raw()), "{at}");
            assert!(found.inode > 0);
            // The one that listens is not it, nor is the other end.
            let nobody = SocketAddr::new(from.ip(), 1);
            assert_eq!(find(to, nobody).expect("it answers"), None, "{at}");
            assert_eq!(find(nobody, to).expect("it answers"), None, "{at}");
            drop(client);
            let closed = find(from, to).expect("it answers");
            assert!(closed.is_none_or(|found| found.state != 1), "{closed:?}");
        }
    }

    #[test]
    fn answers_that_are_none_are_no_owners() {
        let (from, to): (SocketAddr, SocketAddr) =
            ("127.0.0.1:5".parse().expect("one"), "127.0.0.1:7".parse().expect("one"));
        assert!(answered(&[], from, to).is_err());
        assert!(answered(&[0; HEAD + ANSWERED], from, to).is_err());
        let mut error = [0; HEAD + 4];
        error[4] = 2;
        error[HEAD..].copy_from_slice(&(-2i32).to_ne_bytes());
        assert_eq!(answered(&error, from, to).expect("no such socket"), None);
        error[HEAD..].copy_from_slice(&(-1i32).to_ne_bytes());
        assert!(answered(&error, from, to).is_err());
    }
}
