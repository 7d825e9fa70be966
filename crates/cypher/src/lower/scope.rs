//! Variables in scope.

use isomorph::did_you_mean;
use open_cypher::Span;

use super::types::Ty;
use crate::fault::{Fault, Result};
use crate::plan::Slot;

#[derive(Debug, Clone)]
pub(crate) struct Variable {
    pub name: String,
    pub slot: Slot,
    pub ty: Ty,
}

/// The variables that an expression can refer to; later ones hide earlier ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    pub variables: Vec<Variable>,
}

impl Scope {
    pub(crate) fn get(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().rev().find(|one| one.name == name)
    }

    pub(crate) fn add(&mut self, name: &str, slot: Slot, ty: Ty) {
        self.variables.push(Variable { name: name.to_owned(), slot, ty });
    }

    /// The variable of that name.
    pub(crate) fn find(&self, name: &str, span: Span) -> Result<&Variable> {
        self.get(name).ok_or_else(|| {
            let near = did_you_mean(name, self.variables.iter().map(|one| one.name.as_str()));
            Fault::syntax("UndefinedVariable", format!("variable {name} is not defined{near}"), span)
        })
    }
}
