//! Every way in which a graph can be damaged: the error names file and rule, and nothing is published.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{Home, PEOPLE, social};

/// One kind of damage: its name, a function that applies it to a graph directory, the file in the error, and the rule.
type Case = (&'static str, fn(&Path), &'static str, &'static str);

const VERTICES: &str = "vertex/node/id_born_died/chunk0";
const LIST: &str = "edge/node_knows_node/ordered_by_source";

/// Damage to a graph with text chunks.
const TEXT: &[Case] = &[
    (
        "a chunk is missing",
        |at| remove(at, "vertex/node/id_born_died/chunk1"),
        "id_born_died/chunk1",
        "GAR-FILE-MISSING",
    ),
    ("an adjacency chunk is missing", |at| remove(at, &adjacency()), "adj_list/part0/chunk0", "GAR-FILE-MISSING"),
    ("an information file is missing", |at| remove(at, "node.vertex.yml"), "node.vertex.yml", "GAR-FILE-MISSING"),
    ("a list is missing", |at| fs::remove_dir_all(at.join(LIST)).unwrap(), "vertex_count", "GAR-FILE-MISSING"),
    (
        "too many vertices are counted",
        |at| count(at, "vertex/node/vertex_count", 4),
        "id_born_died/chunk1",
        "GAR-COUNT-ROWS",
    ),
    (
        "too few vertices are counted",
        |at| count(at, "vertex/node/vertex_count", 2),
        "vertex_count",
        "GAR-COUNT-ALIGNED",
    ),
    (
        "too many edges are counted",
        |at| count(at, &format!("{LIST}/edge_count0"), 9),
        "part0/chunk1",
        "GAR-FILE-MISSING",
    ),
    ("too few edges are counted", |at| count(at, &format!("{LIST}/edge_count0"), 1), "part0/chunk0", "GAR-COUNT-ROWS"),
    (
        "fewer than no vertices are counted",
        |at| count(at, "vertex/node/vertex_count", -1),
        "vertex_count",
        "GAR-COUNT-RANGE",
    ),
    (
        "2^31 vertices are claimed",
        |at| count(at, "vertex/node/vertex_count", 1 << 31),
        "vertex_count",
        "GAR-COUNT-RANGE",
    ),
    (
        "2^31 edges are claimed",
        |at| count(at, &format!("{LIST}/edge_count0"), 1 << 31),
        "edge_count0",
        "GAR-COUNT-RANGE",
    ),
    ("a count file is cut short", |at| write(at, "vertex/node/vertex_count", b"3"), "vertex_count", "GAR-COUNT-SIZE"),
    (
        "an ordered list is not",
        |at| replace(at, &adjacency(), "\n0,1\n1,0\n", "\n1,0\n0,1\n"),
        "part0/chunk0",
        "GAR-EDGE-ORDER",
    ),
    (
        "an offset is beyond the edges",
        |at| replace(at, &offsets(), "\n2\n", "\n200\n"),
        "offset/chunk0",
        "GAR-OFFSET-END",
    ),
    ("offsets fall", |at| replace(at, &offsets(), "\n1\n2\n", "\n3\n2\n"), "offset/chunk0", "GAR-OFFSET-"),
    ("an offset is below the first", |at| replace(at, &offsets(), "\n1\n", "\n-1\n"), "offset/chunk0", "GAR-OFFSET-"),
    ("an offset is missing", |at| replace(at, &offsets(), "\n2\n", "\n"), "offset/chunk0", "GAR-OFFSET-ROWS"),
    ("an edge ends nowhere", |at| replace(at, &adjacency(), "\n1,0\n", "\n1,9\n"), "part0/chunk0", "GAR-EDGE-DANGLING"),
    (
        "an edge ends before the first",
        |at| replace(at, &adjacency(), "\n1,0\n", "\n1,-1\n"),
        "part0/chunk0",
        "GAR-EDGE-DANGLING",
    ),
    (
        "an edge is in a foreign part",
        |at| replace(at, &adjacency(), "\n1,0\n", "\n2,0\n"),
        "part0/chunk0",
        "GAR-EDGE-PART",
    ),
    ("a key is repeated", |at| replace(at, VERTICES, "charles", "ada"), VERTICES, "GAR-KEY-TWICE"),
    ("a key is null", |at| replace(at, VERTICES, "charles", ""), VERTICES, "GAR-KEY-NULL"),
    ("an index is not contiguous", |at| replace(at, VERTICES, "\n1,", "\n5,"), VERTICES, "GAR-INDEX-GAP"),
    ("a value is of another type", |at| replace(at, VERTICES, "1815", "x"), VERTICES, "TEXT-VALUE"),
    ("text is not UTF-8", |at| invalid(at, VERTICES, "charles"), VERTICES, "TEXT-VALUE"),
    ("a manifest is not UTF-8", |at| invalid(at, "node.vertex.yml", "died"), "node.vertex.yml", "GAR-META-YAML"),
    (
        "an anchor",
        |at| replace(at, "node.vertex.yml", "chunk_size: 2", "chunk_size: &a 2"),
        "node.vertex.yml, line 2",
        "GAR-META-ANCHOR",
    ),
    (
        "a YAML bomb of aliases",
        |at| append(at, "x: &a [1, 1]\ny: &b [*a, *a]\nz: [*b, *b]\n"),
        "node.vertex.yml",
        "GAR-META-ANCHOR",
    ),
    (
        "a YAML bomb of brackets",
        |at| append(at, &format!("x: {}{}\n", "[".repeat(9000), "]".repeat(9000))),
        "node.vertex.yml",
        "GAR-META-YAML",
    ),
    ("a key of the manifest is repeated", |at| append(at, "chunk_size: 3\n"), "node.vertex.yml", "GAR-META-KEY-TWICE"),
    (
        "chunks of nothing",
        |at| replace(at, "node.vertex.yml", "chunk_size: 2", "chunk_size: 0"),
        "node.vertex.yml",
        "GAR-META-VALUE",
    ),
    (
        "a name that leads out",
        |at| replace(at, "node.vertex.yml", "vertex/node/", "../../etc/"),
        "../../etc",
        "STO-PATH-ESCAPE",
    ),
    (
        "a name from the root",
        |at| replace(at, "node.vertex.yml", "vertex/node/", "/etc/"),
        "etc/vertex_count",
        "GAR-FILE-MISSING",
    ),
    ("a directory where a chunk should be", |at| directory(at, VERTICES), VERTICES, ""),
    #[cfg(unix)]
    ("a link that leads out", |at| link(at, VERTICES), VERTICES, "STO-PATH-ESCAPE"),
];

/// Damage to Parquet chunks.
const PARQUET: &[Case] = &[
    ("a chunk is cut short", |at| cut(at, VERTICES), VERTICES, "PARQUET-FOOTER"),
    ("an adjacency chunk is cut short", |at| cut(at, &adjacency()), "adj_list/part0/chunk0", "PARQUET-FOOTER"),
    ("bytes of a chunk are damaged", |at| damage(at, &adjacency(), 20), "adj_list/part0/chunk0", "PARQUET-PAGE"),
    ("a chunk is empty", |at| write(at, VERTICES, b""), VERTICES, "PARQUET-FOOTER"),
];

/// Damage to a NOCK text file.
const NOCK: &[(&str, &str, &str, &str)] = &[
    ("props are a list", "{\"\"born\"\": 1815}", "[1]", "NOCK-PROPS-OBJECT"),
    ("props are a number", "{\"\"born\"\": 1815}", "5", "NOCK-PROPS-OBJECT"),
    ("props are cut short", "{\"\"born\"\": 1815}", "{\"\"born\"\":", "NOCK-PROPS-JSON"),
    ("an edge number is text", "\"ada\",0,", "\"ada\",x,", "TEXT-VALUE"),
    (
        "a truth is text",
        "\"\",\"\",1.0,-1,False,\"Person,Writer\"",
        "\"\",\"\",\"yes\",-1,False,\"Person,Writer\"",
        "TEXT-VALUE",
    ),
    ("a quote is missing", "\"mary\",-1", "\"mary,-1", "CSV-RECORD"),
    ("a field is missing", "\"mary\",-1,\"\"", "\"mary\",-1", "CSV-RECORD"),
    ("a column is repeated", "\"src_name\",", "\"src_name\",\"src_name\",", "CSV-HEADER"),
];

fn adjacency() -> String {
    format!("{LIST}/adj_list/part0/chunk0")
}

fn offsets() -> String {
    format!("{LIST}/offset/chunk0")
}

fn remove(at: &Path, name: &str) {
    fs::remove_file(at.join(name)).unwrap();
}

fn write(at: &Path, name: &str, bytes: &[u8]) {
    assert!(at.join(name).exists(), "{name}");
    fs::write(at.join(name), bytes).unwrap();
}

fn count(at: &Path, name: &str, count: i64) {
    write(at, name, &count.to_le_bytes());
}

fn replace(at: &Path, name: &str, from: &str, to: &str) {
    let text = fs::read_to_string(at.join(name)).unwrap();
    assert!(text.contains(from), "{name} has no {from:?}: {text}");
    write(at, name, text.replacen(from, to, 1).as_bytes());
}

fn append(at: &Path, text: &str) {
    let own = fs::read_to_string(at.join("node.vertex.yml")).unwrap();
    write(at, "node.vertex.yml", (own + text).as_bytes());
}

/// Replaces the first byte of a word with one that is not UTF-8.
fn invalid(at: &Path, name: &str, word: &str) {
    let mut bytes = fs::read(at.join(name)).unwrap();
    let place = bytes.windows(word.len()).position(|window| window == word.as_bytes()).unwrap();
    bytes[place] = 0xff;
    write(at, name, &bytes);
}

fn cut(at: &Path, name: &str) {
    let bytes = fs::read(at.join(name)).unwrap();
    write(at, name, &bytes[..bytes.len() / 2]);
}

fn damage(at: &Path, name: &str, place: usize) {
    let mut bytes = fs::read(at.join(name)).unwrap();
    bytes[place..place + 4].fill(0xff);
    write(at, name, &bytes);
}

fn directory(at: &Path, name: &str) {
    remove(at, name);
    fs::create_dir(at.join(name)).unwrap();
}

#[cfg(unix)]
fn link(at: &Path, name: &str) {
    remove(at, name);
    std::os::unix::fs::symlink("/etc/hostname", at.join(name)).unwrap();
}

/// Creates a valid graph of the people, in small chunks of a file type.
fn graph(home: &Home, file_type: &str) -> PathBuf {
    home.write("source.csv", PEOPLE);
    let layout = ["--file-type", file_type, "--vertex-chunk", "2", "--edge-chunk", "2", "--lossy"];
    home.run(&[&["convert", "source.csv", "graph", "--to", "graphar"][..], &layout].concat()).exits(0);
    fs::remove_file(home.at("source.csv")).unwrap();
    home.at("graph")
}

/// Converts a damaged graph, and checks the error and the files afterwards.
#[track_caller]
fn refused(home: &Home, arguments: &[&str], what: &str, file: &str, rule: &str) {
    let before = home.names();
    let done = home.run(arguments);
    assert_eq!(done.code, 3, "{what}: {}\n{}", done.out, done.err);
    assert!(!done.err.contains("panicked"), "{what}: {}", done.err);
    let places: Vec<&str> = done.err.lines().filter(|line| line.starts_with("  file   ")).collect();
    assert_eq!(places.len(), 1, "{what}: {}", done.err);
    assert!(places[0].contains(file), "{what}: {file}: {}", done.err);
    // Some errors have no rule, such as a file that is a directory.
    let named = if rule.is_empty() { "error: ".to_owned() } else { format!("error {rule}") };
    assert!(done.err.contains(&named), "{what}: {rule}: {}", done.err);
    assert!(rule.is_empty() || done.err.contains("\n  try    "), "{what}: {}", done.err);
    assert!(done.err.ends_with("no output was written\n"), "{what}: {}", done.err);
    assert_eq!(home.names(), before, "{what}");
}

fn check(file_type: &str, cases: &[Case]) {
    for (what, damage, file, rule) in cases {
        let home = Home::new();
        damage(&graph(&home, file_type));
        refused(&home, &["convert", "graph", "result.parq"], what, file, rule);
    }
}

#[test]
fn graphs_of_text() {
    check("csv", TEXT);
}

#[test]
fn graphs_of_parquet() {
    check("parquet", PARQUET);
}

#[test]
fn nock_files() {
    for (what, from, to, rule) in NOCK {
        let home = Home::new();
        assert!(PEOPLE.contains(from), "{what}");
        home.write("broken.csv", PEOPLE.replacen(from, to, 1));
        refused(&home, &["convert", "broken.csv", "result", "--to", "graphar"], what, "broken.csv", rule);
    }
}

#[test]
fn a_partition_that_is_half_of_a_killed_write() {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "parts", "--to", "nock", "--partitions", "2", "--lossy"]).exits(0);
    let parts: Vec<String> =
        fs::read_dir(home.at("parts")).unwrap().map(|part| part.unwrap().file_name().into_string().unwrap()).collect();
    let last = parts.iter().max().unwrap();
    cut(&home.at("parts"), last);
    refused(&home, &["convert", "parts", "result", "--to", "graphar"], "half a partition", last, "PARQUET-FOOTER");
}

#[test]
fn a_graph_without_its_last_file_is_none() {
    let home = Home::new();
    remove(&graph(&home, "csv"), "graph.graph.yml");
    let done = home.run(&["convert", "graph", "result.parq"]).exits(3);
    assert!(done.err.contains("  file   graph\n") && done.err.contains("no output was written"), "{}", done.err);
    assert_eq!(home.names(), ["graph"]);
}

/// Every byte of a small file, damaged or truncated: an error, or the same graph.
#[test]
fn a_parquet_file_with_any_byte_damaged() {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "sound.parq", "--lossy"]).exits(0);
    let sound = fs::read(home.at("sound.parq")).unwrap();
    let digest = |name: &str| home.run(&["digest", name, "--json"]);
    // A prime step, so that all parts of the file are reached.
    for place in (0..sound.len()).step_by(53) {
        for cut in [true, false] {
            let mut bytes = sound.clone();
            if cut {
                bytes.truncate(place)
            } else {
                bytes[place] ^= 0x40
            }
            home.write("broken.parq", bytes);
            let done = digest("broken.parq");
            assert!(matches!(done.code, 0 | 3), "byte {place}: {}", done.err);
            assert!(!done.err.contains("panicked"), "byte {place}: {}", done.err);
            assert!(!cut || done.code == 3, "cut at byte {place}: {}", done.out);
        }
    }
}

#[test]
#[cfg(unix)]
fn a_disk_that_is_full() {
    let social = social();
    // A limit on file sizes fails writes as a full disk does: 8 blocks, and no signal.
    for arguments in [&["result", "--to", "graphar", "--file-type", "csv"][..], &["result.parq"]] {
        let home = Home::new();
        let command = home.command(&[&["convert", &social][..], arguments].concat());
        let given: Vec<_> = command.get_args().collect();
        let limited = std::process::Command::new("sh")
            .args(["-c", "trap '' XFSZ; ulimit -f 8 || exit 77; exec \"$0\" \"$@\""])
            .arg(command.get_program())
            .args(given)
            .current_dir(home.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&limited.stderr).into_owned();
        if limited.status.code() == Some(77) {
            isomorph_fixtures::skipped("the size of files cannot be limited here");
            return;
        }
        assert_eq!(limited.status.code(), Some(5), "{said}");
        assert!(said.contains("  file   ") && said.ends_with("no output was written\n"), "{said}");
        assert!(!said.contains("panicked"), "{said}");
        assert_eq!(home.names(), Vec::<String>::new());
    }
}
