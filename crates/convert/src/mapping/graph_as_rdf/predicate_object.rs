//! A quad without its subject as one text, for sorting by subject.

use isomorph_error::{Error, Result};
use isomorph_model::faces::{Object, Quad};

/// Appends a quad without its subject: predicate, object, datatype, language, direction and graph, each after its
/// length. A term has no datatype.
pub(super) fn push(out: &mut String, quad: &Quad<'_>) {
    let (object, datatype, language, direction) = match quad.object {
        Object::Term(term) => (term, None, None, None),
        Object::Literal { lexical, datatype, language, direction } => (lexical, Some(datatype), language, direction),
    };
    for part in [Some(quad.predicate), Some(object), datatype, language, direction, quad.graph] {
        if let Some(part) = part {
            out.push_str(&part.len().to_string());
        }
        out.push(':');
        out.push_str(part.unwrap_or_default());
    }
}

/// Restores the quad.
///
/// # Errors
/// If a temporary file was changed.
pub(super) fn quad<'s>(subject: &'s str, said: &'s str) -> Result<Quad<'s>> {
    let mut rest = said;
    let mut part = || -> Option<Option<&'s str>> {
        let (length, behind) = rest.split_once(':')?;
        let length = if length.is_empty() { None } else { Some(length.parse::<usize>().ok()?) };
        let (part, behind) = behind.split_at_checked(length.unwrap_or_default())?;
        rest = behind;
        Some(length.map(|_| part))
    };
    let mut parts = || Some([part()?, part()?, part()?, part()?, part()?, part()?]);
    let parts = parts().filter(|_| rest.is_empty());
    let Some([Some(predicate), Some(object), datatype, language, direction, graph]) = parts else {
        return Err(Error::malformed("a temporary file was changed"));
    };
    let object = match datatype {
        None => Object::Term(object),
        Some(datatype) => Object::Literal { lexical: object, datatype, language, direction },
    };
    Ok(Quad { subject, predicate, object, graph })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn quads_come_back_from_texts() {
        let literal =
            |lexical, datatype, language, direction| Object::Literal { lexical, datatype, language, direction };
        let objects = [
            Object::Term("urn:o"),
            Object::Term(""),
            literal("7:ä:\n", "urn:d", None, None),
            literal("", "", None, None),
            literal("3:a", "", Some("en"), Some("ltr")),
            literal("x", "urn:d", Some(""), None),
        ];
        for object in objects {
            for graph in [None, Some(""), Some("urn:g:1")] {
                let before = Quad { subject: "urn:s", predicate: "5:p", object, graph };
                let mut said = String::new();
                push(&mut said, &before);
                assert_eq!(format!("{:?}", quad("urn:s", &said).unwrap()), format!("{before:?}"));
                for cut in (0..said.len()).filter(|cut| said.is_char_boundary(*cut)) {
                    let _ = quad("urn:s", &said[..cut]);
                }
            }
        }
        for broken in ["", "1:", "1:a", "1:a1:b::::9:x", "1:a-1:b::::", "x:a1:b::::"] {
            assert!(quad("urn:s", broken).is_err(), "{broken}");
        }
    }
}
