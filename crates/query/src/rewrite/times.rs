//! Times beside other times, and beside texts.
//!
//! The engine compares and unites times only if they have one unit, and literals have nanoseconds. A text that a function unites with times is one. A timestamp
//! without seconds, which the engine does not read, has 0 of them: `2024-10-27 00:10`.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, OffsetSizeTrait};
use arrow_schema::{DataType, TimeUnit};
use datafusion::common::{DFSchema, Result, ScalarValue, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility, cast,
};

/// The times of several units among the operands as nanoseconds.
pub(crate) fn in_one_unit(operands: &mut [&mut Expr], schema: &DFSchema) -> bool {
    let types: Vec<Option<DataType>> = operands.iter().map(|one| one.get_type(schema).ok()).collect();
    let mut times = types.iter().flatten().filter(|own| is_time(own));
    let first = times.next();
    if first.is_none() || times.all(|own| Some(own) == first) {
        return false;
    }
    let wide = DataType::Time64(TimeUnit::Nanosecond);
    for (one, own) in operands.iter_mut().zip(types) {
        if own.is_some_and(|own| is_time(&own) && own != wide) {
            **one = cast(std::mem::take(*one), wide.clone());
        }
    }
    true
}

/// Texts of the question and parameters among the operands as what the others are: dates, times, timestamps.
pub(crate) fn of_texts(operands: &mut [&mut Expr], schema: &DFSchema) -> bool {
    let types: Vec<Option<DataType>> = operands.iter().map(|one| one.get_type(schema).ok()).collect();
    let Some(wanted) = types.iter().flatten().find(|own| own.is_temporal()).cloned() else { return false };
    let mut is_changed = false;
    for one in operands {
        let is_text = matches!(
            one,
            Expr::Literal(ScalarValue::Utf8(Some(_)) | ScalarValue::LargeUtf8(Some(_)), _) | Expr::Placeholder(_)
        );
        if is_text {
            **one = cast(std::mem::take(*one), wanted.clone());
            is_changed = true;
        }
    }
    is_changed
}

fn is_time(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Time32(_) | DataType::Time64(_))
}

/// A text of a moment with seconds, also if it says none; other texts as they are.
pub(crate) fn with_seconds(text: &str) -> Cow<'_, str> {
    let is_without = text.as_bytes().get(10..16).is_some_and(|time| match time {
        [b' ' | b'T' | b't', hour @ .., b':', ten, one] => {
            hour.len() == 2 && [hour, &[*ten, *one]].concat().iter().all(u8::is_ascii_digit)
        }
        _ => false,
    });
    // The byte before is a digit, so that a letter begins here.
    match text.get(16..).filter(|_| is_without) {
        // The zone, if anything.
        Some(zone) if !zone.starts_with([':', '.', ',']) && !zone.starts_with(|first: char| first.is_ascii_digit()) => {
            Cow::Owned(format!("{}:00{zone}", text.get(..16).unwrap_or_default()))
        }
        _ => Cow::Borrowed(text),
    }
}

/// A text that is cast to a moment, with the seconds of this.
pub(crate) fn seconds_of(text: Expr) -> Expr {
    let changed = |text: &Option<String>| text.as_deref().map(|text| with_seconds(text).into_owned());
    match text {
        Expr::Literal(ScalarValue::Utf8(text), metadata) => Expr::Literal(ScalarValue::Utf8(changed(&text)), metadata),
        Expr::Literal(ScalarValue::LargeUtf8(text), metadata) => {
            Expr::Literal(ScalarValue::LargeUtf8(changed(&text)), metadata)
        }
        Expr::ScalarFunction(function) if function.func.name() == SECONDS.name() => Expr::ScalarFunction(function),
        other => SECONDS.call(vec![other]),
    }
}

/// The function of texts in columns.
#[cfg(feature = "distributed")]
pub(crate) fn function() -> Arc<ScalarUDF> {
    Arc::clone(&SECONDS)
}

static SECONDS: LazyLock<Arc<ScalarUDF>> =
    LazyLock::new(|| Arc::new(ScalarUDF::from(Seconds { signature: Signature::any(1, Volatility::Immutable) })));

#[derive(Debug, PartialEq, Eq, Hash)]
struct Seconds {
    signature: Signature,
}

impl ScalarUDFImpl for Seconds {
    fn name(&self) -> &str {
        "moment_with_seconds"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types {
            [own] => Ok(own.clone()),
            _ => internal_err!("{} of {} values", self.name(), types.len()),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match args.args.as_slice() {
            [ColumnarValue::Array(texts)] => Ok(ColumnarValue::Array(all_with_seconds(texts))),
            [ColumnarValue::Scalar(text)] => {
                let texts = all_with_seconds(&text.to_array()?);
                ScalarValue::try_from_array(&texts, 0).map(ColumnarValue::Scalar)
            }
            _ => internal_err!("{} of {} values", self.name(), args.args.len()),
        }
    }
}

fn all_with_seconds(texts: &ArrayRef) -> ArrayRef {
    fn changed<O: OffsetSizeTrait>(texts: &ArrayRef) -> ArrayRef {
        let texts = texts.as_string::<O>();
        let all = texts.iter().map(|text| text.map(with_seconds));
        Arc::new(all.collect::<arrow_array::GenericStringArray<O>>())
    }
    let is_without = |text: &str| matches!(with_seconds(text), Cow::Owned(_));
    match texts.data_type() {
        DataType::Utf8 if texts.as_string::<i32>().iter().flatten().any(is_without) => changed::<i32>(texts),
        DataType::LargeUtf8 if texts.as_string::<i64>().iter().flatten().any(is_without) => changed::<i64>(texts),
        DataType::Utf8View if texts.as_string_view().iter().flatten().any(is_without) => {
            let all = texts.as_string_view().iter().map(|text| text.map(with_seconds));
            Arc::new(all.collect::<arrow_array::StringViewArray>())
        }
        _ => Arc::clone(texts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_moments_without_seconds_get_some() {
        for (text, expected) in [
            ("2024-10-27 00:10", "2024-10-27 00:10:00"),
            ("2024-10-27T00:10Z", "2024-10-27T00:10:00Z"),
            ("2024-10-27t00:10+02", "2024-10-27t00:10:00+02"),
            ("2024-10-27 00:10 Europe/Paris", "2024-10-27 00:10:00 Europe/Paris"),
        ] {
            assert_eq!(with_seconds(text), expected);
        }
        for text in [
            "2024-10-27 00:10:05",
            "2024-10-27 001005",
            "2024-10-27 00:1",
            "2024-10-27 00:10.5",
            "2024-10-27 00:105",
            "2024-10-27",
            "10:30",
            "",
            "ä2024-10-2 00:10é",
            "2024-10-27 é0:10",
        ] {
            assert_eq!(with_seconds(text), text);
        }
    }
}
