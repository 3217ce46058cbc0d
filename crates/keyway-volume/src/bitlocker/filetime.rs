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
    pub fn unix_seconds(self) -> Option<u64> {
        self.0.checked_sub(UNIX).map(|steps| steps / SECOND)
    }
}

/// As in ISO 8601, to the second: `2019-07-04T14:25:15Z`; a raw number where the bits are no date
/// between 1970 and 9999.
impl fmt::Display for FileTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last_year = 253_402_300_800;
        let Some(seconds) = self.unix_seconds().filter(|s| *s < last_year) else {
            return write!(f, "{:#x}", self.0);
        };
        let (days, second) = (seconds / 86_400, seconds % 86_400);
        // Civil date from a day count, in years that begin in March.
        let shifted = days + 719_468;
        let (era, of_era) = (shifted / 146_097, shifted % 146_097);
        let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let part = (5 * of_year + 2) / 153;
        let day = of_year - (153 * part + 2) / 5 + 1;
        let month = if part < 10 { part + 3 } else { part - 9 };
        let year = year + era * 400 + u64::from(month <= 2);
        let (hour, minute) = (second / 3600, second / 60 % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}Z", second % 60)
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
