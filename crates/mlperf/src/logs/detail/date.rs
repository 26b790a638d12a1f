//! Dates of the simulated clock, which begins at midnight of 1970-01-01 (UTC).

use xrsim_model::units::SimTime;

/// Date and time in the format that power meters are compared in: `01-31-1970 23:59:59.999`.
pub(super) fn date_and_time(at: SimTime) -> String {
    let ms = at.ns() / 1_000_000;
    let (s, ms) = (ms / 1000, ms % 1000);
    let (year, month, day) = date(s / 86_400);
    let (hours, minutes, seconds) = (s / 3600 % 24, s / 60 % 60, s % 60);
    format!("{month:02}-{day:02}-{year} {hours:02}:{minutes:02}:{seconds:02}.{ms:03}")
}

/// Year, month and day that is `days` days after 1970-01-01.
fn date(mut days: u64) -> (u64, u64, u64) {
    let is_leap =
        |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}
