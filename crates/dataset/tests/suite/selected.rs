//! Selections of the graphs of the zoo, against a naive selection of the texts of all rows.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use isomorph_dataset::{Dataset, Role, Sample, Selected, Selection, Table, TableKind};
use isomorph_error::{Kind, Result};
use isomorph_model::schema::Owner;
use isomorph_model::{
    Comparison, EdgeOrder, Graph, KeyKind, MemoryGraph, Predicate, Progress, Relation, Request, Source, Tables,
};
use isomorph_storage::Resources;
use isomorph_zoo::{bundled, bundled_graphs, five, multilayer, property_graphs};

struct Silent;

impl Progress for Silent {
    fn begin(&self, _: &str, _: Option<u64>) {}
    fn advance(&self, _: u64) -> Result<()> {
        Ok(())
    }
    fn end(&self) {}
}

fn graphs() -> Vec<(String, MemoryGraph)> {
    let five = five().into_iter().map(|(name, graph)| (name.to_owned(), graph));
    let typed = property_graphs().into_iter().map(|(name, graph)| (name.to_owned(), graph));
    let bundled = bundled_graphs().into_iter().map(|(name, graph)| (name.to_owned(), graph));
    let layered = (0..20).map(|seed| (format!("multilayer {seed}"), multilayer(seed)));
    five.chain(typed).chain(bundled).chain(layered).collect()
}

/// A row: cells by their role, or `p:` and the name of the property.
type Row = BTreeMap<String, Option<String>>;

fn name_of(role: Role, name: &str) -> String {
    match role {
        Role::Property(_) => format!("p:{name}"),
        role => format!("@{}", role.word()),
    }
}

fn cells(column: &ArrayRef) -> Vec<Option<String>> {
    let formatter = ArrayFormatter::try_new(column, &FormatOptions::default()).unwrap();
    (0..column.len()).map(|row| (!column.is_null(row)).then(|| formatter.value(row).to_string())).collect()
}

fn rows(dataset: &Dataset, table: &Table, filter: Option<&Predicate>) -> Result<Vec<Row>> {
    let mut scan = dataset.scan(table.name())?;
    if let Some(filter) = filter {
        scan = scan.filter(filter.clone());
    }
    let mut all = Vec::new();
    for batch in scan.batches()? {
        let batch = batch?;
        let names: Vec<String> = (table.roles().iter().zip(table.schema().fields()))
            .map(|(role, field)| name_of(*role, field.name()))
            .collect();
        let columns: Vec<Vec<Option<String>>> = batch.columns().iter().map(cells).collect();
        for row in 0..batch.num_rows() {
            all.push(names.iter().cloned().zip(columns.iter().map(|cells| cells[row].clone())).collect());
        }
    }
    Ok(all)
}

fn table(dataset: &Dataset, kind: TableKind) -> &Table {
    dataset.tables().iter().find(|table| table.kind() == kind).unwrap()
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

/// What makes an element itself: its key, or its position.
fn identity(row: &Row) -> String {
    row.get("@key").or_else(|| row.get("@row")).unwrap().clone().unwrap()
}

fn edge_names(graph: &Graph, ty: usize) -> (String, Option<String>) {
    let own = &graph.edges[ty];
    let (source, relation, target) = graph.edge_name(own);
    match own.relation {
        Relation::Fixed(_) => (format!("{source}_{relation}_{target}"), Some(relation)),
        Relation::PerRow => (format!("{source}_to_{target}"), None),
    }
}

/// A condition on a column with one of its own values.
fn condition(dice: &mut Dice, dataset: &Dataset, table: &Table) -> Predicate {
    let field = table.schema().field(dice.below(table.schema().fields().len()));
    let column = field.name().clone();
    let whole = rows(dataset, table, None).unwrap();
    let at = table.schema().index_of(&column).unwrap();
    let name = name_of(table.roles()[at], &column);
    let values: Vec<&String> = whole.iter().filter_map(|row| row[&name].as_ref()).collect();
    if values.is_empty() || dice.chance(20) {
        return if dice.chance(50) { Predicate::IsNull(column) } else { Predicate::IsNotNull(column) };
    }
    let value = values[dice.below(values.len())].as_str();
    let comparisons = [Comparison::Equal, Comparison::NotEqual, Comparison::Less, Comparison::GreaterOrEqual];
    Predicate::compare(column, comparisons[dice.below(4)], value)
}

fn random(dice: &mut Dice, dataset: &Dataset) -> Selection {
    let graph = dataset.source().graph();
    let mut selection = Selection::default();
    let named = |dice: &mut Dice| match dice.below(3) {
        0 if !graph.edges.is_empty() => {
            let (whole, relation) = edge_names(graph, dice.below(graph.edges.len()));
            relation.filter(|_| dice.chance(50)).unwrap_or(whole)
        }
        1 if !graph.hyperedges.is_empty() => graph.hyperedges[dice.below(graph.hyperedges.len())].name.clone(),
        2 if !graph.groups.is_empty() && dice.chance(30) => graph.groups[dice.below(graph.groups.len())].kind.clone(),
        _ => graph.nodes[dice.below(graph.nodes.len())].name.clone(),
    };
    if dice.chance(30) {
        selection.types = Some((0..=dice.below(3)).map(|_| named(dice)).collect());
    }
    if dice.chance(30) {
        let tables = dataset.tables();
        let mut columns = Vec::new();
        for _ in 0..=dice.below(3) {
            let table = &tables[dice.below(tables.len())];
            let own = table.roles().iter().zip(table.schema().fields());
            let own: Vec<_> = own.filter(|(role, _)| matches!(role, Role::Property(_) | Role::Key)).collect();
            columns.extend(own.get(dice.below(own.len())).map(|(_, field)| field.name().clone()));
        }
        selection.columns = Some(columns).filter(|columns| !columns.is_empty());
    }
    for _ in 0..dice.below(3) {
        let mut tables = dataset.tables().iter().filter(|table| match table.kind() {
            TableKind::Nodes(_) | TableKind::Edges(_) | TableKind::Hyperedges(_) => true,
            TableKind::Groups(kind) => graph.groups[kind].kind == "slice",
            _ => false,
        });
        let at = dice.below(tables.clone().count());
        let table = tables.nth(at).unwrap();
        selection.conditions.push((table.name().to_owned(), condition(dice, dataset, table)));
    }
    if dice.chance(15) {
        selection.limit = Some(dice.below(4) as u64);
    }
    if dice.chance(10) {
        selection.sample = Some(Sample { rows: dice.below(5) as u64, seed: dice.0 });
    }
    selection.keep_dangling = dice.chance(20);
    selection
}

/// What a selection should leave: which types, and of each the rows.
struct Naive<'a> {
    whole: &'a Dataset,
    selection: &'a Selection,
    /// Chosen nodes of each type in their order, if not all, and those that are there as an end alone.
    nodes: BTreeMap<usize, (Vec<String>, BTreeSet<String>)>,
}

impl<'a> Naive<'a> {
    fn graph(&self) -> &'a Graph {
        self.whole.source().graph()
    }

    /// The rows of a table that pass all conditions on it.
    fn passing(&self, kind: TableKind) -> Vec<Row> {
        let table = table(self.whole, kind);
        let graph = self.graph();
        let is_meant = |name: &String| match kind {
            TableKind::Nodes(ty) => graph.nodes[ty].name == *name,
            TableKind::Edges(ty) => {
                let (whole, _) = edge_names(graph, ty);
                let is_node = graph.nodes.iter().any(|ty| ty.name == *name);
                whole == *name && !is_node
            }
            _ => table.name() == name,
        };
        let mine = self.selection.conditions.iter().filter(|(name, _)| is_meant(name));
        let all = Predicate::And(mine.map(|(_, condition)| condition.clone()).collect());
        rows(self.whole, table, Some(&all)).unwrap()
    }

    /// Under which name an end of a type is shown; nothing if it is not.
    fn end(&self, ty: usize, end: &str) -> Option<String> {
        let Some((chosen, _)) = self.nodes.get(&ty) else { return Some(end.to_owned()) };
        let at = chosen.iter().position(|own| own == end)?;
        let is_row = self.graph().nodes[ty].key.kind == KeyKind::Row;
        Some(if is_row { at.to_string() } else { end.to_owned() })
    }

    fn is_bare(&self, ty: usize, end: &str) -> bool {
        self.nodes.get(&ty).is_some_and(|(_, bare)| bare.contains(end))
    }

    fn edges(&self, ty: usize) -> Vec<Row> {
        let own = &self.graph().edges[ty];
        let mut shown = Vec::new();
        for mut row in self.passing(TableKind::Edges(ty)) {
            let (source, target) = (row["@source"].clone().unwrap(), row["@target"].clone().unwrap());
            if self.is_bare(own.source, &source) && self.is_bare(own.target, &target) {
                continue;
            }
            let (Some(source), Some(target)) = (self.end(own.source, &source), self.end(own.target, &target)) else {
                continue;
            };
            row.insert("@source".into(), Some(source));
            row.insert("@target".into(), Some(target));
            shown.push(row);
        }
        shown
    }

    /// Adds the other ends of edges of which one is chosen.
    fn add_bare(&mut self, edges: &[usize]) {
        let mut bare: Vec<(usize, String)> = Vec::new();
        for ty in edges {
            let own = &self.graph().edges[*ty];
            for row in self.passing(TableKind::Edges(*ty)) {
                let ends =
                    [(own.source, row["@source"].clone().unwrap()), (own.target, row["@target"].clone().unwrap())];
                let chosen = ends.clone().map(|(ty, end)| self.end(ty, &end).is_some());
                for (at, (ty, end)) in ends.into_iter().enumerate() {
                    if !chosen[at] && chosen[1 - at] {
                        bare.push((ty, end));
                    }
                }
            }
        }
        for (ty, end) in bare {
            self.nodes.get_mut(&ty).unwrap().1.insert(end);
        }
        let graph = self.graph();
        for (ty, (chosen, bare)) in &mut self.nodes {
            let all = rows(self.whole, table(self.whole, TableKind::Nodes(*ty)), None).unwrap();
            let ids = positions(all, &graph.nodes[*ty].key.kind);
            let both: BTreeSet<String> = chosen.iter().chain(bare.iter()).cloned().collect();
            *chosen = ids.into_iter().map(|(id, _)| id).filter(|id| both.contains(id)).collect();
        }
    }
}

/// Each row with what identifies it.
fn positions(rows: Vec<Row>, _kind: &KeyKind) -> Vec<(String, Row)> {
    rows.into_iter().map(|row| (identity(&row), row)).collect()
}

fn sorted(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort();
    rows
}

/// The cells of rows that a table shows.
fn only(rows: Vec<Row>, of: &Table) -> Vec<Row> {
    let names: BTreeSet<String> =
        (of.roles().iter().zip(of.schema().fields())).map(|(role, field)| name_of(*role, field.name())).collect();
    rows.into_iter().map(|row| row.into_iter().filter(|(name, _)| names.contains(name)).collect()).collect()
}

fn check(name: &str, whole: &Dataset, selection: &Selection, source: Arc<dyn Source>) -> bool {
    let resources = Resources::of_this_machine().unwrap();
    let selected = match Selected::new(source, selection, &resources, &Silent) {
        Ok(selected) => selected,
        Err(error) => {
            assert!(matches!(error.kind(), Kind::Usage | Kind::Unsupported), "{name}: {error}: {selection:?}");
            return false;
        }
    };
    let left = selected.edges_left(&Silent).unwrap();
    let graph = whole.source().graph().clone();
    let selected = Arc::new(selected);
    let shown = Dataset::new(Arc::clone(&selected) as Arc<dyn Source>, resources);
    let find_node = |name: &str| graph.nodes.iter().position(|ty| ty.name == name).unwrap();
    let mut naive = Naive { whole, selection, nodes: BTreeMap::new() };
    for own in &selected.graph().nodes {
        let ty = find_node(&own.name);
        let is_asked = selection.conditions.iter().any(|(name, _)| *name == own.name);
        if !is_asked && selection.limit.is_none() && selection.sample.is_none() {
            continue;
        }
        let mut chosen: Vec<String> = naive.passing(TableKind::Nodes(ty)).iter().map(identity).collect();
        if let Some(sample) = selection.sample {
            let most = usize::try_from(sample.rows).unwrap().min(chosen.len());
            // Which are drawn is not foretold: the same every time, and some of these.
            let again =
                Selected::new(Arc::clone(whole.source()), selection, &Resources::of_this_machine().unwrap(), &Silent);
            let rows = again.unwrap().graph().nodes[selected.graph().node_type(&own.name).unwrap()].rows.unwrap();
            if selection.keep_dangling || own.key.kind == KeyKind::Row {
                return true;
            }
            let at = selected.graph().node_type(&own.name).unwrap();
            let drawn: Vec<String> =
                self::rows(&shown, table(&shown, TableKind::Nodes(at)), None).unwrap().iter().map(identity).collect();
            assert_eq!(drawn.len() as u64, rows, "{name}");
            assert!(drawn.iter().all(|id| chosen.contains(id)), "{name}: {selection:?}");
            let limit = selection.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap());
            assert_eq!(drawn.len(), most.min(limit), "{name}: {selection:?}");
            chosen = drawn;
        } else if let Some(limit) = selection.limit {
            chosen.truncate(usize::try_from(limit).unwrap());
        }
        naive.nodes.insert(ty, (chosen, BTreeSet::new()));
    }
    let edge_of: Vec<usize> = (selected.graph().edges.iter())
        .map(|own| {
            let (source, _, target) = selected.graph().edge_name(own);
            let is_it = |ty: &&isomorph_model::EdgeType| {
                ty.relation == own.relation
                    && graph.nodes[ty.source].name == source
                    && graph.nodes[ty.target].name == target
            };
            let found: Vec<usize> =
                graph.edges.iter().enumerate().filter(|(_, ty)| is_it(ty)).map(|(at, _)| at).collect();
            assert_eq!(found.len(), 1, "{name}");
            found[0]
        })
        .collect();
    if selection.keep_dangling {
        naive.add_bare(&edge_of);
    }
    // Nodes.
    for (at, own) in selected.graph().nodes.iter().enumerate() {
        let ty = find_node(&own.name);
        let own_table = table(&shown, TableKind::Nodes(at));
        let mut expected = Vec::new();
        for (id, mut row) in positions(rows(whole, table(whole, TableKind::Nodes(ty)), None).unwrap(), &own.key.kind) {
            let Some((chosen, bare)) = naive.nodes.get(&ty) else {
                expected.push(row);
                continue;
            };
            let Some(rank) = chosen.iter().position(|own| *own == id) else { continue };
            if row.contains_key("@row") {
                row.insert("@row".into(), Some(rank.to_string()));
            }
            if bare.contains(&id) {
                row.iter_mut().filter(|(name, _)| name.starts_with("p:")).for_each(|(_, cell)| *cell = None);
                row.entry("@labels".into()).and_modify(|cell| *cell = None);
            }
            expected.push(row);
        }
        let found = rows(&shown, own_table, None).unwrap();
        assert_eq!(found, only(expected, own_table), "{name}: nodes {}: {selection:?}", own.name);
        if naive.nodes.contains_key(&ty) {
            assert_eq!(own.rows, Some(found.len() as u64), "{name}");
        }
    }
    // Edges.
    for (at, ty) in edge_of.iter().enumerate() {
        let own_table = table(&shown, TableKind::Edges(at));
        let found = rows(&shown, own_table, None).unwrap();
        let expected = only(naive.edges(*ty), own_table);
        assert_eq!(left[at].shown, found.len() as u64, "{name}: {selection:?}");
        assert_eq!(left[at].dangling, (naive.passing(TableKind::Edges(*ty)).len() - expected.len()) as u64, "{name}");
        assert_eq!(found, expected, "{name}: edges {}: {selection:?}", own_table.name());
        for order in selected.edge_orders(at).into_iter().chain([EdgeOrder::Any]) {
            let request = Request::of(Tables::EdgeEnds(at)).in_order(order);
            let ends = selected.scan(&request).unwrap().into_iter().flatten().map(|batch| batch.unwrap().rows());
            assert_eq!(ends.sum::<usize>(), found.len(), "{name}");
        }
    }
    rest(name, &naive, &selected, &shown, &edge_of);
    true
}

/// Hyperedges, values and groups.
fn rest(name: &str, naive: &Naive<'_>, selected: &Selected, shown: &Dataset, edge_of: &[usize]) {
    let (graph, whole, selection) = (naive.graph(), naive.whole, naive.selection);
    let mut owners: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (at, own) in selected.graph().hyperedges.iter().enumerate() {
        let ty = graph.hyperedges.iter().position(|ty| ty.name == own.name).unwrap();
        let members = rows(whole, table(whole, TableKind::Members(ty)), None).unwrap();
        let ends = graph.hyperedges[ty].ends;
        let gone: BTreeSet<String> = (members.iter())
            .filter(|row| {
                let member = row["@member"].as_ref().unwrap();
                naive.end(ends, member).is_none() || naive.is_bare(ends, member)
            })
            .map(|row| row["@owner"].clone().unwrap())
            .collect();
        // An edge that is an entity and nothing else goes with its node.
        let nodes = rows(whole, table(whole, TableKind::Nodes(ends)), None).unwrap();
        let nodes: BTreeSet<String> = nodes.iter().map(identity).collect();
        let has_members = |id: &String| members.iter().any(|row| row["@owner"].as_ref() == Some(id));
        let is_gone = |id: String| {
            let with_node = !has_members(&id) && nodes.contains(&id) && naive.end(ends, &id).is_none();
            gone.contains(&id) || with_node
        };
        let stay = naive.passing(TableKind::Hyperedges(ty)).into_iter();
        let stay: Vec<Row> = stay.filter(|row| !is_gone(identity(row))).collect();
        let ids: BTreeSet<String> = stay.iter().map(identity).collect();
        let own_table = table(shown, TableKind::Hyperedges(at));
        assert_eq!(rows(shown, own_table, None).unwrap(), only(stay, own_table), "{name}: {selection:?}");
        let stay = members.into_iter().filter(|row| ids.contains(row["@owner"].as_ref().unwrap())).collect();
        let own_table = table(shown, TableKind::Members(at));
        assert_eq!(rows(shown, own_table, None).unwrap(), only(stay, own_table), "{name}: {selection:?}");
        owners.insert(format!("h{ty}"), ids);
    }
    for ty in edge_of {
        let all = naive.edges(*ty);
        if all.iter().all(|row| row.contains_key("@key")) {
            owners.insert(format!("e{ty}"), all.iter().map(identity).collect());
        }
    }
    let is_there = |of: Owner, end: &str| match of {
        Owner::Nodes(ty) => selected.graph().node_type(&graph.nodes[ty].name).is_some() && naive.end(ty, end).is_some(),
        Owner::Edges(ty) => owners.get(&format!("e{ty}")).is_some_and(|ids| ids.contains(end)),
        Owner::Hyperedges(ty) => owners.get(&format!("h{ty}")).is_some_and(|ids| ids.contains(end)),
    };
    let mut shown_values: Vec<Row> = Vec::new();
    for at in 0..selected.graph().values.len() {
        shown_values.extend(rows(shown, table(shown, TableKind::Values(at)), None).unwrap());
    }
    let mut expected: Vec<Row> = Vec::new();
    for (at, own) in graph.values.iter().enumerate() {
        if selection.columns.as_ref().is_some_and(|columns| !columns.contains(&own.property.name)) {
            continue;
        }
        let all = rows(whole, table(whole, TableKind::Values(at)), None).unwrap();
        expected.extend(all.into_iter().filter(|row| is_there(own.owner, row["@owner"].as_ref().unwrap())));
    }
    let keyless = |of: Owner| matches!(of, Owner::Nodes(ty) if graph.nodes[ty].key.kind == KeyKind::Row);
    if !graph.values.iter().any(|table| keyless(table.owner)) {
        assert_eq!(sorted(shown_values), sorted(expected), "{name}: {selection:?}");
    }
    for (at, kind) in selected.graph().groups.iter().enumerate() {
        let inner = graph.groups.iter().position(|own| own.kind == kind.kind).unwrap();
        let passing: BTreeSet<String> = naive.passing(TableKind::Groups(inner)).iter().map(identity).collect();
        let all = &graph.groups[inner].all;
        let stay = rows(whole, table(whole, TableKind::Groups(inner)), None).unwrap().into_iter();
        let stay: Vec<Row> =
            stay.filter(|row| passing.contains(&identity(row)) || all.contains(&identity(row))).collect();
        let groups: BTreeSet<String> = stay.iter().map(identity).collect();
        let own_table = table(shown, TableKind::Groups(at));
        assert_eq!(rows(shown, own_table, None).unwrap(), only(stay, own_table), "{name}: {selection:?}");
        let in_all = graph.groups[inner].all.iter().filter(|key| groups.contains(*key));
        assert!(kind.all.iter().eq(in_all), "{name}: {selection:?}");
        let mut found: Vec<Row> = Vec::new();
        for own in 0..kind.memberships.len() {
            let kind = TableKind::Memberships { kind: at, table: own };
            found.extend(only(rows(shown, table(shown, kind), None).unwrap(), table(shown, kind)));
        }
        let mut expected: Vec<Row> = Vec::new();
        for (own, members) in graph.groups[inner].memberships.iter().enumerate() {
            if keyless(members.of) {
                return;
            }
            let all = rows(whole, table(whole, TableKind::Memberships { kind: inner, table: own }), None).unwrap();
            expected.extend(all.into_iter().filter(|row| {
                is_there(members.of, row["@member"].as_ref().unwrap())
                    && groups.contains(row["@group"].as_ref().unwrap())
            }));
        }
        if selection.columns.is_none() {
            assert_eq!(sorted(found), sorted(expected), "{name}: {}: {selection:?}", kind.kind);
        } else {
            assert_eq!(found.len(), expected.len(), "{name}: {}: {selection:?}", kind.kind);
        }
    }
}

#[test]
fn selections_are_what_a_naive_one_is() {
    let (mut checked, mut refused) = (0, 0);
    for (name, graph) in graphs() {
        let source: Arc<dyn Source> = Arc::new(graph);
        let whole = Dataset::new(Arc::clone(&source), Resources::of_this_machine().unwrap());
        if source.graph().nodes.is_empty() {
            continue;
        }
        for seed in 0..40 {
            let selection = random(&mut Dice(seed), &whole);
            if check(&format!("{name}, {seed}"), &whole, &selection, Arc::clone(&source)) {
                checked += 1;
            } else {
                refused += 1;
            }
        }
    }
    assert!(checked > 2_000 && refused > 100, "{checked} checked, {refused} refused");
}

/// Hyperedges whose members all stay, beside edges that keep one end.
#[test]
fn hyperedges_stay_beside_dangling_edges() {
    let (mut kept, mut refused) = (0, 0);
    for (name, graph) in graphs() {
        let source: Arc<dyn Source> = Arc::new(graph);
        if source.graph().hyperedges.is_empty() {
            continue;
        }
        let whole = Dataset::new(Arc::clone(&source), Resources::of_this_machine().unwrap());
        let ends = source.graph().hyperedges[0].ends;
        let ty = source.graph().nodes[ends].name.clone();
        let of_type = table(&whole, TableKind::Nodes(ends));
        for (row, _) in positions(rows(&whole, of_type, None).unwrap(), &source.graph().nodes[ends].key.kind) {
            let condition = match source.graph().nodes[ends].key.kind {
                KeyKind::Row => continue,
                _ => Predicate::compare("@key", Comparison::NotEqual, row.as_str()),
            };
            let selection =
                Selection { conditions: vec![(ty.clone(), condition)], keep_dangling: true, ..Selection::default() };
            match check(&format!("{name}, without {row}"), &whole, &selection, Arc::clone(&source)) {
                true => kept += 1,
                false => refused += 1,
            }
        }
    }
    assert!(kept > 0 && refused > 0, "{kept} kept, {refused} refused");
}

#[test]
fn the_error_for_an_unknown_type_lists_groups_and_empty_names() {
    let nodes = [("a", &[][..], 1.0, "{}"), ("b", &[], 0.5, "{}")];
    let source: Arc<dyn Source> = Arc::new(bundled(&nodes, &[("a", "", "b", 1.0, "{}"), ("a", "x,y", "b", 1.0, "{}")]));
    let types = |names: &[&str]| Selection {
        types: Some(names.iter().map(|name| (*name).to_owned()).collect()),
        ..Selection::default()
    };
    let resources = Resources::of_this_machine().unwrap();
    let error = |source: &Arc<dyn Source>, name: &str| {
        let error = Selected::new(Arc::clone(source), &types(&[name]), &resources, &Silent).err().unwrap();
        error.hints().next().unwrap().to_owned()
    };
    assert_eq!(error(&source, "z"), "one of node, ``, `x,y`");
    let mut listed = 0;
    for (name, graph) in graphs() {
        let groups: Vec<String> = graph.graph.groups.iter().map(|kind| kind.kind.clone()).collect();
        let is_open = graph.graph.edges.iter().any(|ty| ty.relation.fixed().is_none());
        let source: Arc<dyn Source> = Arc::new(graph);
        if is_open || source.graph().nodes.is_empty() {
            continue;
        }
        let all = error(&source, "no such type");
        let names: Vec<&str> = all.trim_start_matches("one of ").split(", ").collect();
        assert!(names.len() >= 20 || groups.iter().all(|kind| names.contains(&kind.as_str())), "{name}: {all}");
        listed += groups.len();
    }
    assert!(listed > 0);
}

/// Relations that edges name in their rows are names of types as well.
#[test]
fn relations_of_rows_are_types() {
    let nodes = [("a", &["X"][..], 1.0, "{}"), ("b", &[], 0.5, "{}"), ("c", &[], 1.0, "{}")];
    let edges = [("a", "KNOWS", "b", 1.0, "{}"), ("a", "LIKES", "b", 0.5, "{}"), ("b", "KNOWS", "c", 0.5, "{}")];
    let source: Arc<dyn Source> = Arc::new(bundled(&nodes, &edges));
    let resources = Resources::of_this_machine().unwrap();
    let edges = |selection: Selection| -> Result<Vec<String>> {
        let selected = Arc::new(Selected::new(Arc::clone(&source), &selection, &resources, &Silent)?);
        let shown = Dataset::new(selected, resources.clone());
        let of = table(&shown, TableKind::Edges(0));
        let cell = |row: &Row, name: &str| row[name].clone().unwrap();
        let line =
            |row: Row| format!("{} {} {}", cell(&row, "@source"), cell(&row, "@relation"), cell(&row, "@target"));
        Ok(rows(&shown, of, None)?.into_iter().map(line).collect())
    };
    let types = |names: &[&str]| Selection {
        types: Some(names.iter().map(|name| (*name).to_owned()).collect()),
        ..Selection::default()
    };
    let condition = |ty: &str, condition: Predicate| Selection {
        conditions: vec![(ty.to_owned(), condition)],
        ..Selection::default()
    };
    assert_eq!(edges(types(&["KNOWS"])).unwrap(), ["a KNOWS b", "b KNOWS c"]);
    assert_eq!(edges(types(&["LIKES", "KNOWS"])).unwrap().len(), 3);
    assert_eq!(edges(types(&["node_to_node", "KNOWS"])).unwrap().len(), 3);
    assert_eq!(edges(types(&["node"])).unwrap().len(), 3);
    let sure = Predicate::compare("truth", Comparison::GreaterOrEqual, 1.0);
    // Edges of other relations stay.
    assert_eq!(edges(condition("KNOWS", sure.clone())).unwrap(), ["a KNOWS b", "a LIKES b"]);
    assert_eq!(edges(condition("node_to_node", sure.clone())).unwrap(), ["a KNOWS b"]);
    assert_eq!(edges(condition("node", sure.clone())).unwrap(), Vec::<String>::new());
    let missing = edges(types(&["KNOWS", "KNOW"])).unwrap_err();
    assert!(missing.message().contains("did you mean KNOWS?"), "{missing}");
    assert_eq!(edges(condition("HATES", sure)).unwrap_err().kind(), Kind::Usage);
}
