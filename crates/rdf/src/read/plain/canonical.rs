//! Exclusive canonical XML, with comments, of the content of an element (W3C, "Exclusive XML Canonicalization 1.0").
//!
//! This is the lexical form of a literal of RDF/XML with `rdf:parseType="Literal"`. Namespaces are declared where they
//! are used, attributes are sorted, empty elements have two tags, references are replaced. The parser writes all
//! namespaces in scope, some of them twice, and attributes in their original order, which can be invalid XML.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::super::guard::{Entities, normalised, resolved};
use crate::xml::{push_text, push_value};

/// Prefixes with their namespaces; the default one has no name.
pub(super) type Namespaces = BTreeMap<String, String>;

/// The namespace of the prefix `xml`, which needs no declaration.
const XML: &str = "http://www.w3.org/XML/1998/namespace";

/// Maximum number of prefixes in scope: above that there is no canonical form here, because each element that declares
/// another prefix copies them all.
pub(super) const PREFIXES: usize = 100;

/// An open element.
struct Open<'t> {
    name: &'t str,
    scope: Rc<Namespaces>,
    /// The declarations in scope that were written.
    written: Rc<Namespaces>,
}

/// The canonical form of `content` in the scope of `scope`. `None` if the content is not well-formed, or uses
/// undeclared entities or prefixes.
pub(super) fn canonical(content: &str, scope: &Rc<Namespaces>, entities: &Entities) -> Option<String> {
    let content = content.replace("\r\n", "\n").replace('\r', "\n");
    let mut out = String::with_capacity(content.len() + 64);
    let mut open = vec![Open { name: "", scope: Rc::clone(scope), written: Rc::default() }];
    let mut rest = content.as_str();
    while !rest.is_empty() {
        let Some(begin) = rest.find('<') else {
            push_text(&mut out, &resolved(rest, entities)?);
            break;
        };
        push_text(&mut out, &resolved(rest.get(..begin)?, entities)?);
        rest = rest.get(begin..)?;
        if rest.starts_with("<!--") {
            let end = rest.find("-->")? + 3;
            out.push_str(rest.get(..end)?);
            rest = rest.get(end..)?;
        } else if let Some(inside) = rest.strip_prefix("<![CDATA[") {
            let (text, behind) = inside.split_once("]]>")?;
            push_text(&mut out, text);
            rest = behind;
        } else if let Some(inside) = rest.strip_prefix("<?") {
            let (instruction, behind) = inside.split_once("?>")?;
            let (target, data) = instruction.split_once(is_space).unwrap_or((instruction, ""));
            let data = data.trim_start_matches(is_space);
            let space = if data.is_empty() { "" } else { " " };
            out.extend(["<?", target, space, data, "?>"]);
            rest = behind;
        } else if let Some(inside) = rest.strip_prefix("</") {
            let (name, behind) = inside.split_once('>')?;
            let last = open.pop().filter(|last| last.name == name.trim_end_matches(is_space) && !open.is_empty())?;
            out.extend(["</", last.name, ">"]);
            rest = behind;
        } else {
            let tag = Tag::of(rest)?;
            rest = rest.get(tag.length..)?;
            let element = start(&mut out, &tag, open.last()?, entities)?;
            match tag.empty {
                true => out.extend(["</", tag.name, ">"]),
                false => open.push(element),
            }
        }
    }
    (open.len() == 1).then_some(out)
}

/// Writes a start tag.
fn start<'t>(out: &mut String, tag: &Tag<'t>, parent: &Open<'_>, entities: &Entities) -> Option<Open<'t>> {
    let mut scope = Rc::clone(&parent.scope);
    let mut attributes = Vec::new();
    for (name, value) in &tag.attributes {
        let value = normalised(value, entities)?.into_owned();
        match declared(name) {
            Some(prefix) => {
                Rc::make_mut(&mut scope).insert(prefix.to_owned(), value);
            }
            None => attributes.push((*name, value)),
        }
    }
    if scope.len() > PREFIXES {
        return None;
    }
    let mut used: BTreeSet<&str> =
        attributes.iter().filter_map(|(name, _)| name.split_once(':')).map(|of| of.0).collect();
    used.insert(tag.name.split_once(':').map_or("", |(prefix, _)| prefix));
    used.remove("xml");
    let mut written = Rc::clone(&parent.written);
    out.extend(["<", tag.name]);
    for prefix in used {
        let namespace = match scope.get(prefix) {
            Some(namespace) if prefix.is_empty() || !namespace.is_empty() => namespace.as_str(),
            None if prefix.is_empty() => "",
            _ => return None,
        };
        let known = written.get(prefix).map(String::as_str);
        // The default namespace is empty until it is declared.
        if known != Some(namespace) && !(known.is_none() && namespace.is_empty()) {
            out.push_str(if prefix.is_empty() { " xmlns" } else { " xmlns:" });
            out.push_str(prefix);
            push_value(out, namespace);
            Rc::make_mut(&mut written).insert(prefix.to_owned(), namespace.to_owned());
        }
    }
    let mut sorted = BTreeMap::new();
    for (name, value) in attributes {
        let (namespace, local) = match name.split_once(':') {
            None => ("", name),
            Some(("xml", local)) => (XML, local),
            Some((prefix, local)) => (scope.get(prefix)?.as_str(), local),
        };
        if sorted.insert((namespace, local), (name, value)).is_some() {
            return None;
        }
    }
    for (name, value) in sorted.into_values() {
        out.extend([" ", name]);
        push_value(out, &value);
    }
    out.push('>');
    Some(Open { name: tag.name, scope, written })
}

/// The prefix that an attribute declares.
pub(super) fn declared(attribute: &str) -> Option<&str> {
    match attribute.strip_prefix("xmlns")? {
        "" => Some(""),
        named => named.strip_prefix(':'),
    }
}

/// A start tag.
pub(super) struct Tag<'t> {
    pub(super) name: &'t str,
    /// Names with values in their original spelling, without quotes.
    pub(super) attributes: Vec<(&'t str, &'t str)>,
    pub(super) empty: bool,
    /// Number of bytes, from `<` to `>`.
    pub(super) length: usize,
}

impl<'t> Tag<'t> {
    /// The tag at the start of `text`.
    pub(super) fn of(text: &'t str) -> Option<Tag<'t>> {
        let inside = text.strip_prefix('<')?;
        let end = inside.find(|c| is_space(c) || matches!(c, '/' | '>'))?;
        let (name, mut rest) = inside.split_at(end);
        let mut attributes = Vec::new();
        loop {
            rest = rest.trim_start_matches(is_space);
            let closed =
                rest.strip_prefix("/>").map(|rest| (rest, true)).or(rest.strip_prefix('>').map(|rest| (rest, false)));
            if let Some((rest, empty)) = closed {
                return (!name.is_empty()).then_some(Tag { name, attributes, empty, length: text.len() - rest.len() });
            }
            let (attribute, behind) = rest.split_once('=')?;
            let behind = behind.trim_start_matches(is_space);
            let quote = behind.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
            let (value, behind) = behind.get(1..)?.split_once(quote)?;
            attributes.push((attribute.trim_end_matches(is_space), value));
            rest = behind;
        }
    }
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(content: &str) -> Option<String> {
        let scope = [("", "urn:d"), ("a", "urn:a"), ("b", "urn:b"), ("rdf", "urn:r")];
        let scope: Namespaces = scope.into_iter().map(|(prefix, iri)| (prefix.to_owned(), iri.to_owned())).collect();
        let entities = Entities::of("<!DOCTYPE r [<!ENTITY e '&#38;lt;&#38;amp;>'>]>").ok()?;
        canonical(content, &Rc::new(scope), &entities)
    }

    #[test]
    fn numbers_of_characters_have_no_sign() {
        assert_eq!(form("&#xE9;&#233;").as_deref(), Some("\u{e9}\u{e9}"));
        assert_eq!([form("&#x+E9;"), form("&#+233;")], [None, None]);
    }

    #[test]
    fn namespaces_are_declared_where_they_are_used() {
        let cases = [
            ("a &lt; b", "a &lt; b"),
            ("<br />", "<br xmlns=\"urn:d\"></br>"),
            ("<a:x><a:y/><z/></a:x>", "<a:x xmlns:a=\"urn:a\"><a:y></a:y><z xmlns=\"urn:d\"></z></a:x>"),
            ("<x xmlns=''><y xmlns='urn:d'/></x>", "<x><y xmlns=\"urn:d\"></y></x>"),
            ("<x><y xmlns=''/></x>", "<x xmlns=\"urn:d\"><y xmlns=\"\"></y></x>"),
            // The same prefix for another namespace, which a child reverts.
            (
                "<a:x><a:y xmlns:a='urn:n'><a:z xmlns:a='urn:a'/></a:y></a:x>",
                "<a:x xmlns:a=\"urn:a\"><a:y xmlns:a=\"urn:n\"><a:z xmlns:a=\"urn:a\"></a:z></a:y></a:x>",
            ),
            // Declarations by prefix, attributes by namespace: those of b after those of a, and both after those
            // without.
            (
                "<a:x b:q='1' a:z='2' xml:lang='en' y='3'/>",
                "<a:x xmlns:a=\"urn:a\" xmlns:b=\"urn:b\" y=\"3\" xml:lang=\"en\" a:z=\"2\" b:q=\"1\"></a:x>",
            ),
            (
                "<a:x\n  q='\"&#10;&lt;\t&e;'\n>t</a:x >",
                "<a:x xmlns:a=\"urn:a\" q=\"&quot;&#xA;&lt; &lt;&amp;>\">t</a:x>",
            ),
            ("\"'&e;\r\n&#13;<![CDATA[<&]]>", "\"'&lt;&amp;&gt;\n&#xD;&lt;&amp;"),
            ("<!-- <&> --><?p  q ?><?p?>", "<!-- <&> --><?p q ?><?p?>"),
        ];
        for (content, expected) in cases {
            assert_eq!(form(content).as_deref(), Some(expected), "{content}");
            // The canonical form is unchanged.
            assert_eq!(
                canonical(expected, &Rc::default(), &Entities::default()).as_deref(),
                Some(expected),
                "{content}"
            );
        }
    }

    #[test]
    fn what_is_not_well_formed_has_no_form() {
        for content in [
            "<a:x>",
            "</a:x>",
            "<a:x></a:y>",
            "<n:x/>",
            "<x n:y=''/>",
            "&what;",
            "&#0;",
            "a & b",
            "<x y/>",
            "<x y=1/>",
            "<",
            "<!-- ",
            "<x a:y='' a:y=''/>",
            "<![CDATA[",
            "<?p",
            "< x/>",
        ] {
            assert_eq!(form(content), None, "{content}");
        }
    }
}
