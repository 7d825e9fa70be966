//! Graphs that are written as workbooks.
#![allow(clippy::unwrap_used, clippy::panic)]

use isomorph_convert::{
    ConvertOptions, Format, OpenOptions, Opened, Plan, Registry, SidecarUse, Silent, WriteOptions, check_name,
};
use isomorph_error::{Error, Kind};
use isomorph_fixtures::fixture;
use isomorph_storage::Location;
use serde_json::json;

use super::flat_parts::archive;
use super::flat_tables::{columns, digests, directory, lines, open, opened, resources, write};

/// Values that spreadsheets do not keep as their own numbers, dates and texts.
fn awkward() -> (tempfile::TempDir, Opened) {
    let mapping = "CREATE EXTERNAL TABLE p (id VARCHAR NOT NULL, small INTEGER, large BIGINT, huge BIGINT UNSIGNED, real DOUBLE, half REAL, ok BOOLEAN, day DATE, local TIMESTAMP(9), instant TIMESTAMP(6) WITH TIME ZONE, text VARCHAR, json JSON, labels VARCHAR)
STORED AS CSV LOCATION 'p.csv' OPTIONS ('isomorph.labels' 'labels');
CREATE EXTERNAL TABLE q (id BIGINT NOT NULL) STORED AS CSV LOCATION 'q.csv';
CREATE EXTERNAL TABLE k (a VARCHAR, b BIGINT, directed BOOLEAN) STORED AS CSV LOCATION 'k.csv' OPTIONS ('isomorph.directed' 'directed');
CREATE PROPERTY GRAPH awkward VERTEX TABLES (p KEY (id), q KEY (id))
EDGE TABLES (k SOURCE KEY (a) REFERENCES p (id) DESTINATION KEY (b) REFERENCES q (id));
";
    let nodes = "id,small,large,huge,real,half,ok,day,local,instant,text,json,labels
\"\",-1,9007199254740991,18446744073709551615,0.1,0.1,true,1900-02-28,2020-01-02T03:04:05.006,2020-01-02T00:00:00Z,=1+1,\"{\"\"a\"\": 1}\",\"[\"\"A\"\",\"\"B\"\"]\"
 ,0,9007199254740992,9007199254740993,-0.0,nan,false,1900-03-01,2020-01-02T03:04:05.000000001,1899-12-31T12:00:00Z,0012,null,
a,,-9223372036854775808,0,5e-324,inf,,9999-12-31,1970-01-01,2020-01-02T03:04:05.000001Z,\"\",\"\"\"x\"\"\",[]
b,7,,,1e300,,true,0001-01-01,1900-03-01,9999-12-31T23:59:59.999Z,_x000D_ <&>,1.50,\"[\"\"A\"\"]\"
TRUE,,,,-inf,3.4028235e38,,,,,\"a\rb\r\n \",,
1E5,,,,9007199254740993,,,1899-12-30,,,,,
";
    let home = directory(&[
        ("graph.pgq", mapping),
        ("p.csv", nodes),
        ("q.csv", "id\n1\n9007199254740993\n"),
        ("k.csv", "a,b,directed\n\"\",1,true\n ,9007199254740993,false\n\"\",1,true\n"),
    ]);
    let opened = open(home.path());
    (home, opened)
}

#[test]
fn what_spreadsheets_round_comes_back() {
    let (_tables, source) = awkward();
    let home = tempfile::tempdir().unwrap();
    let book = home.path().join("book.xlsx");
    write(&source, Format::XLSX, &book);
    // The workbook alone says it: a mapping is in one of its sheets.
    let options = OpenOptions { sidecar: SidecarUse::Ignore, ..OpenOptions::default() };
    let alone = Opened::open(&Location::from_path(&book), &options).unwrap();
    assert_eq!(alone.format, Format::XLSX);
    assert_eq!(columns(alone.graph.graph()), columns(source.graph.graph()));
    assert_eq!(lines(&alone), lines(&source));
    assert_eq!(digests(&alone).unwrap().content, digests(&source).unwrap().content);
    assert_eq!(digests(&open(&book)).unwrap(), digests(&source).unwrap());
    let recognised = alone.format.recognised(alone.native.as_ref());
    assert!(recognised.contains(&("tables".to_owned(), "by the sheet graph.pgq".to_owned())), "{recognised:?}");
    // Under another name it is the same, and from it a directory of tables.
    let moved = home.path().join("a#b.xlsx");
    std::fs::copy(&book, &moved).unwrap();
    assert_eq!(digests(&open(&moved)).unwrap().content, digests(&source).unwrap().content);
    let tables = home.path().join("tables");
    write(&open(&moved), Format::CSV, &tables);
    assert_eq!(digests(&open(&tables)).unwrap().content, digests(&source).unwrap().content);
}

#[test]
fn names_of_types_become_names_of_sheets() {
    let mapping = "CREATE EXTERNAL TABLE a STORED AS CSV LOCATION 'a.csv';
CREATE EXTERNAL TABLE b STORED AS CSV LOCATION 'a.csv';
CREATE EXTERNAL TABLE c STORED AS CSV LOCATION 'a.csv';
CREATE EXTERNAL TABLE d STORED AS CSV LOCATION 'a.csv';
CREATE PROPERTY GRAPH g VERTEX TABLES (a KEY (id) LABEL \"[x]:*?/\\\", b KEY (id) LABEL History, c KEY (id) LABEL \"graph.pgq\", d KEY (id) LABEL \"a type with a name of more than thirty-one characters\");
";
    let tables = directory(&[("graph.pgq", mapping), ("a.csv", "id\n1\n")]);
    let source = open(tables.path());
    let home = tempfile::tempdir().unwrap();
    let book = home.path().join("book.xlsx");
    write(&source, Format::XLSX, &book);
    let written = open(&book);
    assert_eq!(columns(written.graph.graph()), columns(source.graph.graph()));
    let recognised = written.format.recognised(written.native.as_ref());
    let sheets = "book.xlsx: _x______, History_2, graph_pgq, a_type_with_a_name_of_more_than";
    assert_eq!(recognised[0], ("workbook".to_owned(), sheets.to_owned()));
}

/// The error of a plan for a workbook.
fn refused(files: &[(&str, &str)]) -> Error {
    let home = directory(files);
    let place = Location::from_path(&home.path().join("book.xlsx"));
    let options = ConvertOptions { to: Some(Format::XLSX), ..ConvertOptions::default() };
    let source = open(home.path());
    Plan::new(&source, &place, &options, &resources(), &Silent).map(|_| ()).unwrap_err()
}

#[test]
fn what_no_sheet_has_is_refused_by_the_plan() {
    let long = format!("id,text\n1,{}\n", "x".repeat(32_768));
    let edges = ("edges.csv", "source,target\n1,1\n");
    let error = refused(&[("nodes.csv", long.as_str()), edges]);
    assert_eq!(error.kind(), Kind::WouldLose);
    assert!(error.message().contains("32,767 characters"), "{error:?}");
    assert!(error.place().field.as_deref().is_some_and(|place| place.contains("node 1, text")), "{error:?}");
    let names: Vec<String> = (0..16_384).map(|at| format!("c{at}")).collect();
    let wide = format!("id,{}\n1{}\n", names.join(","), ",".repeat(16_384));
    let error = refused(&[("nodes.csv", wide.as_str()), edges]);
    assert_eq!(error.kind(), Kind::WouldLose);
    assert!(error.message().contains("16384 columns"), "{error:?}");
    let place = Location::from_path(std::path::Path::new("book"));
    let formats = Registry::standard();
    let error = check_name(Format::XLSX, &WriteOptions::default(), &place, &formats).unwrap_err();
    assert!(error.hints().any(|hint| hint.ends_with("book.xlsx")), "{error:?}");
}

/// A graph of another shape comes back through a workbook: what it has no place for is in the sidecar.
#[test]
fn what_cells_have_no_types_for_is_in_the_sidecar() {
    let home = tempfile::tempdir().unwrap();
    let source = open(&fixture("inout/neo4j"));
    let book = home.path().join("book.xlsx");
    write(&source, Format::XLSX, &book);
    assert_eq!(digests(&open(&book)).unwrap(), digests(&source).unwrap());
}

#[test]
fn a_mapping_of_a_workbook_is_checked_as_a_file() {
    let sheet = |rows: &str| format!("<worksheet><sheetData>{rows}</sheetData></worksheet>");
    let text = |cell: &str, text: &str| format!("<c r=\"{cell}\" t=\"inlineStr\"><is><t>{text}</t></is></c>");
    let called = |mapping: &str, name: &str| {
        let rows: String = mapping
            .lines()
            .enumerate()
            .map(|(at, line)| format!("<row r=\"{0}\">{1}</row>", at + 1, text(&format!("A{}", at + 1), line)))
            .collect();
        let people = format!(
            "<row r=\"1\">{}{}</row><row r=\"2\"><c r=\"A2\"><v>1</v></c>{}</row><row r=\"3\"><c r=\"A3\"><v>2</v></c></row>",
            text("A1", "id"),
            text("B1", "name"),
            text("B2", "")
        );
        archive(&[
            (
                "xl/workbook.xml".to_owned(),
                "<workbook><sheets><sheet name=\"people\" r:id=\"r1\"/><sheet name=\"NAME\" r:id=\"r2\"/></sheets></workbook>".replace("NAME", name),
            ),
            (
                "xl/_rels/workbook.xml.rels".to_owned(),
                "<Relationships><Relationship Id=\"r1\" Type=\"/worksheet\" Target=\"1.xml\"/><Relationship Id=\"r2\" Type=\"/worksheet\" Target=\"2.xml\"/></Relationships>".to_owned(),
            ),
            ("xl/1.xml".to_owned(), sheet(&people)),
            ("xl/2.xml".to_owned(), sheet(&rows)),
        ])
    };
    let book = |mapping: &str| called(mapping, "graph.pgq");
    let book_of = |name: &str| called("x", name);
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("b.xlsx");
    let mapping = "CREATE EXTERNAL TABLE p (id BIGINT, name VARCHAR) STORED AS CSV LOCATION '#people';\n\nCREATE PROPERTY GRAPH g VERTEX TABLES (p KEY (id));";
    std::fs::write(&path, book(mapping)).unwrap();
    // An empty text is a text, and an empty cell is none.
    assert_eq!(open(&path).native.about().findings.by_rule().count(), 0);
    let all = lines(&open(&path));
    assert_eq!(all[0]["properties"], json!({"name": ""}));
    assert_eq!(all[1].get("properties"), None);
    // Under another name, the sheet is no mapping: conventions recognise a single table of nodes where a file says so, and an empty text is none.
    let foreign = "CREATE EXTERNAL TABLE p STORED AS CSV LOCATION 'c.xlsx#people';\nCREATE PROPERTY GRAPH g VERTEX TABLES (p KEY (id));";
    std::fs::write(home.path().join("foreign.pgq"), foreign).unwrap();
    std::fs::write(home.path().join("c.xlsx"), book_of("other")).unwrap();
    let read = open(&home.path().join("foreign.pgq"));
    assert_eq!(lines(&read)[0].get("properties"), None);
    let findings = read.native.about().findings;
    let told: Vec<_> = findings.by_rule().flat_map(|(_, kept)| kept).collect();
    assert_eq!((told[0].rule.id, told[0].message.as_str()), ("FLAT-EMPTY-TEXT", "empty texts are read as no value: 1"));
    assert_eq!((told[0].place.file.as_deref(), told[0].place.field.as_deref()), (Some("c.xlsx#people"), Some("B2")));
    std::fs::write(&path, book(&mapping.replace("'#people'", "'#persons'"))).unwrap();
    let error = opened(&path).err().unwrap();
    assert_eq!(error.broken_rule().map(|rule| rule.id), Some("FLAT-MAPPING"), "{error:?}");
    std::fs::write(&path, book(&mapping.replace("KEY (id)", "KEY (nr)"))).unwrap();
    let error = opened(&path).err().unwrap();
    assert_eq!((error.place().file.as_deref(), error.place().line), (Some("b.xlsx#graph.pgq"), Some(3)), "{error:?}");
}

#[test]
fn small_files_do_not_become_large_ones() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("b.ods");
    let cell =
        "<table:table-cell table:number-columns-repeated=\"16384\" office:value-type=\"float\" office:value=\"1\"/>";
    let content = format!(
        "<a><table:table table:name=\"nodes\"><table:table-row table:number-rows-repeated=\"1000000\">{cell}</table:table-row></table:table></a>"
    );
    std::fs::write(&path, archive(&[("content.xml".to_owned(), content)])).unwrap();
    let error = opened(&path).err().unwrap();
    assert_eq!(error.kind(), Kind::TooLarge, "{error:?}");
    // A text that many cells share.
    let cells = "<c t=\"s\"><v>0</v></c>".repeat(1000);
    let files = [
        ("xl/workbook.xml", "<workbook><sheets><sheet name=\"nodes\" r:id=\"r1\"/></sheets></workbook>".to_owned()),
        (
            "xl/_rels/workbook.xml.rels",
            "<Relationships><Relationship Id=\"r1\" Type=\"/worksheet\" Target=\"1.xml\"/><Relationship Id=\"r2\" Type=\"/sharedStrings\" Target=\"2.xml\"/></Relationships>".to_owned(),
        ),
        ("xl/1.xml", format!("<worksheet><sheetData><row>{cells}</row></sheetData></worksheet>")),
        ("xl/2.xml", format!("<sst><si><t>{}</t></si></sst>", "x".repeat(1 << 19))),
    ];
    std::fs::write(home.path().join("b.xlsx"), archive(&files.map(|(name, text)| (name.to_owned(), text)))).unwrap();
    let error = opened(&home.path().join("b.xlsx")).err().unwrap();
    assert_eq!(error.kind(), Kind::TooLarge, "{error:?}");
}
