//! What to try where no node has the key that was given.

use arrow_array::cast::AsArray;
use arrow_cast::cast;
use arrow_schema::DataType;
use isomorph_error::{Error, Kind, Result, nearest};
use isomorph_model::{Batch, KeyKind, NodeType, Request, Source, Tables};

use super::{Named, Neighbors};

/// The keys of larger types are not read for a hint.
const ROWS: u64 = 100_000;

/// `error`, with what to try if no node has the key: the type whose node has it, or a key that is spelt almost like it.
pub(super) fn explained(asked: &Neighbors<'_>, error: Error) -> Error {
    let Named::Key(key) = &asked.node else { return error };
    if !matches!(error.kind(), Kind::NotFound | Kind::Usage) {
        return error;
    }
    let types = &asked.graph().nodes;
    let behind_type = |ty: &NodeType| Some((ty.name.clone(), key.strip_prefix(ty.name.as_str())?.strip_prefix('/')?));
    if types.len() > 1
        && let Some((ty, rest)) = types.iter().find_map(behind_type)
    {
        return error.hint(format!("--type {ty} --id {rest}    the type is not part of the key"));
    }
    if error.kind() == Kind::Usage {
        return error;
    }
    let is_number = types.get(asked.ty).is_some_and(|ty| ty.key.kind == KeyKind::Int);
    if let Some(number) = key.trim().parse::<i128>().ok().filter(|number| is_number && number.to_string() != *key) {
        return error.hint(format!("--id {number}    keys are integers, spelt like this"));
    }
    let source = asked.dataset.source().as_ref();
    // That keys cannot be read is not what went wrong.
    let keys = |at: usize| keys(source, at).unwrap_or_default();
    let own = keys(asked.ty);
    if let Some(near) = nearest(key, own.iter().map(String::as_str)) {
        return error.hint(format!("--id {near:?}    the nearest key of this type"));
    }
    let others = types.iter().enumerate().filter(|(at, _)| *at != asked.ty);
    match others.into_iter().find(|(at, _)| keys(*at).contains(key)) {
        Some((_, ty)) => error.hint(format!("--type {}    a node of this type has the key", ty.name)),
        None => error,
    }
}

/// The keys of a type as texts; none of a type that is large, has no keys, or has no rows of its own.
fn keys(source: &dyn Source, ty: usize) -> Result<Vec<String>> {
    let own = source.graph().nodes.get(ty).filter(|ty| ty.key.kind != KeyKind::Row && !ty.implied);
    if own.and_then(|ty| ty.rows).is_none_or(|rows| rows > ROWS) {
        return Ok(Vec::new());
    }
    let mut all = Vec::new();
    for batch in source.scan(&Request::of(Tables::NodeKeys(ty)))?.into_iter().flatten() {
        let Batch::Nodes(nodes) = batch? else { continue };
        let Some(keys) = nodes.keys.filter(|_| nodes.ty == ty) else { continue };
        let texts = cast(&keys, &DataType::Utf8).map_err(|error| Error::malformed(error.to_string()))?;
        all.extend(texts.as_string::<i32>().iter().flatten().map(str::to_owned));
    }
    Ok(all)
}
