//! The pass over the file when it is opened: properties and numbers of nodes and edges, and whether the whole file is
//! valid.

use arrow_schema::DataType;
use isomorph_error::{Error, Place, Result};
use isomorph_model::Property;
use isomorph_tables::PackedFile;

use crate::keys::{Domain, Key, Keys, float, integer, says, truth};
use crate::parse::{Item, Parser, Slot};
use crate::rules;

/// The property with the ids of edges, which need not be unique.
const ID: &str = "id";

/// In [`Property::declared`]: marks a property that is an attribute of the element, not data; and the type of yEd's
/// data.
pub(crate) const ATTRIBUTE: &str = "graphml.attribute";
pub(crate) const YFILES: &str = "yfiles.type";

/// The properties of elements of one kind.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    pub rows: u64,
    /// The keys of each property: several if numbers of one name have different types; none for the id.
    pub keys: Vec<Vec<usize>>,
    pub properties: Vec<Property>,
    /// Names of keys that were already used, and the names of their properties.
    pub renamed: Vec<(String, String)>,
    /// Number of elements that have each property.
    seen: Vec<u64>,
    /// Number of elements with an id.
    ids: u64,
    /// Whether a property has an integer beyond 32 bits.
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
                return Err(parser.wrong(&rules::VALUE, format!("{}: two keys with this name have values", own.name)));
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

    /// Completes what is known only after the whole file was read.
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

/// Returns the type of numbers whose keys have the same name and different types. NetworkX declares a key for each type
/// of an attribute, and reads only one of them.
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

/// Returns whether a double represents an integer exactly: at most 53 bits from the first to the last set bit.
fn is_exact(value: i64) -> bool {
    let size = value.unsigned_abs();
    size.leading_zeros() + size.trailing_zeros() >= u64::BITS - f64::MANTISSA_DIGITS
}

/// Returns the text of the current element for a key.
fn own_text(key: usize, parser: &Parser) -> Option<&str> {
    let (slot, key) = (&parser.data[key], &parser.keys.all[key]);
    Some(slot.text.as_str()).filter(|text| slot.is_set && says(&key.data_type, text))
}

/// Returns the text of an element for a key, or the default of the key.
fn said<'p>(slot: &'p Slot, key: &'p Key) -> Option<&'p str> {
    let own = Some(slot.text.as_str()).filter(|text| slot.is_set && says(&key.data_type, text));
    own.or_else(|| key.default.as_deref().filter(|text| says(&key.data_type, text)))
}

/// Returns the key of a property that has its value.
fn saying<'k>(keys: &'k [usize], parser: &Parser) -> Option<&'k usize> {
    keys.iter().find(|key| own_text(**key, parser).is_some()).or_else(|| keys.first()).filter(|_| !keys.is_empty())
}

/// Returns the value of a property.
pub(crate) fn said_by<'p>(keys: &[usize], parser: &'p Parser) -> Option<&'p str> {
    saying(keys, parser).and_then(|key| said(&parser.data[*key], &parser.keys.all[*key]))
}

fn misfit(parser: &Parser, key: &Key, text: &str) -> Error {
    let cut: String = text.chars().take(40).collect();
    let word = match key.data_type {
        DataType::Boolean => "a boolean",
        DataType::Int32 | DataType::Int64 if integer(text).is_some() => {
            "exact as a double, which is the type of other values with this name"
        }
        DataType::Int32 | DataType::Int64 => "a 64-bit integer",
        _ => "a number in the range of doubles",
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

/// The result of the pass.
pub(crate) struct Survey {
    pub keys: Keys,
    pub nodes: Table,
    pub edges: Table,
    pub hyperedges: Table,
    pub endpoints: u64,
    /// The direction of edges without the attribute `directed`.
    pub directed: bool,
    /// Whether some edges have another direction than the default.
    pub by_row: bool,
    /// Numbers of hyperedges with and without a direction.
    pub directed_hyperedges: [u64; 2],
    pub graph_id: String,
    /// Number of elements and attributes that are not read.
    pub passed_over: u64,
    /// Elements that GraphML does not have: the name of the first one, and their number.
    pub unknown: Option<(String, u64)>,
    /// Whether the graph has no `edgedefault`.
    pub lacks_default: bool,
    /// Elements with several values for one key: the name and the place of the first, and their number.
    pub repeated: Option<(String, Place, u64)>,
    /// Data of the graph: names, types and texts.
    pub graph_data: Vec<(String, DataType, String)>,
}

/// Reads the whole file.
///
/// # Errors
/// Returns an error if the file cannot be read, or is not GraphML.
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
                    return Err(parser.wrong(&rules::HYPEREDGE, "a hyperedge has no id"));
                }
                endpoints += parser.element.endpoints.len() as u64;
                let is_directed = is_directed(&parser);
                directed_hyperedges[usize::from(!is_directed)] += 1;
                if is_directed && !parser.element.endpoints.iter().all(|end| is_side(&end.kind)) {
                    // It has a direction and members: the type must allow both.
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
        repeated: parser.repeated.take(),
        graph_data,
        keys: parser.keys,
    })
}

/// Returns whether a hyperedge has ends that go in or out.
pub(crate) fn is_directed(parser: &Parser) -> bool {
    parser.element.endpoints.iter().any(|end| is_side(&end.kind))
}

fn is_side(kind: &str) -> bool {
    kind == "in" || kind == "out"
}
