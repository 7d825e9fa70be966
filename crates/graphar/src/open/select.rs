//! Which types and properties of a graph are shown.

use arrow_schema::DataType;
use isomorph_error::{Error, Result, did_you_mean};
use isomorph_model::{Literal, Predicate};

use crate::OpenOptions;
use crate::info::{EdgeInfo, GraphInfo, PropertyInfo, VertexInfo};

/// Whether `name` means this edge type: its relation, or its triple.
fn means(name: &str, edge: &EdgeInfo) -> bool {
    let joined = |by: &str| [edge.source.as_str(), edge.relation.as_str(), edge.target.as_str()].join(by);
    name == edge.relation || name == joined("_") || name == joined("-") || name == joined(" ")
}

/// Whether `name` means this edge type, or the vertex type `ty`.
fn unknown(what: &str, name: &str, info: &GraphInfo) -> Error {
    let types = info.vertices.iter().map(|vertex| vertex.ty.clone());
    let types: Vec<String> = types.chain(info.edges.iter().map(|edge| edge.relation.clone())).collect();
    let near = did_you_mean(name, types.iter().map(String::as_str));
    let shown = types.iter().take(20).map(String::as_str).collect::<Vec<_>>();
    Error::usage(format!("there is no {what} {name}{near}")).hint(format!("one of {}", shown.join(", ")))
}

/// Leaves out the types that were not asked for.
///
/// # Errors
/// [`isomorph_error::Kind::Usage`] for a type that does not exist.
pub(super) fn select_types(info: &mut GraphInfo, types: Option<&[String]>) -> Result<()> {
    let Some(types) = types else { return Ok(()) };
    let mut vertices = Vec::new();
    let mut relations = false;
    for name in types {
        let before = vertices.len();
        vertices.extend(info.vertices.iter().filter(|vertex| vertex.ty == *name).map(|vertex| vertex.ty.clone()));
        for edge in info.edges.iter().filter(|edge| means(name, edge)) {
            vertices.extend([edge.source.clone(), edge.target.clone()]);
            relations = true;
        }
        if vertices.len() == before {
            return Err(unknown("type", name, info));
        }
    }
    info.vertices.retain(|vertex| vertices.contains(&vertex.ty));
    info.edges.retain(|edge| {
        vertices.contains(&edge.source)
            && vertices.contains(&edge.target)
            && (!relations || types.iter().any(|name| means(name, edge)))
    });
    Ok(())
}

/// The names of all properties.
fn properties(info: &GraphInfo) -> impl Iterator<Item = &str> {
    let vertices = info.vertices.iter().flat_map(VertexInfo::properties);
    vertices.chain(info.edges.iter().flat_map(EdgeInfo::properties)).map(|property| property.name.as_str())
}

/// Which properties are read.
#[derive(Debug, Clone)]
pub(super) struct Columns<'a>(Option<&'a [String]>);

impl<'a> Columns<'a> {
    /// # Errors
    /// [`isomorph_error::Kind::Usage`] for a property that no type has.
    pub fn new(info: &GraphInfo, options: &'a OpenOptions) -> Result<Self> {
        let columns = Columns(options.columns.as_deref());
        for name in columns.0.into_iter().flatten() {
            let one = Columns(Some(std::slice::from_ref(name)));
            let vertex = |ty: &str, property: &str| one.shows(|name| name == ty, property);
            let known = info.vertices.iter().any(|v| v.properties().any(|property| vertex(&v.ty, &property.name)))
                || info.edges.iter().any(|e| e.properties().any(|property| one.shows_edge(e, &property.name)));
            if !known {
                // TYPE.NAME: the name that is not there is that behind the dot, or all of it.
                let wanted = name.rsplit_once('.').map_or(name.as_str(), |(_, property)| property);
                let near = did_you_mean(wanted, properties(info));
                return Err(Error::usage(format!("there is no property {name}{near}")));
            }
        }
        Ok(columns)
    }

    fn shows(&self, is_type: impl Fn(&str) -> bool, property: &str) -> bool {
        let Some(columns) = self.0 else { return true };
        let typed =
            |name: &str| name.strip_suffix(property).and_then(|rest| rest.strip_suffix('.')).is_some_and(&is_type);
        columns.iter().any(|name| name == property || typed(name))
    }

    /// Whether a property of a vertex type is read.
    pub fn shows_vertex(&self, ty: &str, property: &str) -> bool {
        self.shows(|name| name == ty, property)
    }

    /// Whether a property of an edge type is read.
    pub fn shows_edge(&self, edge: &EdgeInfo, property: &str) -> bool {
        self.shows(|name| means(name, edge), property)
    }
}

/// Checks that every filter belongs to a type, and that each type which it means has the properties that it asks for.
///
/// # Errors
/// [`isomorph_error::Kind::Usage`] for one that does not, or one of which a type lacks a property.
pub(super) fn check_filters(info: &GraphInfo, options: &OpenOptions) -> Result<()> {
    let exists = |name: &String| info.vertex(name).is_some() || info.edges.iter().any(|edge| means(name, edge));
    if let Some(name) = options.filters.keys().find(|name| !exists(name)) {
        return Err(unknown("type", name, info));
    }
    for vertex in &info.vertices {
        let filter = options.filters.get(&vertex.ty).into_iter();
        has_properties(&vertex.ty, vertex.properties().collect(), filter)?;
    }
    for edge in &info.edges {
        let name = [edge.source.as_str(), edge.relation.as_str(), edge.target.as_str()].join(" ");
        has_properties(&name, edge.properties().collect(), edge_filters(info, options, edge))?;
    }
    Ok(())
}

/// Checks that a type has the properties that filters ask for.
///
/// # Errors
/// [`isomorph_error::Kind::Usage`] where it has not, [`isomorph_error::Kind::Unsupported`] for labels.
fn has_properties<'a>(
    ty: &str,
    properties: Vec<&'a PropertyInfo>,
    filters: impl Iterator<Item = &'a Predicate>,
) -> Result<()> {
    let known = || properties.iter().map(|property| property.name.as_str());
    let is_float = |column: &str| {
        let mut own = properties.iter().filter(|property| property.name == column);
        own.any(|property| match property.data_type() {
            DataType::List(item) => item.data_type().is_floating(),
            single => single.is_floating(),
        })
    };
    let filters: Vec<&Predicate> = filters.collect();
    if let Some(column) = filters.iter().find_map(|filter| compared_with_nan(filter, &is_float)) {
        return Err(Error::usage(format!("nothing compares with NaN, not {column} of {ty} either"))
            .hint(format!("write not ({column} < 0 or {column} >= 0)    is true of NaN alone")));
    }
    for column in filters.into_iter().flat_map(Predicate::columns) {
        if !known().any(|name| name == column) {
            // Columns by their role, as `has label A` asks for, are those of tables over any graph.
            if let Some(role) = column.strip_prefix('@') {
                return Err(Error::unsupported(format!("conditions on the {role} of {ty} in GraphAr")));
            }
            let near = did_you_mean(column, known());
            return Err(Error::usage(format!("there is no property {column} of {ty} to filter by{near}")));
        }
    }
    Ok(())
}

/// A column of floats that a filter compares with NaN.
fn compared_with_nan<'a>(filter: &'a Predicate, is_float: &dyn Fn(&str) -> bool) -> Option<&'a str> {
    match filter {
        Predicate::Compare { column, literal, .. } | Predicate::Has { column, literal } => {
            let is_nan = match literal {
                Literal::Text(text) => text.trim().parse::<f64>().is_ok_and(f64::is_nan),
                Literal::Float(number) => number.is_nan(),
                _ => false,
            };
            (is_nan && is_float(column)).then_some(column)
        }
        Predicate::And(all) | Predicate::Or(all) => all.iter().find_map(|one| compared_with_nan(one, is_float)),
        Predicate::Not(one) => compared_with_nan(one, is_float),
        Predicate::Like { .. } | Predicate::IsNull(_) | Predicate::IsNotNull(_) => None,
    }
}

/// The filters of an edge type; a name that is also a vertex type means that one.
pub(super) fn edge_filters<'a>(
    info: &'a GraphInfo,
    options: &'a OpenOptions,
    edge: &'a EdgeInfo,
) -> impl Iterator<Item = &'a Predicate> {
    let matches = |(name, _): &(&String, &Predicate)| info.vertex(name).is_none() && means(name, edge);
    options.filters.iter().filter(matches).map(|(_, filter)| filter)
}
