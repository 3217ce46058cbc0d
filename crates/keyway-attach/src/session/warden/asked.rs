//! The warden's side: it hears once what there is to take down, and then one byte at a time which of that.

use super::answer::{Done, LONGEST};
use super::files::Told;
use super::step::ToTake;
use crate::AttachError;
use crate::session::signals::ENDS;
use rustix::io::{Errno, IoSlice};
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, recv, sendmsg};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

/// Takes down what the process that serves asks for, until that is gone: what a front's program does that is started
/// as a [`Sandbox`](crate::session::Sandbox) says. Standard input is the socket to that process. It has no secret, and none of
/// that one's memory.
///
/// # Errors
/// Nobody is there, or nobody who speaks as the serving process does.
pub fn warden() -> Result<(), AttachError> {
    // Who ends a whole session's processes ends the other one first.
    let ignore = |signal| signal_hook::flag::register(signal, Arc::default());
    ENDS.into_iter()
        .try_for_each(|signal| ignore(signal).map(drop))
        .map_err(|e| AttachError::io("ignore signals", e))?;
    let asks = io::stdin().as_fd().try_clone_to_owned().map_err(not_asked)?;
    serve(asks.as_fd())
}

fn serve(asks: BorrowedFd<'_>) -> Result<(), AttachError> {
    let mut told = vec![0; LONGEST];
    let len = hear(asks, &mut told)?;
    let told = told.get(..len).unwrap_or_default();
    let mut told: Told = match serde_json::from_slice(told).map_err(|e| not_asked(e.into()))? {
        Told::Step(ToTake { step }) => {
            let taken = step.take_here();
            let done =
                taken.as_ref().map_or_else(Done::of, |made| made.clone().map_or(Done::Well, Done::Made));
            return say(asks, &done, None);
        }
        told => told,
    };
    answer(asks, &Ok(None))?;
    // A byte, and room to see that there were more.
    let mut message = [0; 2];
    loop {
        let done = match (hear(asks, &mut message)?, message) {
            (0, _) => return Ok(()),
            (1, [number, _]) => told.perform(number),
            _ => None,
        };
        let Some(done) = done else { return Err(not_asked(io::ErrorKind::InvalidData.into())) };
        answer(asks, &done)?;
    }
}

/// A message's length; 0 when the other process is gone.
fn hear(asks: BorrowedFd<'_>, into: &mut [u8]) -> Result<usize, AttachError> {
    loop {
        match recv(asks, &mut *into, RecvFlags::empty()) {
            Ok((len, _)) => return Ok(len),
            Err(Errno::INTR) => {}
            Err(Errno::CONNRESET) => return Ok(0),
            Err(e) => return Err(not_asked(e.into())),
        }
    }
}

fn answer(asks: BorrowedFd<'_>, done: &Result<Option<File>, AttachError>) -> Result<(), AttachError> {
    let (file, done) = match done {
        Ok(file) => (file.as_ref(), Done::Well),
        Err(e) => (None, Done::of(e)),
    };
    say(asks, &done, file)
}

fn say(asks: BorrowedFd<'_>, done: &Done, file: Option<&File>) -> Result<(), AttachError> {
    let bytes = serde_json::to_vec(done).map_err(|e| not_asked(e.into()))?;
    let files: Vec<_> = file.map(AsFd::as_fd).into_iter().collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(&files));
    }
    match sendmsg(asks, &[IoSlice::new(&bytes)], &mut control, SendFlags::NOSIGNAL) {
        // It has gone, and needs no answer.
        Ok(_) | Err(Errno::PIPE | Errno::CONNRESET) => Ok(()),
        Err(e) => Err(not_asked(e.into())),
    }
}

fn not_asked(e: io::Error) -> AttachError {
    AttachError::io("hear the serving process", e)
}

#[cfg(test)]
mod tests {
    use super::super::record::Action;
    use super::super::step::Step;
    use super::*;
    use rustix::net::{AddressFamily, SocketFlags, SocketType, send, socketpair};
    use std::os::fd::OwnedFd;
    use std::path::Path;
    use std::thread::JoinHandle;

    /// A warden of a session's folder in a thread of its own, and the socket to it.
    fn warden(folder: &Path) -> (OwnedFd, JoinHandle<Result<(), AttachError>>) {
        let pair = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None);
        let (ours, theirs) = pair.expect("sockets");
        let thread = std::thread::spawn(move || serve(theirs.as_fd()));
        let record = serde_json::json!({
            "folder": folder, "mountpoint": null, "device": null, "cache": null, "fuse": null, "socket": null,
        });
        say(&ours, record.to_string().as_bytes());
        assert_eq!(heard(&ours), Some(Done::Well));
        (ours, thread)
    }

    fn say(to: &OwnedFd, message: &[u8]) {
        send(to, message, SendFlags::NOSIGNAL).expect("it hears");
    }

    fn heard(from: &OwnedFd) -> Option<Done> {
        let mut bytes = [0; 4096];
        let (len, _) = recv(from, &mut bytes[..], RecvFlags::empty()).ok()?;
        serde_json::from_slice(bytes.get(..len)?).ok()
    }

    #[test]
    fn it_hears_nothing_but_the_numbers_of_its_actions() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = place.path().join("00000000");
        let hostile: [&[u8]; 6] = [&[0], &[8], &[255], &[7, 7], &[1; 4096], b"{\"folder\":\"/\"}"];
        for message in hostile {
            std::fs::create_dir(&folder).expect("room");
            let (to, thread) = warden(&folder);
            say(&to, message);
            assert_eq!(heard(&to), None, "{message:?}");
            assert!(thread.join().expect("no panic").is_err(), "{message:?}: it ends, and does nothing");
            std::fs::remove_dir(&folder).expect("it is as it was");
        }
    }

    #[test]
    fn what_is_gone_is_not_taken_away_a_second_time() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = place.path().join("00000000");
        std::fs::create_dir(&folder).expect("room");
        let (to, thread) = warden(&folder);
        // There is nothing of all this.
        for action in
            [Action::Drain, Action::Unmount, Action::DetachDevice, Action::DetachCache, Action::UnmountFuse]
        {
            say(&to, &[action.number()]);
            assert_eq!(heard(&to), Some(Done::Well), "{action:?}");
        }
        say(&to, &[Action::Remove.number()]);
        assert_eq!(heard(&to), Some(Done::Well));
        assert!(!folder.exists());
        drop(to);
        assert!(thread.join().expect("no panic").is_ok(), "it ends with the other process");
    }

    /// A step is taken once, its outcome told, and that is all that there is to hear.
    #[test]
    fn a_step_is_taken_and_nothing_after_it() {
        let pair = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None);
        let (ours, theirs) = pair.expect("sockets");
        let thread = std::thread::spawn(move || serve(theirs.as_fd()));
        let absent = Path::new("/nowhere/at all").to_owned();
        let step = Step::Loop { file: absent, sector_bytes: 512, read_only: false, discards: false };
        say(&ours, &serde_json::to_vec(&ToTake { step }).expect("JSON"));
        let failed = heard(&ours).expect("an answer").into_result().expect_err("it is not there");
        assert!(failed.to_string().contains("/nowhere/at all"), "{failed}");
        assert!(thread.join().expect("no panic").is_ok() && heard(&ours).is_none());
    }

    #[test]
    fn errors_come_over_as_they_are() {
        let users = vec![crate::User { pid: 7, name: "somebody".into() }];
        let busy = AttachError::busy_so(Path::new("/it"), "so", users);
        let over = |e: &AttachError| Done::of(e).into_result().expect_err("it is one");
        assert_eq!(over(&busy).to_string(), busy.to_string());
        assert!(matches!(over(&busy), AttachError::Busy { path: Some(_), .. }));
        let io = AttachError::io("do it", io::Error::from_raw_os_error(5));
        assert_eq!(over(&io).to_string(), io.to_string());
        let (found, at) = (|| "ext4".to_owned(), || Path::new("/mnt").to_owned());
        let number = || io::Error::from_raw_os_error(22);
        let others = [
            AttachError::Mount { found: found(), at: at(), source: number() },
            AttachError::Mount { found: found(), at: at(), source: io::Error::other("it said so") },
            AttachError::Unmountable { found: found(), at: at(), source: number() },
            AttachError::EndsTooSoon { found: found(), at: at(), claims: 7, present: 5 },
            AttachError::NoFileSystem { filesystem: found(), at: at() },
            AttachError::MountOption { option: "uid".into(), why: crate::mount::NOT_TAKEN },
            AttachError::Missing { what: "loop".into(), advice: keyway_error::Advice::LoadLoop },
        ];
        for error in others {
            assert_eq!(format!("{:?}", over(&error)), format!("{error:?}"));
        }
    }
}
