//! The pass over the file that opening takes: what nodes and edges have, how many there are, and whether all of it is sound.

use arrow_schema::DataType;
use isomorph_error::{Error, Result};
use isomorph_model::Property;
use isomorph_tables::PackedFile;

use crate::keys::{Domain, Key, Keys, float, integer, truth};
use crate::parse::{Item, Parser, Slot};
use crate::rules;

/// The property of edges that their ids are, which need not tell them apart.
const ID: &str = "id";

/// In [`Property::declared`]: that it is an attribute of the element, and no data; and what yEd calls its data.
pub(crate) const ATTRIBUTE: &str = "graphml.attribute";
pub(crate) const YFILES: &str = "yfiles.type";

/// What elements of one kind have.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    pub rows: u64,
    /// For each property its key; nothing for the id.
    pub keys: Vec<Option<usize>>,
    pub properties: Vec<Property>,
    /// Elements that have the property.
    seen: Vec<u64>,
    /// Elements with an id.
    ids: u64,
    /// An integer beyond 32 bits, by property.
    wide: Vec<bool>,
}

impl Table {
    fn of(keys: &Keys, domain: Domain) -> Table {
        let mut table = Table::default();
        for (at, key) in keys.all.iter().enumerate().filter(|(_, key)| key.domain.includes(domain)) {
            table.add(Some(at), property(key, &table.properties));
        }
        table
    }

    fn add(&mut self, key: Option<usize>, property: Property) {
        self.keys.push(key);
        self.properties.push(property);
        self.seen.push(0);
        self.wide.push(false);
    }

    fn see(&mut self, parser: &Parser) -> Result<()> {
        self.rows += 1;
        self.ids += u64::from(parser.element.has_id);
        for (at, key) in self.keys.iter().enumerate() {
            let Some(key) = *key else { continue };
            let (slot, own) = (&parser.data[key], &parser.keys.all[key]);
            let Some(text) = said(slot, own) else { continue };
            let is_said = match own.data_type {
                DataType::Utf8 => true,
                _ => !text.trim().is_empty(),
            };
            self.seen[at] += u64::from(is_said);
            if !is_said {
                continue;
            }
            let is_value = match own.data_type {
                DataType::Boolean => truth(text).is_some(),
                DataType::Int32 | DataType::Int64 => integer(text).is_some_and(|value| {
                    self.wide[at] |= i32::try_from(value).is_err();
                    true
                }),
                DataType::Float32 | DataType::Float64 => float(text).is_some(),
                _ => true,
            };
            if !is_value {
                return Err(misfit(parser, own, text));
            }
        }
        Ok(())
    }

    /// Settles what only the whole file tells.
    fn settle(&mut self, with_ids: bool) {
        for (at, property) in self.properties.iter_mut().enumerate() {
            property.nullable = self.seen[at] < self.rows || self.rows == 0;
            if self.wide[at] && property.data_type == DataType::Int32 {
                property.data_type = DataType::Int64;
            }
        }
        if with_ids && self.ids > 0 {
            let mut id = Property::new(free(ID, &self.properties), DataType::Utf8);
            id.nullable = self.ids < self.rows;
            id.declared.insert(ATTRIBUTE.to_owned(), ID.to_owned());
            self.add(None, id);
        }
    }
}

/// What an element says for a key, or the key for it.
pub(crate) fn said<'p>(slot: &'p Slot, key: &'p Key) -> Option<&'p str> {
    if slot.is_set { Some(&slot.text) } else { key.default.as_deref() }
}

fn misfit(parser: &Parser, key: &Key, text: &str) -> Error {
    let cut: String = text.chars().take(40).collect();
    let word = match key.data_type {
        DataType::Boolean => "a boolean",
        DataType::Int32 | DataType::Int64 => "an integer of 64 bits",
        _ => "a number",
    };
    parser.wrong(&rules::VALUE, format!("{}: {cut:?} is not {word}", key.name))
}

fn free(name: &str, taken: &[Property]) -> String {
    let is_free = |name: &String| !taken.iter().any(|other| other.name == *name);
    let mut names = std::iter::once(name.to_owned()).chain((2..).map(|number| format!("{name}_{number}")));
    names.find(is_free).unwrap_or_default()
}

fn property(key: &Key, taken: &[Property]) -> Property {
    let mut property = Property::new(free(&key.name, taken), key.data_type.clone());
    if let Some(yfiles) = &key.yfiles {
        property.declared.insert(YFILES.to_owned(), yfiles.clone());
    }
    property
}

/// What the pass found.
pub(crate) struct Survey {
    pub keys: Keys,
    pub nodes: Table,
    pub edges: Table,
    pub hyperedges: Table,
    pub endpoints: u64,
    /// The direction of edges where they say nothing.
    pub directed: bool,
    /// Some edges say otherwise than the graph.
    pub by_row: bool,
    /// Hyperedges with a direction, and without.
    pub directed_hyperedges: [u64; 2],
    pub graph_id: String,
    /// Elements and attributes of which nothing is kept.
    pub passed_over: u64,
    /// What is said of the graph: names and texts, with the types.
    pub graph_data: Vec<(String, DataType, String)>,
}

/// Reads all of the file.
///
/// # Errors
/// When it cannot be read, or is no GraphML.
pub(crate) fn survey(file: &PackedFile) -> Result<Survey> {
    let mut parser = Parser::new(file)?;
    let [mut nodes, mut edges, mut hyperedges] = [const { None }; 3];
    let (mut by_row, mut endpoints, mut directed_hyperedges) = (false, 0, [0; 2]);
    while let Some(item) = parser.next()? {
        let table =
            |slot: &mut Option<Table>, domain| slot.get_or_insert_with(|| Table::of(&parser.keys, domain)).see(&parser);
        match item {
            Item::Node => table(&mut nodes, Domain::Node)?,
            Item::Edge => {
                by_row |= parser.element.directed.is_some_and(|directed| directed != parser.directed);
                table(&mut edges, Domain::Edge)?;
            }
            Item::Hyperedge => {
                if !parser.element.has_id {
                    return Err(parser.wrong(&rules::SYNTAX, "a hyperedge without id"));
                }
                endpoints += parser.element.endpoints.len() as u64;
                let is_directed = is_directed(&parser);
                directed_hyperedges[usize::from(!is_directed)] += 1;
                table(&mut hyperedges, Domain::Hyperedge)?;
            }
            Item::Graph | Item::End => {}
        }
    }
    let settled = |slot: Option<Table>, domain, with_ids| {
        let mut table = slot.unwrap_or_else(|| Table::of(&parser.keys, domain));
        table.settle(with_ids);
        table
    };
    let nodes = settled(nodes, Domain::Node, false);
    let edges = settled(edges, Domain::Edge, true);
    let hyperedges = settled(hyperedges, Domain::Hyperedge, false);
    let mut graph_data = Vec::new();
    for (slot, key) in parser.graph_data.iter().zip(&parser.keys.all).filter(|(slot, _)| slot.is_set) {
        graph_data.push((key.name.clone(), key.data_type.clone(), slot.text.clone()));
    }
    Ok(Survey {
        nodes,
        edges,
        hyperedges,
        endpoints,
        directed: parser.directed,
        by_row,
        directed_hyperedges,
        graph_id: parser.graph_id.take().unwrap_or_default(),
        passed_over: parser.passed_over,
        graph_data,
        keys: parser.keys,
    })
}

/// Whether a hyperedge has ends that go in or out.
pub(crate) fn is_directed(parser: &Parser) -> bool {
    parser.element.endpoints.iter().any(|end| end.kind == "in" || end.kind == "out")
}
