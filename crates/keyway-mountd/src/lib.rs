//! `keyway-mountd`, the helper on the system bus: mounts a file of plain sectors for the user who has it open.
//!
//! The user's own process opens the volume, decrypts it and serves it as a file; it hands a descriptor of that file over, and
//! gets a folder back. **No secret comes here.** The bus starts the helper when somebody asks for it, and it ends when nothing is
//! mounted any more.
//!
//! | on the bus | |
//! |---|---|
//! | name, interface | [`NAME`]; the object is [`PATH`] |
//! | `Mount(h volume, u sector_bytes, b read_only)` | → `s folder, s device, s filesystem, b read_only, b unclean` |
//! | `Unmount(s folder)` | by whoever had it mounted; by others, if polkit lets them |
//! | errors | [`NAME`]`.Error.…`: a name for each [`Refusal`] |
//!
//! What is mounted belongs to the connection that asked. When that goes from the bus, because its process ended in whatever way,
//! all of it is taken down.
//!
//! Who does what:
//!
//! - [`service`] hears the bus, knows who has what, and mounts. It is root, and never touches the user's file.
//! - A process for each request ([`worker`]) looks at the descriptor and sets the loop device up. It has the user's ids, so a FUSE
//!   file of his lets it in; of root's capabilities it has the one for the loop device, and that only after it has read what
//!   there is to read. When the file does not answer, this process hangs, and is ended.
//! - [`authority`] asks polkit, with the caller's name on the bus as the subject.
//! - [`place`] makes the folder, in a folder of the user's that only root can write to.
#![forbid(unsafe_code)]

pub mod authority;
pub mod descriptor;
pub mod label;
mod later;
mod mounting;
pub mod options;
pub mod place;
pub mod refusal;
pub mod service;
pub mod table;
pub mod worker;

pub use refusal::Refusal;

/// The name on the bus, and of the interface.
pub const NAME: &str = "org.keyway.Mount1";
/// The object.
pub const PATH: &str = "/org/keyway/Mount1";
