//! Tables of several files, the header parts and joined ids of Neo4j, and workbooks.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::io::Write;
use std::path::Path;

use isomorph_convert::{Format, OpenOptions, Opened};
use isomorph_error::{Error, Kind};
use isomorph_fixtures::fixture;
use isomorph_storage::Location;
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::databases::alone;
use super::flat_tables::{columns, digests, directory, lines, open, opened};

/// Files in directories.
fn tree(files: &[(&str, &str)]) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let place = home.path().join(name);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, text).unwrap();
    }
    home
}

fn failure(path: &Path) -> Error {
    opened(path).and_then(|opened| digests(&opened).map(|_| ())).unwrap_err()
}

fn keys(path: &Path) -> Vec<Value> {
    let all = lines(&open(path));
    all.iter().filter(|line| line.get("node").is_some()).map(|line| line["key"].clone()).collect()
}

const WHOLE: [(&str, &str); 2] =
    [("nodes.csv", "id,name\n1,a\n2,\n3,c\n"), ("edges.csv", "source,target,w\n1,2,1\n2,3,2.5\n3,1,3\n")];

#[test]
fn directories_of_parts_are_the_tables_that_one_file_is() {
    let whole = directory(&WHOLE);
    let parts = tree(&[
        ("nodes/part-0000.csv", "id,name\n1,a\n"),
        ("nodes/part-0001.csv", "name,id\n,2\n"),
        ("nodes/part-0002.csv", "id,name\n3,c\n"),
        ("nodes/_SUCCESS", ""),
        ("nodes/.part-0000.csv.crc", "x"),
        ("edges/part-0000.csv", "source,target,w\n1,2,1\n"),
        ("edges/part-0001.csv", "source,target,w\n2,3,2.5\n3,1,3\n"),
    ]);
    assert_eq!(columns(open(parts.path()).graph.graph()), columns(open(whole.path()).graph.graph()));
    assert_eq!(digests(&open(parts.path())).unwrap(), digests(&open(whole.path())).unwrap());
    assert_eq!(keys(parts.path()), [json!(1), json!(2), json!(3)]);
    // The same by a mapping file, with a pattern and with a directory.
    for location in ["nodes/part-*.csv", "nodes/", "nodes", "./nodes/part-000?.csv"] {
        let mapping = format!(
            "CREATE EXTERNAL TABLE nodes STORED AS CSV LOCATION '{location}' OPTIONS ('format.has_header' 'true');
CREATE EXTERNAL TABLE edges STORED AS CSV LOCATION 'edges/*' OPTIONS ('format.has_header' 'true');
CREATE PROPERTY GRAPH g VERTEX TABLES (nodes KEY (id) LABEL node) EDGE TABLES (edges SOURCE KEY (source) REFERENCES nodes (id)
DESTINATION KEY (target) REFERENCES nodes (id) LABEL edge);"
        );
        std::fs::write(parts.path().join("graph.pgq"), mapping).unwrap();
        assert_eq!(digests(&open(parts.path())).unwrap(), digests(&open(whole.path())).unwrap(), "{location}");
    }
}

#[test]
fn parts_that_are_not_alike_are_refused_with_their_names() {
    for (files, rule, words) in [
        (vec![("nodes/a.csv", "id,x\n1,2\n"), ("nodes/b.csv", "id\n2\n")], "FLAT-PARTS", "nodes/b.csv"),
        (vec![("nodes/a.csv", "id\n1\n"), ("nodes/b.csv", "id,y\n2,3\n")], "FLAT-PARTS", "nodes/b.csv"),
        (vec![("nodes/a.csv", "id\n1\n"), ("nodes/b.csv", "id\n1\n")], "FLAT-KEY", "nodes/b.csv"),
    ] {
        let mut all = files.clone();
        all.push(("edges/a.csv", "source,target\n1,1\n"));
        let error = failure(tree(&all).path());
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some(rule), "{error:?}");
        assert!(format!("{} {error}", error.place()).contains(words), "{error:?}");
    }
    // A cell of a later file is named with that file and its own line.
    let mapping = "CREATE EXTERNAL TABLE n (id BIGINT NOT NULL) STORED AS CSV LOCATION 'n/*' OPTIONS ('format.has_header' 'true');
CREATE PROPERTY GRAPH g VERTEX TABLES (n KEY (id));";
    let files = tree(&[("graph.pgq", mapping), ("n/a.csv", "id\n1\n2\n"), ("n/b.csv", "id\n3\nx\n")]);
    let error = failure(files.path());
    assert_eq!((error.place().file.as_deref(), error.place().line), (Some("n/b.csv"), Some(3)), "{error:?}");
    let files = tree(&[("graph.pgq", mapping), ("n/a.csv", "id\n1\n"), ("n/b.jsonl", "{\"id\":2}\n")]);
    assert_eq!(failure(files.path()).broken_rule().map(|rule| rule.id), Some("FLAT-PARTS"));
    let files = tree(&[("graph.pgq", mapping), ("n/c/a.csv", "id\n1\n")]);
    assert_eq!(failure(files.path()).broken_rule().map(|rule| rule.id), Some("FLAT-PARTS"));
}

#[test]
fn columnar_parts_are_read_as_one_table() {
    let home = tempfile::tempdir().unwrap();
    let source = open(directory(&WHOLE).path());
    let whole = home.path().join("whole");
    super::databases::write(&source, Format::PARQUET, &whole, false).unwrap();
    // The same rows in two files of nodes: the first file twice would repeat keys.
    let parts = home.path().join("parts");
    for (of, to) in [("node", "nodes"), ("edge", "edges")] {
        std::fs::create_dir_all(parts.join(to)).unwrap();
        std::fs::copy(whole.join(format!("{of}.parquet")), parts.join(to).join("part-0.parquet")).unwrap();
    }
    assert_eq!(digests(&open(&parts)).unwrap().content, digests(&source).unwrap().content);
    std::fs::copy(parts.join("edges/part-0.parquet"), parts.join("edges/part-1.parquet")).unwrap();
    let edges = |path: &Path| lines(&open(path)).iter().filter(|line| line.get("edge").is_some()).count();
    assert_eq!(edges(&parts), 2 * edges(&whole));
}

#[test]
fn headers_of_neo4j_may_be_in_files_of_their_own() {
    // The examples of the manual: a header and its parts, and a table whose first part has the header.
    let files = directory(&[
        ("movies4-header.csv", "movieId:ID,title,year:int,:LABEL\n"),
        ("movies4-part1.csv", "tt0133093,\"The Matrix\",1999,Movie\n"),
        ("movies4-part2.csv", "tt0234215,\"The Matrix Reloaded\",2003,Movie;Sequel\n"),
        ("roles4-header.csv", ":START_ID,role,:END_ID,:TYPE\n"),
        ("roles4.csv", "tt0133093,\"Neo\",tt0234215,BEFORE\n"),
    ]);
    let joined = directory(&[
        (
            "movies4.csv",
            "movieId:ID,title,year:int,:LABEL\ntt0133093,\"The Matrix\",1999,Movie\ntt0234215,\"The Matrix Reloaded\",2003,Movie;Sequel\n",
        ),
        ("roles4.csv", ":START_ID,role,:END_ID,:TYPE\ntt0133093,\"Neo\",tt0234215,BEFORE\n"),
    ]);
    assert_eq!(alone(files.path()).format, Format::NEO4J);
    assert_eq!(digests(&open(files.path())).unwrap(), digests(&open(joined.path())).unwrap());
    let first = directory(&[("n.csv", "id:ID,:LABEL\n1,A\n"), ("n-part2.csv", "2,A\n"), ("n-part10.csv", "3,B\n")]);
    assert_eq!(keys(first.path()), [json!("1"), json!("3"), json!("2")], "in the order of names");
    // The mapping that is drafted reads the same.
    let text = isomorph_flat::mapping_of(&isomorph_storage::Location::from_path(files.path())).unwrap();
    std::fs::write(files.path().join("graph.pgq"), text).unwrap();
    assert_eq!(digests(&open(files.path())).unwrap(), digests(&open(joined.path())).unwrap());
}

#[test]
fn a_file_without_a_header_whose_name_tells_nothing_is_refused() {
    for files in [
        [("n.csv", "id:ID,:LABEL\n1,A\n"), ("other.csv", "2,A\n")],
        [("people-header.csv", "id:ID,:LABEL\n"), ("persons.csv", "2,A\n")],
    ] {
        let error = failure(directory(&files).path());
        assert_eq!(error.kind(), Kind::Unsupported, "{error:?}");
        assert!(error.message().starts_with(files[1].0), "{error:?}");
    }
    // Parts with another number of fields end the reading.
    let files = directory(&[("n.csv", "id:ID,:LABEL\n1,A\n"), ("n-2.csv", "2,A,x\n")]);
    let error = failure(files.path());
    assert_eq!(error.place().file.as_deref(), Some("n-2.csv"), "{error:?}");
}

#[test]
fn ids_of_neo4j_in_several_columns_are_joined() {
    let files = directory(&[
        ("people.csv", "country:ID(P),number:ID(P),name,:LABEL\nde,1,Ann,P\nde,12,Bo,P\nfr,1,Cy,P\n"),
        ("knows.csv", ":START_ID(P),:END_ID(P),:TYPE\nde1,fr1,KNOWS\nde12,de1,KNOWS\n"),
    ]);
    assert_eq!(keys(files.path()), [json!("de1"), json!("de12"), json!("fr1")]);
    let all = lines(&open(files.path()));
    assert_eq!(all[1]["properties"], json!({"country": "de", "number": "12", "name": "Bo"}));
    let text = isomorph_flat::mapping_of(&isomorph_storage::Location::from_path(files.path())).unwrap();
    let before = digests(&open(files.path())).unwrap();
    std::fs::write(files.path().join("graph.pgq"), text).unwrap();
    assert_eq!(digests(&open(files.path())).unwrap(), before);
    let twice = directory(&[("p.csv", "a:ID,b:ID\n1,23\n12,3\n"), ("r.csv", ":START_ID,:END_ID\n123,123\n")]);
    assert_eq!(failure(twice.path()).broken_rule().map(|rule| rule.id), Some("FLAT-KEY"));
    let spaces = directory(&[("p.csv", "a:ID(A),b:ID(B)\n1,23\n"), ("r.csv", ":START_ID(A),:END_ID(A)\n123,123\n")]);
    assert_eq!(failure(spaces.path()).kind(), Kind::Unsupported);
}

#[test]
fn integers_of_neo4j_are_in_the_range_of_their_type() {
    for (ty, fine, odd) in [
        ("byte", "-128", "128"),
        ("short", "32767", "-32769"),
        ("int", "-2147483648", "2147483648"),
        ("int[]", "1;2147483647", "1;2147483648"),
        ("byte[]", "", "1;-129"),
    ] {
        let with = |cell: &str| {
            let nodes = format!("id:ID,v:{ty}\n0,\n1,{cell}\n");
            directory(&[("n.csv", nodes.as_str()), ("r.csv", ":START_ID,:END_ID\n1,1\n")])
        };
        digests(&open(with(fine).path())).unwrap();
        let error = failure(with(odd).path());
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some("TEXT-VALUE"), "{error:?}");
        assert_eq!((error.place().file.as_deref(), error.place().line), (Some("n.csv"), Some(3)), "{error:?}");
    }
}

#[test]
fn workbooks_of_published_tools_are_tables_with_the_types_of_their_cells() {
    // Written by pandas with openpyxl, XlsxWriter and odfpy.
    for name in ["people.xlsx", "people_xlsxwriter.xlsx", "people.ods"] {
        let source = open(&fixture(format!("inout/workbook/{name}")));
        let expected = [
            "node(id Int): name string, age int64, height double, born date, seen timestamp[ms], ok bool, code string",
            "node edge node: w double",
        ];
        assert_eq!(columns(source.graph.graph()), expected, "{name}");
        let all = lines(&source);
        assert_eq!(
            all[0]["properties"],
            json!({"name": "ann", "age": 31, "height": 1.5, "born": "1990-02-28", "seen": "2020-01-02T03:04:05", "ok": true, "code": "1"}),
            "{name}"
        );
        assert_eq!(
            all[1]["properties"],
            json!({"name": "0012", "height": 2.0, "seen": "2020-01-02T00:00:00", "ok": false, "code": "2"}),
            "{name}"
        );
        assert_eq!(all[2]["properties"], json!({"name": "a,\"b\"", "age": -7, "born": "2000-01-01", "code": "3"}));
        let edges: Vec<&Value> = all.iter().filter(|line| line.get("edge").is_some()).collect();
        assert_eq!(
            edges.iter().map(|edge| edge["ends"].clone()).collect::<Vec<_>>(),
            [json!([1, 2]), json!([2, 3]), json!([1, 2])]
        );
        assert_eq!(
            digests(&source).unwrap().content,
            digests(&open(&fixture("inout/workbook/people.xlsx"))).unwrap().content
        );
        let recognised = source.format.recognised(source.native.as_ref());
        assert!(recognised.iter().any(|(what, fact)| what == "not read" && fact.contains("#about")), "{recognised:?}");
    }
}

/// An archive of these files, deflated.
pub(super) fn archive(files: &[(String, String)]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, text) in files {
        let mut packer = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
        packer.write_all(text.as_bytes()).unwrap();
        let packed = packer.finish().unwrap();
        let mut crc = flate2::Crc::new();
        crc.update(text.as_bytes());
        let mut common = Vec::new();
        common.extend([20, 0, 0, 0, 8, 0, 0, 0, 0, 0]);
        common.extend(crc.sum().to_le_bytes());
        common.extend((packed.len() as u32).to_le_bytes());
        common.extend((text.len() as u32).to_le_bytes());
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0, 0]);
        directory.extend(b"PK\x01\x02\x14\0");
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend((out.len() as u32).to_le_bytes());
        directory.extend(name.as_bytes());
        out.extend(b"PK\x03\x04");
        out.extend(&common);
        out.extend(name.as_bytes());
        out.extend(packed);
    }
    let (at, count) = (out.len() as u32, (files.len() as u16).to_le_bytes());
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend(count);
    out.extend(count);
    out.extend((directory.len() as u32).to_le_bytes());
    out.extend(at.to_le_bytes());
    out.extend([0, 0]);
    out
}

/// A workbook with sheets of these names and contents of `sheetData`.
fn workbook(sheets: &[(&str, &str)]) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let mut files: Vec<(String, String)> = Vec::new();
    let mut put = |name: &str, text: String| files.push((name.to_owned(), text));
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let package = "http://schemas.openxmlformats.org/package/2006/relationships";
    put(
        "_rels/.rels",
        format!(
            "<Relationships xmlns=\"{package}\"><Relationship Id=\"r\" Type=\"{relation}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
        ),
    );
    let (mut list, mut relations) = (String::new(), String::new());
    for (at, (name, data)) in sheets.iter().enumerate() {
        list.push_str(&format!("<sheet name=\"{name}\" sheetId=\"{}\" r:id=\"r{at}\"/>", at + 1));
        relations.push_str(&format!(
            "<Relationship Id=\"r{at}\" Type=\"{relation}/worksheet\" Target=\"worksheets/s{at}.xml\"/>"
        ));
        put(
            &format!("xl/worksheets/s{at}.xml"),
            format!("<worksheet xmlns=\"{main}\"><sheetData>{data}</sheetData></worksheet>"),
        );
    }
    put(
        "xl/workbook.xml",
        format!("<workbook xmlns=\"{main}\" xmlns:r=\"{relation}\"><sheets>{list}</sheets></workbook>"),
    );
    put("xl/_rels/workbook.xml.rels", format!("<Relationships xmlns=\"{package}\">{relations}</Relationships>"));
    std::fs::write(home.path().join("book.xlsx"), archive(&files)).unwrap();
    home
}

fn text(cell: &str, text: &str) -> String {
    format!("<c r=\"{cell}\" t=\"inlineStr\"><is><t>{text}</t></is></c>")
}

#[test]
fn sheets_that_are_no_tables_are_refused_with_the_cell() {
    let nodes = |more: &str| format!("<row r=\"1\">{}</row>{more}", text("A1", "id"));
    let edges = format!("<row r=\"1\">{}{}</row>", text("A1", "source"), text("B1", "target"));
    let number = |cell: &str, value: &str| format!("<c r=\"{cell}\"><v>{value}</v></c>");
    let fine = nodes(&format!("<row r=\"2\">{}</row>", number("A2", "1")));
    let home = workbook(&[("nodes", &fine), ("edges", &edges)]);
    assert_eq!(keys(&home.path().join("book.xlsx")), [json!(1)]);
    for (more, cell) in [
        ("<row r=\"7\"><c r=\"A7\" t=\"e\"><v>#N/A</v></c></row>".to_owned(), "A7"),
        (format!("<row r=\"2\">{}</row>", number("XFD2", "1")), "XFD2"),
    ] {
        let home = workbook(&[("nodes", &nodes(&more)), ("edges", &edges)]);
        let error = failure(&home.path().join("book.xlsx"));
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some("FLAT-WORKBOOK"), "{error:?}");
        assert_eq!(error.place().field.as_deref(), Some(cell), "{error:?}");
        assert_eq!(error.place().file.as_deref(), Some("book.xlsx#nodes"), "{error:?}");
    }
    // A rectangle of 17 thousand million cells that has two.
    let far =
        format!("<row r=\"1\">{}</row><row r=\"1048576\">{}</row>", text("XFD1", "id"), number("XFD1048576", "1"));
    let home = workbook(&[("nodes", &far), ("edges", &edges)]);
    assert_eq!(keys(&home.path().join("book.xlsx")), [json!(1)]);
    let home = workbook(&[("people", &fine)]);
    let error = failure(&home.path().join("book.xlsx"));
    assert!(error.message().contains("people"), "{error:?}");
    // A mapping file names sheets.
    let mapping =
        "CREATE EXTERNAL TABLE p STORED AS CSV LOCATION 'book.xlsx#people' OPTIONS ('format.has_header' 'true');
CREATE PROPERTY GRAPH g VERTEX TABLES (p KEY (id));";
    std::fs::write(home.path().join("graph.pgq"), mapping).unwrap();
    assert_eq!(keys(&home.path().join("graph.pgq")), [json!(1)]);
    // Neither an archive, nor one with a workbook in it.
    std::fs::write(home.path().join("x.xlsx"), "id\n1\n").unwrap();
    assert!(opened(&home.path().join("x.xlsx")).is_err());
    std::fs::write(home.path().join("x.xlsx"), "PK\u{3}\u{4}").unwrap();
    assert_eq!(failure(&home.path().join("x.xlsx")).broken_rule().map(|rule| rule.id), Some("FLAT-WORKBOOK"));
}

#[test]
fn a_workbook_of_one_sheet_is_a_table_of_edges() {
    let number = |cell: &str, value: &str| format!("<c r=\"{cell}\"><v>{value}</v></c>");
    let header = format!("<row r=\"1\">{}{}{}</row>", text("A1", "source"), text("B1", "target"), text("C1", "w"));
    let row = |at: u8, ends: [String; 2]| {
        format!("<row r=\"{at}\">{}{}</row>", ends.concat(), number(&format!("C{at}"), "7"))
    };
    let of = |rows: [[String; 2]; 2]| {
        let [first, second] = rows;
        let home = workbook(&[("Sheet1", &format!("{header}{}{}", row(2, first), row(3, second)))]);
        let all = lines(&open(&home.path().join("book.xlsx")));
        let edges = all.iter().filter(|line| line.get("edge").is_some());
        let ends: Vec<Value> = edges.map(|line| json!([line["ends"], line["properties"]["w"]])).collect();
        (keys(&home.path().join("book.xlsx")), ends)
    };
    let numbers = of([[number("A2", "3"), number("B2", "1")], [number("A3", "1"), number("B3", "2")]]);
    assert_eq!(numbers, (vec![json!(3), json!(1), json!(2)], vec![json!([[3, 1], 7]), json!([[1, 2], 7])]));
    let texts = of([[text("A2", "a, \"b\""), number("B2", "1")], [text("A3", "c"), text("B3", "1")]]);
    let expected = ["a, \"b\"", "1", "c"].map(|name| json!(name)).to_vec();
    assert_eq!(texts, (expected, vec![json!([["a, \"b\"", "1"], 7]), json!([["c", "1"], 7])]));
}

#[test]
fn the_index_of_pandas_and_a_sheet_of_notes_are_not_read() {
    let number = |cell: &str, value: &str| format!("<c r=\"{cell}\"><v>{value}</v></c>");
    let nodes = format!(
        "<row r=\"1\">{}{}</row><row r=\"2\">{}{}{}</row>",
        text("B1", "id"),
        text("C1", "n"),
        number("A2", "0"),
        number("B2", "1E+17"),
        text("C2", "x")
    );
    let edges = format!(
        "<row r=\"1\">{}{}</row><row r=\"2\">{}{}{}</row>",
        text("B1", "source"),
        text("C1", "target"),
        number("A2", "0"),
        number("B2", "100000000000000000"),
        number("C2", "1.0E17")
    );
    let notes = format!("<row r=\"1\">{}</row><row r=\"3\">{}</row>", text("A1", "Notes"), text("C3", "as of May"));
    let home = workbook(&[("nodes", &nodes), ("edges", &edges), ("notes", &notes)]);
    let graph = open(&home.path().join("book.xlsx"));
    assert_eq!(columns(graph.graph.graph()), ["node(id Int): n string", "node edge node: "]);
    assert_eq!(keys(&home.path().join("book.xlsx")), [json!(100_000_000_000_000_000u64)]);
    digests(&graph).unwrap();
    let found = graph.native.about().findings;
    let found: Vec<(&str, String)> =
        found.by_rule().flat_map(|(_, all)| all).map(|one| (one.rule.id, one.place.to_string())).collect();
    let has = |rule: &str, place: &str| found.iter().any(|(own, at)| *own == rule && at.contains(place));
    assert!(has("FLAT-UNREAD", "book.xlsx#notes") && has("FLAT-INDEX", "book.xlsx#edges"), "{found:?}");
    // One sheet of edges beside one that is no table may lack its nodes.
    let home = workbook(&[("edges", &edges), ("notes", &notes)]);
    assert_eq!(failure(&home.path().join("book.xlsx")).place().file.as_deref(), Some("book.xlsx#notes"));
    // A mapping file that names such a sheet says why not; one that does not name it is not concerned.
    for (sheet, is_fine) in [("nodes", true), ("notes", false)] {
        let home = workbook(&[("nodes", &nodes), ("notes", &notes)]);
        let mapping = format!(
            "CREATE EXTERNAL TABLE p STORED AS CSV LOCATION 'book.xlsx#{sheet}';
CREATE PROPERTY GRAPH g VERTEX TABLES (p KEY (id));"
        );
        std::fs::write(home.path().join("graph.pgq"), mapping).unwrap();
        match is_fine {
            true => assert_eq!(keys(&home.path().join("graph.pgq")).len(), 1),
            false => assert_eq!(failure(home.path()).place().field.as_deref(), Some("C3")),
        }
    }
}

#[test]
fn headers_of_neo4j_are_read_in_sheets() {
    let people = format!(
        "<row r=\"1\">{}{}{}</row><row r=\"2\">{}{}<c r=\"C2\"><v>42</v></c></row>",
        text("A1", "id:ID(P)"),
        text("B1", "tags:string[]"),
        text("C1", "age:int"),
        text("A2", "007"),
        text("B2", "a;b"),
    );
    let knows = format!(
        "<row r=\"1\">{}{}</row><row r=\"2\">{}{}</row>",
        text("A1", ":START_ID(P)"),
        text("B1", ":END_ID(P)"),
        text("A2", "007"),
        text("B2", "007")
    );
    let home = workbook(&[("people", &people), ("KNOWS", &knows)]);
    let all = lines(&open(&home.path().join("book.xlsx")));
    assert_eq!((&all[0]["key"], &all[0]["properties"]), (&json!("007"), &json!({"tags": ["a", "b"], "age": 42})));
    assert_eq!(all[1]["ends"], json!(["007", "007"]));
}

/// An OpenDocument workbook with these rows in its sheet `nodes`, and no edges.
fn open_document(rows: &str) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let edges = "<table:table-row><table:table-cell office:value-type=\"string\"><text:p>source</text:p></table:table-cell><table:table-cell office:value-type=\"string\"><text:p>target</text:p></table:table-cell></table:table-row>";
    let sheet = |name: &str, rows: &str| format!("<table:table table:name=\"{name}\">{rows}</table:table>");
    let text = format!(
        "<office:document-content xmlns:office=\"o\" xmlns:table=\"t\" xmlns:text=\"x\">{}{}</office:document-content>",
        sheet("nodes", rows),
        sheet("edges", edges)
    );
    std::fs::write(home.path().join("book.ods"), archive(&[("content.xml".to_owned(), text)])).unwrap();
    home
}

#[test]
fn repeated_cells_and_texts_of_open_document() {
    let head = "<table:table-row><table:table-cell office:value-type=\"string\"><text:p>id</text:p></table:table-cell><table:table-cell office:value-type=\"string\"><text:p>t</text:p></table:table-cell></table:table-row>";
    let id = |id: &str| format!("<table:table-cell office:value-type=\"float\" office:value=\"{id}\"/>");
    let rows = format!(
        "{head}<table:table-row>{}<table:table-cell office:value-type=\"string\"><office:annotation><text:p>note</text:p></office:annotation><text:p>a &amp; <text:span>b</text:span><text:s text:c=\"2\"/>c</text:p><text:p>d</text:p></table:table-cell></table:table-row>\
         <table:table-row table:number-rows-repeated=\"3\"><table:table-cell table:number-columns-repeated=\"9\"/></table:table-row>\
         <table:table-row>{}<table:table-cell table:number-columns-repeated=\"16382\"/></table:table-row>\
         <table:table-row table:number-rows-repeated=\"1048000\"><table:table-cell table:number-columns-repeated=\"16384\"/></table:table-row>",
        id("1"),
        id("2")
    );
    let home = open_document(&rows);
    let all = lines(&open(&home.path().join("book.ods")));
    assert_eq!((&all[0]["key"], &all[0]["properties"]["t"]), (&json!(1), &json!("a & b  c\nd")));
    assert_eq!(all[1]["key"], json!(2));
    for rows in [
        format!("{head}<table:table-row table:number-rows-repeated=\"4000000000\">{}</table:table-row>", id("1")),
        format!(
            "{head}<table:table-row><table:table-cell office:value-type=\"string\"><text:p><text:s text:c=\"99999999999\"/>x</text:p></table:table-cell></table:table-row>"
        ),
        format!("{head}<table:table-row><table:table-cell table:number-columns-repeated=\"x\"/></table:table-row>"),
        format!("{head}<table:table-row>"),
    ] {
        let error = failure(&open_document(&rows).path().join("book.ods"));
        assert!(matches!(error.kind(), Kind::Malformed | Kind::TooLarge), "{error:?}");
    }
}

/// Opens tables and sets aside what is wrong.
fn lenient(path: &Path) -> Result<Opened, Error> {
    let mut options = OpenOptions { unsound: true, ..OpenOptions::default() };
    options.get_mut::<isomorph_flat::OpenOptions>().lenient = true;
    Opened::open(&Location::from_path(path), &options)
}

/// File and line of each row that is set aside, sorted, with its rule.
fn set_aside(opened: &Opened) -> Vec<(String, u64, &'static str)> {
    let rows = opened.format.set_aside(opened.native.as_ref()).iter();
    let mut all: Vec<_> = rows
        .map(|one| (one.place.file.clone().unwrap_or_default(), one.place.line.unwrap_or_default(), one.rule.id))
        .collect();
    all.sort_unstable();
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// The naive way: rows with wrong cells first, then those whose key is there, then those whose ends are not.
    #[test]
    fn rows_that_are_wrong_are_set_aside_as_a_naive_reader_does(
        nodes in prop::collection::vec((0u8..6, 0u8..5), 0..12),
        edges in prop::collection::vec((0u8..8, 0u8..8, 0u8..6), 0..12),
        parts in 1usize..3,
    ) {
        let age = |kind: u8| ["", "7", "x", "-3", "4000000000"][usize::from(kind)];
        let weight = |kind: u8| ["", "1.5", "2", "1,5", "NaN", "0.25"][usize::from(kind)].replace(',', ";");
        let head = ["id:ID,age:int\n", ":START_ID,:END_ID,:TYPE,w:double\n"];
        let node = |(id, kind): &(u8, u8)| format!("{id},{}\n", age(*kind));
        let edge = |(from, to, kind): &(u8, u8, u8)| format!("{from},{to},K,{}\n", weight(*kind));
        let middle = nodes.len() / parts;
        let text = |head: &str, rows: Vec<String>| format!("{head}{}", rows.concat());
        let dirty = directory(&[
            ("n.csv", &text(head[0], nodes[..middle].iter().map(node).collect())),
            ("n-2.csv", &text("", nodes[middle..].iter().map(node).collect())),
            ("r.csv", &text(head[1], edges.iter().map(edge).collect())),
        ]);
        let (mut wrong, mut ids, mut clean) = (Vec::new(), Vec::new(), [Vec::new(), Vec::new()]);
        for (at, own) in nodes.iter().enumerate() {
            let (file, line) = if at < middle { ("n.csv", at + 2) } else { ("n-2.csv", at - middle + 1) };
            let rule = match own {
                (_, 2 | 4) => "TEXT-VALUE",
                (id, _) if ids.contains(id) => "FLAT-KEY",
                (id, _) => {
                    ids.push(*id);
                    clean[0].push(node(own));
                    continue;
                }
            };
            wrong.push((file.to_owned(), line as u64, rule));
        }
        for (at, own) in edges.iter().enumerate() {
            let rule = match own {
                (_, _, 3) => "TEXT-VALUE",
                (from, to, _) if !ids.contains(from) || !ids.contains(to) => "FLAT-END",
                _ => {
                    clean[1].push(edge(own));
                    continue;
                }
            };
            wrong.push(("r.csv".to_owned(), at as u64 + 2, rule));
        }
        wrong.sort_unstable();
        // Without a row, nothing says that a file of Neo4j has relations.
        prop_assume!(!clean[1].is_empty());
        let clean = directory(&[("n.csv", &text(head[0], clean[0].clone())), ("r.csv", &text(head[1], clean[1].clone()))]);
        let read = lenient(dirty.path()).unwrap();
        prop_assert_eq!(set_aside(&read), wrong.clone());
        prop_assert_eq!(digests(&read).unwrap(), digests(&open(clean.path())).unwrap());
        prop_assert_eq!(digests(&read).unwrap(), digests(&lenient(clean.path()).unwrap()).unwrap());
        prop_assert_eq!(wrong.is_empty(), opened(dirty.path()).and_then(|opened| digests(&opened)).is_ok());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Whatever is changed in a workbook, packed or before it is packed, reading it ends with a graph or an error.
    #[test]
    fn damaged_workbooks_end_in_errors(
        which in 0usize..3,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..3), 1..6),
    ) {
        let home = tempfile::tempdir().unwrap();
        let change = |bytes: &mut Vec<u8>| {
            for (at, byte, how) in &edits {
                let at = at.index(bytes.len().max(1));
                match how {
                    0 if at < bytes.len() => bytes[at] = *byte,
                    1 => bytes.insert(at.min(bytes.len()), *byte),
                    _ if at < bytes.len() => {
                        bytes.remove(at);
                    }
                    _ => {}
                }
            }
        };
        let name = ["people.xlsx", "people.ods", "people_xlsxwriter.xlsx"][which];
        let mut bytes = std::fs::read(fixture(format!("inout/workbook/{name}"))).unwrap();
        change(&mut bytes);
        std::fs::write(home.path().join(name), &bytes).unwrap();
        let _ = opened(&home.path().join(name)).and_then(|opened| digests(&opened));
        let cell = "<table:table-cell office:value-type=\"float\" office:value=\"1\" table:number-columns-repeated=\"2\"/>";
        let rows = format!("<table:table-row table:number-rows-repeated=\"2\">{cell}<table:table-cell office:value-type=\"string\"><text:p>a&amp;<text:s/></text:p></table:table-cell></table:table-row>");
        let mut xml = format!("<x xmlns:office=\"o\" xmlns:table=\"t\" xmlns:text=\"x\"><table:table table:name=\"nodes\">{rows}</table:table></x>").into_bytes();
        change(&mut xml);
        let text = String::from_utf8_lossy(&xml).into_owned();
        std::fs::write(home.path().join("b.ods"), archive(&[("content.xml".to_owned(), text)])).unwrap();
        let _ = opened(&home.path().join("b.ods")).and_then(|opened| digests(&opened));
    }
}
