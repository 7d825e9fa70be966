//! A selection of files is the same as that of the same graph in memory; and what it does not read.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::Array;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use isomorph_convert::{ConvertOptions, Format, OpenOptions, Opened, Plan, SidecarUse, Silent, convert, digest};
use isomorph_dataset::{Sample, Selected, Selection, parse_condition};
use isomorph_error::Error;
use isomorph_graphar::info::{AdjListType, FileType};
use isomorph_graphar::write::Grouping;
use isomorph_graphar::{GraphAr, OpenOptions as GraphArOptions};
use isomorph_model::{
    Batch, Comparison, EdgeOrder, Literal, MemoryGraph, Predicate, Property, Request, Source, Tables,
};
use isomorph_storage::{Location, Resources};

fn resources() -> Resources {
    Resources::of_this_machine().unwrap()
}

fn social() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/social")
}

fn copied(from: &Path, to: &Path, options: &ConvertOptions) {
    let opened = Opened::open(&Location::from_path(from), &OpenOptions::default()).unwrap();
    let (to, resources) = (Location::from_path(to), resources());
    let plan = Plan::new(&opened, &to, options, &resources, &Silent).unwrap();
    convert(&opened, &plan, &to, options, &resources, &Silent).map(|_| ()).unwrap();
}

/// The same numbers in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }
}

/// A condition on a property, usually with a value that it has in some row.
fn condition(dice: &mut Dice, whole: &MemoryGraph, of: (bool, usize), properties: &[Property]) -> Option<Predicate> {
    use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    let at = dice.below(properties.len().max(1));
    let name = &properties.get(at)?.name;
    let column = |batch: &Batch| match batch {
        Batch::Nodes(nodes) if of == (true, nodes.ty) => nodes.properties.get(at).cloned().flatten(),
        Batch::Edges(edges) if of == (false, edges.ty) => edges.properties.get(at).cloned().flatten(),
        _ => None,
    };
    let columns: Vec<_> = whole.batches.iter().filter_map(column).filter(|column| !column.is_empty()).collect();
    let one = match dice.below(6) {
        _ if columns.is_empty() => Predicate::IsNull(name.clone()),
        0 => Predicate::IsNull(name.clone()),
        1 => Predicate::IsNotNull(name.clone()),
        _ => {
            let column = dice.pick(&columns);
            let row = dice.below(column.len());
            let text =
                ArrayFormatter::try_new(column.as_ref(), &FormatOptions::default()).unwrap().value(row).to_string();
            let comparison = dice.pick(&[Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual]);
            Predicate::compare(name, comparison, Literal::Text(text))
        }
    };
    Some(if dice.below(4) == 0 { Predicate::Not(Box::new(one)) } else { one })
}

fn random(dice: &mut Dice, whole: &MemoryGraph) -> Selection {
    let graph = &whole.graph;
    let mut selection = Selection::default();
    for _ in 0..dice.below(4) {
        let is_node = dice.below(2) == 0 || graph.edges.is_empty();
        let ty = dice.below(if is_node { graph.nodes.len() } else { graph.edges.len() });
        let (name, properties) = match is_node {
            true => (graph.nodes[ty].name.clone(), &graph.nodes[ty].properties),
            false => {
                let (source, relation, target) = graph.edge_name(&graph.edges[ty]);
                (format!("{source} {relation} {target}"), &graph.edges[ty].properties)
            }
        };
        let of = |dice: &mut Dice| condition(dice, whole, (is_node, ty), properties);
        let predicate = match dice.below(3) {
            0 => of(dice).zip(of(dice)).map(|(one, other)| Predicate::And(vec![one, other])),
            1 => of(dice).zip(of(dice)).map(|(one, other)| Predicate::Or(vec![one, other])),
            _ => of(dice),
        };
        selection.conditions.extend(predicate.map(|predicate| (name, predicate)));
    }
    let all: Vec<&Property> = graph
        .nodes
        .iter()
        .flat_map(|ty| &ty.properties)
        .chain(graph.edges.iter().flat_map(|ty| &ty.properties))
        .collect();
    if dice.below(3) == 0 && !all.is_empty() {
        selection.columns = Some((0..dice.below(3)).map(|_| dice.pick(&all).name.clone()).collect());
    }
    if dice.below(4) == 0 {
        let fixed = graph.edges.iter().filter_map(|ty| ty.relation.fixed().map(str::to_owned));
        let names: Vec<String> = graph.nodes.iter().map(|ty| ty.name.clone()).chain(fixed).collect();
        selection.types = Some((0..1 + dice.below(2)).map(|_| dice.pick(&names)).collect());
    }
    match dice.below(6) {
        0 => selection.limit = Some(dice.below(20) as u64),
        1 => selection.sample = Some(Sample { rows: dice.below(20) as u64, seed: dice.below(3) as u64 }),
        _ => {}
    }
    selection.keep_dangling = dice.below(5) == 0;
    selection
}

/// Everything about the selected part: the description with its counts, the digests, the edges in each order, the ends
/// alone.
fn known(source: Arc<dyn Source>, selection: &Selection) -> Result<Vec<String>, Error> {
    let resources = resources();
    let selected = Selected::new(source, selection, &resources, &Silent)?;
    let graph = selected.graph().clone();
    let mut found = vec![format!("{:?}", digest(&selected, &resources, &Silent)?.digests.content)];
    let rows = |request: &Request| -> Result<usize, Error> {
        selected.scan(request)?.into_iter().flatten().map(|batch| Ok(batch?.rows())).sum()
    };
    for (ty, node) in graph.nodes.iter().enumerate() {
        let count = rows(&Request::of(Tables::Nodes(ty)))?;
        assert_eq!(rows(&Request::of(Tables::NodeKeys(ty)))?, count, "{}", node.name);
        assert!(node.rows.is_none_or(|rows| rows == count as u64), "{}: {count} of {:?}", node.name, node.rows);
        found.push(format!("{} {count} {:?}", node.name, node.properties));
    }
    for (ty, edge) in graph.edges.iter().enumerate() {
        let count = rows(&Request::of(Tables::Edges(ty)))?;
        assert_eq!(rows(&Request::of(Tables::EdgeEnds(ty)))?, count);
        for order in selected.edge_orders(ty) {
            assert_eq!(rows(&Request::of(Tables::Edges(ty)).in_order(order))?, count, "{order:?}");
            assert!(order != EdgeOrder::Any);
        }
        assert!(edge.rows.is_none_or(|rows| rows == count as u64), "{count} of {:?}", edge.rows);
        found.push(format!("{:?} {count}", graph.edge_name(edge)));
    }
    Ok(found)
}

/// Compares selections of a graph on disk with those in memory; returns how many of them are not empty.
fn compare(name: &str, at: &Path, sidecar: SidecarUse, seed: u64, rounds: usize) -> usize {
    let opened = Opened::open(&Location::from_path(at), &OpenOptions { sidecar, ..OpenOptions::default() }).unwrap();
    let whole = Arc::new(MemoryGraph::read(opened.graph.as_ref()).unwrap());
    let (mut dice, mut left) = (Dice(seed), 0);
    for round in 0..rounds {
        let selection = random(&mut dice, &whole);
        let files = known(Arc::clone(&opened.graph), &selection);
        let memory = known(Arc::clone(&whole) as Arc<dyn Source>, &selection);
        match (files, memory) {
            (Ok(files), Ok(memory)) => {
                assert_eq!(files, memory, "{name} {sidecar:?} {round}: {selection:?}");
                left += 1;
            }
            (Err(files), Err(memory)) => {
                assert_eq!(files.kind(), memory.kind(), "{name} {sidecar:?} {round}: {files} {memory} {selection:?}");
            }
            (files, memory) => panic!("{name} {sidecar:?} {round}: {files:?} {memory:?} {selection:?}"),
        }
    }
    left
}

#[test]
fn files_of_graphar_are_chosen_from_as_the_graph_in_memory() {
    let home = tempfile::tempdir().unwrap();
    let layouts = [
        (FileType::Parquet, Grouping::Each),
        (FileType::Parquet, Grouping::One),
        (FileType::Orc, Grouping::Each),
        (FileType::Csv, Grouping::One),
        (FileType::Json, Grouping::Each),
    ];
    let mut left = compare("social", &social(), SidecarUse::Auto, 1, 20);
    for (seed, (file_type, grouping)) in (2..).zip(layouts) {
        let mut options = ConvertOptions { to: Some(Format::GRAPHAR), ..ConvertOptions::default() };
        let write = options.write.get_mut::<isomorph_graphar::WriteOptions>();
        write.file_type = Some(file_type);
        write.grouping = Some(grouping);
        (write.vertex_chunk, write.edge_chunk) = (Some(128), Some(100));
        write.adjacency = Some(match seed % 2 {
            0 => vec![AdjListType::OrderedBySource, AdjListType::OrderedByDest],
            _ => vec![AdjListType::UnorderedByDest],
        });
        let to = home.path().join(format!("{seed}"));
        copied(&social(), &to, &options);
        left += compare(&format!("{file_type:?} {grouping:?}"), &to, SidecarUse::Ignore, seed, 20);
    }
    assert!(left > 90, "{left} of 120");
}

#[test]
fn files_of_other_formats_are_chosen_from_as_the_graph_in_memory() {
    let home = tempfile::tempdir().unwrap();
    let mut left = 0;
    for (seed, format) in (1..).zip([Format::NOCK, Format::ANNNET, Format::DEEPGNN, Format::GRAPHLAKE, Format::RDF]) {
        let name = if format == Format::RDF { "social.nt" } else { "social" };
        let to = home.path().join(format!("{seed}-{name}"));
        copied(&social(), &to, &ConvertOptions { to: Some(format), ..ConvertOptions::default() });
        for sidecar in [SidecarUse::Auto, SidecarUse::Ignore] {
            left += compare(format.id(), &to, sidecar, seed, 12);
        }
    }
    assert!(left > 40, "{left} of 120");
}

/// The last ten nodes, by the statistics of the key: nothing of the first chunk, and one page of the second.
#[test]
fn conditions_are_pushed_down_to_the_files() {
    const NODES: usize = 200_000;
    let home = tempfile::tempdir().unwrap();
    let (from, to) = (home.path().join("n.csv"), home.path().join("g"));
    let mut text = "src_name,edge_id,rel_name,dst_name,truth,shadow,is_rdf,labels,props\n".to_owned();
    for row in 0..NODES {
        let word = row.wrapping_mul(2_654_435_761) % 1_000_003;
        text += &format!(
            "\"n{row:06}\",-1,\"\",\"\",1.0,-1,False,\"\",\"{{\"\"age\"\":{row},\"\"word\"\":\"\"w{word}\"\"}}\"\n"
        );
    }
    std::fs::write(&from, text).unwrap();
    let mut options = ConvertOptions { to: Some(Format::GRAPHAR), ..ConvertOptions::default() };
    options.write.get_mut::<isomorph_graphar::WriteOptions>().vertex_chunk = Some(150_000);
    copied(&from, &to, &options);
    let read = |conditions: &[&str], columns: Option<&str>| {
        let graph = Arc::new(GraphAr::open(&Location::from_path(&to), &GraphArOptions::default()).unwrap());
        let conditions = conditions.iter().map(|condition| parse_condition(condition).unwrap()).collect();
        let columns = columns.map(|name| vec![name.to_owned()]);
        let selection = Selection { conditions, columns, ..Selection::default() };
        let before = graph.root().bytes_read();
        let selected = Selected::new(Arc::clone(&graph) as Arc<dyn Source>, &selection, &resources(), &Silent).unwrap();
        let parts = selected.scan(&Request::of(Tables::Nodes(0))).unwrap();
        let rows: usize = parts.into_iter().flatten().map(|batch| batch.unwrap().rows()).sum();
        (rows, graph.root().bytes_read() - before)
    };
    let (all, bytes) = read(&[], None);
    assert_eq!(all, NODES);
    for condition in ["node: age >= 199990", "node: id >= 'n199990'"] {
        let (few, fewer) = read(&[condition], None);
        assert_eq!(few, 10, "{condition}");
        assert!(fewer * 3 < bytes * 2, "{condition}: {fewer} of {bytes} bytes");
    }
    let (ages, fewer) = read(&[], Some("age"));
    assert!(ages == NODES && fewer * 4 < bytes * 3, "{fewer} of {bytes} bytes");
}
