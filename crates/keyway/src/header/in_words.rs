//! What is told of a header's copies, for people.

use super::{CheckedDetails, CheckedHeader};
use crate::told::table;

/// Each copy, and the state that it is in.
pub fn checked(details: &CheckedDetails) -> String {
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
    }
}
