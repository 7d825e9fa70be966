//! The types of single values that formats declare.

use std::fmt;

use arrow_schema::{DataType, TimeUnit};

/// A type of single values: its family and its width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalar {
    /// Booleans.
    Bool,
    /// Signed integers of this many bits.
    Int(u8),
    /// Unsigned integers of this many bits.
    UInt(u8),
    /// Floats of this many bits.
    Float(u8),
    /// Exact decimals.
    Decimal,
    /// Text.
    Text,
    /// Bytes.
    Bytes,
    /// Days.
    Date,
    /// Times of day in this unit.
    Time(TimeUnit),
    /// Timestamps without a zone in this unit.
    Timestamp(TimeUnit),
    /// Timestamps with a zone in this unit.
    Instant(TimeUnit),
    /// Durations in this unit.
    Duration(TimeUnit),
}

/// How well one type represents the values of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// Another family: values become text.
    Not,
    /// The same family, but some values cannot be represented exactly.
    Narrower,
    /// Every value is represented exactly, with another declaration.
    Wider,
    /// The same type.
    Exact,
}

impl Scalar {
    /// Returns the scalar of an Arrow type; `None` for lists and structs.
    pub fn of(data_type: &DataType) -> Option<Scalar> {
        use DataType as T;
        Some(match data_type {
            T::Boolean => Scalar::Bool,
            T::Int8 => Scalar::Int(8),
            T::Int16 => Scalar::Int(16),
            T::Int32 => Scalar::Int(32),
            T::Int64 => Scalar::Int(64),
            T::UInt8 => Scalar::UInt(8),
            T::UInt16 => Scalar::UInt(16),
            T::UInt32 => Scalar::UInt(32),
            T::UInt64 => Scalar::UInt(64),
            T::Float16 => Scalar::Float(16),
            T::Float32 => Scalar::Float(32),
            T::Float64 => Scalar::Float(64),
            T::Decimal128(_, _) | T::Decimal256(_, _) => Scalar::Decimal,
            T::Utf8 | T::LargeUtf8 | T::Utf8View => Scalar::Text,
            T::Binary | T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_) => Scalar::Bytes,
            T::Date32 | T::Date64 => Scalar::Date,
            T::Time32(unit) | T::Time64(unit) => Scalar::Time(*unit),
            T::Timestamp(unit, None) => Scalar::Timestamp(*unit),
            T::Timestamp(unit, Some(_)) => Scalar::Instant(*unit),
            T::Duration(unit) => Scalar::Duration(*unit),
            T::Dictionary(_, values) => return Scalar::of(values),
            _ => return None,
        })
    }

    /// Returns how well `other` represents the values of this type.
    pub(super) fn fit(self, other: Scalar) -> Fit {
        use Scalar as S;
        let by = |wide: bool| if wide { Fit::Wider } else { Fit::Narrower };
        match (self, other) {
            _ if self == other => Fit::Exact,
            (S::Int(from), S::Int(to)) | (S::UInt(from), S::UInt(to)) | (S::Float(from), S::Float(to)) => by(from < to),
            (S::UInt(from), S::Int(to)) => by(from < to),
            (S::Int(_), S::UInt(_)) => Fit::Narrower,
            (S::Time(from), S::Time(to)) => by(from < to),
            // A finer unit has a smaller range, so only the coarse values in the middle are exact.
            (S::Timestamp(_), S::Timestamp(_)) | (S::Instant(_), S::Instant(_)) => Fit::Narrower,
            (S::Duration(_), S::Duration(_)) => Fit::Narrower,
            _ => Fit::Not,
        }
    }

    /// Returns the best of `offered` for values of this type.
    pub(super) fn best(self, offered: &[Scalar]) -> Option<(Scalar, Fit)> {
        let fits = offered.iter().map(|other| (*other, self.fit(*other))).filter(|(_, fit)| *fit > Fit::Not);
        // Among equally good ones: the widest of the narrow ones, and the first of the others.
        fits.reduce(|best, next| match (best.1, next.1) {
            (Fit::Narrower, Fit::Narrower) if next.0.width() > best.0.width() => next,
            (old, new) if new > old => next,
            _ => best,
        })
    }

    fn width(self) -> u8 {
        match self {
            Scalar::Int(bits) | Scalar::UInt(bits) | Scalar::Float(bits) => bits,
            _ => 0,
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = |unit: &TimeUnit| match unit {
            TimeUnit::Second => "s",
            TimeUnit::Millisecond => "ms",
            TimeUnit::Microsecond => "us",
            TimeUnit::Nanosecond => "ns",
        };
        match self {
            Scalar::Bool => f.write_str("bool"),
            Scalar::Int(bits) => write!(f, "int{bits}"),
            Scalar::UInt(bits) => write!(f, "uint{bits}"),
            Scalar::Float(16) => f.write_str("half"),
            Scalar::Float(32) => f.write_str("float"),
            Scalar::Float(_) => f.write_str("double"),
            Scalar::Decimal => f.write_str("decimal"),
            Scalar::Text => f.write_str("string"),
            Scalar::Bytes => f.write_str("bytes"),
            Scalar::Date => f.write_str("date"),
            Scalar::Time(of) => write!(f, "time[{}]", unit(of)),
            Scalar::Timestamp(of) => write!(f, "timestamp[{}]", unit(of)),
            Scalar::Instant(of) => write!(f, "instant[{}]", unit(of)),
            Scalar::Duration(of) => write!(f, "duration[{}]", unit(of)),
        }
    }
}
