//! Dates in logs and header fields as seconds since 1970.

/// Months as they are written.
pub(crate) const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Days from 1970-01-01 to a date of the Gregorian calendar, by counting years from March on, so that the leap day is
/// the last of its year.
pub(crate) fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let years = if month <= 2 { year - 1 } else { year };
    let months = (month + 9) % 12;
    let leap_days = years.div_euclid(4) - years.div_euclid(100) + years.div_euclid(400);
    365 * years + leap_days + (153 * months + 2) / 5 + day - 1 - 719_468
}

/// The date of an `Expires` attribute as seconds since 1970, in any of the forms that servers write: `Thu, 01 Jan 1970
/// 00:00:00 GMT`, `Thu, 01-Jan-70 00:00:00 GMT`, `Thu Jan 1 00:00:00 1970` (RFC 6265, section 5.1.1).
pub(crate) fn parse(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == ':';
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    for word in text.split(|letter: char| !is_part(letter)).filter(|word| !word.is_empty()) {
        let number = || word.parse::<i64>().ok();
        if time.is_none() && word.contains(':') {
            time = Some(seconds_of_day(word)?);
        } else if month.is_none() && word.get(..3).is_some_and(|front| position(front).is_some()) {
            month = word.get(..3).and_then(position);
        } else if day.is_none() && word.len() <= 2 && number().is_some() {
            day = number();
        } else if year.is_none() && matches!(word.len(), 2 | 4) {
            year = number();
        }
    }
    let (time, day, month, year) = (time?, day?, month?, year?);
    let year = match year {
        0..=69 => 2000 + year,
        70..=99 => 1900 + year,
        year => year,
    };
    let is_date = (1..=31).contains(&day) && (1601..=9999).contains(&year);
    is_date.then(|| days_since_1970(year, month, day) * 86_400 + time)
}

/// `13:55:36`.
fn seconds_of_day(word: &str) -> Option<i64> {
    let mut numbers = word.split(':').map(|number| number.parse::<i64>().ok());
    let (hours, minutes, seconds) = (numbers.next()??, numbers.next()??, numbers.next()??);
    let is_time = (0..24).contains(&hours) && (0..60).contains(&minutes) && (0..=60).contains(&seconds);
    is_time.then_some(hours * 3600 + minutes * 60 + seconds)
}

/// Number of a month, from 1.
fn position(word: &str) -> Option<i64> {
    let position = MONTHS.iter().position(|month| month.eq_ignore_ascii_case(word))?;
    Some(position as i64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_cookies_are_read_in_each_form() {
        for text in
            ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
        {
            assert_eq!(parse(text.as_bytes()), Some(784_111_777), "{text}");
        }
        assert_eq!(parse(b"Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        for text in ["", "tomorrow", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 25:00:00 GMT", "\u{e9} 1 2 3:4:5"]
        {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }
}
