//! Selections of the fixtures: the effect of conditions on members of properties, and conversions of the selected part.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::path::Path;

use arrow_cast::display::{ArrayFormatter, FormatOptions};
use isomorph_convert::{ConvertOptions, Format, OpenOptions, Opened, Plan, SidecarUse, Silent, convert, digest, dump};
use isomorph_dataset::{Dataset, Sample, Selection, TableKind, parse_condition};
use isomorph_error::{Error, Kind};
use isomorph_fixtures::fixture;
use isomorph_model::{Batch, Comparison, Predicate, Request, Tables};
use isomorph_storage::{Location, Resources};
use serde_json::Value;

fn resources() -> Resources {
    Resources::of_this_machine().unwrap()
}

fn opened(place: &Path, sidecar: SidecarUse) -> Opened {
    let options = OpenOptions { sidecar, unsound: true, ..OpenOptions::default() };
    Opened::open(&Location::from_path(place), &options).unwrap_or_else(|error| panic!("{place:?}: {error}"))
}

/// Graphs by name, each opened as often as it is needed.
type Graphs = Vec<(String, Box<dyn Fn() -> Opened>)>;

/// The graphs with golden sidecars, seen through these and as what they are stored as.
fn graphs() -> Graphs {
    let folder = fixture("sidecars");
    let expected = std::fs::read(folder.join("expected.json")).unwrap();
    let expected: serde_json::Map<String, Value> = serde_json::from_slice(&expected).unwrap();
    let mut graphs = Graphs::new();
    for path in expected.keys() {
        for sidecar in [SidecarUse::Auto, SidecarUse::Ignore] {
            let place = folder.join(path);
            graphs.push((format!("{path}, {sidecar:?}"), Box::new(move || opened(&place, sidecar))));
        }
    }
    graphs
}

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((word ^ (word >> 31)) % end.max(1) as u64).unwrap()
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// A selection of the graph that `opened` shows: a condition with a value of its column, types, columns, numbers of
/// nodes.
fn random(dice: &mut Dice, opened: &Opened) -> Selection {
    let graph = opened.graph.graph();
    let dataset = Dataset::new(opened.graph.clone(), resources());
    let mut selection = Selection::default();
    let named = |dice: &mut Dice| match dice.chance(50) && !graph.edges.is_empty() {
        true => {
            let ty = &graph.edges[dice.below(graph.edges.len())];
            let (source, relation, target) = graph.edge_name(ty);
            if relation.is_empty() { format!("{source}_to_{target}") } else { relation }
        }
        false => graph.nodes[dice.below(graph.nodes.len())].name.clone(),
    };
    if dice.chance(25) && !graph.nodes.is_empty() {
        selection.types = Some((0..=dice.below(2)).map(|_| named(dice)).collect());
    }
    let tables = dataset.tables();
    if dice.chance(25) {
        let table = &tables[dice.below(tables.len())];
        selection.columns = Some(vec![table.schema().field(dice.below(table.schema().fields().len())).name().clone()]);
    }
    if dice.chance(70) {
        let table = &tables[dice.below(tables.len())];
        let at = dice.below(table.schema().fields().len());
        let column = table.schema().field(at).name();
        let batches = dataset.scan(table.name()).unwrap().columns([column]).batches().unwrap();
        let mut values = Vec::new();
        for batch in batches {
            let batch = batch.unwrap();
            let cells = ArrayFormatter::try_new(batch.column(0), &FormatOptions::default()).unwrap();
            let there = (0..batch.num_rows()).filter(|row| batch.column(0).is_valid(*row));
            values.extend(there.map(|row| cells.value(row).to_string()));
        }
        let is_element = matches!(
            table.kind(),
            TableKind::Nodes(_) | TableKind::Edges(_) | TableKind::Hyperedges(_) | TableKind::Groups(_)
        );
        if !values.is_empty() && is_element {
            let comparisons = [Comparison::Equal, Comparison::NotEqual, Comparison::Less, Comparison::GreaterOrEqual];
            let value = values[dice.below(values.len())].as_str();
            let condition = Predicate::compare(column.clone(), comparisons[dice.below(4)], value);
            selection.conditions.push((table.name().to_owned(), condition));
        }
    }
    selection.limit = dice.chance(20).then(|| dice.below(6) as u64);
    selection.sample = dice.chance(10).then(|| Sample { rows: dice.below(6) as u64, seed: dice.0 });
    selection.keep_dangling = dice.chance(15);
    selection
}

/// The selected part of every graph is converted to every format and verified; or it is refused for a reason.
#[test]
fn what_is_left_is_a_graph_like_any_other() {
    // For more: ISOMORPH_SELECTIONS=20 cargo test --test selections
    let seeds = std::env::var("ISOMORPH_SELECTIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(2u64);
    let (mut converted, mut selections, mut refused) = (0, 0, BTreeSet::new());
    for (at, (name, open)) in graphs().into_iter().enumerate() {
        for seed in 0..seeds {
            let mut dice = Dice(seed + 1_000 * at as u64);
            let selection = random(&mut dice, &open());
            if selection.is_everything() {
                continue;
            }
            let part = match open().select(&selection, dice.chance(50), &resources(), &Silent) {
                Ok(part) => part.opened,
                Err(error) => {
                    assert!(matches!(error.kind(), Kind::Usage | Kind::Unsupported), "{name}: {error}: {selection:?}");
                    continue;
                }
            };
            selections += 1;
            let before = digest(part.graph.as_ref(), &resources(), &Silent).unwrap().digests;
            for (to, file) in [
                (Format::GRAPHAR, "g.graphar"),
                (Format::NOCK, "g.parq"),
                (Format::ANNNET, "g.annnet"),
                (Format::DEEPGNN, "g.deepgnn"),
                (Format::GRAPHLAKE, "g.lake"),
                (Format::RDF, "g.nq"),
            ] {
                let home = tempfile::tempdir().unwrap();
                let place = home.path().join(file);
                match write(&part, to, &place) {
                    Ok(()) => {
                        let again = opened(&place, SidecarUse::Auto);
                        let after = digest(again.graph.as_ref(), &resources(), &Silent).unwrap().digests;
                        assert_eq!(after.content, before.content, "{name} to {to}: {selection:?}");
                        converted += 1;
                    }
                    Err(error) => {
                        let is_reason = matches!(error.kind(), Kind::Usage | Kind::Unsupported | Kind::WouldLose);
                        assert!(is_reason, "{name} to {to}: {error}: {selection:?}");
                        // annnet cannot store a layer without a node.
                        if error.message().contains("groups layer") {
                            continue;
                        }
                        refused.insert(format!("{name} to {to}: {}: {selection:?}", error.message()));
                    }
                }
            }
        }
    }
    assert!(selections > 80 && converted > 500, "{selections} selections, {converted} converted");
    assert!(refused.is_empty(), "{refused:#?}");
}

fn write(part: &Opened, to: Format, place: &Path) -> Result<(), Error> {
    let options = ConvertOptions { to: Some(to), ..ConvertOptions::default() };
    let (place, resources) = (Location::from_path(place), resources());
    let plan = Plan::new(part, &place, &options, &resources, &Silent)?;
    convert(part, &plan, &place, &options, &resources, &Silent).map(|_| ())
}

/// The graphs at and below a directory of the fixtures.
fn below(path: &Path, found: &mut Graphs) {
    let options = OpenOptions { unsound: true, ..OpenOptions::default() };
    if Opened::open(&Location::from_path(path), &options).is_ok() {
        let place = path.to_owned();
        found.push((path.display().to_string(), Box::new(move || opened(&place, SidecarUse::Auto))));
    } else if path.is_dir() {
        let mut entries: Vec<_> = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        entries.iter().for_each(|entry| below(entry, found));
    }
}

/// The elements of a graph without their properties, but for the member of NOCK's that says that an edge has no direction; nothing of a graph
/// that is too broken to be read.
fn structure(opened: &Opened) -> Option<Vec<String>> {
    let mut out = Vec::new();
    dump(opened.graph.as_ref(), &mut out, &resources(), &Silent).ok()?;
    let is_nock = opened.format_of_graph() == Format::NOCK;
    let element = |line: &str| {
        let mut line: serde_json::Map<String, Value> = serde_json::from_str(line).unwrap();
        let properties = line.remove("properties").unwrap_or_default();
        let bag = line.remove("bag").unwrap_or_default();
        if is_nock && line.contains_key("edge") {
            let said = [&properties, &bag].into_iter().find_map(|own| own.get("directed")).cloned();
            line.extend(said.map(|said| ("said".to_owned(), said)));
        }
        // Values are what columns choose.
        (!line.contains_key("value")).then(|| Value::Object(line).to_string())
    };
    let mut lines: Vec<String> = std::str::from_utf8(&out).unwrap().lines().filter_map(element).collect();
    lines.sort_unstable();
    Some(lines)
}

#[test]
fn columns_leave_everything_but_properties() {
    let mut all = graphs();
    ["annnet", "deepgnn", "nock", "inout"].into_iter().for_each(|name| below(&fixture(name), &mut all));
    let mut compared = 0;
    for (name, open) in all {
        let whole = open();
        let graph = whole.graph.graph();
        let nodes = graph.nodes.iter().flat_map(|ty| &ty.properties);
        let names =
            nodes.chain(graph.edges.iter().flat_map(|ty| &ty.properties)).map(|property| property.name.as_str());
        let names: BTreeSet<String> = names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let Some(expected) = structure(&whole) else { continue };
        for name_of_one in names.iter().take(1).chain(names.iter().skip(1).last()) {
            let selection = columns(&[name_of_one]);
            let part = open().select(&selection, false, &resources(), &Silent);
            let part = part.unwrap_or_else(|error| panic!("{name}, {name_of_one}: {error}")).opened;
            assert_eq!(structure(&part).unwrap(), expected, "{name}, {name_of_one}");
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}

const NOCK: &str = r#"src_name,edge_id,rel_name,dst_name,truth,shadow,is_rdf,labels,props
"bob",-1,"","",1.0,-1,False,"Person","{""age"":7,""name"":""Bob"",""mixed"":1}"
"bob",0,"LIKES","tea",1.0,-1,False,"","{""w"":9}"
"cup",-1,"","",0.5,-1,False,"","{""age"":90,""mixed"":""x""}"
"cup",1,"KNOWS","bob",1.0,-1,False,"","{""w"":1}"
"cup",2,"LIKES","tea",1.0,-1,False,"",""
"may",-1,"","",1.0,-1,False,"Person","{""only"":2}"
"may",3,"LIKES","may",1.0,-1,False,"","{""w"":2}"
"tea",-1,"","",1.0,-1,False,"","{""age"":3,""id"":""bob""}"
"#;

/// The elements that a selection of [`NOCK`] keeps, each as `key` or `source relation target`, and all text.
fn left(selection: &Selection) -> Result<(Vec<String>, String), Error> {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("n.csv");
    std::fs::write(&place, NOCK).unwrap();
    let part = opened(&place, SidecarUse::Auto).select(selection, true, &resources(), &Silent)?;
    let mut out = Vec::new();
    dump(part.opened.graph.as_ref(), &mut out, &resources(), &Silent)?;
    let text = String::from_utf8(out).unwrap();
    let element = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        match line["ends"].as_array() {
            Some(ends) => {
                let text = |value: &Value| value.as_str().unwrap().to_owned();
                format!("{} {} {}", text(&ends[0]), text(&line["edge"]), text(&ends[1]))
            }
            None => line["key"].as_str().unwrap().to_owned(),
        }
    };
    Ok((text.lines().map(element).collect(), text))
}

fn with(conditions: &[&str]) -> Selection {
    let conditions = conditions.iter().map(|text| parse_condition(text).unwrap()).collect();
    Selection { conditions, ..Selection::default() }
}

#[test]
fn members_of_properties_are_columns() {
    let elements = |conditions: &[&str]| left(&with(conditions)).map(|(elements, _)| elements);
    assert_eq!(elements(&["node: age > 5"]).unwrap(), ["bob", "cup", "cup KNOWS bob"]);
    assert_eq!(elements(&["node: age > 5", "node: truth = 1"]).unwrap(), ["bob"]);
    assert_eq!(elements(&["node: age > 5 and truth = 1"]).unwrap(), ["bob"]);
    assert_eq!(elements(&["node: has label \"Person\""]).unwrap(), ["bob", "may", "may LIKES may"]);
    assert_eq!(elements(&["node: not age > 5"]).unwrap(), ["tea"]);
    // Properties of edges of other relations are not tested.
    let likes = elements(&["LIKES: w > 5"]).unwrap();
    assert_eq!(likes.iter().filter(|element| element.contains(' ')).count(), 2, "{likes:?}");
    assert!(elements(&["node: agee > 5"]).unwrap_err().message().contains("did you mean age?"));
    assert_eq!(elements(&["node: mixed = 1"]).unwrap_err().kind(), Kind::Unsupported);
    assert_eq!(elements(&["LIKE: w > 5"]).unwrap_err().kind(), Kind::Usage);
    let columns = |names: &[&str]| {
        let columns = Some(names.iter().map(|name| (*name).to_owned()).collect());
        left(&Selection { columns, ..Selection::default() }).map(|(_, text)| text)
    };
    let shown = columns(&["age"]).unwrap();
    assert!(shown.contains("\"age\":7") && !shown.contains("Bob") && shown.contains("\"truth\":0.5"), "{shown}");
    assert!(columns(&["LIKES.w"]).unwrap().contains("\"w\":9"));
    assert!(!columns(&["LIKES.w"]).unwrap().contains("\"w\":1,") && !columns(&["truth"]).unwrap().contains("\"w\""));
    assert!(columns(&["wage"]).is_err());
}

/// A member with the name of a column of the format is a different property, and so is null if there is no member.
#[test]
fn edges_that_lose_an_end_are_counted_or_kept() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("n.csv");
    std::fs::write(&place, NOCK).unwrap();
    let select =
        |selection: &Selection| opened(&place, SidecarUse::Auto).select(selection, true, &resources(), &Silent);
    let count = |conditions: &[&str], keep_dangling: bool| {
        let selection = Selection { keep_dangling, ..with(conditions) };
        select(&selection).map(|part| (part.dangling.unwrap(), part.opened.graph.graph().edge_rows()))
    };
    assert_eq!(count(&["node: age > 5"], false).unwrap(), (3, Some(1)));
    assert_eq!(count(&["node: age > 5"], true).unwrap(), (1, Some(3)));
    assert_eq!(count(&["node: truth = 1"], false).unwrap(), (2, Some(2)));
    assert_eq!(count(&["node: age > 5", "node: truth = 1"], false).unwrap(), (4, Some(0)));
    assert_eq!(count(&["node: age > 5", "node: truth = 1"], true).unwrap_err().kind(), Kind::Unsupported);
    let (kept, text) = left(&Selection { keep_dangling: true, ..with(&["node: age > 5"]) }).unwrap();
    assert_eq!(kept, ["bob", "cup", "tea", "cup KNOWS bob", "bob LIKES tea", "cup LIKES tea"], "{text}");
    let bare = "{\"node\":\"node\",\"key\":\"tea\",\"properties\":{\"is_rdf\":false,\"truth\":1.0}}";
    assert!(text.contains(bare), "{text}");
}

/// The lines of a text under a name, opened and selected.
fn lines_of(name: &str, text: &str, selection: &Selection) -> Result<Vec<String>, Error> {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join(name);
    std::fs::write(&place, text).unwrap();
    let part = opened(&place, SidecarUse::Auto).select(selection, true, &resources(), &Silent)?;
    let mut out = Vec::new();
    dump(part.opened.graph.as_ref(), &mut out, &resources(), &Silent)?;
    Ok(String::from_utf8(out).unwrap().lines().map(str::to_owned).collect())
}

fn columns(names: &[&str]) -> Selection {
    Selection { columns: Some(names.iter().map(|name| (*name).to_owned()).collect()), ..Selection::default() }
}

const HEAD: &str = "src_name,edge_id,rel_name,dst_name,truth,shadow,is_rdf,labels,props\n";

#[test]
fn predicates_that_are_not_there_are_refused() {
    let text = "PREFIX e: <http://e/> e:ann e:knows e:bob ; e:name \"Ann\" ; e:age 41 .";
    let lines = |names: &[&str]| lines_of("t.ttl", text, &columns(names));
    assert_eq!(lines(&["http://e/age"]).unwrap().len(), 2);
    let error = lines(&["http://e/nmae"]).unwrap_err();
    assert!(error.message().contains("did you mean http://e/name?"), "{error}");
    assert!(lines(&["e:name"]).is_err() && lines(&["foo.bar"]).is_err() && lines(&["source"]).is_err());
    let types = Selection { types: Some(vec!["http://e/age".to_owned()]), ..Selection::default() };
    assert!(lines_of("t.ttl", text, &types).unwrap_err().hints().any(|hint| hint.contains("--columns")));
}

/// Members with the name of a column that every element has: the plain name is the member, `@` and the role the column.
#[test]
fn members_called_like_roles_are_members() {
    let text = format!(
        "{HEAD}{}",
        r#""ann",-1,"","",1.0,-1,False,"P","{""labels"":""x"",""relation"":1}"
"ann",0,"cites","bob",1.0,-1,False,"","{""source"":""wiki"",""year"":1}"
"bob",-1,"","",1.0,-1,False,"",""
"#
    );
    let edges = |condition: &str| -> usize {
        let lines =
            lines_of("e.csv", &text, &with(&[condition])).unwrap_or_else(|error| panic!("{condition}: {error}"));
        lines.iter().filter(|line| line.starts_with("{\"edge\"")).count()
    };
    assert_eq!(edges("cites: source = \"wiki\""), 1);
    assert_eq!(edges("cites: source = \"wiki\" and year = 1"), 1);
    assert_eq!(edges("cites: source = \"ann\""), 0);
    assert_eq!((edges("cites: @source = \"ann\""), edges("cites: @source = \"bob\"")), (1, 0));
    let shown = lines_of("e.csv", &text, &columns(&["source"])).unwrap().join("\n");
    assert!(shown.contains("\"source\":\"wiki\"") && !shown.contains("year"), "{shown}");
    assert!(lines_of("e.csv", &text, &columns(&["relation"])).unwrap().join("\n").contains("\"relation\":1"));
    assert!(lines_of("e.csv", &text, &columns(&["target"])).is_err());
    // One graph, one result.
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("e.csv");
    std::fs::write(&place, &text).unwrap();
    write(&opened(&place, SidecarUse::Auto), Format::GRAPHAR, &home.path().join("g")).unwrap();
    let part = opened(&home.path().join("g"), SidecarUse::Auto);
    let part = part.select(&with(&["cites: source = \"wiki\""]), true, &resources(), &Silent).unwrap();
    assert_eq!(part.opened.graph.graph().edge_rows(), Some(1));
}

#[test]
fn types_are_chosen_before_nodes_are_kept_for_edges() {
    let text = format!(
        "{HEAD}{}",
        r#""ann",-1,"","",1.0,-1,True,"","{""age"":41}"
"ann",0,"knows","bob",1.0,-1,True,"","{""since"":2019}"
"ann",1,"likes","tea",1.0,-1,True,"",""
"bob",-1,"","",1.0,-1,True,"","{""age"":30}"
"tea",-1,"","",0.5,-1,True,"","{""age"":1}"
"#
    );
    let knows = |conditions: &[&str], keep_dangling: bool| Selection {
        types: Some(vec!["knows".to_owned()]),
        keep_dangling,
        ..with(conditions)
    };
    let lines = |selection: &Selection| lines_of("k.csv", &text, selection);
    let by_member = lines(&knows(&["node: age > 35"], true)).unwrap();
    assert_eq!(by_member, lines(&knows(&["node: @key = \"ann\""], true)).unwrap());
    assert_eq!(by_member.len(), 3, "{by_member:?}");
    // A node at the other end is unchanged.
    assert!(by_member.iter().any(|line| line.contains("\"bob\"") && line.contains("\"is_rdf\":true")), "{by_member:?}");
    // That no edge is selected does not mean that the relation does not exist.
    assert_eq!(lines(&knows(&["node: age < 35"], false)).unwrap().len(), 2);
    assert_eq!(lines(&with(&["node: has label \"P\" and age > 1"])).unwrap().len(), 0);
    // The selected part is verified in every format.
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("k.csv");
    std::fs::write(&place, &text).unwrap();
    for (to, file) in
        [(Format::GRAPHAR, "g"), (Format::NOCK, "g.csv"), (Format::ANNNET, "g.annnet"), (Format::RDF, "g.nq")]
    {
        let part =
            opened(&place, SidecarUse::Auto).select(&knows(&["node: age > 35"], true), true, &resources(), &Silent);
        write(&part.unwrap().opened, to, &home.path().join(file)).unwrap_or_else(|error| panic!("{to}: {error}"));
    }
    let named = Selection { types: Some(vec!["node_knows_node".to_owned()]), ..Selection::default() };
    assert_eq!(lines(&named).unwrap().len(), 4);
    assert_eq!(lines(&with(&["node_likes_node: truth < 1"])).unwrap().len(), 4);
}

#[test]
fn more_members_and_relations_than_have_columns_elsewhere() {
    let mut text = HEAD.to_owned();
    for at in 0..1_200 {
        use std::fmt::Write;
        let _ = writeln!(text, r#""n{at:04}",-1,"","",1.0,-1,False,"","{{""m{at}"":{at},""x"":{at}}}""#);
        let _ = writeln!(text, r#""n{at:04}",0,"rel{at}","n0000",1.0,-1,False,"","{{""w"":{at}}}""#);
    }
    assert_eq!(lines_of("m.csv", &text, &with(&["node: x < 2"])).unwrap().len(), 4);
    assert_eq!(lines_of("m.csv", &text, &columns(&["x"])).unwrap().len(), 2_400);
    assert_eq!(lines_of("m.csv", &text, &with(&["rel5: w = 4"])).unwrap().len(), 2_399);
}

/// Relations in a column of the files are those of the edges, also if only their ends are requested.
#[test]
fn relations_in_a_column_are_relations() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("n.csv");
    std::fs::write(&place, NOCK).unwrap();
    let mut options = ConvertOptions::default();
    options.typing.relations = 0;
    for (format, name) in [(Format::GRAPHAR, "g"), (Format::ANNNET, "g.annnet"), (Format::DEEPGNN, "d")] {
        let to = Location::from_path(&home.path().join(name));
        let options = ConvertOptions { to: Some(format), ..options.clone() };
        let source = opened(&place, SidecarUse::Auto).counted(&resources(), &Silent).unwrap();
        let plan = Plan::new(&source, &to, &options, &resources(), &Silent).unwrap();
        convert(&source, &plan, &to, &options, &resources(), &Silent).unwrap();
        let copy = opened(&home.path().join(name), SidecarUse::Auto);
        let mut relations = BTreeSet::new();
        for batch in copy.graph.scan(&Request::of(Tables::EdgeEnds(0))).unwrap().into_iter().flatten() {
            let Batch::Edges(edges) = batch.unwrap() else { continue };
            let own = edges.relations.unwrap();
            relations.extend(own.index.values().iter().map(|at| own.names.value(*at as usize).to_owned()));
        }
        assert_eq!(relations.into_iter().collect::<Vec<_>>(), ["KNOWS", "LIKES"], "{name}");
        let types = Selection { types: Some(vec!["LIKES".to_owned()]), ..Selection::default() };
        let part = copy.select(&types, true, &resources(), &Silent).unwrap();
        assert_eq!(part.opened.graph.graph().edge_rows(), Some(3), "{name}");
    }
}

/// A graph without edge types, whose members are given by row, and slices of which one contains everything.
#[test]
fn hyperedges_alone_and_slices_alone() {
    let place = fixture("annnet/everything_flat/graph.annnet.d");
    let types = Selection { types: Some(vec!["hyperedge".to_owned()]), ..Selection::default() };
    let slice = with(&["slice: @key = \"s1\""]);
    for selection in [types, slice] {
        let home = tempfile::tempdir().unwrap();
        let lines = |opened: &Opened| {
            let mut out = Vec::new();
            dump(opened.graph.as_ref(), &mut out, &resources(), &Silent).unwrap();
            let mut lines: Vec<String> = String::from_utf8(out).unwrap().lines().map(str::to_owned).collect();
            lines.sort_unstable();
            lines
        };
        let part = opened(&place, SidecarUse::Auto).select(&selection, true, &resources(), &Silent).unwrap().opened;
        for (to, file) in [(Format::GRAPHAR, "g"), (Format::NOCK, "g.parq"), (Format::ANNNET, "g.annnet")] {
            if let Err(error) = write(&part, to, &home.path().join(file)) {
                // It needs a table of edges, which a graph of only hyperedges does not have.
                assert!(to == Format::ANNNET && part.graph.graph().edges.is_empty(), "{to}: {error}: {selection:?}");
                continue;
            }
            assert_eq!(lines(&opened(&home.path().join(file), SidecarUse::Auto)), lines(&part), "{to}: {selection:?}");
        }
    }
}
