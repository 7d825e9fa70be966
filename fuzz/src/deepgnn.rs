//! DeepGNN: texts, as a whole and in several files, and a valid binary with one file replaced by the input.

use std::collections::BTreeMap;
use std::path::Path;

use isomorph::convert::{ConvertOptions, Digested, Format, OpenOptions, Opened, Plan, Silent, convert, digest};
use isomorph::error::{Findings, Severity};
use isomorph::formats::deepgnn::{DeepGnn, OpenOptions as DeepGnnOptions, TextFormat};
use isomorph::model::{NodeId, Side, Source};
use isomorph::{Error, Kind, Location, Result};

use crate::home::{home, resources};

pub(crate) const WORDS: &[&str] = &[
    "-1 ",
    "\n",
    "\t",
    "|",
    ";",
    ",-1,",
    " float32 2 ",
    " uint8 3,3 ",
    " uint8 0",
    "binary_feature 1 ",
    ",float32,2,",
    ",int64,2/0,",
    ",binary,1,a\\,b",
    "f32:",
    "i64:",
    "b:",
    "\"node_id\": ",
    "\"edge\": [",
    "{\"src_id\": 1, \"dst_id\": 2, \"edge_type\": 0, \"weight\": 1}",
    "\"float_feature\": {\"0\": [1, 2]}",
    "\"sparse_int64_feature\": {\"1\": {\"coordinates\": [[0, 1]], \"values\": [2]}}",
    "\"binary_feature\": {\"2\": \"x\"}",
    "\"created_at\": 3",
    "18446744073709551615",
    "1e3",
    ".5",
    "nan",
];

/// A graph with all kinds of features in JSON; the other texts and the binary are made from it.
const SEED: &str = r#"{"node_id": 1, "node_type": 0, "node_weight": 1.5, "float_feature": {"0": [1, 2.5]}, "binary_feature": {"1": "ab"}, "edge": [{"src_id": 1, "dst_id": 2, "edge_type": 0, "weight": 0.5, "int64_feature": {"0": [7]}}, {"src_id": 1, "dst_id": 9, "edge_type": 1, "weight": 2}]}
{"node_id": 2, "node_type": 1, "node_weight": 0, "sparse_float_feature": {"2": {"coordinates": [[0, 3], [1, 4]], "values": [1, 2]}}, "edge": []}
{"node_id": 5, "node_type": 1, "node_weight": 2, "edge": [{"src_id": 5, "dst_id": 1, "edge_type": 1, "weight": 1}]}
"#;

/// The format that the first byte of an input selects; its third bit requests the behaviour of the published converter.
fn format(choice: u8) -> TextFormat {
    TextFormat::ALL[usize::from(choice) % TextFormat::ALL.len()]
}

pub(crate) fn text_seeds() -> Vec<Vec<u8>> {
    let texts: [&[u8]; 4] = [
        b"-1 1 0 1.5 float32 2 1 2.5 binary_feature 1 ab 1 2 0 .5 int64 1 7 1 9 1 2\n-1 2 1 0 uint8 0 uint8 0 float32 2,2,2 0 3 1 4 1 2\n",
        b"1,-1,0,1.5,float32,2,1,2.5,binary,1,a\\,b\n1,0,2,.5,int64,1,7\n1,1,9,2\n2,-1,1,0,uint8,0,float32,2/2,0,3,1,4,1,2\n",
        SEED.as_bytes(),
        b"1\t0\t1.5\tf32:1 2.5;b:ab\t2,0,0.5,i64:7|9,1,2\n2\t1\t0\t\t\n",
    ];
    let each = texts.iter().enumerate();
    each.flat_map(|(number, text)| [number as u8, number as u8 + 4].map(|choice| [&[choice][..], text].concat()))
        .collect()
}

pub(crate) fn check_text(data: &[u8]) {
    let Some((choice, text)) = data.split_first() else { return };
    let (format, home) = (format(*choice), home());
    let options = DeepGnnOptions { format: Some(format), compat: choice & 4 != 0, ..DeepGnnOptions::default() };
    let file = home.path().join(format!("input.{}", format.id()));
    std::fs::write(&file, text).expect("a file");
    let read = |path: &Path| -> Result<Digested> {
        digest(&DeepGnn::open(&Location::from_path(path), &options)?, &resources(home.path()), &Silent)
    };
    let whole = read(&file);
    if let Err(error) = &whole {
        assert_bad_input(error);
    }
    // One line per file gives the same result. Multi-line objects are detected by the first one.
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let is_pretty = format == TextFormat::Json && !lines.first().is_some_and(|line| line.trim_ascii().ends_with(b"}"));
    if (2..100).contains(&lines.len()) && !is_pretty {
        let pieces = home.path().join("pieces");
        std::fs::create_dir(&pieces).expect("a folder");
        for (number, line) in lines.iter().enumerate() {
            std::fs::write(pieces.join(format!("part-{number}.{}", format.id())), line).expect("a file");
        }
        let split = read(&pieces);
        assert_eq!(whole.is_ok(), split.is_ok(), "{whole:?} {split:?}");
        if let (Ok(whole), Ok(split)) = (&whole, &split) {
            assert_eq!(whole.digests, split.digests);
        }
    }
    // A binary, and another text: verified, or refused.
    let other = self::format(choice.wrapping_add(1 + (choice >> 3) % 3));
    for text in [None, Some(other)] {
        let mut write = ConvertOptions { to: Some(Format::DEEPGNN), ..ConvertOptions::default() };
        write.write.get_mut::<isomorph::formats::deepgnn::WriteOptions>().text = text;
        write.write.get_mut::<isomorph::formats::deepgnn::WriteOptions>().binary.partitions =
            1 + u32::from(*choice >> 6);
        let mut open = OpenOptions { from: Some(Format::DEEPGNN), ..OpenOptions::default() };
        open.own.set(options.clone());
        match converted(&file, &home.path().join("made"), &open, &write, home.path()) {
            Ok(()) => assert!(whole.is_ok(), "{whole:?}"),
            Err(error) => assert_bad_input(&error),
        }
        let _ = std::fs::remove_dir_all(home.path().join("made"));
        let _ = std::fs::remove_file(home.path().join("made"));
    }
}

/// The files of a valid binary with this many partitions.
pub(crate) fn template(partitions: u32) -> BTreeMap<String, Vec<u8>> {
    let home = home();
    let (text, made) = (home.path().join("seed.json"), home.path().join("made"));
    std::fs::write(&text, SEED).expect("a file");
    let open = OpenOptions { from: Some(Format::DEEPGNN), ..OpenOptions::default() };
    let mut write = ConvertOptions { to: Some(Format::DEEPGNN), ..ConvertOptions::default() };
    write.write.get_mut::<isomorph::formats::deepgnn::WriteOptions>().binary.watermark = Some(10);
    write.write.get_mut::<isomorph::formats::deepgnn::WriteOptions>().binary.partitions = partitions;
    converted(&text, &made, &open, &write, home.path()).expect("a sound text");
    let entries = std::fs::read_dir(&made).expect("a folder").map(|entry| entry.expect("an entry").path());
    let name = |path: &Path| path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    entries.filter(|path| path.is_file()).map(|path| (name(&path), std::fs::read(&path).expect("a file"))).collect()
}

thread_local! {
    static TEMPLATE: BTreeMap<String, Vec<u8>> = template(1);
}

pub(crate) fn binary_seeds() -> Vec<Vec<u8>> {
    TEMPLATE.with(|files| {
        let files = files.values().enumerate();
        files.map(|(number, bytes)| [&[number as u8][..], bytes].concat()).collect()
    })
}

pub(crate) fn check_binary(data: &[u8]) {
    let Some((choice, bytes)) = data.split_first() else { return };
    let home = home();
    let graph = home.path().join("graph");
    std::fs::create_dir(&graph).expect("a folder");
    TEMPLATE.with(|files| {
        let changed = usize::from(*choice) % files.len();
        for (number, (name, own)) in files.iter().enumerate() {
            std::fs::write(graph.join(name), if number == changed { bytes } else { own }).expect("a file");
        }
    });
    let opened = match DeepGnn::open(&Location::from_path(&graph), &DeepGnnOptions::default()) {
        Ok(opened) => opened,
        Err(error) => return assert_bad_input(&error),
    };
    let mut findings = Findings::keeping(1);
    let checked = opened.validate(&mut findings);
    let is_sound = checked.is_ok() && findings.worst() < Some(Severity::Error);
    let read = digest(&opened, &resources(home.path()), &Silent);
    for error in [checked.err(), read.as_ref().err().map(clone)].into_iter().flatten() {
        assert_bad_input(&error);
    }
    // Validation sees everything: a graph without errors can be read, looked up and written again.
    if !is_sound {
        return;
    }
    assert!(read.is_ok(), "found sound: {read:?}");
    for side in [Side::Out, Side::In] {
        match opened.neighbors(0, NodeId::Key("1"), side).and_then(isomorph::model::part::edge_batches) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), Kind::NotFound, "{error:?}"),
        }
    }
    let open = OpenOptions { from: Some(Format::DEEPGNN), ..OpenOptions::default() };
    let mut write = ConvertOptions { to: Some(Format::DEEPGNN), ..ConvertOptions::default() };
    write.write.get_mut::<isomorph::formats::deepgnn::WriteOptions>().binary.partitions = 2;
    let made = converted(&graph, &home.path().join("made"), &open, &write, home.path());
    if let Err(error) = made {
        assert_bad_input(&error);
    }
}

/// A copy of an error, to be inspected twice.
fn clone(error: &Error) -> Error {
    Error::new(error.kind(), error.message())
}

fn converted(source: &Path, made: &Path, open: &OpenOptions, options: &ConvertOptions, home: &Path) -> Result<()> {
    let resources = resources(home);
    let opened = Opened::open(&Location::from_path(source), open)?;
    let destination = Location::from_path(made);
    let plan = Plan::new(&opened, &destination, options, &resources, &Silent)?;
    convert(&opened, &plan, &destination, options, &resources, &Silent).map(|_| ())
}

/// Invalid input, or something that the target cannot store; but never a result that differs from the input.
fn assert_bad_input(error: &Error) {
    let refused = error.kind() == Kind::WouldLose && !error.message().contains("differs from the input");
    let bad = matches!(error.kind(), Kind::Malformed | Kind::TooLarge | Kind::Unsupported | Kind::Incomplete);
    assert!(bad || refused, "{error:?}");
}
