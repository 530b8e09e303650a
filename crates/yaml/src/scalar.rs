//! What a plain scalar means: the core schema of YAML 1.2 (10.3.2 of the specification).

/// The meaning of a scalar. Texts are borrowed from the tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar<'a> {
    /// `null`, `~` or nothing at all.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer that fits.
    Int(i64),
    /// An integer above [`i64::MAX`] that fits unsigned.
    UInt(u64),
    /// An integer beyond 64 bits, as written.
    BigInt(&'a str),
    /// A number with a fraction or exponent, `.inf` or `.nan`.
    Float(f64),
    /// Text.
    Str(&'a str),
}

/// The part of [`Scalar`] that is stored beside the text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Meaning {
    Null,
    Bool(bool),
    Int(i64),
    UInt(u64),
    BigInt,
    Float(f64),
    Str,
}

impl Meaning {
    pub(crate) fn with(self, text: &str) -> Scalar<'_> {
        match self {
            Meaning::Null => Scalar::Null,
            Meaning::Bool(b) => Scalar::Bool(b),
            Meaning::Int(i) => Scalar::Int(i),
            Meaning::UInt(u) => Scalar::UInt(u),
            Meaning::BigInt => Scalar::BigInt(text),
            Meaning::Float(f) => Scalar::Float(f),
            Meaning::Str => Scalar::Str(text),
        }
    }

    /// Is it any kind of number?
    pub(crate) fn is_number(self) -> bool {
        matches!(self, Meaning::Int(_) | Meaning::UInt(_) | Meaning::BigInt | Meaning::Float(_))
    }
}

/// A float that no 64-bit number holds, such as `1e400`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Overflow;

/// Resolves a plain, untagged scalar.
pub(crate) fn resolve(text: &str) -> Result<Meaning, Overflow> {
    if let Some(word) = word(text) {
        return Ok(word);
    }
    match int(text) {
        Some(meaning) => Ok(meaning),
        None => Ok(float(text)?.map_or(Meaning::Str, Meaning::Float)),
    }
}

/// Null and booleans.
fn word(text: &str) -> Option<Meaning> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Some(Meaning::Null),
        "true" | "True" | "TRUE" => Some(Meaning::Bool(true)),
        "false" | "False" | "FALSE" => Some(Meaning::Bool(false)),
        _ => None,
    }
}

/// Integers: decimal with sign, `0o` and `0x` without.
pub(crate) fn int(text: &str) -> Option<Meaning> {
    let (digits, radix) = match (text.strip_prefix("0o"), text.strip_prefix("0x")) {
        (Some(rest), _) => (rest, 8),
        (_, Some(rest)) => (rest, 16),
        _ => (text.strip_prefix(['+', '-']).unwrap_or(text), 10),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    if radix == 10 && text.starts_with('-') {
        return Some(text.parse().map_or(Meaning::BigInt, Meaning::Int));
    }
    Some(match u64::from_str_radix(digits, radix) {
        Ok(value) => i64::try_from(value).map_or(Meaning::UInt(value), Meaning::Int),
        Err(_) => Meaning::BigInt,
    })
}

/// Floats; `Ok(None)` when the text is none.
pub(crate) fn float(text: &str) -> Result<Option<f64>, Overflow> {
    let (negative, body) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if matches!(body, ".inf" | ".Inf" | ".INF") {
        return Ok(Some(if negative { f64::NEG_INFINITY } else { f64::INFINITY }));
    }
    if matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Ok(Some(f64::NAN));
    }
    if !float_shaped(body) {
        return Ok(None);
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Some(value)),
        Ok(_) => Err(Overflow),
        Err(_) => Ok(None),
    }
}

/// `( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
fn float_shaped(body: &str) -> bool {
    let (mantissa, exponent) = match body.find(['e', 'E']) {
        Some(at) => (&body[..at], Some(&body[at + 1..])),
        None => (body, None),
    };
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let mantissa_fits = match mantissa.split_once('.') {
        Some((whole, part)) => digits(whole) && digits(part) && !(whole.is_empty() && part.is_empty()),
        None => !mantissa.is_empty() && digits(mantissa),
    };
    let exponent_fits = exponent.is_none_or(|e| {
        let e = e.strip_prefix(['+', '-']).unwrap_or(e);
        !e.is_empty() && digits(e)
    });
    mantissa_fits && exponent_fits
}

/// Would a reader of YAML 1.1 or 1.2 take this plain text for something else than text?
///
/// Writing is careful about both versions, because files travel: `yes`, `0777`, `1_000`, `12:30`
/// and dates are text here and something else there.
pub(crate) fn looks_typed(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    if matches!(
        lower.as_str(),
        "" | "~"
            | "null"
            | "true"
            | "false"
            | "yes"
            | "no"
            | "on"
            | "off"
            | "y"
            | "n"
            | "="
            | "<<"
            | ".inf"
            | "+.inf"
            | "-.inf"
            | ".nan"
    ) {
        return true;
    }
    !matches!(resolve(text), Ok(Meaning::Str)) || old_number(&lower) || date(&lower)
}

/// Numbers of YAML 1.1 that are none in 1.2.
fn old_number(lower: &str) -> bool {
    let body = lower.strip_prefix(['+', '-']).unwrap_or(lower);
    let plain: String = body.chars().filter(|c| *c != '_').collect();
    let prefixed = ["0x", "0o", "0b"]
        .iter()
        .any(|prefix| plain.strip_prefix(prefix).is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_hexdigit())));
    let starts_right = plain.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let sexagesimal = plain.contains(':') && plain.bytes().all(|b| b.is_ascii_digit() || b == b':' || b == b'.');
    prefixed || (starts_right && (plain.parse::<f64>().is_ok() || sexagesimal))
}

/// `2001-12-14` and timestamps that start so.
fn date(lower: &str) -> bool {
    let mut parts = lower.splitn(3, '-');
    let (Some(year), Some(month), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    year.len() == 4
        && digits(year)
        && month.len() <= 2
        && digits(month)
        && rest.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn core_schema_words_and_numbers() {
        for (text, meaning) in [
            ("", Meaning::Null),
            ("~", Meaning::Null),
            ("NULL", Meaning::Null),
            ("True", Meaning::Bool(true)),
            ("false", Meaning::Bool(false)),
            ("0", Meaning::Int(0)),
            ("-0", Meaning::Int(0)),
            ("+12", Meaning::Int(12)),
            ("012", Meaning::Int(12)),
            ("0o14", Meaning::Int(12)),
            ("0xC", Meaning::Int(12)),
            ("-9223372036854775808", Meaning::Int(i64::MIN)),
            ("9223372036854775807", Meaning::Int(i64::MAX)),
            ("9223372036854775808", Meaning::UInt(9_223_372_036_854_775_808)),
            ("18446744073709551615", Meaning::UInt(u64::MAX)),
            ("18446744073709551616", Meaning::BigInt),
            ("-9223372036854775809", Meaning::BigInt),
            ("1.5", Meaning::Float(1.5)),
            (".5", Meaning::Float(0.5)),
            ("1.", Meaning::Float(1.0)),
            ("-1e3", Meaning::Float(-1000.0)),
            ("-.INF", Meaning::Float(f64::NEG_INFINITY)),
        ] {
            assert_eq!(resolve(text), Ok(meaning), "{text}");
        }
    }

    #[test]
    fn core_schema_texts() {
        for text in [
            "yes",
            "no",
            "on",
            "off",
            "tRUE",
            "-",
            "+",
            ".",
            "-.",
            "0o",
            "0x",
            "0o8",
            "0xg",
            "-0x1",
            "1_000",
            "1:30",
            "2026.100.0000",
            "1e",
            "1e+",
            "e1",
            "inf",
            "nan",
            "NaN",
            "+.nan",
            "2026-11-30",
            "1.2.3",
            "0b1",
            "infinity",
        ] {
            assert_eq!(resolve(text), Ok(Meaning::Str), "{text}");
        }
        assert!(matches!(resolve(".NaN"), Ok(Meaning::Float(f)) if f.is_nan()));
    }

    #[test]
    fn a_float_that_overflows_is_no_infinity() {
        assert_eq!(resolve("1e400"), Err(Overflow));
        assert_eq!(resolve("-1e400"), Err(Overflow));
        assert_eq!(resolve("1e-400"), Ok(Meaning::Float(0.0)));
    }

    #[test]
    fn texts_that_some_reader_takes_for_another_type() {
        for text in [
            "yes",
            "No",
            "ON",
            "off",
            "y",
            "null",
            "~",
            "",
            "12",
            "0777",
            "1_000",
            "1.5",
            "1_0.5",
            "12:30",
            "-1:30:00",
            "2026-11-30",
            "2001-12-14t21:59:43.10-05:00",
            "0b11",
            "0x1F",
            "<<",
            "=",
            ".inf",
            "1e400",
            "-0x1f",
        ] {
            assert!(looks_typed(text), "{text}");
        }
        for text in ["web", "2026.100.0000", "1.2.3", "v1", "a:b", "nginx-1", "10.0.0.1", "-"] {
            assert!(!looks_typed(text), "{text}");
        }
    }
}
