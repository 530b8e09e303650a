//! Spans of time as people write them: `1m30s`, `500ms`.

use std::fmt;
use std::time::Duration;

/// No plan waits longer.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);

/// Why a text is no duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DurationError {
    #[error("has no unit")]
    NoUnit,
    #[error("is not a duration")]
    Malformed,
    #[error("must be above zero")]
    Zero,
    #[error("is longer than {}", Shown(LONGEST))]
    TooLong,
}

/// Reads hours, minutes, seconds and milliseconds in this order, each at most once.
pub(crate) fn parse(text: &str) -> Result<Duration, DurationError> {
    const UNITS: [(&str, u64); 4] = [("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];
    if !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '.') {
        return Err(DurationError::NoUnit);
    }
    let mut rest = text;
    let mut millis = 0_f64;
    let mut next = 0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or(DurationError::Malformed)?;
        let number: f64 = rest[..digits].parse().map_err(|_| DurationError::Malformed)?;
        rest = &rest[digits..];
        let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let unit = &rest[..letters];
        let place = UNITS.iter().position(|(name, _)| *name == unit).ok_or(DurationError::Malformed)?;
        if place < next {
            return Err(DurationError::Malformed);
        }
        next = place + 1;
        #[expect(clippy::cast_precision_loss, reason = "factors are small")]
        let factor = UNITS[place].1 as f64;
        millis += number * factor;
        rest = &rest[letters..];
    }
    if text.is_empty() {
        return Err(DurationError::Malformed);
    }
    if millis < 1.0 {
        return Err(DurationError::Zero);
    }
    match Duration::try_from_secs_f64(millis / 1000.0) {
        Ok(span) if span <= LONGEST => Ok(span),
        _ => Err(DurationError::TooLong),
    }
}

/// Shows a span as it would be written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown(pub(crate) Duration);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.as_millis();
        let (hours, minutes) = (millis / 3_600_000, millis / 60_000 % 60);
        let (seconds, rest) = (millis / 1000 % 60, millis % 1000);
        if hours > 0 {
            write!(f, "{hours}h")?;
        }
        if minutes > 0 {
            write!(f, "{minutes}m")?;
        }
        if seconds > 0 {
            write!(f, "{seconds}s")?;
        }
        if rest > 0 || millis == 0 {
            write!(f, "{rest}ms")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ch_074_durations_are_read_strictly() {
        for (text, millis) in [
            ("500ms", 500),
            ("10s", 10_000),
            ("1m30s", 90_000),
            ("2h", 7_200_000),
            ("1.5s", 1500),
            ("1h1m1s1ms", 3_661_001),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for (text, wanted) in [
            ("", DurationError::Malformed),
            ("30", DurationError::NoUnit),
            ("1.5", DurationError::NoUnit),
            ("soon", DurationError::Malformed),
            ("-1s", DurationError::Malformed),
            ("1d", DurationError::Malformed),
            ("1s1m", DurationError::Malformed),
            ("1s1s", DurationError::Malformed),
            ("1 s", DurationError::Malformed),
            ("1..5s", DurationError::Malformed),
            ("0s", DurationError::Zero),
            ("0ms", DurationError::Zero),
            ("169h", DurationError::TooLong),
            ("99999999999999999999h", DurationError::TooLong),
        ] {
            assert_eq!(parse(text), Err(wanted), "{text}");
        }
    }

    #[test]
    fn spans_are_shown_as_they_are_written() {
        for text in ["500ms", "10s", "1m30s", "2h", "1h1m1s1ms"] {
            assert_eq!(Shown(parse(text).unwrap()).to_string(), text);
        }
        assert_eq!(Shown(Duration::ZERO).to_string(), "0ms");
    }
}
