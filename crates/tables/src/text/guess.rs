//! The type of a column of which only texts are known.

use arrow_schema::{DataType, TimeUnit};

use super::civil::{has_zone, parse_date, parse_timestamp};

/// The longest text that is told as odd, in bytes.
const ODD: usize = 40;

/// From here on, 2^53, a float stands for several integers.
const INEXACT: u64 = 1 << 53;

/// The fewest values of one type beside which one text is odd.
const FEW: u64 = 10;

/// The types as which every text of a column can be read without losing anything that a reader sees.
///
/// A text that a type would change (`0012`, `+5`, an integer beyond 64 bits, a float with more than 17 digits) keeps the column text.
#[derive(Debug, Clone, Default)]
pub struct TypeGuess {
    /// Of all texts but the odd one.
    types: Types,
    /// The number of those.
    values: u64,
    /// The only text that keeps the column text, which may occur several times.
    odd: Option<OddText>,
    /// Whether several do.
    is_text: bool,
}

/// A text of another type than all others of its column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OddText {
    /// The text.
    pub text: String,
    /// The first row that has it.
    pub row: u64,
}

/// The types that are still possible.
#[derive(Debug, Clone, Copy)]
struct Types {
    int: bool,
    float: bool,
    boolean: bool,
    date: bool,
    local: bool,
    zoned: bool,
    /// Whether all timestamps fit into microseconds, and into nanoseconds.
    micros: bool,
    nanos: bool,
    /// Whether a number was seen that is no integer word such as `NaN`.
    number: bool,
    /// Whether all numbers are integers, though some may have `.0` behind them.
    whole: bool,
}

impl Default for Types {
    fn default() -> Self {
        Types {
            int: true,
            float: true,
            boolean: true,
            date: true,
            local: true,
            zoned: true,
            micros: true,
            nanos: true,
            number: false,
            whole: true,
        }
    }
}

impl TypeGuess {
    /// Looks at a text that is not null, in row `row`.
    pub fn see(&mut self, row: u64, text: &str) {
        if self.is_text || self.odd.as_ref().is_some_and(|odd| odd.text == text) {
            return;
        }
        let mut types = self.types;
        types.see(text);
        if !types.is_text() {
            (self.types, self.values) = (types, self.values + 1);
        } else if self.odd.is_none() && text.len() <= ODD {
            self.odd = Some(OddText { text: text.to_owned(), row });
        } else {
            self.is_text = true;
        }
    }

    /// What was seen by this guess or the other one, whose rows begin in row `first`.
    pub fn merge(&mut self, other: &TypeGuess, first: u64) {
        self.types.merge(&other.types);
        self.values += other.values;
        self.is_text |= other.is_text || self.types.is_text();
        match (&self.odd, &other.odd) {
            (Some(own), Some(other)) => self.is_text |= own.text != other.text,
            (None, Some(odd)) => self.odd = Some(OddText { text: odd.text.clone(), row: first + odd.row }),
            (_, None) => {}
        }
    }

    /// The type: text where nothing was seen, or nothing else fits.
    pub fn data_type(&self) -> DataType {
        match self.is_text || self.odd.is_some() || self.values == 0 {
            true => DataType::Utf8,
            false => self.types.data_type(),
        }
    }

    /// Whether the values are floats that are all integers, see [`whole_number`].
    pub fn is_whole(&self) -> bool {
        self.data_type() == DataType::Float64 && self.types.whole
    }

    /// The only text because of which the column is text, and the type of all others, if these are more than a few.
    pub fn odd(&self) -> Option<(&OddText, DataType)> {
        let odd = self.odd.as_ref().filter(|_| !self.is_text && self.values >= FEW)?;
        let others = self.types.data_type();
        (others != DataType::Utf8).then_some((odd, others))
    }
}

impl Types {
    fn see(&mut self, text: &str) {
        let bytes = text.as_bytes();
        if self.int || self.float {
            let whole = whole(bytes);
            self.int &= whole.is_some();
            self.float &= match whole {
                Some(value) => value.unsigned_abs() <= 1 << 53,
                None => is_float(text),
            };
            self.number |= bytes.iter().any(u8::is_ascii_digit);
            self.whole = self.whole
                && match whole {
                    Some(value) => value.unsigned_abs() < INEXACT,
                    None => whole_number(text).is_some(),
                };
        }
        self.boolean &= matches!(text, "true" | "false" | "True" | "False" | "TRUE" | "FALSE");
        self.date &= self.date && parse_date(bytes).is_some();
        if self.local || self.zoned {
            let has_zone = has_zone(bytes);
            let nanos = bytes.len() > 10 && parse_timestamp(bytes, &TimeUnit::Nanosecond).is_some();
            let micros = bytes.len() > 10 && parse_timestamp(bytes, &TimeUnit::Microsecond).is_some();
            self.zoned &= has_zone && (micros || nanos);
            self.local &= !has_zone && (micros || nanos);
            self.micros &= micros;
            self.nanos &= nanos;
        }
    }

    fn merge(&mut self, other: &Types) {
        self.int &= other.int;
        self.float &= other.float;
        self.boolean &= other.boolean;
        self.date &= other.date;
        self.local &= other.local;
        self.zoned &= other.zoned;
        self.micros &= other.micros;
        self.nanos &= other.nanos;
        self.number |= other.number;
        self.whole &= other.whole;
    }

    fn is_text(&self) -> bool {
        !(self.int || self.float || self.boolean || self.date || self.local || self.zoned)
    }

    fn data_type(&self) -> DataType {
        let unit = match (self.micros, self.nanos) {
            (true, _) => Some(TimeUnit::Microsecond),
            (false, true) => Some(TimeUnit::Nanosecond),
            (false, false) => None,
        };
        match unit {
            _ if self.int => DataType::Int64,
            // Words such as `NaN` alone are no numbers.
            _ if self.float && self.number => DataType::Float64,
            _ if self.boolean => DataType::Boolean,
            _ if self.date => DataType::Date32,
            Some(unit) if self.zoned => DataType::Timestamp(unit, Some("UTC".into())),
            Some(unit) if self.local => DataType::Timestamp(unit, None),
            _ => DataType::Utf8,
        }
    }
}

/// The integer that a text is, or that a float is as which it is written: `7`, `7.0`. From 2^53 on a float may have been another integer.
pub fn whole_number(text: &str) -> Option<i64> {
    let number = whole(text.strip_suffix(".0").unwrap_or(text).as_bytes())?;
    (number.unsigned_abs() < INEXACT).then_some(number)
}

/// An integer as it is written: without zeros in front, without `+`, within 64 bits.
fn whole(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let canonical = match digits {
        [b'0'] => text.len() == 1,
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    let text = std::str::from_utf8(text).ok().filter(|_| canonical)?;
    text.parse().ok()
}

/// Whether a text is a float of at most 17 digits that is in range, or a word for one.
fn is_float(text: &str) -> bool {
    if matches!(text, "NaN" | "nan" | "inf" | "-inf" | "Infinity" | "-Infinity") {
        return true;
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    let mantissa = digits.split(['e', 'E']).next().unwrap_or_default();
    let leading = mantissa.as_bytes();
    let has_zeros = leading.first() == Some(&b'0') && leading.get(1).is_some_and(u8::is_ascii_digit);
    let starts = leading.first().is_some_and(u8::is_ascii_digit);
    let significant = mantissa.bytes().filter(u8::is_ascii_digit).skip_while(|digit| *digit == b'0').count();
    // An integer without a point that is no `i64` would lose digits.
    let is_marked = digits.contains(['.', 'e', 'E']);
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    // A number that is too small for a double would become 0.
    let is_kept = |value: f64| value.is_finite() && (value != 0.0 || significant == 0);
    starts && !has_zeros && is_marked && plain && significant <= 17 && text.parse::<f64>().is_ok_and(is_kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guess(texts: &[&str]) -> DataType {
        let mut whole = TypeGuess::default();
        let [mut first, mut second] = [TypeGuess::default(), TypeGuess::default()];
        for (at, text) in texts.iter().enumerate() {
            whole.see(at as u64, text);
            if at % 2 == 0 { first.see(at as u64, text) } else { second.see(at as u64, text) }
        }
        first.merge(&second, 0);
        assert_eq!(first.data_type(), whole.data_type(), "{texts:?}");
        whole.data_type()
    }

    /// What is told of one text among integers, as one guess and as one for every `piece` of them.
    fn odd(texts: &[&str], piece: usize) -> Option<(String, u64, DataType)> {
        let mut whole = TypeGuess::default();
        let mut merged = TypeGuess::default();
        texts.iter().enumerate().for_each(|(row, text)| whole.see(row as u64, text));
        for (at, some) in texts.chunks(piece).enumerate() {
            let mut own = TypeGuess::default();
            some.iter().enumerate().for_each(|(row, text)| own.see(row as u64, text));
            merged.merge(&own, (at * piece) as u64);
        }
        assert_eq!(merged.data_type(), whole.data_type());
        assert_eq!(merged.odd(), whole.odd());
        whole.odd().map(|(odd, others)| (odd.text.clone(), odd.row, others))
    }

    #[test]
    fn one_text_among_values_of_one_type_is_told() {
        let among = |odd: &[(usize, &'static str)]| {
            let mut texts = vec!["7"; 20];
            odd.iter().for_each(|(at, text)| texts[*at] = text);
            texts
        };
        for piece in [1, 3, 20] {
            for at in [0, 1, 17, 19] {
                assert_eq!(odd(&among(&[(at, "n/a")]), piece), Some(("n/a".to_owned(), at as u64, DataType::Int64)));
            }
            // Several times the same is one text; two are none.
            assert_eq!(odd(&among(&[(3, "-"), (4, "-"), (12, "-")]), piece).map(|odd| odd.1), Some(3));
            assert_eq!(odd(&among(&[(3, "-"), (12, "n/a")]), piece), None);
            assert_eq!(odd(&among(&[]), piece), None);
            assert_eq!(odd(&["a"; 20], piece), None);
            // A few values tell nothing.
            assert_eq!(odd(&["1", "2", "x"], piece), None);
        }
    }

    #[test]
    fn floats_without_a_fraction_are_told() {
        for (texts, expected) in [
            (&["1.0", "-2.0", "3"][..], true),
            (&["9007199254740991.0", "0.0"], true),
            (&["1", "2"], false),
            (&["1.0", "2.5"], false),
            (&["1.0", "-0.0"], false),
            (&["1.0", "1e3"], false),
            (&["1.0", "2.00"], false),
            (&["1.0", "9007199254740992.0"], false),
            (&["1.0", "NaN"], false),
            (&["1.0", "x"], false),
            (&[], false),
        ] {
            let [mut first, mut second] = [TypeGuess::default(), TypeGuess::default()];
            for (at, text) in texts.iter().enumerate() {
                if at % 2 == 0 { first.see(at as u64, text) } else { second.see(at as u64, text) }
            }
            first.merge(&second, 0);
            assert_eq!(first.is_whole(), expected, "{texts:?}");
        }
        for text in ["01.0", "+1.0", "1.", ".0", "1.0.0", " 1.0", ""] {
            assert_eq!(whole_number(text), None, "{text}");
        }
    }

    #[test]
    fn a_type_changes_no_text() {
        let micros = |zone: Option<&str>| DataType::Timestamp(TimeUnit::Microsecond, zone.map(Into::into));
        for (texts, expected) in [
            (&[][..], DataType::Utf8),
            (&["1", "-7", "0"], DataType::Int64),
            (&["1", "0012"], DataType::Utf8),
            (&["+1"], DataType::Utf8),
            (&["-0"], DataType::Utf8),
            (&["9223372036854775807"], DataType::Int64),
            (&["9223372036854775808"], DataType::Utf8),
            (&["1", "0.5", "NaN", "1e3"], DataType::Float64),
            (&["9007199254740993", "0.5"], DataType::Utf8),
            (&["0.123456789012345678"], DataType::Utf8),
            (&["1e999"], DataType::Utf8),
            (&["1e-400"], DataType::Utf8),
            (&["0e-400", "0.0"], DataType::Float64),
            (&["00.5"], DataType::Utf8),
            (&["NaN"], DataType::Utf8),
            (&["true", "False"], DataType::Boolean),
            (&["true", "1"], DataType::Utf8),
            (&["2020-02-29"], DataType::Date32),
            (&["2021-02-29"], DataType::Utf8),
            (&["2020-02-29", "1"], DataType::Utf8),
            (&["2010-02-14T15:32:10.447+0000", "2010-02-14 15:32Z"], micros(Some("UTC"))),
            (&["2010-02-14T15:32:10.447", "2010-02-14 15:32"], micros(None)),
            (&["2010-02-14T15:32:10.447", "2010-02-14 15:32Z"], DataType::Utf8),
            (&["2010-02-14T15:32:10.123456789"], DataType::Timestamp(TimeUnit::Nanosecond, None)),
            (&["2010-02-14T15:32:10.123456789", "0001-01-01T00:00:00"], DataType::Utf8),
            (&[" 1"], DataType::Utf8),
            (&[""], DataType::Utf8),
            (&["1", ""], DataType::Utf8),
            (&["inf", "1.5"], DataType::Float64),
        ] {
            assert_eq!(guess(texts), expected, "{texts:?}");
        }
    }
}
