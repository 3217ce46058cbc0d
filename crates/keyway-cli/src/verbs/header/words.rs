//! What became of a header, in words for people.

use crate::given::Family;
use crate::output::bytes;
use crate::shown::shown;
use keyway::header::{BackedUp, RepairedHeader, Restored, RestoredPart};

pub(super) fn backed_up(done: &BackedUp) -> String {
    let (file, size) = (shown(&done.file), bytes(done.bytes));
    let (what, with) = match (done.format, done.hidden) {
        (Family::BitLocker, _) => {
            ("the metadata and the first sector", "With it the volume opens with the present protectors")
        }
        (_, true) => ("the headers of the outer and the hidden volume", "It opens with the present secret"),
        (_, false) => ("the header", "It opens with the present secret"),
    };
    format!("{file} holds {what} ({size}). {with}, whatever is changed later: keep it safe.")
}

pub(super) fn restored(done: &Restored) -> String {
    let headers = done.restored.iter().filter_map(|part| match part {
        RestoredPart::Header(place) => Some(place.to_string()),
        _ => None,
    });
    let headers: Vec<String> = headers.collect();
    let words = match headers.is_empty() {
        true => "three copies of the metadata and the first sector were restored".to_owned(),
        false => format!("{} was restored", headers.join(" and the ")),
    };
    format!("{}: the {words}.", shown(&done.volume))
}

pub(super) fn repaired(done: &RepairedHeader) -> String {
    let first = done.first_sector.then(|| "the first sector".to_owned());
    let copies = done.repaired.iter().map(|number| format!("copy {number} of the metadata"));
    let told: Vec<String> = first.into_iter().chain(copies).collect();
    let name = shown(&done.volume);
    if told.is_empty() {
        return format!("{name}: the first sector and all copies of the metadata are in order.");
    }
    let more = match done.all_good {
        true => "",
        false => {
            " Not all copies of the metadata are in order: see whether what is in the volume is right, and then \
             repair it once more."
        }
    };
    format!("{name}: written anew: {}.{more}", told.join(", "))
}
