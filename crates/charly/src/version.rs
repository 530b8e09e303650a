//! Versions by the calendar: `YYYY.DDD.HHMM`, year, day of the year, hour and minute in UTC.

use std::fmt;

/// A version by the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CalVer {
    year: u16,
    day: u16,
    time: u16,
}

impl CalVer {
    /// Reads `YYYY.DDD.HHMM`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split('.').collect();
        let [year, day, time] = parts.as_slice() else { return None };
        let number = |text: &str, digits: usize| {
            (text.len() == digits && text.bytes().all(|b| b.is_ascii_digit()))
                .then(|| text.parse::<u16>().ok())
                .flatten()
        };
        let version = Self { year: number(year, 4)?, day: number(day, 3)?, time: number(time, 4)? };
        let fits = (1..=366).contains(&version.day) && version.time / 100 < 24 && version.time % 100 < 60;
        fits.then_some(version)
    }
}

impl fmt::Display for CalVer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}.{:03}.{:04}", self.year, self.day, self.time)
    }
}

/// Version of this build; also the newest schema of project files that it knows.
#[must_use]
pub fn version() -> &'static str {
    env!("CHARLY_CALVER")
}

/// First twelve digits of the commit it was built from, where there was one.
#[must_use]
pub fn commit() -> Option<&'static str> {
    Some(env!("CHARLY_COMMIT")).filter(|commit| !commit.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_strictly_and_order_by_time() {
        for text in ["2026.100.0000", "2026.001.2359", "1999.366.0101"] {
            assert_eq!(CalVer::parse(text).map(|v| v.to_string()).as_deref(), Some(text));
        }
        for text in [
            "",
            "2026.1.0",
            "2026.000.0000",
            "2026.367.0000",
            "2026.100.2400",
            "2026.100.0060",
            "v1",
            "2026.100.0000.1",
        ] {
            assert_eq!(CalVer::parse(text), None, "{text}");
        }
        assert!(CalVer::parse("2026.100.0000") < CalVer::parse("2026.100.0001"));
        assert!(CalVer::parse("2026.366.2359") < CalVer::parse("2027.001.0000"));
    }

    #[test]
    fn cw_63_this_build_has_a_version_whatever_it_was_built_from() {
        let own = CalVer::parse(version()).expect("a calendar version");
        let released = CalVer::parse("2026.334.0000").unwrap();
        assert!(own >= released, "never older than the date in `released`");
        assert!(commit().is_none_or(|c| c.len() >= 12 && c.bytes().all(|b| b.is_ascii_hexdigit())));
    }
}
