//! One file per verb: its words, and how what it did is told.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

// What nearly every verb speaks of.
pub(crate) use crate::dry_run::{DryRunArgs, TargetArgs};
pub(crate) use crate::failure::{Exit, Failure};
pub(crate) use crate::output::{Output, bytes, note, pairs, table};
pub(crate) use crate::progress::SearchBar;
pub(crate) use crate::unlock_args::{KeyArgs, SandboxArgs, VolumeArgs};
pub(crate) use crate::words::{parsed, said};
pub(crate) use keyway::Access;
pub(crate) use keyway::shown::{for_shell, shown};
pub(crate) use keyway::spelled as size;
pub(crate) use keyway::told::facts;
pub(crate) use keyway::unlock::Family;
pub(crate) use keyway_attach::path_text::value as in_json;
pub(crate) use keyway_error::Kind;
pub(crate) use serde::Serialize;
pub(crate) use serde_json::{Value, json};
pub(crate) use std::ffi::OsString;
pub(crate) use std::path::{Path, PathBuf};

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
pub(crate) mod favourite;
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

/// One of these words, each for a value, with what it means.
pub(crate) fn choice<T: Clone + Send + Sync + 'static, const N: usize>(
    all: [(&'static str, T, &'static str); N],
) -> impl TypedValueParser<Value = T> {
    let words = all.each_ref().map(|(word, _, what)| PossibleValue::new(*word).help(*what));
    PossibleValuesParser::new(words).try_map(move |given| {
        let known = all.iter().find(|(word, ..)| word.eq_ignore_ascii_case(&given));
        known.map(|(_, value, _)| value.clone()).ok_or("there is no such word")
    })
}
