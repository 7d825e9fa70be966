//! The text of a value: characters, or the XML that is inside it.

use isomorph_error::Result;
use isomorph_records::xml::{self, Buffer, Event, Tag as Element, check_reference};
use quick_xml::name::PrefixDeclaration;

use super::GraphMlReader;
use crate::fragment::{DECLARED, declare};
use crate::rules;

impl GraphMlReader {
    /// Appends the text inside the current element, with inner elements as XML.
    pub(super) fn text(&mut self, out: &mut String) -> Result<()> {
        self.buffered(|parser, buffer| parser.text_in(buffer, out))?;
        self.xml.check_characters(out)
    }

    fn text_in(&mut self, buffer: &mut Buffer, out: &mut String) -> Result<()> {
        let (mut depth, mut has_elements) = (1, false);
        // Positions at which elements of the outermost level can declare prefixes, and the prefixes that they inherit.
        let mut inherited: Vec<(usize, String, String)> = Vec::new();
        loop {
            match self.xml.event(buffer)? {
                event @ (Event::Text(_) | Event::CData(_) | Event::GeneralRef(_)) if !has_elements => {
                    self.xml.push_text(&event, out)?;
                }
                Event::Text(text) => self.raw(out, "", &text, "")?,
                Event::CData(text) => self.raw(out, "<![CDATA[", &text, "]]>")?,
                Event::GeneralRef(name) => {
                    check_reference(&name).map_err(|message| self.syntax(message))?;
                    self.raw(out, "&", &name, ";")?;
                }
                event @ (Event::Start(_) | Event::Empty(_)) => {
                    if !std::mem::replace(&mut has_elements, true) && out.trim().is_empty() {
                        out.clear();
                    }
                    if let (1, Event::Start(tag) | Event::Empty(tag)) = (depth, &event) {
                        let at = out.len() + 1 + tag.name().into_inner().len();
                        inherited.extend(self.inherited(tag).map(|(prefix, uri)| (at, prefix, uri)));
                        if inherited.len() > 1 << 16 {
                            return Err(self.wrong(&rules::LIMIT, "too many elements with prefixes in one value"));
                        }
                    }
                    match event {
                        Event::Start(tag) => {
                            depth += 1;
                            self.raw(out, "<", tag.bytes(), ">")?;
                        }
                        Event::Empty(tag) => self.raw(out, "<", tag.bytes(), "/>")?,
                        _ => {}
                    }
                    self.xml.check_depth(depth)?;
                }
                Event::End(tag) => {
                    depth -= 1;
                    if depth == 0 {
                        if has_elements {
                            out.truncate(out.trim_end().len());
                        }
                        declare(out, &inherited);
                        return Ok(());
                    }
                    self.raw(out, "</", &tag, ">")?;
                }
                Event::Eof => return Err(self.xml.truncated()),
                _ => {}
            }
            if out.len() > xml::LONGEST {
                return Err(self.wrong(&rules::LIMIT, "a text is longer than 64 MiB"));
            }
        }
    }

    fn raw(&self, out: &mut String, before: &str, bytes: &[u8], after: &str) -> Result<()> {
        let text = std::str::from_utf8(bytes).map_err(|_| self.syntax("the text is not UTF-8"))?;
        out.push_str(before);
        match text.contains('\r') {
            // XML 1.0, section 2.11.
            true => out.push_str(&text.replace("\r\n", "\n").replace('\r', "\n")),
            false => out.push_str(text),
        }
        out.push_str(after);
        Ok(())
    }

    /// Returns the prefixes that an element inside data inherits, except those that are declared in the output.
    fn inherited(&self, tag: &Element<'_>) -> impl Iterator<Item = (String, String)> {
        let mut all = Vec::new();
        for (prefix, uri) in self.xml.namespaces().bindings() {
            let PrefixDeclaration::Named(prefix) = prefix else { continue };
            let (prefix, uri) = (String::from_utf8_lossy(prefix), String::from_utf8_lossy(uri.0));
            let is_known = DECLARED.iter().any(|(own, known)| *own == prefix && *known == uri);
            if !is_known
                && !matches!(prefix.as_ref(), "xml" | "xmlns")
                && !tag.has_attribute(&format!("xmlns:{prefix}"))
            {
                all.push((prefix.into_owned(), uri.replace('"', "&quot;")));
            }
        }
        all.into_iter()
    }
}
