//! XML inside data, which yEd writes: checks whether a text is such XML.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use isomorph_records::xml::{DEPTH, check_reference, check_tag, is_foreign};
use quick_xml::NsReader;
use quick_xml::events::Event;

/// The prefixes that files with yEd's XML declare, and their namespaces.
pub(crate) const DECLARED: &[(&str, &str)] = &[
    ("java", "http://www.yworks.com/xml/yfiles-common/1.0/java"),
    ("sys", "http://www.yworks.com/xml/yfiles-common/markup/primitives/2.0"),
    ("x", "http://www.yworks.com/xml/yfiles-common/markup/2.0"),
    ("y", "http://www.yworks.com/xml/graphml"),
    ("yed", "http://www.yworks.com/xml/yed/3"),
];

/// Returns the attributes that declare them.
pub(crate) fn declarations() -> String {
    let mut out = String::new();
    for (prefix, uri) in DECLARED {
        let _ = write!(out, " xmlns:{prefix}=\"{uri}\"");
    }
    out
}

/// Declares inherited prefixes in elements; each entry is a position, a prefix and its namespace. Unused prefixes are
/// omitted.
pub(crate) fn declare(text: &mut String, inherited: &[(usize, String, String)]) {
    if inherited.is_empty() {
        return;
    }
    let all: BTreeSet<&str> = inherited.iter().map(|(_, prefix, _)| prefix.as_str()).collect();
    let used: BTreeSet<&str> = all.into_iter().filter(|prefix| text.contains(&format!("{prefix}:"))).collect();
    if used.is_empty() {
        return;
    }
    let (mut out, mut done) = (String::with_capacity(text.len()), 0);
    for (at, prefix, uri) in inherited.iter().filter(|(_, prefix, _)| used.contains(prefix.as_str())) {
        out.push_str(&text[done..*at]);
        let _ = write!(out, " xmlns:{prefix}=\"{uri}\"");
        done = *at;
    }
    out.push_str(&text[done..]);
    *text = out;
}

/// Returns whether a text consists of elements that can be written to data as they are and are read back as the same
/// text. Other text must be escaped.
pub(crate) fn is_fragment(text: &str) -> bool {
    let begins = text.starts_with('<') && text.ends_with('>');
    begins && !text.contains('\r') && !text.contains(is_foreign) && rebuilt(text).is_some_and(|again| again == text)
}

/// Returns the elements of a text as they are read back; `None` if the text is not well-formed.
fn rebuilt(text: &str) -> Option<String> {
    let whole = format!("<data{}>{text}</data>", declarations());
    let mut reader = NsReader::from_str(&whole);
    reader.config_mut().check_end_names = true;
    let (mut out, mut depth, mut attributes) = (String::new(), 0usize, Vec::new());
    let mut push = |parts: [&str; 3]| parts.iter().for_each(|part| out.push_str(part));
    let text_of = |bytes: &[u8]| std::str::from_utf8(bytes).ok().map(str::to_owned);
    loop {
        match reader.read_event().ok()? {
            Event::Start(tag) => {
                check_tag(&tag, reader.resolver(), &mut attributes).ok()?;
                if depth > 0 {
                    push(["<", &text_of(&tag)?, ">"]);
                }
                depth += 1;
                if depth >= DEPTH {
                    return None;
                }
            }
            Event::Empty(tag) => {
                check_tag(&tag, reader.resolver(), &mut attributes).ok()?;
                push(["<", &text_of(&tag)?, "/>"]);
            }
            Event::End(_) if depth == 1 => break,
            Event::End(tag) => {
                depth -= 1;
                push(["</", &text_of(&tag)?, ">"]);
            }
            Event::Text(text) => {
                let text = text_of(&text)?;
                if text.contains("]]>") {
                    return None;
                }
                push(["", &text, ""]);
            }
            // Outside of elements, a CDATA section is text.
            Event::CData(text) if depth > 1 => push(["<![CDATA[", &text_of(&text)?, "]]>"]),
            Event::GeneralRef(name) => {
                check_reference(&name).ok()?;
                push(["&", &text_of(&name)?, ";"]);
            }
            _ => return None,
        }
    }
    matches!(reader.read_event(), Ok(Event::Eof)).then_some(out)
}
