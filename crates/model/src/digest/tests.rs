//! Cells that must be equal, and cells that must differ, each in a column.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::types::*;
use arrow_array::*;
use arrow_buffer::{OffsetBuffer, i256};
use arrow_cast::cast;
use arrow_schema::{DataType, Field};

use super::cells::Cells;
use super::encode::Buffer;
use super::fact::{of_parts, stem};
use crate::type_name::parse_type;
use crate::{Cardinality, Property, ValueKind};

fn cells(property: &Property, column: &dyn Array) -> Vec<Option<Vec<u8>>> {
    let cells = Cells::new(property, column).unwrap();
    let mut out = Buffer::default();
    (0..column.len())
        .map(|row| {
            out.bytes.clear();
            cells.encode(row, &mut out).unwrap().then(|| out.bytes.clone())
        })
        .collect()
}

fn plain(column: &dyn Array) -> Vec<Option<Vec<u8>>> {
    cells(&Property::new("p", column.data_type().clone()), column)
}

/// Checks that all casts of a column have the same bytes.
fn assert_equal_as(column: ArrayRef, types: &[&str]) {
    let expected = plain(&column);
    for name in types {
        let data_type = match *name {
            "string_view" => DataType::Utf8View,
            "binary_view" => DataType::BinaryView,
            "dictionary" => DataType::Dictionary(Box::new(DataType::Int32), Box::new(column.data_type().clone())),
            name => parse_type(name).unwrap(),
        };
        assert_eq!(plain(&cast(&column, &data_type).unwrap()), expected, "{name}");
    }
}

#[test]
fn widths_and_encodings_of_a_value_are_no_content() {
    let integers = Int64Array::from(vec![Some(0), Some(127), None, Some(5)]);
    let all = ["int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64", "dictionary"];
    assert_equal_as(Arc::new(integers), &all);
    assert_equal_as(Arc::new(Float64Array::from(vec![0.5, -0.0, f64::NAN, f64::INFINITY])), &["float", "half"]);
    let text = StringArray::from(vec![Some(""), None, Some("é"), Some("a longer text than fits a view")]);
    assert_equal_as(Arc::new(text), &["large_string", "string_view", "dictionary"]);
    let bytes = BinaryArray::from(vec![&b"ab"[..], b"cd"]);
    assert_equal_as(Arc::new(bytes), &["large_bytes", "binary_view", "bytes(2)"]);
    let times = TimestampSecondArray::from(vec![Some(-1), Some(0), None]);
    assert_equal_as(Arc::new(times), &["timestamp[ms]", "timestamp[us]", "timestamp[ns]"]);
    let zoned = TimestampSecondArray::from(vec![-1, 0]).with_timezone("+00:00");
    assert_equal_as(Arc::new(zoned), &["timestamp[ms, +00:00]", "timestamp[us, +05:00]"]);
    assert_equal_as(Arc::new(Date32Array::from(vec![-719_162, -1, 0, 1])), &["date[ms]"]);
    assert_equal_as(Arc::new(Time32SecondArray::from(vec![0, 86_399])), &["time[ms]", "time[us]", "time[ns]"]);
    assert_equal_as(Arc::new(DurationSecondArray::from(vec![-1, 5])), &["duration[ms]", "duration[ns]"]);
    let lists = vec![Some(vec![Some(1), None]), None, Some(vec![])];
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(lists);
    assert_equal_as(Arc::new(lists), &["large_list<int64>", "list<int8>"]);
    let lists = FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1), Some(2)]), None], 2);
    assert_equal_as(Arc::new(lists), &["list<int32>", "large_list<uint8>"]);
}

#[test]
fn decimals_compare_by_value() {
    let narrow = Decimal128Array::from(vec![150, -10, 0, 1]).with_precision_and_scale(20, 2).unwrap();
    let wide = Decimal256Array::from(vec![15_000, -1_000, 0, 100].into_iter().map(i256::from).collect::<Vec<_>>());
    let wide = wide.with_precision_and_scale(60, 4).unwrap();
    assert_eq!(plain(&narrow), plain(&wide));
    let huge = Decimal128Array::from(vec![i128::MIN + 1]).with_precision_and_scale(38, -3).unwrap();
    assert_eq!(plain(&huge)[0].as_ref().unwrap()[1..], *b"-170141183460469231731687303715884105727e3");
}

#[test]
fn families_and_values_are_told_apart() {
    let one_of_each: Vec<ArrayRef> = vec![
        Arc::new(BooleanArray::from(vec![true, false])),
        Arc::new(Int64Array::from(vec![0, 1, -1, i64::MIN])),
        Arc::new(UInt64Array::from(vec![u64::MAX])),
        Arc::new(Float64Array::from(vec![0.0, -0.0, 1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY])),
        Arc::new(Decimal128Array::from(vec![0, 1])),
        Arc::new(StringArray::from(vec!["", "0", "1", "true", "\0", "\0\0", "null"])),
        Arc::new(BinaryArray::from(vec![&b""[..], b"0", b"1"])),
        Arc::new(Date32Array::from(vec![0, 1])),
        Arc::new(Time32SecondArray::from(vec![0, 1])),
        Arc::new(TimestampSecondArray::from(vec![0, 1])),
        Arc::new(TimestampSecondArray::from(vec![0, 1]).with_timezone("UTC")),
        Arc::new(DurationSecondArray::from(vec![0, 1])),
        Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(vec![
            Some(vec![]),
            Some(vec![None]),
            Some(vec![None, None]),
            Some(vec![Some(0)]),
            Some(vec![Some(0), Some(1)]),
            Some(vec![Some(1), Some(0)]),
        ])),
    ];
    let all: Vec<Vec<u8>> = one_of_each.iter().flat_map(|column| plain(column)).flatten().collect();
    for (at, left) in all.iter().enumerate() {
        assert!(!all[at + 1..].contains(left), "{left:?}");
    }
}

fn texts(lists: &[Option<&[Option<&str>]>]) -> ListArray {
    let mut builder = ListBuilder::new(StringBuilder::new());
    for list in lists {
        match list {
            Some(items) => builder.append_value(items.iter().copied()),
            None => builder.append_null(),
        }
    }
    builder.finish()
}

#[test]
fn sets_have_no_order_and_no_repeats_also_as_a_dictionary() {
    let (a, b) = (Some("a"), Some("b"));
    let lists = texts(&[Some(&[a, b]), Some(&[b, a, b]), Some(&[a]), Some(&[]), Some(&[None]), None]);
    let property = Property::new("p", lists.data_type().clone()).with_cardinality(Cardinality::Set);
    let as_set = cells(&property, &lists);
    assert_eq!(as_set[0], as_set[1]);
    for (at, left) in as_set.iter().enumerate().skip(1) {
        assert!(!as_set[at + 1..].contains(left), "{left:?}");
    }
    assert_ne!(as_set[3], plain(&lists)[3]);
    let keys = Int8Array::from(vec![Some(0), None, Some(5), Some(1)]);
    let dictionary = DictionaryArray::new(keys, Arc::new(lists));
    assert_eq!(cells(&property, &dictionary), [as_set[0].clone(), None, None, as_set[0].clone()]);
}

#[test]
fn a_dictionary_of_nothing_is_nothing() {
    let keys = Int8Array::from(vec![None, None]);
    let empty = DictionaryArray::new(keys, Arc::new(StringArray::from(Vec::<&str>::new())));
    assert_eq!(plain(&empty), [None, None]);
}

#[test]
fn sliced_columns_are_read_where_they_begin() {
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from(vec![Some("a"), None, Some("c"), Some("d")])),
        Arc::new(texts(&[Some(&[Some("a")]), None, Some(&[Some("b"), None]), Some(&[])])),
        Arc::new(FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(
            (0..4).map(|n| Some(vec![Some(n), None])),
            2,
        )),
        Arc::new(StructArray::from(vec![(
            Arc::new(Field::new("x", DataType::Int32, true)),
            Arc::new(Int32Array::from(vec![1, 2, 3, 4])) as ArrayRef,
        )])),
        Arc::new(BooleanArray::from(vec![true, false, true, true])),
    ];
    for column in columns {
        assert_eq!(plain(&column.slice(1, 3)), plain(&column)[1..], "{}", column.data_type());
    }
}

fn struct_of(fields: &[(&str, ArrayRef)]) -> StructArray {
    let fields = fields
        .iter()
        .map(|(name, column)| (Arc::new(Field::new(*name, column.data_type().clone(), true)), Arc::clone(column)));
    StructArray::from(fields.collect::<Vec<_>>())
}

fn strings(all: &[Option<&str>]) -> ArrayRef {
    Arc::new(StringArray::from(all.to_vec()))
}

#[test]
fn a_literal_is_the_same_in_a_column_of_its_datatype_and_among_others() {
    let xsd = |name: &str| format!("{}{name}", crate::xsd::NAMESPACE);
    let typed = |datatype: &str, lexical: &str| {
        let property =
            Property::new("p", DataType::Utf8).of_kind(ValueKind::Literal { datatype: Some(datatype.into()) });
        cells(&property, &strings(&[Some(lexical)])).remove(0).unwrap()
    };
    let mixed = |lexical: &str, datatype: Option<&str>, language: Option<&str>| {
        let property = Property::new("p", DataType::Null).of_kind(ValueKind::Literal { datatype: None });
        let column = struct_of(&[
            ("value", strings(&[Some(lexical)])),
            ("datatype", strings(&[datatype])),
            ("language", strings(&[language])),
        ]);
        cells(&property, &column).remove(0).unwrap()
    };
    assert_eq!(typed(&xsd("int"), "5"), mixed("5", Some(&xsd("int")), None));
    assert_eq!(mixed("chat", None, Some("FR")), mixed("chat", Some("rdf:langString"), Some("fr")));
    assert_ne!(mixed("chat", None, Some("fr")), mixed("chat", None, None));
    assert_ne!(typed(&xsd("int"), "5"), typed(&xsd("integer"), "5"));
    let plain = |column: &dyn Array| plain(column).remove(0).unwrap();
    assert_eq!(mixed("chat", None, None), plain(&strings(&[Some("chat")])));
    assert_eq!(typed(&xsd("string"), "chat"), plain(&strings(&[Some("chat")])));
    assert_eq!(typed(&xsd("integer"), "5"), plain(&Int32Array::from(vec![5])));
    assert_ne!(typed(&xsd("integer"), "05"), plain(&Int32Array::from(vec![5])));
    assert_eq!(typed(&xsd("boolean"), "true"), plain(&BooleanArray::from(vec![true])));
    assert_eq!(typed(&xsd("double"), "1.0E0"), plain(&Float64Array::from(vec![1.0])));
}

#[test]
fn the_number_type_and_shape_of_a_tensor_are_content() {
    let dense = |shape: &[u64], column: &dyn Array| {
        let kind = ValueKind::Tensor { shape: shape.to_vec(), sparse: false };
        cells(&Property::new("p", column.data_type().clone()).of_kind(kind), column)
    };
    let floats = |list: &[f32]| {
        ListArray::from_iter_primitive::<Float32Type, _, _>([Some(list.iter().copied().map(Some).collect::<Vec<_>>())])
    };
    let list = floats(&[1.0, 2.0, f32::NAN, -0.0]);
    let wide = cast(&list, &parse_type("list<double>").unwrap()).unwrap();
    let large = cast(&list, &parse_type("large_list<float>").unwrap()).unwrap();
    assert_ne!(dense(&[], &list), dense(&[], &wide));
    assert_eq!(dense(&[], &list), dense(&[], &large));
    assert_eq!(dense(&[], &list), dense(&[4], &list));
    assert_ne!(dense(&[], &list), dense(&[2, 2], &list));
    assert_ne!(dense(&[], &list), dense(&[], &floats(&[1.0, 2.0, f32::NAN, 0.0])));
    let kind = ValueKind::Tensor { shape: vec![3], sparse: false };
    let property = Property::new("p", list.data_type().clone()).of_kind(kind);
    let misfit = Cells::new(&property, &list).unwrap().encode(0, &mut Buffer::default());
    assert_eq!(misfit.unwrap_err().message(), "a tensor of 4 values cannot have shape [3]");
}

#[test]
fn sparse_tensors_need_coordinates() {
    let numbers = |list: Vec<Option<i64>>| Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>([Some(list)]));
    let kind = ValueKind::Tensor { shape: vec![], sparse: true };
    let property = Property::new("p", DataType::Null).of_kind(kind);
    let sparse = |coordinates: i64, value: i64| {
        let fields: [(&str, ArrayRef); 2] =
            [("coordinates", numbers(vec![Some(coordinates)])), ("values", numbers(vec![Some(value)]))];
        cells(&property, &struct_of(&fields))
    };
    assert_ne!(sparse(1, 2), sparse(2, 1));
    assert_ne!(sparse(1, 2), sparse(1, 3));
    let without = struct_of(&[("values", numbers(vec![]) as ArrayRef)]);
    assert!(Cells::new(&property, &without).is_err());
}

#[test]
fn fields_of_structs_have_no_order() {
    let (x, y): (ArrayRef, ArrayRef) = (Arc::new(Int32Array::from(vec![1])), Arc::new(Int32Array::from(vec![2])));
    let one = struct_of(&[("x", Arc::clone(&x)), ("y", Arc::clone(&y))]);
    let other = struct_of(&[("y", Arc::clone(&y)), ("x", Arc::clone(&x))]);
    assert_eq!(plain(&one), plain(&other));
    assert_ne!(plain(&one), plain(&struct_of(&[("x", y), ("y", x)])));
}

#[test]
fn types_without_a_place_are_refused() {
    let property = Property::new("p", DataType::Null);
    let interval = IntervalDayTimeArray::from(vec![IntervalDayTime::new(1, 2)]);
    assert!(Cells::new(&property, &interval).is_err());
    let items = Arc::new(interval) as ArrayRef;
    let field = Arc::new(Field::new("item", items.data_type().clone(), true));
    let nested = ListArray::new(field, OffsetBuffer::new(vec![0, 1].into()), items, None);
    assert!(Cells::new(&property, &nested).is_err());
    let json = Property::new("p", DataType::Int64).of_kind(ValueKind::Json);
    assert!(Cells::new(&json, &Int64Array::from(vec![1])).is_err());
    assert!(Cells::plain(&TimestampSecondArray::from(vec![1])).unwrap().encode(1, &mut Buffer::default()).is_err());
}

/// Returns the hashes of small structured facts: values 0 to `values` of keys 0 to `keys`, with a few properties.
fn structured_facts(keys: i128, values: i128) -> Vec<u128> {
    let mut out = Buffer::default();
    let mut hashes = Vec::new();
    let stems: Vec<u128> = ["", "a", "b"].iter().map(|property| stem("nodes", &["n"], property)).collect();
    let owners: Vec<u128> = (0..keys)
        .map(|key| {
            out.bytes.clear();
            out.hashed(stems[0]);
            out.integer(key);
            out.hash()
        })
        .collect();
    for stem in &stems {
        for owner in &owners {
            for value in 0..values {
                out.begin([*stem, *owner]);
                out.integer(value);
                hashes.push(out.hash());
            }
        }
    }
    hashes
}

fn all_differ(mut hashes: Vec<u128>) -> bool {
    hashes.sort_unstable();
    hashes.is_sorted_by(|left, right| left < right)
}

#[test]
fn structured_facts_have_no_equal_hashes() {
    let values = structured_facts(1_000, 700);
    let edges = (0..1_200).flat_map(|from| (0..1_200).map(move |to| of_parts([7, from, to, 1, 0])));
    assert!(all_differ(values.into_iter().chain(edges).collect()));
}

#[test]
fn structured_facts_have_no_equal_sums() {
    // Every sum of two of 2,100 facts: swapped values, moved values, and all other changes of two facts.
    let facts = structured_facts(70, 10);
    let sums =
        facts.iter().enumerate().flat_map(|(at, left)| facts[at..].iter().map(move |right| left.wrapping_add(*right)));
    assert!(all_differ(sums.collect()));
    // And of rows that connect small numbers, in both directions.
    let ends: Vec<u128> = (0..45).map(|key| of_parts([3, key])).collect();
    let rows = ends.iter().flat_map(|from| ends.iter().map(move |to| of_parts([9, *from, *to, 1, 0])));
    let rows: Vec<u128> = rows.collect();
    let sums =
        rows.iter().enumerate().flat_map(|(at, left)| rows[at..].iter().map(move |right| left.wrapping_add(*right)));
    assert!(all_differ(sums.collect()));
}
