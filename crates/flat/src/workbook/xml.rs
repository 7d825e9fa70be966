//! Events of the XML of workbooks.

use isomorph_error::{Error, Kind, Result};
use quick_xml::events::{BytesStart, Event};

use super::archive::Xml;
use super::broken;

/// The longest text of a cell, in bytes; spreadsheets have at most 32,767 characters.
const TEXT: usize = 1 << 20;

/// Reads one part of a workbook.
pub(super) struct Part {
    reader: Xml,
    buffer: Vec<u8>,
}

impl Part {
    pub fn new(reader: Xml) -> Part {
        Part { reader, buffer: Vec::new() }
    }

    /// The next event.
    ///
    /// # Errors
    /// If the text is not well-formed.
    pub fn next(&mut self) -> Result<Event<'static>> {
        self.buffer.clear();
        let event = self.reader.read_event_into(&mut self.buffer).map_err(broken)?.into_owned();
        match self.buffer.len() > 16 * TEXT {
            true => Err(Error::new(Kind::TooLarge, "a text of the workbook has more than 16 MiB")),
            false => Ok(event),
        }
    }

    /// Reads up to the end of an element.
    ///
    /// # Errors
    /// If it has none.
    pub fn skip(&mut self, end: &[u8]) -> Result<()> {
        loop {
            match self.next()? {
                Event::End(tag) if tag.local_name().as_ref() == end => return Ok(()),
                Event::Eof => return Err(broken("the file is truncated")),
                _ => {}
            }
        }
    }
}

/// The value of an attribute by its name with a prefix, or without one where `name` has none.
pub(super) fn attribute(tag: &BytesStart<'_>, name: &[u8]) -> Result<Option<String>> {
    match tag.try_get_attribute(name).map_err(broken)? {
        Some(own) => Ok(Some(own.unescape_value().map_err(broken)?.into_owned())),
        None => Ok(None),
    }
}

/// Appends what an event is in a text.
///
/// # Errors
/// If the text is too long, or is no text.
pub(super) fn push_text(event: &Event<'_>, out: &mut String) -> Result<()> {
    match event {
        Event::Text(own) => out.push_str(&own.xml10_content().map_err(broken)?),
        Event::CData(own) => out.push_str(&own.xml10_content().map_err(broken)?),
        Event::GeneralRef(own) => match own.resolve_char_ref().map_err(broken)? {
            Some(character) => out.push(character),
            None => {
                let name = own.decode().map_err(broken)?;
                match quick_xml::escape::resolve_predefined_entity(&name) {
                    Some(text) => out.push_str(text),
                    None => return Err(broken(format!("the entity {name:?} is not known"))),
                }
            }
        },
        _ => {}
    }
    match out.len() > TEXT {
        true => Err(Error::new(Kind::TooLarge, "the text of a cell has more than 1 MiB")),
        false => Ok(()),
    }
}
