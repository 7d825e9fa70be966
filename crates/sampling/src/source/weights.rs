//! Weights of nodes and edges: in a column of numbers or JSON values, or as a member of a bag of
//! properties.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::DataType;
use isomorph_error::{Error, Result};
use isomorph_model::json::{Members, Value, value};
use isomorph_model::type_name::type_name;
use isomorph_model::{Property, ValueKind, well_known};

use crate::faults::{Met, Wrong, note};

/// The weight of an element that states none.
pub(super) const NO_WEIGHT: f64 = 1.0;

/// The columns of a type's weights.
#[derive(Default)]
pub(super) struct Weights {
    /// A column called `weight`, and its form.
    column: Option<(usize, Form)>,
    /// A bag of properties, which may contain a weight.
    bag: Option<usize>,
    members: Members,
}

/// The form of a column of weights.
enum Form {
    Numbers,
    /// JSON values, some of which may be numbers.
    Cells,
    /// Not numbers.
    Other(String),
}

/// A weight as stated.
enum Stated {
    Number(f64),
    /// Not a number: a description of the value.
    Other(String),
}

impl Weights {
    /// Finds the weights of a type with these properties.
    pub fn of(properties: &[Property]) -> Weights {
        let form = |property: &Property| match (&property.kind, &property.data_type) {
            (ValueKind::Plain, data_type) if data_type.is_numeric() => Form::Numbers,
            (ValueKind::Json, _) => Form::Cells,
            (ValueKind::Plain, data_type) => Form::Other(type_name(data_type)),
            (kind, _) => Form::Other(kind.word().to_owned()),
        };
        let column = properties.iter().position(|property| property.name == well_known::WEIGHT);
        Weights {
            column: column.map(|at| (at, form(&properties[at]))),
            bag: properties.iter().position(|property| property.kind == ValueKind::Bag),
            members: Members::default(),
        }
    }

    /// Returns whether they may have more than 32 bits.
    pub fn are_wide(&self, properties: &[Property]) -> bool {
        use DataType as T;
        let narrow = [T::Float16, T::Float32, T::Int8, T::Int16, T::UInt8, T::UInt16];
        let of_column = self.column.as_ref().map(|(at, form)| (form, &properties[*at].data_type));
        self.bag.is_some()
            || of_column.is_some_and(|(form, of)| !matches!(form, Form::Other(_)) && !narrow.contains(of))
    }

    /// Returns the weights of the rows of a batch: [`NO_WEIGHT`] for rows that state none, NaN for rows that state something else.
    /// `types` are the type numbers of the rows; `whose` describes the element in messages.
    ///
    /// # Errors
    /// Returns an error if a column does not have its type.
    pub fn read(
        &mut self,
        properties: &[Option<ArrayRef>],
        rows: usize,
        types: impl Fn(usize) -> i32,
        whose: &dyn Fn(usize) -> String,
        faults: &mut Met,
    ) -> Result<Vec<f64>> {
        let mut stated: Vec<Option<Stated>> = Vec::new();
        stated.resize_with(rows, || None);
        let column = |at: usize| properties.get(at).and_then(Option::as_ref);
        match self.column.as_ref().and_then(|(at, form)| Some((column(*at)?, form))) {
            Some((column, Form::Numbers)) => numbers(column, &mut stated)?,
            Some((column, Form::Cells)) => {
                for (row, text) in texts(column).enumerate().take(rows) {
                    stated[row] = text.map(of_json).transpose()?.flatten();
                }
            }
            Some((column, Form::Other(what))) => {
                let there = (0..rows.min(column.len())).filter(|row| column.is_valid(*row));
                there.for_each(|row| stated[row] = Some(Stated::Other(format!("{what}, but"))));
            }
            None => {}
        }
        if let Some(bags) = self.bag.and_then(column) {
            for (row, object) in texts(bags).enumerate().take(rows) {
                // Searching for the name avoids parsing most rows; a name that is spelled with escapes contains a backslash.
                let object = object.filter(|object| object.contains(well_known::WEIGHT) || object.contains('\\'));
                let (Some(object), None) = (object, &stated[row]) else { continue };
                let mut found = None;
                let read = self.members.read(object, |name, value| {
                    if name == well_known::WEIGHT {
                        found = of_json(value)?;
                    }
                    Ok(())
                });
                stated[row] = match read {
                    Ok(()) => found,
                    Err(_) => Some(Stated::Other("in properties that are not a JSON object, but".to_owned())),
                };
            }
        }
        let weights = stated.into_iter().enumerate().map(|(row, stated)| match stated {
            None => NO_WEIGHT,
            Some(Stated::Number(number)) => {
                check(number, types(row), &|| whose(row), faults);
                number
            }
            Some(Stated::Other(what)) => {
                let message = || format!("the weight of {} is {what} weights must be numbers", whose(row));
                note(faults, types(row), Wrong::NoNumber, message);
                f64::NAN
            }
        });
        Ok(weights.collect())
    }
}

/// Records weights that cannot be used for drawing.
fn check(number: f64, ty: i32, whose: &dyn Fn() -> String, faults: &mut Met) {
    if !(0.0..f64::INFINITY).contains(&number) {
        let what = if number < 0.0 { "is below 0" } else { "is not finite" };
        let message = || format!("the weight {number:?} of {} {what} and cannot be used for drawing", whose());
        note(faults, ty, Wrong::NoShare, message);
        return;
    }
    let single = single(number);
    if single.is_infinite() || single == 0.0 && number != 0.0 {
        let message =
            || format!("the weight {number:?} of {} does not fit into 32 bits, which DeepGNN's engine uses", whose());
        note(faults, ty, Wrong::Beyond, message);
    }
}

/// Returns a weight with 32 bits.
#[expect(
    clippy::cast_possible_truncation,
    reason = "rounded, or infinite if too large: wider weights are kept separately"
)]
pub(super) fn single(weight: f64) -> f32 {
    weight as f32
}

/// Reads the numbers of a column.
fn numbers(column: &ArrayRef, stated: &mut [Option<Stated>]) -> Result<()> {
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    let to = |wanted: &DataType| {
        let error = |error| Error::malformed(format!("invalid weight of type {}", column.data_type())).caused_by(error);
        cast_with_options(column, wanted, &strict).map_err(error)
    };
    match column.data_type() {
        DataType::Int64 => {
            let numbers = column.as_primitive::<Int64Type>().iter();
            stated
                .iter_mut()
                .zip(numbers)
                .for_each(|(stated, number)| *stated = number.map(|number| whole(number.into())));
        }
        DataType::UInt64 => {
            let numbers = column.as_primitive::<UInt64Type>().iter();
            stated
                .iter_mut()
                .zip(numbers)
                .for_each(|(stated, number)| *stated = number.map(|number| whole(number.into())));
        }
        _ => {
            let numbers = to(&DataType::Float64)?;
            let numbers = numbers.as_primitive::<Float64Type>().iter();
            stated.iter_mut().zip(numbers).for_each(|(stated, number)| *stated = number.map(Stated::Number));
        }
    }
    Ok(())
}

/// Returns an integer as a 64-bit float, if the float is exactly the same number.
fn whole(number: i128) -> Stated {
    let float = number as f64;
    #[expect(clippy::cast_possible_truncation, reason = "it is compared with the original")]
    let same = float as i128 == number;
    match same {
        true => Stated::Number(float),
        false => Stated::Other(format!("{number}, an integer that is not a 64-bit float, but")),
    }
}

/// Returns the cells of a column of texts.
fn texts(column: &ArrayRef) -> Box<dyn Iterator<Item = Option<&str>> + '_> {
    match column.data_type() {
        DataType::Utf8 => Box::new(column.as_string::<i32>().iter()),
        DataType::LargeUtf8 => Box::new(column.as_string::<i64>().iter()),
        _ => Box::new(std::iter::repeat_n(None, column.len())),
    }
}

/// Returns what a JSON value states; `None` if it is null.
fn of_json(text: &str) -> Result<Option<Stated>> {
    Ok(match value(text)? {
        Value::Null => None,
        Value::Integer(number) => Some(whole(number)),
        Value::Float(number) => Some(Stated::Number(number)),
        // More digits than a float has: the nearest float.
        Value::Number(digits) => Some(match digits.parse::<f64>() {
            Ok(number) if number.is_finite() && number != 0.0 => Stated::Number(number),
            _ => Stated::Other(format!("{digits}, which is not a 64-bit float, but")),
        }),
        Value::Bool(_) => Some(Stated::Other("a boolean, but".to_owned())),
        Value::Text(text) => Some(Stated::Other(format!("the text {text:?}, but"))),
        Value::Array(_) => Some(Stated::Other("a list, but".to_owned())),
        Value::Object(_) => Some(Stated::Other("an object, but".to_owned())),
    })
}
