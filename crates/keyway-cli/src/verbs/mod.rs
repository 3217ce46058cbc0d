//! One file per verb: its words, and how what it did is told.

use std::path::Path;

#[cfg(feature = "lab")]
pub(crate) mod bench;
pub(crate) mod cat;
pub(crate) mod close;
pub(crate) mod create;
pub(crate) mod decrypt;
#[cfg(feature = "lab")]
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod drive;
pub(crate) mod encrypt;
pub(crate) mod erase;
pub(crate) mod get;
pub(crate) mod header;
pub(crate) mod info;
#[cfg(feature = "lab")]
pub(crate) mod lab;
pub(crate) mod ls;
pub(crate) mod open;
pub(crate) mod pause;
pub(crate) mod protector;
pub(crate) mod put;
pub(crate) mod resize;
pub(crate) mod resume;
pub(crate) mod serve;
pub(crate) mod serve_volume;
pub(crate) mod status;
pub(crate) mod ublk_owner;

/// A volume's short name, for prompts.
pub(crate) fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned())
}
