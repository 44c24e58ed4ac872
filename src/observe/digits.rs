//! Numbers with few digits, for messages and tables to read.

/// Formats a number with about six significant digits: `0.3208`, `1.25e-7`. Digits before the point are kept; with an exponent there are at
/// most four.
pub(crate) fn short(value: f64) -> String {
    let is_plain = value == 0.0 || (1e-4..1e7).contains(&value.abs());
    if !is_plain {
        let text = format!("{value:.3e}");
        let Some((digits, exponent)) = text.split_once('e') else { return text };
        return format!("{}e{exponent}", digits.trim_end_matches('0').trim_end_matches('.'));
    }
    let digits_before_point = value.abs().max(1e-4).log10().floor() as i32 + 1;
    let decimals = (6 - digits_before_point).clamp(0, 9) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_number_has_six_digits_at_most_and_no_trailing_zeros() {
        assert_eq!(short(1000.0), "1000");
        assert_eq!(short(0.320_712_9), "0.320713");
        assert_eq!(short(-49.123_456_7), "-49.1235");
        assert_eq!(short(1_234_567.8), "1234568");
        assert_eq!(short(0.0), "0");
    }

    #[test]
    fn a_very_small_or_large_number_has_an_exponent() {
        assert_eq!(short(1.254e-7), "1.254e-7");
        assert_eq!(short(-2.5e9), "-2.5e9");
        assert_eq!((short(1e-12), short(f64::NAN)), ("1e-12".to_owned(), "NaN".to_owned()));
    }
}
