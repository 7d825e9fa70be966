//! Weights of nodes and edges, wherever a graph has them: in a column of numbers or of JSON values, or as a member of a bag of
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

/// What an element weighs that states no weight.
pub(super) const NO_WEIGHT: f64 = 1.0;

/// Where the weights of a type are.
#[derive(Default)]
pub(super) struct Weights {
    /// A column called `weight`, and what it is.
    column: Option<(usize, Form)>,
    /// A bag of properties, one of which may be called so.
    bag: Option<usize>,
    members: Members,
}

/// What a column of weights is.
enum Form {
    Numbers,
    /// JSON values, some of which may be numbers.
    Cells,
    /// Nothing that is a number.
    Other(String),
}

/// A weight as it is stated.
enum Stated {
    Number(f64),
    /// What it is instead.
    Other(String),
}

impl Weights {
    /// Those of a type with these properties.
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

    /// Whether they may have more bits than 32.
    pub fn are_wide(&self, properties: &[Property]) -> bool {
        use DataType as T;
        let narrow = [T::Float16, T::Float32, T::Int8, T::Int16, T::UInt8, T::UInt16];
        let of_column = self.column.as_ref().map(|(at, form)| (form, &properties[*at].data_type));
        self.bag.is_some()
            || of_column.is_some_and(|(form, of)| !matches!(form, Form::Other(_)) && !narrow.contains(of))
    }

    /// The weights of the rows of a batch: [`NO_WEIGHT`] of those that state none, and no number where they state something else.
    /// `types` are the numbers of the types of the rows, `whose` says whose weights they are.
    ///
    /// # Errors
    /// When a column is not of its type.
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
                there.for_each(|row| stated[row] = Some(Stated::Other(format!("{what}, and"))));
            }
            None => {}
        }
        if let Some(bags) = self.bag.and_then(column) {
            for (row, object) in texts(bags).enumerate().take(rows) {
                // A look for the name spares most rows the reading; one that is spelt with escapes has a backslash.
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
                    Err(_) => Some(Stated::Other("in properties that are no JSON object, and".to_owned())),
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
                let message = || format!("the weight of {} is {what} weights are numbers", whose(row));
                note(faults, types(row), Wrong::NoNumber, message);
                f64::NAN
            }
        });
        Ok(weights.collect())
    }
}

/// Notes what cannot be drawn by.
fn check(number: f64, ty: i32, whose: &dyn Fn() -> String, faults: &mut Met) {
    if !(0.0..f64::INFINITY).contains(&number) {
        let what = if number < 0.0 { "is below 0" } else { "is not finite" };
        let message = || format!("the weight {number:?} of {} {what}, and nothing is drawn by such weights", whose());
        note(faults, ty, Wrong::NoShare, message);
        return;
    }
    let single = single(number);
    if single.is_infinite() || single == 0.0 && number != 0.0 {
        let message =
            || format!("the weight {number:?} of {} has no place in 32 bits, which DeepGNN's engine draws by", whose());
        note(faults, ty, Wrong::Beyond, message);
    }
}

/// A weight with 32 bits.
#[expect(
    clippy::cast_possible_truncation,
    reason = "rounded, and infinite beyond them: what is wider is kept beside it"
)]
pub(super) fn single(weight: f64) -> f32 {
    weight as f32
}

/// The numbers of a column.
fn numbers(column: &ArrayRef, stated: &mut [Option<Stated>]) -> Result<()> {
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    let to = |wanted: &DataType| {
        let error = |error| Error::malformed(format!("a weight is no number: {}", column.data_type())).caused_by(error);
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

/// An integer as a float with 64 bits, if it is one: else it would be another number.
fn whole(number: i128) -> Stated {
    let float = number as f64;
    #[expect(clippy::cast_possible_truncation, reason = "it is compared with what it was")]
    let same = float as i128 == number;
    match same {
        true => Stated::Number(float),
        false => Stated::Other(format!("{number}, an integer that is no 64-bit float, and")),
    }
}

/// The cells of a column of texts.
fn texts(column: &ArrayRef) -> Box<dyn Iterator<Item = Option<&str>> + '_> {
    match column.data_type() {
        DataType::Utf8 => Box::new(column.as_string::<i32>().iter()),
        DataType::LargeUtf8 => Box::new(column.as_string::<i64>().iter()),
        _ => Box::new(std::iter::repeat_n(None, column.len())),
    }
}

/// What a JSON value states: nothing, where it is null.
fn of_json(text: &str) -> Result<Option<Stated>> {
    Ok(match value(text)? {
        Value::Null => None,
        Value::Integer(number) => Some(whole(number)),
        Value::Float(number) => Some(Stated::Number(number)),
        // More digits than a float has: the nearest one.
        Value::Number(digits) => Some(match digits.parse::<f64>() {
            Ok(number) if number.is_finite() && number != 0.0 => Stated::Number(number),
            _ => Stated::Other(format!("{digits}, which is no 64-bit float, and")),
        }),
        Value::Bool(_) => Some(Stated::Other("a truth value, and".to_owned())),
        Value::Text(text) => Some(Stated::Other(format!("the text {text:?}, and"))),
        Value::Array(_) => Some(Stated::Other("a list, and".to_owned())),
        Value::Object(_) => Some(Stated::Other("an object, and".to_owned())),
    })
}
