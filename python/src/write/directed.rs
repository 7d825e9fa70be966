//! Whether edges of dataframes have a direction.

use arrow_schema::{DataType, Field, SchemaRef};
use isomorph::error::Place;
use isomorph::{Error, Result};

use super::DirectedGiven;
use super::columns::role;
use super::types::column;
use crate::graph::{DIRECTION, UNDIRECTED};

/// Whether edges have a direction.
pub(super) enum Directed {
    All(bool),
    /// The column of each edge's own.
    Column(usize),
}

impl Directed {
    /// What is given, or what a table of isomorph says of itself.
    ///
    /// # Errors
    /// [`isomorph::Kind::Usage`] if both say something else, or if it is unclear whether a column says it.
    pub(super) fn of(given: Option<DirectedGiven>, schema: &SchemaRef, what: &str) -> Result<Directed> {
        let hint = "directed=    True, False, or the name of a column of booleans";
        let stated = schema.fields().iter().position(|field| role(field) == Some("directed"));
        match (given, stated) {
            (Some(DirectedGiven::Column(name)), stated) => {
                let found = column(schema, Some(&name), "directed", &[], what).map_err(|error| error.hint(hint))?;
                let Some(at) = found.filter(|at| schema.field(*at).data_type() == &DataType::Boolean) else {
                    return Err(Error::usage(format!("directed: the column {name:?} has no booleans")).at(what));
                };
                match stated.filter(|stated| *stated != at) {
                    None => Ok(Directed::Column(at)),
                    Some(stated) => Err(contradicted(schema.field(stated), what)),
                }
            }
            (Some(DirectedGiven::All(_)), Some(stated)) => Err(contradicted(schema.field(stated), what)),
            (Some(DirectedGiven::All(is_directed)), None) => Ok(Directed::All(is_directed)),
            (None, Some(stated)) => Ok(Directed::Column(stated)),
            (None, None) => {
                // What isomorph wrote into the metadata of a table is lost in a dataframe of pandas or polars.
                let looks_so = |field: &Field| {
                    field.name() == "directed" && role(field).is_none() && field.data_type() == &DataType::Boolean
                };
                if let Some(field) = schema.fields().iter().find(|field| looks_so(field)) {
                    let message =
                        "the column directed may say of each edge whether it has a direction, or be a property";
                    let place = Place::file(what).in_field(field.name().as_str());
                    return Err(Error::usage(message)
                        .at(place)
                        .hint("directed=\"directed\"    the column says it")
                        .hint("directed=True    all edges have a direction, and it is a property"));
                }
                Ok(Directed::All(schema.metadata().get(DIRECTION).is_none_or(|own| own != UNDIRECTED)))
            }
        }
    }

    /// The position of that column.
    pub(super) fn column(&self) -> Option<usize> {
        match self {
            Directed::All(_) => None,
            Directed::Column(at) => Some(*at),
        }
    }
}

fn contradicted(stated: &Field, what: &str) -> Error {
    let message =
        format!("directed: the column {:?} already says of each edge whether it has a direction", stated.name());
    Error::usage(message).at(what).hint("leave directed= out").hint("select(…)    leave the column out")
}
