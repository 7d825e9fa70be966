//! Keys of narrow integer types, and properties with the names that other formats give to keys.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int8Array, Int16Array, RecordBatch, StringArray, UInt8Array, UInt16Array, UInt32Array};
use isomorph_convert::Format;
use isomorph_tables::{Encoding, TableWriter, WriteOptions};

use super::databases::write;
use super::flat_tables::{digests, directory, open};

fn parquet(place: &Path, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = std::fs::File::create(place).unwrap();
    let mut writer = TableWriter::create(file, Encoding::Parquet, &batch.schema(), &WriteOptions::default()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
}

#[test]
fn keys_of_every_integer_type_go_where_keys_are_texts() {
    let all: [(ArrayRef, ArrayRef); 5] = [
        (Arc::new(Int8Array::from(vec![-128, 127])), Arc::new(Int8Array::from(vec![127]))),
        (Arc::new(Int16Array::from(vec![-32768, 7])), Arc::new(Int16Array::from(vec![7]))),
        (Arc::new(UInt8Array::from(vec![0, 255])), Arc::new(UInt8Array::from(vec![255]))),
        (Arc::new(UInt16Array::from(vec![0, 65535])), Arc::new(UInt16Array::from(vec![65535]))),
        (Arc::new(UInt32Array::from(vec![0, 4_294_967_295])), Arc::new(UInt32Array::from(vec![4_294_967_295]))),
    ];
    for (ids, ends) in all {
        let (tables, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let names: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
        parquet(&tables.path().join("nodes.parquet"), vec![("id", Arc::clone(&ids)), ("name", names)]);
        parquet(&tables.path().join("edges.parquet"), vec![("source", Arc::clone(&ends)), ("target", ends)]);
        let source = open(tables.path());
        for to in [Format::NOCK, Format::ANNNET, Format::GRAPHML, Format::NODELINK, Format::GRAPHLAKE] {
            let place = out.path().join(to.id());
            write(&source, to, &place, false).unwrap_or_else(|error| panic!("{} to {to}: {error}", ids.data_type()));
            assert_eq!(digests(&open(&place)).unwrap(), digests(&source).unwrap(), "{} in {to}", ids.data_type());
        }
    }
}

#[test]
fn a_property_called_node_id_makes_no_other_format() {
    let tables = directory(&[("nodes.csv", "id,node_id\na,5\nb,6\n"), ("edges.csv", "source,target\na,b\n")]);
    let (source, out) = (open(tables.path()), tempfile::tempdir().unwrap());
    for to in [Format::NODELINK, Format::KGX, Format::JGF] {
        let place = out.path().join(format!("{}.json", to.id()));
        write(&source, to, &place, false).unwrap();
        let written = open(&place);
        assert_eq!((written.format, digests(&written).unwrap()), (to, digests(&source).unwrap()));
    }
}
