//! Workbooks: whole files, a sheet of a sound one, and the content of one of OpenDocument.

use std::io::Write;
use std::path::Path;

use isomorph::Location;
use isomorph::convert::Format;
use isomorph::storage::zip::{ZipPacker, ZipWriter};
use isomorph::storage::{Mode, Scratch, Staging};

use crate::home::home;
use crate::inout::check_at;

pub(crate) const WORDS: &[&str] = &["PK\u{3}\u{4}", "PK\u{1}\u{2}", "PK\u{5}\u{6}", "xl/workbook.xml", "content.xml"];

pub(crate) const SHEET_WORDS: &[&str] = &[
    "<row r=\"2\">",
    "</row>",
    "<row/>",
    "<c r=\"A2\" s=\"2\"><v>",
    "</v></c>",
    "<c r=\"XFD1048576\" t=\"inlineStr\"><is><t>",
    "</t></is></c>",
    "<c t=\"b\"><v>1</v></c>",
    "<c t=\"e\"><v>#N/A</v></c>",
    "<c t=\"d\"><v>2020-01-31T12:00:00</v></c>",
    "<c t=\"s\"><v>0</v></c>",
    "<c t=\"str\"><f>1</f><v></v></c>",
    "_x000D_",
    "_x005F_",
    "&lt;",
    "1e300",
    "-0.0",
    "9007199254740993",
    "60",
];

pub(crate) const CONTENT_WORDS: &[&str] = &[
    "<table:table table:name=\"nodes\">",
    "</table:table>",
    "<table:table-row table:number-rows-repeated=\"1048576\">",
    "</table:table-row>",
    "<table:table-row/>",
    "<table:table-cell table:number-columns-repeated=\"16384\" office:value-type=\"float\" office:value=\"1\"/>",
    "<table:table-cell office:value-type=\"string\"><text:p>a</text:p></table:table-cell>",
    "<table:covered-table-cell/>",
    "<office:annotation><text:p>x</text:p></office:annotation>",
    "<text:s text:c=\"1048576\"/>",
    "<text:tab/>",
    "office:value-type=\"date\" office:date-value=\"2020-01-31\"",
    "office:value-type=\"boolean\" office:boolean-value=\"true\"",
    "office:value-type=\"time\" office:time-value=\"PT1S\"",
    "calcext:value-type=\"error\"",
];

const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELATION: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// An archive of these members in `home`.
fn archive(home: &Path, name: &str, members: &[(&str, &[u8])]) {
    let place = Location::from_path(&home.join(name));
    let staging = Staging::file(&place, Mode::CreateNew).expect("a place for the archive");
    let scratch = Scratch::new(Some(home)).expect("a place for temporary files");
    let mut archive = ZipWriter::new(staging.create(name).expect("a file"), name);
    for (name, bytes) in members {
        let mut packer = ZipPacker::new(scratch.create().expect("a file"));
        packer.write_all(bytes).expect("a member");
        archive.add((*name).to_owned(), &packer.finish().expect("a member")).expect("a member");
    }
    archive.finish().expect("an archive");
    staging.commit(&[]).expect("an archive");
}

/// A workbook whose sheet of nodes has these rows.
fn with_sheet(home: &Path, rows: &[u8]) {
    let sheet = |rows: &[u8]| {
        let begin = format!("<worksheet xmlns=\"{MAIN}\"><sheetData>");
        [begin.as_bytes(), rows, b"</sheetData></worksheet>"].concat()
    };
    let text = |cell: &str, text: &str| format!("<c r=\"{cell}\" t=\"inlineStr\"><is><t>{text}</t></is></c>");
    let edges = format!(
        "<row r=\"1\">{}{}</row><row r=\"2\"><c r=\"A2\"><v>1</v></c><c r=\"B2\"><v>1</v></c></row>",
        text("A1", "source"),
        text("B1", "target")
    );
    let relations = |all: &[(&str, &str)]| {
        let one = |(at, (kind, target)): (usize, &(&str, &str))| {
            format!("<Relationship Id=\"r{at}\" Type=\"{RELATION}/{kind}\" Target=\"{target}\"/>")
        };
        let all: String = all.iter().enumerate().map(one).collect();
        format!(
            "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">{all}</Relationships>"
        )
    };
    let book = format!(
        "<workbook xmlns=\"{MAIN}\" xmlns:r=\"{RELATION}\"><sheets><sheet name=\"nodes\" sheetId=\"1\" r:id=\"r0\"/><sheet name=\"edges\" sheetId=\"2\" r:id=\"r1\"/></sheets></workbook>"
    );
    let parts = [
        ("worksheet", "nodes.xml"),
        ("worksheet", "edges.xml"),
        ("sharedStrings", "texts.xml"),
        ("styles", "styles.xml"),
    ];
    let (package, related) = (relations(&[("officeDocument", "xl/workbook.xml")]), relations(&parts));
    let members: [(&str, &[u8]); 7] = [
        ("_rels/.rels", package.as_bytes()),
        ("xl/workbook.xml", book.as_bytes()),
        ("xl/_rels/workbook.xml.rels", related.as_bytes()),
        ("xl/nodes.xml", &sheet(rows)),
        ("xl/edges.xml", &sheet(edges.as_bytes())),
        ("xl/texts.xml", b"<sst><si><t>a</t></si><si/></sst>"),
        ("xl/styles.xml", b"<styleSheet><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"1\"/><xf numFmtId=\"14\"/><xf numFmtId=\"22\"/><xf numFmtId=\"46\"/></cellXfs></styleSheet>"),
    ];
    archive(home, "input.xlsx", &members);
}

pub(crate) fn check_file(data: &[u8]) {
    let home = home();
    // The ending tells which of the two syntaxes it is.
    for name in ["input.xlsx", "input.ods"] {
        std::fs::write(home.path().join(name), data).expect("a file");
        check_at(&home.path().join(name), home.path(), Format::XLSX);
    }
}

pub(crate) fn check_sheet(data: &[u8]) {
    let home = home();
    with_sheet(home.path(), data);
    check_at(&home.path().join("input.xlsx"), home.path(), Format::XLSX);
}

pub(crate) fn check_content(data: &[u8]) {
    let home = home();
    archive(home.path(), "input.ods", &[("content.xml", data)]);
    check_at(&home.path().join("input.ods"), home.path(), Format::XLSX);
}

const ROWS: &str = "<row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t>id</t></is></c><c r=\"B1\" t=\"s\"><v>0</v></c><c r=\"C1\" t=\"str\"><v>c</v></c></row><row r=\"2\"><c r=\"A2\"><v>1</v></c><c r=\"B2\" s=\"2\"><v>43861</v></c><c r=\"C2\" t=\"b\"><v>1</v></c></row>";

pub(crate) fn sheet_seeds() -> Vec<Vec<u8>> {
    vec![ROWS.as_bytes().to_vec()]
}

pub(crate) fn file_seeds() -> Vec<Vec<u8>> {
    let home = home();
    with_sheet(home.path(), ROWS.as_bytes());
    archive(home.path(), "input.ods", &[("content.xml", &content_seeds()[0])]);
    ["input.xlsx", "input.ods"].map(|name| std::fs::read(home.path().join(name)).expect("a workbook")).to_vec()
}

pub(crate) fn content_seeds() -> Vec<Vec<u8>> {
    let cell = |text: &str| {
        format!("<table:table-cell office:value-type=\"string\"><text:p>{text}</text:p></table:table-cell>")
    };
    let number = |value: &str| format!("<table:table-cell office:value-type=\"float\" office:value=\"{value}\"/>");
    let table = |name: &str, rows: &[String]| {
        let rows: String = rows.iter().map(|row| format!("<table:table-row>{row}</table:table-row>")).collect();
        format!("<table:table table:name=\"{name}\">{rows}</table:table>")
    };
    let nodes = table("nodes", &[cell("id") + &cell("name"), number("1") + &cell("a")]);
    let edges = table("edges", &[cell("source") + &cell("target"), number("1") + &number("1")]);
    vec![format!("<office:document-content>{nodes}{edges}</office:document-content>").into_bytes()]
}
