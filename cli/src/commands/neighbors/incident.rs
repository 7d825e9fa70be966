//! Finding the hyperedges that a node is a member of.

use isomorph::storage::Resources;
use std::collections::{BTreeMap, BTreeSet};

use arrow_array::cast::AsArray;
use arrow_cast::cast;
use arrow_schema::DataType;
use isomorph::convert::{Renderer, Silent};
use isomorph::formats::annnet::LookUps;
use isomorph::model::{Batch, Ends, NodeId, Request, Side, Source, Tables};
use isomorph::{Error, Result};
use serde::Serialize;
use serde_json::Value;

use super::find::Sides;
use super::keys;
use super::line::{self, Facts, Line};

/// One hyperedge, seen from one of its members.
#[derive(Debug, Serialize)]
pub struct Incident {
    /// Name of its type.
    #[serde(rename = "type")]
    pub ty: String,
    pub key: Value,
    directed: bool,
    pub members: Vec<Member>,
    properties: Facts,
    #[serde(skip_serializing_if = "Facts::is_empty")]
    bag: Facts,
}

/// A member of a hyperedge.
#[derive(Debug, Clone, Serialize)]
pub struct Member {
    pub role: String,
    pub key: Value,
}

impl Incident {
    /// The roles that the node has in it.
    pub fn roles_of(&self, node: &str) -> String {
        let own = self.members.iter().filter(|member| text(&member.key) == node).map(|member| member.role.as_str());
        own.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
    }

    /// Its members by their roles.
    pub fn shown_members(&self) -> String {
        let mut parts = Vec::new();
        for role in ["head", "tail", "member"] {
            let own: Vec<String> =
                self.members.iter().filter(|member| member.role == role).map(|member| text(&member.key)).collect();
            if !own.is_empty() {
                parts.push(if role == "member" { own.join(", ") } else { format!("{role} {}", own.join(", ")) });
            }
        }
        parts.join("; ")
    }

    /// What it says.
    pub fn facts(&self) -> String {
        line::shown(&self.properties, &self.bag)
    }
}

/// A key as somebody types it.
pub fn text(key: &Value) -> String {
    match key {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The first `limit` hyperedges of a node of type `ty`, by their types and keys, and how many more there are. Of directed ones
/// those in whose head it is leave it, and those in whose tail it is reach it.
///
/// # Errors
/// When they cannot be read.
pub fn of_node(
    source: &dyn Source,
    (ty, node): (usize, NodeId<'_>),
    relation: Option<&str>,
    sides: Sides,
    (limit, resources): (usize, &Resources),
) -> Result<(String, Vec<Incident>, u64)> {
    let look_ups = source.as_any().and_then(|source| source.downcast_ref::<LookUps>());
    // The key of a row is read, which takes its time.
    if look_ups.is_none() && source.graph().hyperedges.is_empty() {
        return Ok((String::new(), Vec::new(), 0));
    }
    let key = match node {
        NodeId::Key(key) => key.to_owned(),
        NodeId::Row(row) => {
            let keys = keys::of_rows(source, ty, &vec![row].into())?;
            let keys = cast(&keys, &DataType::Utf8).map_err(|error| Error::malformed(error.to_string()))?;
            keys.as_string::<i32>().value(0).to_owned()
        }
    };
    // Opened for look-ups, the graph knows whether the node is in any, and only then is read.
    let whole = match look_ups {
        Some(look_ups) => match look_ups.with_hyperedges_of(&key)? {
            Some(whole) => Some(whole),
            None => return Ok((key, Vec::new(), 0)),
        },
        None => None,
    };
    let source: &dyn Source = whole.as_ref().map_or(source, |whole| whole);
    let graph = source.graph();
    let types: Vec<bool> = graph
        .hyperedges
        .iter()
        .map(|own| own.ends == ty && relation.is_none_or(|relation| relation == own.name))
        .collect();
    if !types.contains(&true) {
        return Ok((key, Vec::new(), 0));
    }
    let mut wanted_roles = vec!["member"];
    wanted_roles.extend(sides.include(Side::Out).then_some("head"));
    wanted_roles.extend(sides.include(Side::In).then_some("tail"));
    let reading = Reading { source, types, renderer: Renderer::new(source, resources, &Silent)? };
    let mut owners: BTreeSet<(String, String)> = BTreeSet::new();
    reading.members(|ends| Ok(rows_of(&ends.member, |member| member == key)), &mut |ty, line| {
        let role = line.member.as_deref().unwrap_or_default();
        if line.end.as_ref().is_some_and(|end| text(end) == key) && wanted_roles.contains(&role) {
            owners.insert((ty.to_owned(), line.hyperedge.as_ref().map(text).unwrap_or_default()));
        }
        Ok(())
    })?;
    let more = owners.len().saturating_sub(limit) as u64;
    let mut found: BTreeMap<(String, String), Incident> = BTreeMap::new();
    let empty = |(ty, own): (String, String)| {
        let incident = Incident {
            ty: ty.clone(),
            key: Value::String(own.clone()),
            directed: false,
            members: Vec::new(),
            properties: Facts::default(),
            bag: Facts::default(),
        };
        ((ty, own), incident)
    };
    found.extend(owners.into_iter().take(limit).map(empty));
    if found.is_empty() {
        return Ok((key, Vec::new(), 0));
    }
    let keys: BTreeSet<String> = found.keys().map(|(_, own)| own.clone()).collect();
    reading.members(|ends| Ok(rows_of(&ends.owner, |owner| keys.contains(owner))), &mut |ty, line| {
        let own = (ty.to_owned(), line.hyperedge.as_ref().map(text).unwrap_or_default());
        if let Some(incident) = found.get_mut(&own) {
            let (role, key) = (line.member.unwrap_or_default(), line.end.unwrap_or_default());
            incident.members.push(Member { role, key });
        }
        Ok(())
    })?;
    reading.hyperedges(&keys, &mut |ty, line| {
        let key = line.key.clone().unwrap_or_default();
        if let Some(incident) = found.get_mut(&(ty.to_owned(), text(&key))) {
            (incident.key, incident.directed) = (key, line.directed);
            [incident.properties, incident.bag] = line.facts()?;
        }
        Ok(())
    })?;
    Ok((key, found.into_values().collect(), more))
}

/// Rows whose end is wanted; nothing when ends are rows themselves, or keys that are no text.
fn rows_of(ends: &Ends, wanted: impl Fn(&str) -> bool) -> Option<Vec<usize>> {
    let Ends::Keys(keys) = ends else { return None };
    // All rows are read then, and each is compared by its line.
    let keys = cast(keys, &DataType::Utf8).ok()?;
    let keys = keys.as_string::<i32>();
    Some(keys.iter().enumerate().filter(|(_, own)| own.is_some_and(&wanted)).map(|(row, _)| row).collect())
}

/// Passes over hyperedges and their members.
struct Reading<'a> {
    source: &'a dyn Source,
    /// Which types of hyperedges count.
    types: Vec<bool>,
    renderer: Renderer,
}

impl Reading<'_> {
    /// Lines about members, of the rows that `choose` names; of all where it cannot tell.
    fn members(
        &self,
        choose: impl Fn(&isomorph::model::batch::MemberBatch) -> Result<Option<Vec<usize>>>,
        take: &mut dyn FnMut(&str, Line<'_>) -> Result<()>,
    ) -> Result<()> {
        self.each(&mut |batch| {
            let Batch::Members(members) = &batch else { return Ok(()) };
            match self.types.get(members.ty) {
                Some(true) => self.lines(&batch, choose(members)?, take),
                _ => Ok(()),
            }
        })
    }

    /// Lines about hyperedges with these keys.
    fn hyperedges(&self, keys: &BTreeSet<String>, take: &mut dyn FnMut(&str, Line<'_>) -> Result<()>) -> Result<()> {
        self.each(&mut |batch| {
            let Batch::Hyperedges(hyperedges) = &batch else { return Ok(()) };
            let rows = rows_of(&Ends::Keys(hyperedges.keys.clone()), |own| keys.contains(own));
            match self.types.get(hyperedges.ty) {
                Some(true) => self.lines(&batch, rows, take),
                _ => Ok(()),
            }
        })
    }

    fn each(&self, take: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        for mut part in self.source.scan(&Request::of(Tables::Rest))? {
            part.read(take)?;
        }
        Ok(())
    }

    fn lines(
        &self,
        batch: &Batch,
        rows: Option<Vec<usize>>,
        take: &mut dyn FnMut(&str, Line<'_>) -> Result<()>,
    ) -> Result<()> {
        let pieces: Vec<Batch> = match rows {
            Some(rows) => rows.into_iter().map(|row| batch.slice(row, 1)).collect(),
            None => vec![batch.clone()],
        };
        for piece in pieces {
            self.renderer.batch(&piece, |element| take(element.ty, Line::read(element.line)?))?;
        }
        Ok(())
    }
}
