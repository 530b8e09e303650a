//! Resource quantities, exactly: `100m`, `1.5Gi`, `2e3`, without a float in between.

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use std::fmt;

/// Smallest part that is kept: a billionth, as in the API server, which rounds smaller ones up.
const NANO: i128 = 1_000_000_000;

/// A quantity in billionths of its unit; compares and adds exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount(i128);

/// Why a quantity cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAQuantity(pub String);

impl fmt::Display for NotAQuantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a quantity", pintle_core::Foreign::one_line(&self.0))
    }
}

impl std::error::Error for NotAQuantity {}

impl Amount {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// Whole units.
    #[must_use]
    pub const fn units(units: i64) -> Self {
        Self(units as i128 * NANO)
    }

    /// Reads the API's text form.
    ///
    /// # Errors
    /// When the text is not a quantity, or larger than the API allows.
    pub fn parse(text: &str) -> Result<Self, NotAQuantity> {
        parse(text).map(Self).ok_or_else(|| NotAQuantity(text.to_owned()))
    }

    /// Whether it is zero.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Whether it is a whole number of units.
    #[must_use]
    pub const fn is_whole(self) -> bool {
        self.0 % NANO == 0
    }

    /// Whole units, rounded up.
    #[must_use]
    pub const fn ceil_units(self) -> i128 {
        self.0.div_euclid(NANO) + (self.0.rem_euclid(NANO) != 0) as i128
    }

    /// The sum; the largest amount when it would be larger.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// How many hundredths `self` is of `other`, rounded down; none when `other` is zero.
    #[must_use]
    pub const fn percent_of(self, other: Self) -> Option<i128> {
        if other.0 == 0 { None } else { self.0.saturating_mul(100).checked_div(other.0) }
    }

    /// As CPU: `250m`, `2`.
    #[must_use]
    pub fn as_cpu(self) -> String {
        let milli = self.0.div_euclid(NANO / 1_000) + i128::from(self.0.rem_euclid(NANO / 1_000) != 0);
        if milli % 1_000 == 0 { (milli / 1_000).to_string() } else { format!("{milli}m") }
    }

    /// As bytes: the largest binary unit that leaves a whole number.
    #[must_use]
    pub fn as_bytes(self) -> String {
        let bytes = self.ceil_units();
        for (shift, unit) in [(60, "Ei"), (50, "Pi"), (40, "Ti"), (30, "Gi"), (20, "Mi"), (10, "Ki")] {
            let size = 1_i128 << shift;
            if bytes != 0 && bytes % size == 0 {
                return format!("{}{unit}", bytes / size);
            }
        }
        bytes.to_string()
    }
}

impl TryFrom<&Quantity> for Amount {
    type Error = NotAQuantity;

    fn try_from(quantity: &Quantity) -> Result<Self, NotAQuantity> {
        Self::parse(&quantity.0)
    }
}

/// `<sign><digits>[.<digits>]<suffix>`; suffix `n u m k M G T P E`, `Ki`…`Ei`, or an exponent.
fn parse(text: &str) -> Option<i128> {
    let (negative, rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let number_end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let (number, suffix) = rest.split_at(number_end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return None;
    }
    let (power_of_ten, binary) = suffix_of(suffix)?;
    // digits × 10^(power − fraction length) × 2^binary, in billionths.
    let digits: String = whole.chars().chain(fraction.trim_end_matches('0').chars()).collect();
    let digits = digits.trim_start_matches('0');
    let mantissa: i128 = if digits.is_empty() { 0 } else { digits.parse().ok()? };
    let scale = power_of_ten + 9 - i32::try_from(fraction.trim_end_matches('0').len()).ok()?;
    let mut value = mantissa.checked_mul(1_i128.checked_shl(binary)?)?;
    if scale >= 0 {
        if value != 0 {
            value = value.checked_mul(10_i128.checked_pow(u32::try_from(scale).ok()?)?)?;
        }
    } else {
        // Smaller than a billionth: away from zero, as the API server does.
        let divisor = 10_i128.checked_pow(u32::try_from(-scale).ok()?).unwrap_or(i128::MAX);
        value = value / divisor + i128::from(value % divisor != 0);
    }
    Some(if negative { -value } else { value })
}

/// The suffix as a power of ten and a power of two.
fn suffix_of(suffix: &str) -> Option<(i32, u32)> {
    Some(match suffix {
        "" => (0, 0),
        "n" => (-9, 0),
        "u" => (-6, 0),
        "m" => (-3, 0),
        "k" => (3, 0),
        "M" => (6, 0),
        "G" => (9, 0),
        "T" => (12, 0),
        "P" => (15, 0),
        "E" => (18, 0),
        "Ki" => (0, 10),
        "Mi" => (0, 20),
        "Gi" => (0, 30),
        "Ti" => (0, 40),
        "Pi" => (0, 50),
        "Ei" => (0, 60),
        exponent => {
            let digits = exponent.strip_prefix(['e', 'E'])?;
            let bare = digits.strip_prefix(['+', '-']).unwrap_or(digits);
            if bare.is_empty() || bare.len() > 2 || !bare.bytes().all(|b| b.is_ascii_digit()) {
                return None;
            }
            (digits.parse().ok()?, 0)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_2_3_quantities_are_read_exactly() {
        for (text, nano) in [
            ("0", 0),
            ("1", 1_000_000_000),
            ("100m", 100_000_000),
            ("0.1", 100_000_000),
            (".5", 500_000_000),
            ("5.", 5_000_000_000),
            ("+2", 2_000_000_000),
            ("-1", -1_000_000_000),
            ("1n", 1),
            ("1u", 1_000),
            ("0.1n", 1),
            ("1k", 1_000_000_000_000),
            ("1Ki", 1_024_000_000_000),
            ("1.5Gi", 1_610_612_736_000_000_000),
            ("12e6", 12_000_000_000_000_000),
            ("1E3", 1_000_000_000_000),
            ("1e-3", 1_000_000),
            ("1E", 1_000_000_000_000_000_000_000_000_000),
            ("1Ei", 1_152_921_504_606_846_976_000_000_000),
            ("00010", 10_000_000_000),
        ] {
            assert_eq!(Amount::parse(text), Ok(Amount(nano)), "{text}");
        }
    }

    #[test]
    fn an_2_3_what_is_no_quantity_is_refused() {
        for text in
            ["", "m", ".", "1.2.3", "1 Gi", "1gi", "1Kib", "1K", "e3", "1e", "1e+", "1e999", "0x10", "1_000", "½"]
        {
            assert!(Amount::parse(text).is_err(), "{text}");
        }
        assert!(Amount::parse(&"9".repeat(60)).is_err());
    }

    #[test]
    fn an_2_3_equal_amounts_in_different_words_are_equal() {
        for (a, b) in [("1000m", "1"), ("0.5", "500m"), ("1Gi", "1024Mi"), ("1e3", "1k"), ("12000m", "12")] {
            assert_eq!(Amount::parse(a), Amount::parse(b), "{a} {b}");
        }
        assert!(Amount::parse("1G").unwrap() < Amount::parse("1Gi").unwrap());
    }

    #[test]
    fn amounts_are_printed_in_the_words_of_their_kind() {
        let parse = |t: &str| Amount::parse(t).unwrap();
        assert_eq!([parse("0.25").as_cpu(), parse("2").as_cpu()], ["250m", "2"]);
        assert_eq!(
            [parse("1.5Gi").as_bytes(), parse("1G").as_bytes(), parse("0").as_bytes()],
            ["1536Mi", "1000000000", "0"]
        );
        assert_eq!(parse("150m").percent_of(parse("100m")), Some(150));
        assert_eq!(parse("1").percent_of(Amount::ZERO), None);
        assert_eq!(parse("100m").ceil_units(), 1);
    }
}
