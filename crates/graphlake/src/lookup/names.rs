//! The IRI that a store uses for a triple that a user quotes: one of the two IRIs of its id.

use std::sync::Arc;

use isomorph_error::{Error, Result};
use isomorph_model::faces::Object;

use super::{Bindings, Pattern, Question, Solutions};
use crate::id::TripleId;
use crate::read::GraphLake;

impl GraphLake {
    /// Returns the IRI under which a store has a term that is a quoted triple, or the id of a triple in any of its
    /// forms (see [`TripleId`]); `None` for other terms. Patterns are evaluated with terms as they are stored.
    ///
    /// # Errors
    /// Returns an error if it is malformed, the store uses two IRIs for it, or a file cannot be read.
    pub fn stored(&self, term: &str) -> Result<Option<String>> {
        match <[String; 2]>::try_from(self.names(term)?) {
            Ok([one, other]) => {
                Err(Error::unsupported(format!("the store uses two IRIs for {}", crate::cursor::shown(term)))
                    .hint(format!("<{one}>    for statements about this one"))
                    .hint(format!("<{other}>    for statements about that one")))
            }
            Err(names) => Ok(names.into_iter().next()),
        }
    }

    /// Returns the IRIs of a triple term or an id that occur in the store; if none does, the one that is written.
    /// `None` for other terms.
    ///
    /// An IRI that occurs in the store stands only for itself.
    pub(super) fn names(&self, term: &str) -> Result<Vec<String>> {
        let id = match self.quoted()?.id_of(term)? {
            Some(id) => id,
            None => match TripleId::given(term) {
                Some(_) if self.speaks_of(term)? => return Ok(vec![term.to_owned()]),
                Some(id) => id,
                None => return Ok(Vec::new()),
            },
        };
        let mut names = Vec::new();
        for name in [id.iri(), id.ni()] {
            if self.speaks_of(&name)? {
                names.push(name);
            }
        }
        Ok(if names.is_empty() { vec![id.iri()] } else { names })
    }

    /// Whether an IRI is subject or object of a triple.
    fn speaks_of(&self, iri: &str) -> Result<bool> {
        let subject = Pattern { subject: Some(iri), ..Pattern::default() };
        let object = Pattern { object: Some(Object::Term(iri)), ..Pattern::default() };
        for pattern in [subject, object] {
            let mut solutions = Solutions::new(self, &Question::from(&pattern), Arc::new(Bindings::unit()))?;
            while let Some(found) = solutions.next_batch()? {
                if !found.rows.is_empty() {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}
