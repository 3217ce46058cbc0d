//! A session in two processes: the one that holds the keys has no paths and few system calls once it serves, and a
//! *warden* without keys takes down for it what takes paths: mounts, loop devices, the session's folder.
//!
//! The warden is a program of its own, started when everything is attached. What there is to take down it is told once,
//! before the other process parses anything that others wrote; from then on a message is one byte, the number of an
//! [`Action`]. So the worst that somebody can ask of it who has taken the other process over is to close the volume.
//!
//! What a conversion needs at its end is the same on a smaller scale: a warden that has been told of two files, and removes
//! them ([`Removal`]). And before a session serves, the same program takes the steps for it in which the kernel would come back
//! to who takes them ([`Step`]).

mod answer;
mod asked;
mod client;
mod files;
mod record;
mod step;

pub use asked::warden;
pub(super) use client::Warden;
pub use files::{OwnFile, Removal};
pub(super) use record::{Action, OwnSocket, Record};
pub(super) use step::Step;
