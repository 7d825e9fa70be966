//! Conditions on columns of every type.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;

use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Date64Array, Decimal128Array, DictionaryArray,
    Float32Array, Float64Array, Int8Array, Int32Array, Int64Array, LargeStringArray, ListArray, NullArray, RecordBatch,
    StringArray, StringViewArray, StructArray, Time32SecondArray, Time64MicrosecondArray, TimestampMillisecondArray,
    TimestampSecondArray, UInt64Array,
};

use arrow_schema::{Field, Schema};

use super::{Comparison, Filter, Literal, Predicate};

/// Rows of a column `c` that pass.
fn passing(array: &ArrayRef, predicate: &Predicate) -> isomorph_error::Result<Vec<usize>> {
    let batch = RecordBatch::try_from_iter_with_nullable([("c", Arc::clone(array), true)]).unwrap();
    let passing = Filter::new(predicate, &batch.schema())?.passing(&batch)?;
    Ok(passing.set_indices().collect())
}

fn compare(comparison: Comparison, literal: Literal) -> Predicate {
    Predicate::Compare { column: "c".into(), comparison, literal }
}

/// Rows 0 and 1 are values in ascending order, row 2 is null: what is equal to the second, and what is less.
#[test]
fn every_type_compares_with_its_literals() {
    let text = |text: &str| Literal::Text(text.into());
    let decimals = |values: Vec<Option<i128>>| Decimal128Array::from(values).with_precision_and_scale(20, 2).unwrap();
    let words: DictionaryArray<Int32Type> = [Some("a"), Some("b"), None].into_iter().collect();
    let cases: Vec<(ArrayRef, Vec<Literal>)> = vec![
        (
            Arc::new(Int8Array::from(vec![Some(-1), Some(5), None])),
            vec![5i64.into(), 5.0.into(), text("5"), text("5.0")],
        ),
        (Arc::new(UInt64Array::from(vec![Some(1), Some(u64::MAX), None])), vec![Literal::Int(u64::MAX.into())]),
        (
            Arc::new(Float32Array::from(vec![Some(-0.5), Some(0.1), None])),
            vec![text("0.1"), Literal::Number("1e-1".into())],
        ),
        (
            Arc::new(Int64Array::from(vec![Some(1 << 53), Some((1 << 53) + 1), None])),
            vec![text("9007199254740993.0"), Literal::Number("9007199254740993e0".into())],
        ),
        (Arc::new(BooleanArray::from(vec![Some(false), Some(true), None])), vec![true.into(), text("true")]),
        (Arc::new(StringArray::from(vec![Some("5"), Some("50"), None])), vec![text("50")]),
        (Arc::new(LargeStringArray::from(vec![Some(""), Some("é"), None])), vec![text("é")]),
        (
            Arc::new(StringViewArray::from(vec![Some("a"), Some("a longer text than fits"), None])),
            vec![text("a longer text than fits")],
        ),
        (Arc::new(BinaryArray::from(vec![Some(&b"a"[..]), Some(b"b"), None])), vec![text("b")]),
        (Arc::new(words), vec![text("b")]),
        (
            Arc::new(Date32Array::from(vec![Some(-1), Some(19_782), None])),
            vec![text("2024-02-29"), Literal::Date(19_782)],
        ),
        (
            Arc::new(Date64Array::from(vec![Some(-86_400_000), Some(19_782 * 86_400_000), None])),
            vec![text("2024-02-29"), Literal::Date(19_782)],
        ),
        (
            Arc::new(TimestampMillisecondArray::from(vec![Some(-1), Some(1_500), None])),
            vec![text("1970-01-01T00:00:01.5"), text("1970-01-01 00:00:01.500"), Literal::Timestamp(1_500_000_000)],
        ),
        (
            Arc::new(TimestampSecondArray::from(vec![Some(-1), Some(86_400), None]).with_timezone("+02:00")),
            vec![
                text("1970-01-02"),
                text("1970-01-02T00:00:00Z"),
                text("1970-01-02 01:00:00+01:00"),
                Literal::Date(1),
                Literal::Instant(86_400_000_000_000),
            ],
        ),
        (Arc::new(Time32SecondArray::from(vec![Some(0), Some(43_201), None])), vec![text("12:00:01")]),
        (Arc::new(Time64MicrosecondArray::from(vec![Some(1), Some(43_200_500_000), None])), vec![text("12:00:00.5")]),
        (
            Arc::new(decimals(vec![Some(-1), Some(150), None])),
            vec![text("1.5"), text("1.500"), 1.5.into(), Literal::Float(1.5)],
        ),
        (
            Arc::new(decimals(vec![Some(-1), Some(i128::from(u64::MAX) * 100), None])),
            vec![Literal::Int(u64::MAX.into())],
        ),
    ];
    for (array, literals) in cases {
        for literal in literals {
            let rows = |comparison| passing(&array, &compare(comparison, literal.clone())).unwrap();
            let shown = format!("{} {literal:?}", array.data_type());
            assert_eq!(rows(Comparison::Equal), [1], "{shown}");
            assert_eq!(rows(Comparison::NotEqual), [0], "{shown}");
            assert_eq!(rows(Comparison::Less), [0], "{shown}");
            assert_eq!(rows(Comparison::LessOrEqual), [0, 1], "{shown}");
            assert_eq!(rows(Comparison::Greater), Vec::<usize>::new(), "{shown}");
            let not = Predicate::Not(Box::new(compare(Comparison::Equal, literal.clone())));
            assert_eq!(passing(&array, &not).unwrap(), [0], "{shown}");
        }
    }
}

/// A literal between two whole numbers is neither.
#[test]
fn fractions_lie_between_whole_numbers() {
    let whole: ArrayRef = Arc::new(Int64Array::from(vec![i64::MIN, 1 << 53, (1 << 53) + 1]));
    let rows = |comparison, text: &str| passing(&whole, &compare(comparison, Literal::number(text).unwrap())).unwrap();
    assert_eq!(rows(Comparison::Equal, "9007199254740992.5"), Vec::<usize>::new());
    assert_eq!(rows(Comparison::Less, "9007199254740992.5"), [0, 1]);
    assert_eq!(rows(Comparison::Equal, "-9223372036854775808.5"), Vec::<usize>::new());
    assert_eq!(rows(Comparison::Greater, "-9223372036854775808.5"), [0, 1, 2]);
    assert_eq!(rows(Comparison::LessOrEqual, "9.007199254740992e15"), [0, 1]);
}

#[test]
fn what_does_not_compare_says_what_would() {
    let lists = ListArray::from_iter_primitive::<Int64Type, _, _>([Some(vec![Some(1)])]);
    let structs = StructArray::from(RecordBatch::try_from_iter([("x", Arc::new(lists.clone()) as ArrayRef)]).unwrap());
    let cases: [(ArrayRef, Literal, &str); 8] = [
        (
            Arc::new(TimestampSecondArray::from(vec![1])),
            "1970-01-01T01:00:01+01:00".into(),
            "c >= \"1990-01-31T12:00:00\"",
        ),
        (Arc::new(TimestampSecondArray::from(vec![1])), Literal::Instant(1), "c >= \"1990-01-31T12:00:00\""),
        (Arc::new(Date32Array::from(vec![1])), 5i64.into(), "c >= \"1990-01-31\""),
        (Arc::new(TimestampSecondArray::from(vec![1])), "noon".into(), "c >= \"1990-01-31T12:00:00\""),
        (Arc::new(Int32Array::from(vec![1])), "x".into(), "c >= 5"),
        (Arc::new(StringArray::from(vec!["x"])), 5i64.into(), "c = \"some text\""),
        (Arc::new(lists), 1i64.into(), "c has 5"),
        (Arc::new(structs), 1i64.into(), "c is not null"),
    ];
    for (array, literal, example) in cases {
        let error = passing(&array, &compare(Comparison::Equal, literal)).unwrap_err();
        assert!(error.message().starts_with("column `c` of type"), "{error}");
        assert!(error.hints().any(|hint| hint.contains(example)), "{error:?}");
    }
}

#[test]
fn of_nothing_but_nulls_nothing_is_known() {
    let nulls: ArrayRef = Arc::new(NullArray::new(2));
    let equal = compare(Comparison::Equal, 5i64.into());
    assert_eq!(passing(&nulls, &equal).unwrap(), Vec::<usize>::new());
    assert_eq!(passing(&nulls, &Predicate::Not(Box::new(equal))).unwrap(), Vec::<usize>::new());
    assert_eq!(passing(&nulls, &Predicate::IsNull("c".into())).unwrap(), [0, 1]);
}

#[test]
fn lists_have_values() {
    let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>([
        Some(vec![Some(1), Some(2)]),
        Some(vec![None]),
        None,
        Some(vec![]),
        Some(vec![None, Some(2)]),
    ]));
    let has = |literal: Literal| Predicate::Has { column: "c".into(), literal };
    for array in [Arc::clone(&lists), lists.slice(0, 5)] {
        assert_eq!(passing(&array, &has(2i64.into())).unwrap(), [0, 4]);
        assert_eq!(passing(&array, &Predicate::Not(Box::new(has(2i64.into())))).unwrap(), [1, 3]);
    }
    assert_eq!(passing(&lists.slice(1, 4), &has("2".into())).unwrap(), [3]);
    assert!(passing(&(Arc::new(Int32Array::from(vec![1])) as ArrayRef), &has(1i64.into())).is_err());
}

#[test]
fn texts_are_like_patterns() {
    let like = |pattern: &str| Predicate::Like { column: "c".into(), pattern: pattern.into() };
    let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("Ann"), Some("Anna"), None, Some("")]));
    let words: DictionaryArray<Int32Type> = [Some("Ann"), Some("Anna"), None, Some("")].into_iter().collect();
    for array in [texts, Arc::new(words)] {
        assert_eq!(passing(&array, &like("Ann%")).unwrap(), [0, 1]);
        assert_eq!(passing(&array, &like("%n_")).unwrap(), [0, 1]);
        assert_eq!(passing(&array, &Predicate::Not(Box::new(like("Ann")))).unwrap(), [1, 3]);
    }
    assert!(passing(&(Arc::new(Int32Array::from(vec![1])) as ArrayRef), &like("1")).is_err());
}

/// A number beyond the floats of a column is not infinity.
#[test]
fn numbers_beyond_floats_are_not_infinite() {
    let number = |text: &str| Literal::Number(text.into());
    let narrow: ArrayRef = Arc::new(Float32Array::from(vec![1.0, f32::MAX, f32::INFINITY]));
    assert!(passing(&narrow, &compare(Comparison::Equal, number("1e39"))).unwrap().is_empty());
    assert_eq!(passing(&narrow, &compare(Comparison::Greater, number("1e39"))).unwrap(), [2]);
    assert_eq!(passing(&narrow, &compare(Comparison::Less, number("1e39"))).unwrap(), [0, 1]);
    let wide: ArrayRef = Arc::new(Float64Array::from(vec![1.0, f64::INFINITY]));
    assert!(passing(&wide, &compare(Comparison::Equal, number("1e400"))).is_err());
    assert!(passing(&narrow, &compare(Comparison::Less, number("1e400"))).is_err());
}

/// Values in a set pass as they pass one by one, also where that is negated, whatever the type of the column.
#[test]
fn a_set_of_values_is_what_its_comparisons_are() {
    let words: DictionaryArray<Int32Type> = [Some("a"), Some("7"), None].into_iter().collect();
    let sevens = Decimal128Array::from(vec![Some(700), Some(-100), None]).with_precision_and_scale(20, 2).unwrap();
    let columns: Vec<(ArrayRef, bool)> = vec![
        (Arc::new(Int8Array::from(vec![Some(-1), Some(7), None])), true),
        (Arc::new(UInt64Array::from(vec![Some(7), Some(u64::MAX), None])), true),
        (Arc::new(StringArray::from(vec![Some("7"), Some("07"), None])), true),
        (Arc::new(LargeStringArray::from(vec![Some("7.0"), Some(""), None])), true),
        (Arc::new(StringViewArray::from(vec![Some("1970-01-08"), Some("7"), None])), true),
        (Arc::new(words), true),
        (Arc::new(Float64Array::from(vec![Some(7.0), Some(f64::NAN), None])), false),
        (Arc::new(BooleanArray::from(vec![Some(true), Some(false), None])), false),
        (Arc::new(Date32Array::from(vec![Some(0), Some(7), None])), false),
        (Arc::new(BinaryArray::from(vec![Some(&b"7"[..]), Some(b"\xff"), None])), false),
        (Arc::new(sevens), false),
    ];
    let literals: Vec<Literal> = vec![
        7i64.into(),
        Literal::Int(-1),
        Literal::Int(u64::MAX.into()),
        Literal::Text("7".into()),
        Literal::Text("07".into()),
        Literal::Text("7.0".into()),
        Literal::Text("1970-01-08".into()),
        Literal::Number("7.0".into()),
        Literal::Number("7.5".into()),
        Literal::Float(7.0),
        true.into(),
    ];
    let not = |one: Predicate| Predicate::Not(Box::new(one));
    let has_set = |one: &Predicate| format!("{one:?}").contains("a set of");
    for (array, is_looked_up) in columns {
        let schema = Schema::new(vec![Field::new("c", array.data_type().clone(), true)]);
        let (mut compared, mut sets) = (0, 0);
        for (at, one) in literals.iter().enumerate() {
            for other in literals.iter().skip(at) {
                let equal = |literal: &Literal| Predicate::equal("c", literal.clone());
                let any = Predicate::Or(vec![equal(one), Predicate::IsNull("c".into()), equal(other), equal(one)]);
                for condition in [any.clone(), not(any.clone()), Predicate::And(vec![any.clone(), not(equal(one))])] {
                    let with_sets = condition.with_sets(&schema);
                    let shown = format!("{} {condition:?}", array.data_type());
                    match (passing(&array, &condition), passing(&array, &with_sets)) {
                        (Ok(expected), Ok(found)) => assert_eq!(found, expected, "{shown}"),
                        (Err(expected), Err(found)) => assert_eq!(found.kind(), expected.kind(), "{shown}"),
                        (expected, found) => panic!("{shown}: {expected:?} {found:?}"),
                    }
                    compared += usize::from(passing(&array, &condition).is_ok());
                    sets += usize::from(has_set(&with_sets));
                }
            }
        }
        assert!(compared > 0 && (sets > 0) == is_looked_up, "{} {compared} {sets}", array.data_type());
    }
}
