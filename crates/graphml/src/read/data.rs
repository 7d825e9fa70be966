//! Keys, and the data of elements.

use isomorph_error::{Error, Result};
use isomorph_records::Slots;
use isomorph_records::xml::{Buffer, Event, Tag as Element};

use super::GraphMlReader;
use crate::bind::{Binding, Misfit};
use crate::keys::{Domain, Key, data_type};
use crate::rules;

/// Maximum number of keys.
const KEYS: usize = 10_000;

impl GraphMlReader {
    /// Reads the declaration of a key.
    pub(super) fn key(&mut self, tag: &Element<'_>, is_empty: bool) -> Result<()> {
        let mut id = String::new();
        self.xml.required(tag, "id", &mut id)?;
        let yfiles = self.xml.attribute(tag, "yfiles.type")?;
        let name = self.xml.attribute(tag, "attr.name")?.or_else(|| yfiles.clone()).unwrap_or_else(|| id.clone());
        let domain = Domain::of(&self.xml.attribute(tag, "for")?.unwrap_or_default());
        let word = self.xml.attribute(tag, "attr.type")?;
        let (data_type, is_known) = word.as_deref().map_or((arrow_schema::DataType::Utf8, true), data_type);
        let foreign = word.filter(|_| !is_known);
        let default = if is_empty { None } else { self.buffered(Self::default_in)? };
        if self.keys.all.len() >= KEYS {
            return Err(self.wrong(&rules::LIMIT, format!("more than {KEYS} keys")));
        }
        let message = format!("the key {id:?} is declared twice");
        if !self.keys.add(Key { id, name, domain, data_type, yfiles, default, foreign }) {
            return Err(self.wrong(&rules::KEY, message));
        }
        self.last.push(0);
        self.graph_data.push(None);
        Ok(())
    }

    /// Returns the default value of a key.
    fn default_in(&mut self, buffer: &mut Buffer) -> Result<Option<String>> {
        let mut default = None;
        loop {
            match self.xml.event(buffer)? {
                Event::Start(tag) if self.own_name(&tag) == Some(b"default") => {
                    let mut text = String::new();
                    self.text(&mut text)?;
                    default = Some(text);
                }
                Event::Empty(tag) if self.own_name(&tag) == Some(b"default") => default = Some(String::new()),
                Event::Start(_) => self.xml.skip()?,
                Event::End(_) => return Ok(default),
                Event::Eof => return Err(self.xml.truncated()),
                _ => {}
            }
        }
    }

    /// Reads the name of the key of data, and returns its position.
    fn key_of(&mut self, tag: &Element<'_>, of: Domain) -> Result<usize> {
        let mut id = std::mem::take(&mut self.id);
        self.xml.required(tag, "key", &mut id)?;
        let found = self.keys.find(&id, of);
        self.id = id;
        let Some(at) = found else {
            let id = &self.id;
            return Err(self.wrong(&rules::KEY, format!("the key {id:?} is not declared before it is used")));
        };
        let key = &self.keys.all[at];
        if !key.domain.includes(of) {
            let (name, domain) = (&key.name, key.domain.word());
            let message = format!("{name} is declared for {domain}, but is used in {}", of.word());
            return Err(self.wrong(&rules::KEY, message));
        }
        Ok(at)
    }

    /// Reads data of the graph.
    pub(super) fn datum_of_graph(&mut self, tag: &Element<'_>, is_empty: bool) -> Result<()> {
        let at = self.key_of(tag, Domain::Graph)?;
        if self.graph_data[at].is_some() {
            let name = &self.keys.all[at].name;
            return Err(self.wrong(&rules::KEY, format!("the graph has two values of {name:?}")));
        }
        let mut text = String::new();
        if !is_empty {
            self.text(&mut text)?;
        }
        self.graph_data[at] = Some(text);
        Ok(())
    }

    /// Reads data of the current element.
    pub(super) fn datum(&mut self, tag: &Element<'_>, is_empty: bool, of: Domain, slots: &mut Slots) -> Result<()> {
        let at = self.key_of(tag, of)?;
        if std::mem::replace(&mut self.last[at], self.element) == self.element {
            let (name, place) = (&self.keys.all[at].name, self.xml.place());
            self.repeated.get_or_insert_with(|| (name.clone(), place, 0)).2 += 1;
        }
        let mut value = std::mem::take(&mut self.value);
        value.clear();
        if !is_empty {
            self.text(&mut value)?;
        }
        let binding = match of {
            Domain::Node => &mut self.nodes,
            Domain::Edge => &mut self.edges,
            _ => &mut self.hyperedges,
        };
        let put = binding.put(&self.keys, at, slots, &value);
        self.value = value;
        put.map_err(|misfit| match misfit {
            Misfit::Not(what) => self.misfit(at, &self.value, what),
            Misfit::Twice => {
                let name = &self.keys.all[at].name;
                self.wrong(&rules::VALUE, format!("{name}: two keys with this name have values"))
            }
        })
    }

    fn misfit(&self, key: usize, text: &str, what: &str) -> Error {
        let cut: String = text.chars().take(40).collect();
        self.wrong(&rules::VALUE, format!("{}: {cut:?} is not {what}", self.keys.all[key].name))
    }

    pub(super) fn put_defaults(&self, binding: &Binding, slots: &mut Slots) -> Result<()> {
        binding
            .put_defaults(slots)
            .map_err(|(key, what)| self.misfit(key, self.keys.all[key].default.as_deref().unwrap_or_default(), what))
    }
}
