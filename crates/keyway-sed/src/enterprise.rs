//! What the Enterprise SSC names otherwise: parameters and columns go by words, not by numbers.
//!
//! It was written on Core 1.0, where optional parameters and columns are named by strings (Enterprise SSC 1.01, 5.1;
//! the columns' names are Core's, chapter 5, where they have the numbers that Opal uses).

use crate::Uid;
use crate::token::{Encoder, Token, Value};
use crate::uid::table;

/// Of Properties: what the host can take.
pub const HOST_PROPERTIES: &str = "HostProperties";
/// Of StartSession: milliseconds that the session may be silent.
pub const SESSION_TIMEOUT: &str = "SessionTimeout";
/// Of Authenticate: the PIN.
pub const CHALLENGE: &str = "Challenge";
/// Of Get: the first column that is wanted.
pub const START_COLUMN: &str = "startColumn";
/// Of Get: the last one.
pub const END_COLUMN: &str = "endColumn";

/// The names of a table's columns, in the order of their numbers; none of a table that is not read here.
pub fn columns(of: Uid) -> &'static [&'static str] {
    match of.table() {
        table::SP => {
            &["UID", "Name", "ORG", "EffectiveAuth", "DateOfIssue", "Bytes", "LifeCycleState", "Frozen"]
        }
        table::C_PIN => &["UID", "Name", "CommonName", "PIN", "CharSet", "TryLimit", "Tries", "Persistence"],
        table::AUTHORITY => &[
            "UID",
            "Name",
            "CommonName",
            "IsClass",
            "Class",
            "Enabled",
            "Secure",
            "HashAndSign",
            "PresentCertificate",
            "Operation",
            "Credential",
            "ResponseSign",
            "ResponseExch",
        ],
        table::LOCKING_INFO => &["UID", "Name", "Version", "EncryptSupport", "MaxRanges"],
        table::LOCKING => &[
            "UID",
            "Name",
            "CommonName",
            "RangeStart",
            "RangeLength",
            "ReadLockEnabled",
            "WriteLockEnabled",
            "ReadLocked",
            "WriteLocked",
            "LockOnReset",
            "ActiveKey",
        ],
        _ => &[],
    }
}

/// The column's name, where it has one here.
pub fn column(of: Uid, number: u64) -> Option<&'static str> {
    usize::try_from(number).ok().and_then(|number| columns(of).get(number)).copied()
}

/// The number of the column of that name.
pub fn column_number(of: Uid, name: &[u8]) -> Option<u64> {
    columns(of).iter().position(|column| column.as_bytes() == name).map(|at| at as u64)
}

/// Writes a value under a name.
pub fn named(to: &mut Encoder, name: &str, value: impl FnOnce(&mut Encoder)) {
    to.token(Token::StartName).bytes(name.as_bytes());
    value(to);
    to.token(Token::EndName);
}

/// What is named so in a list.
pub fn find<'v, 'a>(list: &'v [Value<'a>], name: &str) -> Option<&'v Value<'a>> {
    let mut named = list.iter().filter_map(Value::named);
    named.find(|(key, _)| key.bytes() == Some(name.as_bytes())).map(|(_, value)| value)
}
