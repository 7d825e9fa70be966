//! The incidence matrix and the tables. Each case was tested with annnet 0.4.1, which reads it as stated here.
#![allow(clippy::unwrap_used)]

use crate::common;

use common::build::{Files, booleans, floats, integers, lists, text};
use common::view::View;
use serde_json::{Value, json};

const EDGES: &str = "structure/edges.parquet";

type Cells = ([i32; 4], [f32; 4]);

/// The cells of [`Files::small`]: an edge of 0.5 from the first node to the second, a hyperedge over both.
const SOUND: Cells = ([0, 1, 0, 1], [0.5, -0.5, 1.0, 1.0]);

/// A small graph with a matrix, with or without an empty table of coefficients.
fn files(shape: &str, (rows, data): Cells, has_table: bool) -> Files {
    let mut files = Files::small();
    files.matrix(shape, rows, data);
    if has_table {
        files.table(
            "structure/edge_coeffs.parquet",
            vec![
                ("edge_id", text([""; 0])),
                ("entity_id", text([""; 0])),
                ("layer_id", integers([0; 0])),
                ("coeff", floats([0.0; 0])),
            ],
        );
    }
    files
}

fn edges(files: &Files) -> Value {
    files.with(|opened| View::of(&opened.unwrap()).value()["edges"].clone())
}

#[test]
fn cells_are_those_of_the_tables() {
    for (what, cells) in [
        ("another value", ([0, 1, 0, 1], [9.0, -0.5, 1.0, 1.0])),
        ("a value with the other sign", ([0, 1, 0, 1], [0.5, 0.5, 1.0, 1.0])),
        ("no number", ([0, 1, 0, 1], [f32::NAN, -0.5, 1.0, 1.0])),
        ("a zero", ([0, 1, 0, 1], [0.0, -0.5, 1.0, 1.0])),
        ("one cell twice, another never", ([1, 1, 0, 1], [-0.5, 0.25, 1.0, 1.0])),
    ] {
        let with = files("[2, 2]", cells, true);
        assert_eq!(with.broken(), ["ANNNET-MATRIX-CELL"], "{what}");
        assert_eq!(edges(&with), edges(&Files::small()), "{what}: the tables count");
        // Without the table of coefficients, the cells are the coefficients.
        assert_eq!(files("[2, 2]", cells, false).broken(), [""; 0], "{what}");
    }
    for has_table in [false, true] {
        assert_eq!(files("[2, 2]", SOUND, has_table).broken(), [""; 0]);
        assert_eq!(files("[5, 5]", SOUND, has_table).broken(), ["ANNNET-MATRIX-SHAPE"]);
        assert_eq!(files("[2, 2]", ([0, 1, 0, 2], SOUND.1), has_table).broken(), ["ANNNET-MATRIX"]);
        assert_eq!(files("[2, 2]", ([0, 1, 0, -1], SOUND.1), has_table).broken(), ["ANNNET-MATRIX"]);
    }
    // In several entries, which are summed.
    assert_eq!(files("[2, 2]", ([1, 0, 1, 0], [-0.5, 0.5, 1.0, 1.0]), true).broken(), [""; 0]);
}

#[test]
fn cells_of_nobody_are_found_in_any_case() {
    for has_table in [false, true] {
        let mut own = files("[2, 2]", SOUND, has_table);
        own.column("structure/hyperedge_definitions.parquet", "members", lists(&[Some(&["\"a\""])]));
        assert_eq!(own.broken(), ["ANNNET-MATRIX-CELL"], "{has_table}");
    }
}

#[test]
fn several_sides_are_one_cell() {
    for (directed, cell) in [(true, 0.0), (false, 1.0)] {
        for has_table in [false, true] {
            let mut own = files("[2, 2]", ([0, 0, 0, 1], [cell, 0.0, 1.0, 1.0]), has_table);
            own.column(EDGES, "target", text([Some("a"), None]));
            own.column(EDGES, "directed", booleans([Some(directed), None]));
            assert_eq!(own.broken(), [""; 0], "{directed} {has_table}");
        }
    }
}

/// Positions give the order of edges, by which columns are numbered.
#[test]
fn columns_are_edges_in_their_order() {
    let sound = edges(&Files::small());
    for has_table in [false, true] {
        let mut own = files("[2, 2]", SOUND, has_table);
        own.column(EDGES, "col_idx", integers([10, 20]));
        assert_eq!(own.broken(), [""; 0], "{has_table}");
        assert_eq!(edges(&own), sound, "{has_table}");
    }
    let mut swapped = files("[2, 2]", ([0, 1, 0, 1], [1.0, 1.0, 0.5, -0.5]), false);
    swapped.column(EDGES, "col_idx", integers([20, 10]));
    assert_eq!(edges(&swapped)["e"], sound["e"]);
    assert_eq!(swapped.broken(), [""; 0]);
}

/// An edge without cells has the values that its weight and direction imply.
#[test]
fn a_column_without_cells_says_nothing() {
    let own = edges(&files("[2, 2]", ([0, 1, 0, 1], [0.0, 0.0, 1.0, 1.0]), false));
    assert_eq!(own, edges(&Files::small()));
    // An edge with cells has coefficients, and 0 for each member without a cell.
    let own = edges(&files("[2, 2]", ([0, 1, 0, 1], [0.0, -0.5, 1.0, 1.0]), false));
    assert_eq!(own["e"]["coefficients"], json!([["a", 0.0], ["b", -0.5]]), "{own}");
}
