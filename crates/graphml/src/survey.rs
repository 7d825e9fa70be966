//! The pass over the file that opening takes: what nodes and edges have, how many there are, and whether all of it is sound.

use arrow_schema::DataType;
use isomorph_error::{Error, Result};
use isomorph_model::Property;
use isomorph_tables::PackedFile;

use crate::keys::{Domain, Key, Keys, float, integer, says, truth};
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
    /// For each property its keys: several where numbers of one name are of different types; none for the id.
    pub keys: Vec<Vec<usize>>,
    pub properties: Vec<Property>,
    /// Names of keys that others had before, with the names of their properties.
    pub renamed: Vec<(String, String)>,
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
            let same = table.properties.iter().position(|own| own.name == key.name);
            if let Some(same) = same
                && let Some(data_type) = merged(keys, &table.keys[same], key)
            {
                table.keys[same].push(at);
                table.properties[same].data_type = data_type;
                continue;
            }
            let property = property(key, &table.properties);
            if property.name != key.name {
                table.renamed.push((key.name.clone(), property.name.clone()));
            }
            table.add(vec![at], property);
        }
        table
    }

    fn add(&mut self, keys: Vec<usize>, property: Property) {
        self.keys.push(keys);
        self.properties.push(property);
        self.seen.push(0);
        self.wide.push(false);
    }

    fn see(&mut self, parser: &Parser) -> Result<()> {
        self.rows += 1;
        self.ids += u64::from(parser.element.has_id);
        for (at, keys) in self.keys.iter().enumerate() {
            let Some(&key) = saying(keys, parser) else { continue };
            let own = &parser.keys.all[key];
            if keys.iter().filter(|key| own_text(**key, parser).is_some()).count() > 1 {
                return Err(
                    parser.wrong(&rules::VALUE, format!("{}: two values, of two keys with this name", own.name))
                );
            }
            let Some(text) = said(&parser.data[key], own) else { continue };
            self.seen[at] += 1;
            let is_double = self.properties[at].data_type == DataType::Float64;
            let is_value = match own.data_type {
                DataType::Boolean => truth(text).is_some(),
                DataType::Int32 | DataType::Int64 => integer(text).is_some_and(|value| {
                    self.wide[at] |= i32::try_from(value).is_err();
                    !is_double || is_exact(value)
                }),
                DataType::Float64 => float(text).is_some(),
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
            self.add(Vec::new(), id);
        }
    }
}

/// The type of numbers of one name that are of different types. NetworkX declares such a key for each type of an attribute, and reads one.
fn merged(keys: &Keys, before: &[usize], key: &Key) -> Option<DataType> {
    let mut types = before.iter().map(|at| &keys.all[*at]).chain([key]);
    let is_number = |key: &Key| {
        key.yfiles.is_none() && matches!(key.data_type, DataType::Int32 | DataType::Int64 | DataType::Float64)
    };
    if !types.clone().all(is_number) || before.iter().any(|at| keys.all[*at].data_type == key.data_type) {
        return None;
    }
    let has_doubles = types.any(|key| key.data_type == DataType::Float64);
    Some(if has_doubles { DataType::Float64 } else { DataType::Int64 })
}

/// Whether a double holds an integer exactly: it has at most 53 bits between the first and the last that are set.
fn is_exact(value: i64) -> bool {
    let size = value.unsigned_abs();
    size.leading_zeros() + size.trailing_zeros() >= u64::BITS - f64::MANTISSA_DIGITS
}

/// What an element itself says for a key.
fn own_text(key: usize, parser: &Parser) -> Option<&str> {
    let (slot, key) = (&parser.data[key], &parser.keys.all[key]);
    Some(slot.text.as_str()).filter(|text| slot.is_set && says(&key.data_type, text))
}

/// What an element says for a key, or the key for it.
fn said<'p>(slot: &'p Slot, key: &'p Key) -> Option<&'p str> {
    let own = Some(slot.text.as_str()).filter(|text| slot.is_set && says(&key.data_type, text));
    own.or_else(|| key.default.as_deref().filter(|text| says(&key.data_type, text)))
}

/// Which of the keys of a property has its value.
fn saying<'k>(keys: &'k [usize], parser: &Parser) -> Option<&'k usize> {
    keys.iter().find(|key| own_text(**key, parser).is_some()).or_else(|| keys.first()).filter(|_| !keys.is_empty())
}

/// The value of a property.
pub(crate) fn said_by<'p>(keys: &[usize], parser: &'p Parser) -> Option<&'p str> {
    saying(keys, parser).and_then(|key| said(&parser.data[*key], &parser.keys.all[*key]))
}

fn misfit(parser: &Parser, key: &Key, text: &str) -> Error {
    let cut: String = text.chars().take(40).collect();
    let word = match key.data_type {
        DataType::Boolean => "a boolean",
        DataType::Int32 | DataType::Int64 if integer(text).is_some() => {
            "exactly a double, of which type others of this name are"
        }
        DataType::Int32 | DataType::Int64 => "an integer of 64 bits",
        _ => "a number that a double holds",
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
    /// Elements that GraphML does not have: the name of the first, and how many.
    pub unknown: Option<(String, u64)>,
    /// The graph has no `edgedefault`.
    pub lacks_default: bool,
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
                    return Err(parser.wrong(&rules::HYPEREDGE, "a hyperedge without id"));
                }
                endpoints += parser.element.endpoints.len() as u64;
                let is_directed = is_directed(&parser);
                directed_hyperedges[usize::from(!is_directed)] += 1;
                if is_directed && !parser.element.endpoints.iter().all(|end| is_side(&end.kind)) {
                    // It has a direction and members: the type has to allow both.
                    directed_hyperedges[1] += 1;
                }
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
    let mut graph_data: Vec<(String, DataType, String)> = Vec::new();
    for (slot, key) in parser.graph_data.iter().zip(&parser.keys.all) {
        let Some(text) = said(slot, key).filter(|_| slot.is_set || key.domain == Domain::Graph) else { continue };
        if graph_data.iter().any(|(name, ..)| *name == key.name) {
            return Err(parser.wrong(&rules::KEY, format!("the graph has two values of {:?}", key.name)));
        }
        graph_data.push((key.name.clone(), key.data_type.clone(), text.to_owned()));
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
        unknown: parser.unknown.take(),
        lacks_default: parser.lacks_default,
        graph_data,
        keys: parser.keys,
    })
}

/// Whether a hyperedge has ends that go in or out.
pub(crate) fn is_directed(parser: &Parser) -> bool {
    parser.element.endpoints.iter().any(|end| is_side(&end.kind))
}

fn is_side(kind: &str) -> bool {
    kind == "in" || kind == "out"
}
