//! `header check`: which copies of a header are in order, in words.

use crate::verbs::*;
use keyway::header::{self, CheckedDetails, CheckedHeader};

/// Ends with exit code 4 where a copy is not in order, so that scripts need not read the answer.
pub(super) fn run(args: &VolumeArgs, out: Output) -> Result<(), Failure> {
    let volume = args.locked()?;
    let checked = header::check(&volume).map_err(|e| {
        let none_opens = header::none_opens(&e);
        let failure = Failure::from(e);
        if !none_opens {
            return failure;
        }
        failure
            .hint("its copy does not open either: restore it from a file, keyway header restore VOLUME FILE")
    })?;
    out.warnings(&checked.warnings);
    if checked.good {
        return out.result(&checked, || words(&checked.details));
    }
    out.say(&words(&checked.details))?;
    let (message, advice) = damaged(args, &checked);
    let failure = Failure::new(Exit::NotAVolume, message, advice).kind(Kind::Damaged);
    Err(failure.with(json!(checked)))
}

/// What is wrong, and what to do about it.
fn damaged(
    args: &VolumeArgs,
    header::Checked { details, warnings, .. }: &header::Checked,
) -> (String, String) {
    let bad = match details {
        CheckedDetails::VeraCrypt { headers } => headers.iter().find(|header| !header.is_good()),
        _ => None,
    };
    // Of all that is told of a volume this alone is no row of the table.
    let cut = !warnings.is_empty() || bad.is_some_and(|bad| bad.state == "cut-off");
    let lost = matches!(details, CheckedDetails::BitLocker { lost: Some(_), .. });
    let (place, header) = bad.map(|bad| (bad.place, bad.place.to_string())).unzip();
    let needs = size::options(&args.source(), "");
    let facts = json!({"path": in_json(&args.volume), "place": place, "header": header, "lost": lost, "needs": needs, "cut": cut});
    (said("header damaged", &facts), said("header mend", &facts))
}

fn words(details: &CheckedDetails) -> String {
    match details {
        CheckedDetails::VeraCrypt { headers } => {
            let row = |header: &CheckedHeader| {
                let reason = header.reason.clone().unwrap_or_default();
                vec![header.place.to_string(), header.state.to_owned(), reason]
            };
            table(&["header", "state", ""], 3, headers.iter().map(row))
        }
        CheckedDetails::BitLocker { first_sector, metadata_copies, authentic, lost, lost_in_part } => {
            let first = match lost {
                Some(fault) if *lost_in_part => format!("damaged: {fault}"),
                Some(fault) => format!("lost: {fault}"),
                None if *first_sector => "good".to_owned(),
                None => "damaged: it is not what it must be".to_owned(),
            };
            let mut rows = vec![vec!["first sector".to_owned(), "0".to_owned(), first]];
            rows.extend(metadata_copies.iter().enumerate().map(|(i, copy)| {
                vec![format!("copy {}", i + 1), copy.offset.to_string(), copy.state.to_string()]
            }));
            let sealed = match authentic {
                Some(true) => "The copy that counts is sealed with the volume's own key.\n",
                _ => "",
            };
            table(&["", "at byte", "state"], 3, rows) + sealed
        }
        _ => String::new(),
    }
}
