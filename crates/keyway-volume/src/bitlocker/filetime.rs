//! FILETIME: 100-nanosecond steps since 1601-01-01 UTC.

use serde::{Serialize, Serializer};
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A point in time as Windows keeps it. Any 64 bits are one; some make no sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct FileTime(pub u64);

/// Steps in a second.
const SECOND: u64 = 10_000_000;

/// 1970-01-01 in steps since 1601-01-01: 369 years with 89 leap days.
const UNIX: u64 = (369 * 365 + 89) * 86_400 * SECOND;

impl FileTime {
    /// The present.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Self(UNIX + since.as_secs() * SECOND + u64::from(since.subsec_nanos()) / 100)
    }

    /// Seconds since 1970, where that is not before.
    pub(crate) fn unix_seconds(self) -> Option<u64> {
        self.0.checked_sub(UNIX).map(|steps| steps / SECOND)
    }
}

/// As in ISO 8601, to the second: `2019-07-04T14:25:15Z`; a raw number where the bits are no date
/// between 1970 and 9999.
impl fmt::Display for FileTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Years have four digits there.
        let seconds = self.unix_seconds().and_then(|s| i64::try_from(s).ok());
        match seconds.and_then(keyway_fs::calendar::utc) {
            Some(date) => f.write_str(&date),
            None => write!(f, "{:#x}", self.0),
        }
    }
}

impl Serialize for FileTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right() {
        assert_eq!(FileTime(UNIX).to_string(), "1970-01-01T00:00:00Z");
        // `date -u -d @951782400`: a leap day of a century's year.
        assert_eq!(FileTime(UNIX + 951_782_400 * SECOND).to_string(), "2000-02-29T00:00:00Z");
        assert_eq!(FileTime(132_066_973_151_562_352).to_string(), "2019-07-04T07:01:55Z");
        assert_eq!(FileTime(0x81d5_3236_0000_0000).to_string(), "0x81d5323600000000");
        assert_eq!(FileTime(0).to_string(), "0x0");
    }

    #[test]
    fn the_present_is_after_this_was_written() {
        assert!(FileTime::now().unix_seconds() > Some(1_700_000_000));
    }
}
