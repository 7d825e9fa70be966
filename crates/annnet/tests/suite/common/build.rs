//! Small graphs built in code, for tests of damaged ones.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use isomorph_annnet::{Annnet, OpenOptions};
use isomorph_error::{Findings, Result};
use isomorph_model::Source;
use isomorph_storage::Location;
use isomorph_tables::{Encoding, TableWriter, WriteOptions};

/// One file.
#[derive(Clone)]
pub enum File {
    Table(RecordBatch),
    Bytes(Vec<u8>),
}

/// The files of a graph.
#[derive(Clone, Default)]
pub struct Files(pub BTreeMap<String, File>);

/// A column of text.
pub fn text<'a>(cells: impl IntoIterator<Item = impl Into<Option<&'a str>>>) -> ArrayRef {
    Arc::new(cells.into_iter().map(Into::into).collect::<StringArray>())
}

/// A column of integers.
pub fn integers(cells: impl IntoIterator<Item = impl Into<Option<i64>>>) -> ArrayRef {
    Arc::new(cells.into_iter().map(Into::into).collect::<Int64Array>())
}

/// A column of floats.
pub fn floats(cells: impl IntoIterator<Item = impl Into<Option<f64>>>) -> ArrayRef {
    Arc::new(cells.into_iter().map(Into::into).collect::<Float64Array>())
}

/// A column of booleans.
pub fn booleans(cells: impl IntoIterator<Item = impl Into<Option<bool>>>) -> ArrayRef {
    Arc::new(cells.into_iter().map(Into::into).collect::<BooleanArray>())
}

/// A column of lists of text.
pub fn lists(rows: &[Option<&[&str]>]) -> ArrayRef {
    use arrow_array::builder::{ListBuilder, StringBuilder};
    let mut builder = ListBuilder::new(StringBuilder::new());
    for row in rows {
        row.iter().copied().flatten().for_each(|text| builder.values().append_value(text));
        builder.append(row.is_some());
    }
    Arc::new(builder.finish())
}

/// The bytes of a table as Parquet.
pub fn parquet(batch: &RecordBatch) -> Vec<u8> {
    let options = WriteOptions::default();
    let mut writer = TableWriter::create(Vec::new(), Encoding::Parquet, &batch.schema(), &options).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap().0
}

impl Files {
    /// Two nodes, an edge between them, a hyperedge over both, and a slice in addition to the default one.
    pub fn small() -> Files {
        let mut files = Files::default();
        let manifest = r#"{"format": "annnet", "graph_version": 3, "directed": true, "active_slice": "s",
            "default_slice": "default", "counts": {"nodes": 2, "edges": 2, "hyperedges": 1, "slices": 2}}"#;
        files.put("manifest.json", manifest);
        files.put("structure/layer_dict.json", r#"{"layers": [["_"]]}"#);
        files.table(
            "structure/entity_index.parquet",
            vec![
                ("entity_id", text(["a", "b"])),
                ("layer_id", integers([0, 0])),
                ("idx", integers([0, 1])),
                ("type", text(["node", "node"])),
            ],
        );
        let none = || integers([None::<i64>, None]);
        files.table(
            "structure/edges.parquet",
            vec![
                ("edge_id", text(["e", "h"])),
                ("col_idx", integers([0, 1])),
                ("weight", floats([0.5, 1.0])),
                ("directed", booleans([Some(true), None])),
                ("kind", text(["binary", "hyper"])),
                ("source", text([Some("a"), None])),
                ("target", text([Some("b"), None])),
                ("source_layer_id", none()),
                ("target_layer_id", none()),
                ("ml_kind", text(["intra", "intra"])),
            ],
        );
        files.table(
            "structure/hyperedge_definitions.parquet",
            vec![
                ("edge_id", text(["h"])),
                ("directed", booleans([false])),
                ("members", lists(&[Some(&["\"a\"", "\"b\""])])),
                ("head", lists(&[None])),
                ("tail", lists(&[None])),
            ],
        );
        files
            .table("tables/_node_table.parquet", vec![("node_id", text(["a", "b"])), ("n", integers([Some(1), None]))]);
        files.table("tables/_edge_table.parquet", vec![("edge_id", text(["e", "h"])), ("x", text([Some("x"), None]))]);
        files.table("tables/slice_attributes.parquet", vec![("slice_id", text(["s"])), ("colour", text(["red"]))]);
        files.table(
            "tables/edge_slice_attributes.parquet",
            vec![("slice_id", text(["s"])), ("edge_id", text(["e"])), ("weight", floats([2.0]))],
        );
        files.table("slices/registry.parquet", vec![("slice_id", text(["default", "s"]))]);
        files.table(
            "slices/node_memberships.parquet",
            vec![("slice_id", text(["default", "default", "s"])), ("node_id", text(["a", "b", "a"]))],
        );
        files.table(
            "slices/edge_memberships.parquet",
            vec![
                ("slice_id", text(["default", "default", "s"])),
                ("edge_id", text(["e", "h", "e"])),
                ("weight", floats([None, None, Some(2.0)])),
            ],
        );
        files
    }

    /// The same nodes in two layers of one aspect, with an edge between the layers.
    pub fn layered() -> Files {
        let mut files = Files::small();
        files.put("structure/layer_dict.json", r#"{"layers": [["_"], ["t0"], ["t1"]]}"#);
        files.put("layers/metadata.json", r#"{"aspects": ["time"], "elem_layers": {"time": ["t0", "t1"]}}"#);
        files.column("structure/entity_index.parquet", "layer_id", integers([1, 2]));
        files.column("structure/edges.parquet", "source_layer_id", integers([Some(1), None]));
        files.column("structure/edges.parquet", "target_layer_id", integers([Some(2), None]));
        files.column("structure/edges.parquet", "ml_kind", text(["inter", "inter"]));
        files.table(
            "layers/tuple_layer_attributes.parquet",
            vec![("layer_id", integers([1])), ("attributes", text([r#"{"note": 1}"#]))],
        );
        files
    }

    /// Adds a matrix of two columns with two cells each, uncompressed.
    pub fn matrix(&mut self, shape: &str, rows: [i32; 4], data: [f32; 4]) {
        let array = |kind: &str| {
            format!(
                r#"{{"shape": [4], "data_type": "{kind}", "chunk_grid": {{"name": "regular", "configuration":
                {{"chunk_shape": [4]}}}}, "fill_value": 0, "codecs": [{{"name": "bytes", "configuration":
                {{"endian": "little"}}}}], "zarr_format": 3, "node_type": "array"}}"#
            )
        };
        let root = "structure/incidence.zarr";
        self.put(&format!("{root}/zarr.json"), format!(r#"{{"attributes": {{"shape": {shape}}}, "zarr_format": 3}}"#));
        for name in ["row", "col"] {
            self.put(&format!("{root}/{name}/zarr.json"), array("int32"));
        }
        self.put(&format!("{root}/data/zarr.json"), array("float32"));
        self.put(&format!("{root}/row/c/0"), rows.map(i32::to_le_bytes).concat());
        self.put(&format!("{root}/col/c/0"), [0i32, 0, 1, 1].map(i32::to_le_bytes).concat());
        self.put(&format!("{root}/data/c/0"), data.map(f32::to_le_bytes).concat());
    }

    /// Sets a file to these bytes.
    pub fn put(&mut self, name: &str, bytes: impl AsRef<[u8]>) {
        self.0.insert(name.to_owned(), File::Bytes(bytes.as_ref().to_vec()));
    }

    /// Sets a table.
    pub fn table(&mut self, name: &str, columns: Vec<(&str, ArrayRef)>) {
        let columns = columns.into_iter().map(|(name, column)| (name, column, true));
        self.0.insert(name.to_owned(), File::Table(RecordBatch::try_from_iter_with_nullable(columns).unwrap()));
    }

    /// Replaces or adds a column.
    pub fn column(&mut self, table: &str, name: &str, cells: ArrayRef) {
        let Some(File::Table(batch)) = self.0.get(table) else { panic!("{table} is no table") };
        let schema = batch.schema();
        let others = schema.fields().iter().zip(batch.columns()).filter(|(field, _)| field.name() != name);
        let mut columns: Vec<(String, ArrayRef)> =
            others.map(|(field, column)| (field.name().clone(), column.clone())).collect();
        columns.push((name.to_owned(), cells));
        self.table(table, columns.iter().map(|(name, column)| (name.as_str(), column.clone())).collect());
    }

    /// Removes a column.
    pub fn without(&mut self, table: &str, name: &str) {
        let Some(File::Table(batch)) = self.0.get(table) else { panic!("{table} is no table") };
        let schema = batch.schema();
        let others = schema.fields().iter().zip(batch.columns()).filter(|(field, _)| field.name() != name);
        let columns: Vec<(String, ArrayRef)> =
            others.map(|(field, column)| (field.name().clone(), column.clone())).collect();
        self.table(table, columns.iter().map(|(name, column)| (name.as_str(), column.clone())).collect());
    }

    /// Removes a file.
    pub fn remove(&mut self, name: &str) {
        assert!(self.0.remove(name).is_some(), "{name} is there");
    }

    /// Name and bytes of each file.
    pub fn bytes(&self) -> Vec<(String, Vec<u8>)> {
        let bytes = |file: &File| match file {
            File::Table(batch) => parquet(batch),
            File::Bytes(bytes) => bytes.clone(),
        };
        self.0.iter().map(|(name, file)| (name.clone(), bytes(file))).collect()
    }

    /// Writes the files below a directory.
    pub fn write(&self, directory: &Path) {
        for (name, bytes) in self.bytes() {
            let path = directory.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
    }

    /// Writes and opens the files. The directory is removed before this returns.
    pub fn with<T>(&self, work: impl FnOnce(Result<Annnet>) -> T) -> T {
        let home = tempfile::tempdir().unwrap();
        self.write(home.path());
        work(Annnet::open(&Location::from_path(home.path()), &OpenOptions::default()))
    }

    /// Returns the ids of the broken rules: from the findings of validation, or from the error of opening or
    /// validating.
    pub fn broken(&self) -> Vec<&'static str> {
        self.with(|opened| {
            let mut findings = Findings::keeping(1);
            let checked = opened.and_then(|annnet| annnet.validate(&mut findings));
            let error = checked.err().map(|error| error.broken_rule().unwrap_or_else(|| panic!("{error:?}")).id);
            findings.by_rule().map(|(_, kept)| kept[0].rule.id).chain(error).collect()
        })
    }
}
