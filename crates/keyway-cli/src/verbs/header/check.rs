//! `header check`: which copies of a header are in order, in words.

use crate::failure::{Exit, Failure};
use crate::given::VolumeArgs;
use crate::output::{Output, table};
use crate::searching::SearchBar;
use keyway::Error;
use keyway::header::{self, BitLockerChecked, Checked};
use keyway_volume::VolumeError;
use keyway_volume::veracrypt::{ChangeError, HeaderCheck, HeaderFault, HeaderState, Place};
use serde::Serialize;
use serde_json::{Value, json};
use std::path::Path;

/// Ends with exit code 4 where a copy is not in order, so that scripts need not read the answer.
pub(super) fn run(args: &VolumeArgs, out: Output) -> Result<(), Failure> {
    let bar = SearchBar::new();
    let volume = args.locked(&bar)?;
    let checked = header::check(&volume).map_err(|e| {
        let none_opens = none_opens(&e);
        let failure = Failure::from(e);
        if !none_opens {
            return failure;
        }
        failure
            .hint("its copy does not open either: restore it from a file, keyway header restore VOLUME FILE")
    })?;
    let good = checked.is_good();
    match &checked {
        Checked::BitLocker(checked) => tell_bitlocker(&args.volume, checked, good, out),
        Checked::VeraCrypt(checks) => tell_veracrypt(&args.volume, checks, good, out),
        _ => Ok(()),
    }
}

fn none_opens(error: &Error) -> bool {
    let error = match error {
        Error::At { error, .. } => error,
        other => other,
    };
    matches!(
        error,
        Error::Header(ChangeError::Open(VolumeError::DamagedHeader { place: Place::Primary | Place::Hidden, fault }))
            if !matches!(fault, HeaderFault::BeyondEnd { .. })
    )
}

#[derive(Serialize)]
struct CheckedHeader {
    place: Place,
    state: &'static str,
    reason: Option<String>,
}

fn tell_veracrypt(path: &Path, checks: &[HeaderCheck], good: bool, out: Output) -> Result<(), Failure> {
    let headers: Vec<CheckedHeader> = checks
        .iter()
        .map(|check| {
            let (state, reason) = match &check.state {
                HeaderState::Good => ("good", None),
                HeaderState::Differs => ("differs", Some("it describes another volume".to_owned())),
                HeaderState::DoesNotOpen => {
                    ("does-not-open", Some("it is damaged, or has another secret".to_owned()))
                }
                HeaderState::Unreadable(e) => ("unreadable", Some(e.to_string())),
                HeaderState::Absent => ("absent", Some("this volume keeps no copy there".to_owned())),
            };
            CheckedHeader { place: check.place, state, reason }
        })
        .collect();
    if good {
        return out.result(&json!({"good": true, "headers": headers}), || words(&headers));
    }
    out.say(&words(&headers))?;
    Err(damaged(path, &headers))
}

fn damaged(path: &Path, headers: &[CheckedHeader]) -> Failure {
    let bad = headers.iter().find(|header| !matches!(header.state, "good" | "absent"));
    let place = bad.map(|header| header.place.to_string()).unwrap_or_default();
    let advice = match bad {
        Some(CheckedHeader { place: Place::Primary | Place::Hidden, .. }) => {
            format!("restore it from the copy at the end: keyway header restore {}", path.display())
        }
        _ => "write it anew: keyway header backup, then keyway header restore from that file".to_owned(),
    };
    Failure::new(Exit::NotAVolume, format!("{}: the {place} is not in order", path.display()), advice)
        .kind(keyway_error::Kind::Damaged)
        .with(json!({"good": false, "headers": headers}))
}

fn words(headers: &[CheckedHeader]) -> String {
    let row = |header: &CheckedHeader| {
        vec![header.place.to_string(), header.state.to_owned(), header.reason.clone().unwrap_or_default()]
    };
    table(&["header", "state", ""], 3, headers.iter().map(row))
}

fn tell_bitlocker(path: &Path, checked: &BitLockerChecked, good: bool, out: Output) -> Result<(), Failure> {
    let BitLockerChecked { metadata, first_sector: first, states, authentic, .. } = checked;
    let (first, authentic) = (*first, *authentic);
    let copies: Vec<Value> = metadata
        .copies
        .iter()
        .zip(states)
        .map(|(copy, state)| json!({"offset": copy.offset, "state": state}))
        .collect();
    let document =
        json!({"good": good, "first_sector": first, "metadata_copies": copies, "authentic": authentic});
    let first_words = match metadata.lost_boot {
        Some(fault) if metadata.lost_in_part => format!("damaged: {fault}"),
        Some(fault) => format!("lost: {fault}"),
        None if first => "good".to_owned(),
        None => "damaged: it is not what it must be".to_owned(),
    };
    let mut rows = vec![vec!["first sector".to_owned(), "0".to_owned(), first_words]];
    rows.extend(metadata.copies.iter().zip(states).enumerate().map(|(i, (copy, state))| {
        vec![format!("copy {}", i + 1), copy.offset.to_string(), state.to_string()]
    }));
    let mut text = table(&["", "at byte", "state"], 3, rows);
    if authentic == Some(true) {
        text.push_str("The copy that counts is sealed with the volume's own key.\n");
    }
    if good {
        return out.result(&document, || text);
    }
    out.say(&text)?;
    let format = if metadata.lost_boot.is_some() { " --format bitlocker" } else { "" };
    Err(Failure::new(
        Exit::NotAVolume,
        format!("{}: the first sector and the copies of the metadata are not all in order", path.display()),
        format!("write it anew from a good copy: keyway header repair {}{format}", path.display()),
    )
    .kind(keyway_error::Kind::Damaged)
    .with(document))
}
