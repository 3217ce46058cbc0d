//! The side of the process that serves: starts its warden, and asks it.

use super::answer::{Done, LONGEST};
use super::record::Action;
use crate::AttachError;
use crate::session::sandbox::Sandbox;
use rustix::io::{Errno, IoSliceMut};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, SocketFlags, SocketType,
    recvmsg, send, socketpair,
};
use serde::Serialize;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// A warden that is there; it ends when this is dropped.
pub(in crate::session) struct Warden {
    to: OwnedFd,
}

impl Warden {
    /// Starts it, and tells it what there is to take down, or to remove. From then on this process need not open anything for that.
    pub(in crate::session) fn start(by: &Sandbox, record: &impl Serialize) -> Result<Self, AttachError> {
        let (warden, child, heard) = Self::tell(by, record)?;
        // It ends by itself when this process does; nobody waits for it.
        drop(child);
        heard?.into_result().map(|()| warden)
    }

    /// The same for what ends when it has answered; its answer.
    pub(super) fn once(by: &Sandbox, record: &impl Serialize) -> Result<Done, AttachError> {
        let (warden, mut child, heard) = Self::tell(by, record)?;
        drop(warden);
        // What is not waited for stays in the list of processes as long as this one does.
        child.wait().map_err(gone)?;
        heard
    }

    fn tell(
        by: &Sandbox,
        record: &impl Serialize,
    ) -> Result<(Self, Child, Result<Done, AttachError>), AttachError> {
        let fail = |e: io::Error| AttachError::io("start the warden", e);
        let told = serde_json::to_vec(record).map_err(|e| fail(e.into()))?;
        let (to, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .map_err(|e| fail(e.into()))?;
        // It outlives Ctrl-C, and holds none of the streams that somebody may read to their end.
        let child = Command::new(&by.program)
            .arg0(&by.name)
            .args(&by.arguments)
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(fail)?;
        let warden = Self { to };
        let heard = warden.send(&told).map_err(fail).and_then(|()| warden.hear());
        Ok((warden, child, heard.map(|(done, _)| done)))
    }

    /// Has it do something.
    ///
    /// # Errors
    /// As [`Record::perform`](super::Record::perform); or it is gone.
    pub(in crate::session) fn ask(&self, action: Action) -> Result<Option<File>, AttachError> {
        self.ask_for(action.number())
    }

    /// The same by a number of what it was told.
    pub(super) fn ask_for(&self, number: u8) -> Result<Option<File>, AttachError> {
        self.send(&[number]).map_err(gone)?;
        self.answer()
    }

    fn send(&self, message: &[u8]) -> io::Result<()> {
        loop {
            match send(&self.to, message, SendFlags::NOSIGNAL) {
                Ok(sent) if sent == message.len() => return Ok(()),
                Ok(_) => return Err(io::ErrorKind::InvalidInput.into()),
                Err(Errno::INTR) => {}
                Err(e) => return Err(e.into()),
            }
        }
    }

    fn answer(&self) -> Result<Option<File>, AttachError> {
        let (done, file) = self.hear()?;
        done.into_result().map(|()| file)
    }

    fn hear(&self) -> Result<(Done, Option<File>), AttachError> {
        let mut bytes = vec![0; LONGEST];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let received = loop {
            let into = &mut [IoSliceMut::new(&mut bytes)];
            match recvmsg(&self.to, into, &mut control, RecvFlags::CMSG_CLOEXEC) {
                Err(Errno::INTR) => {}
                done => break done.map_err(|e| gone(e.into()))?,
            }
        };
        let file = control.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut files) => files.next().map(File::from),
            _ => None,
        });
        let answer = bytes.get(..received.bytes).filter(|answer| !answer.is_empty());
        let answer = answer.ok_or_else(|| gone(io::ErrorKind::UnexpectedEof.into()))?;
        let done: Done = serde_json::from_slice(answer).map_err(|e| gone(e.into()))?;
        Ok((done, file))
    }
}

fn gone(e: io::Error) -> AttachError {
    AttachError::io("speak with the warden", e)
}
