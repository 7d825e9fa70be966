//! What a view requests of the source behind it where only some columns or rows of a type are wanted.

use std::collections::BTreeSet;

use isomorph_model::{Cost, Graph, Narrowing, Predicate, Property, Request, Source, Tables, ValueKind};

use super::view::properties_of;

/// A view each of whose types is read from one type of the source behind it: it states where, and what follows for requests is the same for all.
pub(super) trait TypeByType {
    /// The graph that is shown, and the source behind it.
    fn sides(&self) -> (&Graph, &dyn Source);

    /// Where the source has these tables.
    fn stored_tables(&self, tables: Tables) -> Tables;

    /// What the source calls a column of one type of nodes or edges; `None` if it has other values there.
    fn stored_name(&self, tables: Tables, asked: Asked<'_>) -> Option<String>;

    /// What is read of the source where so much of a type is wanted, without conditions; `None` for everything.
    fn stored_columns(&self, tables: Tables, wanted: &Narrowing) -> Option<Narrowing>;

    /// Whether the source may omit rows of a type: not where these are counted, because positions mean something.
    fn may_omit_rows(&self, _tables: Tables) -> bool {
        true
    }

    /// A condition that all rows of a type satisfy in the source.
    fn own_condition(&self, _tables: Tables) -> Option<Predicate> {
        None
    }

    /// The request to the source, with those conditions that it can answer.
    fn stored_request(&self, request: &Request) -> Request {
        let inner = request.for_tables(self.stored_tables(request.tables));
        let Some(wanted) = request.narrowing() else { return inner };
        let Some(columns) = self.stored_columns(request.tables, wanted) else { return inner };
        let own = properties_of(self.sides().0, request.tables);
        let name = |name: &str| self.stored_name(request.tables, Asked::of(name, own)?);
        let may_omit = self.may_omit_rows(request.tables);
        let mut narrowed = columns.with_filters_of(wanted, &mut |own| name(own).filter(|_| may_omit));
        narrowed.filter = Predicate::both(narrowed.filter, self.own_condition(request.tables));
        inner.narrowed(narrowed)
    }

    /// The cost of a look-up: that of the source, if it has the column.
    fn stored_cost(&self, tables: Tables, column: &str) -> Cost {
        let (shown, source) = self.sides();
        let name = Asked::of(column, properties_of(shown, tables)).and_then(|asked| self.stored_name(tables, asked));
        name.map_or(Cost::pass(None), |name| source.look_up_cost(self.stored_tables(tables), &name))
    }
}

/// The one type of nodes or edges that these tables are.
pub(super) fn only(tables: Tables) -> Option<usize> {
    match tables {
        Tables::Nodes(ty) | Tables::NodeKeys(ty) | Tables::Edges(ty) | Tables::EdgeEnds(ty) => Some(ty),
        Tables::All | Tables::AllNodes | Tables::AllEdges | Tables::Rest => None,
    }
}

/// A request for these columns of all rows.
pub(super) fn columns_alone(keys: bool, labels: bool, properties: impl Iterator<Item = usize>) -> Narrowing {
    let properties: BTreeSet<usize> = properties.collect();
    Narrowing { keys, labels, properties: properties.into_iter().collect(), ..Narrowing::least() }
}

/// What the source behind a view calls a property that it has with the same values; `None` if it has other values, or a name that means
/// something else in conditions.
pub(super) fn alike(shown: &Property, stored: &Property) -> Option<String> {
    let is_same = shown.kind == ValueKind::Plain
        && stored.kind == ValueKind::Plain
        && shown.data_type == stored.data_type
        && shown.cardinality == stored.cardinality
        && !Narrowing::NAMES.contains(&stored.name.as_str());
    is_same.then(|| stored.name.clone())
}

/// A column of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked<'a> {
    /// One of [`Narrowing::NAMES`].
    Name(&'a str),
    /// A property, by its position in the type.
    Property(usize),
}

impl<'a> Asked<'a> {
    /// A column of a type with these properties, by its name in conditions.
    pub(super) fn of(name: &'a str, properties: &[Property]) -> Option<Self> {
        match Narrowing::NAMES.contains(&name) {
            true => Some(Asked::Name(name)),
            false => properties.iter().position(|property| property.name == name).map(Asked::Property),
        }
    }
}
