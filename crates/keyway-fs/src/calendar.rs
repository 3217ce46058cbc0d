//! Seconds since 1970 and the calendar, in UTC. Years begin in March, so that the leap day comes last
//! (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").

/// Seconds of a day.
const DAY: i64 = 86_400;
/// Days of 400 years, and from the first of March of the year 0 to 1970.
const ERA: i64 = 146_097;
const TO_1970: i64 = 719_468;
/// Years that are told: four digits.
const YEARS: std::ops::RangeInclusive<i64> = 0..=9999;

/// Year, month, day, hour, minute and second as seconds since 1970; `None` for what is no date.
#[cfg_attr(
    not(all(feature = "files", target_os = "linux")),
    allow(dead_code, reason = "only what reads files asks for it")
)]
pub(crate) fn civil([year, month, day, hour, min, sec]: [u32; 6]) -> Option<i64> {
    if year > 9999 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    if hour > 23 || min > 59 || sec > 60 {
        return None;
    }
    let [year, month, day, hour, min, sec] = [year, month, day, hour, min, sec].map(i64::from);
    let year = year - i64::from(month <= 2);
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year - TO_1970;
    Some(days * DAY + hour * 3600 + min * 60 + sec)
}

/// The other way round; `None` for years of more than four digits.
pub fn parts(seconds: i64) -> Option<[u32; 6]> {
    let (days, of_day) = (seconds.div_euclid(DAY) + TO_1970, seconds.rem_euclid(DAY));
    let (era, of_era) = (days.div_euclid(ERA), days.rem_euclid(ERA));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let part = (5 * of_year + 2) / 153;
    let month = if part < 10 { part + 3 } else { part - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    let day = of_year - (153 * part + 2) / 5 + 1;
    let all = [year, month, day, of_day / 3600, of_day % 3600 / 60, of_day % 60];
    YEARS.contains(&year).then(|| all.map(|n| u32::try_from(n).unwrap_or_default()))
}

/// As ISO 8601 writes it: `2024-02-29T12:34:56Z`.
pub fn utc(seconds: i64) -> Option<String> {
    let [year, month, day, hour, min, sec] = parts(seconds)?;
    Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{min:02}:{sec:02}Z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        // By `date -u -d @N`.
        assert_eq!(civil([2000, 2, 29, 12, 34, 56]), Some(951_827_696));
        assert_eq!(civil([1980, 1, 1, 0, 0, 0]), Some(315_532_800));
        assert_eq!(civil([1969, 12, 31, 23, 59, 59]), Some(-1));
        assert_eq!(utc(951_827_696).as_deref(), Some("2000-02-29T12:34:56Z"));
        assert_eq!(utc(-1).as_deref(), Some("1969-12-31T23:59:59Z"));
        assert_eq!(civil([2000, 0, 1, 0, 0, 0]), None);
        assert_eq!(utc(i64::MAX), None);
        for at in [0, 315_532_800, 1_709_210_096, 4_354_819_198, -62_000_000_000] {
            assert_eq!(parts(at).and_then(civil), Some(at));
        }
    }
}
