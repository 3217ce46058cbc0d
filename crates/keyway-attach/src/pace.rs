//! Time limits of messages, and who leaves a full waiting room.

use crate::peer::Origin;
use std::io;
use std::time::{Duration, Instant};

/// A message may take so long, and longer by what is in it: nobody is slower who means it.
const MESSAGE: Duration = Duration::from_secs(120);
const BYTES_PER_SECOND: u64 = 64 << 10;

/// When a message of so many bytes must be over.
pub(crate) fn deadline(bytes: usize) -> Instant {
    Instant::now() + MESSAGE + Duration::from_secs(bytes as u64 / BYTES_PER_SECOND)
}

/// An error when that is past.
pub(crate) fn not_after(deadline: Instant) -> io::Result<()> {
    if Instant::now() > deadline { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) }
}

/// Somebody who has connected and is not served yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waiting {
    /// Where it comes from.
    pub(crate) origin: Origin,
    /// Whether it has proved that it may come in.
    pub(crate) proved: bool,
}

/// Who of those that wait, in the order in which they came, makes room for another one: of those who have shown least
/// the one who came first, from where most of them come. So nobody keeps others out by coming often.
pub(crate) fn first_to_leave(waiting: &[Waiting]) -> Option<usize> {
    let shown = |one: &Waiting| (one.proved, one.origin == Origin::Own);
    let least = waiting.iter().map(shown).min();
    let may_leave = || waiting.iter().enumerate().filter(|(_, one)| Some(shown(one)) == least);
    let mut leaves = None;
    for (at, one) in may_leave() {
        let as_it = may_leave().filter(|(_, other)| other.origin == one.origin).count();
        if leaves.is_none_or(|(most, _)| as_it > most) {
            leaves = Some((as_it, at));
        }
    }
    leaves.map(|(_, at)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_often_makes_room_for_who_comes_once() {
        let host = |last| Origin::Host([10, 0, 0, last].into());
        let stranger = |origin| Waiting { origin, proved: false };
        let own = stranger(Origin::Own);
        let proved = Waiting { origin: host(9), proved: true };
        assert_eq!(first_to_leave(&[]), None);
        let (a, b, c) = (stranger(host(1)), stranger(host(2)), stranger(Origin::User(7)));
        assert_eq!(first_to_leave(&[a, b, c]), Some(0));
        assert_eq!(first_to_leave(&[a, b, c, b]), Some(1));
        assert_eq!(first_to_leave(&[a, b, c, b, c, c]), Some(2));
        // Not the one who serves, nor who has shown a certificate, as long as there is anybody else.
        assert_eq!(first_to_leave(&[own, own, own, proved, proved, a]), Some(5));
        assert_eq!(first_to_leave(&[proved, own, own, proved]), Some(1));
        // And who has does not count against the others behind the same address.
        assert_eq!(first_to_leave(&[a, stranger(host(9)), proved]), Some(0));
    }
}
