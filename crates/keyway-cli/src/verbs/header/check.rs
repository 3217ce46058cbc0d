//! `header check`: which copies of a header are in order, in words.

use crate::verbs::*;
use keyway::header::{self, CheckedDetails, in_words};

/// Ends with exit code 4 where a copy is not in order, so that scripts need not read the answer.
pub(super) fn run(args: &VolumeArgs, out: Output) -> Result<(), Failure> {
    let volume = args.locked()?.within(keyway::Sandbox::default());
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
        return out.result(&checked, || in_words::checked(&checked.details));
    }
    out.say(&in_words::checked(&checked.details))?;
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
