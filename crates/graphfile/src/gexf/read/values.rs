//! Reads declarations of attributes, and their values.

use isomorph_error::Result;
use isomorph_model::json;
use isomorph_records::{Record, Slots, xml};

use super::super::attributes::{Declaration, Kind, begin_value};
use super::super::rules;
use super::super::times::TIMES;
use super::{GexfReader, local};

impl GexfReader {
    /// Reads the declarations of attributes.
    pub(super) fn declarations(&mut self, tag: &xml::Tag<'_>, record: &mut Record) -> Result<()> {
        let class = self.xml.attribute(tag, "class")?.unwrap_or_default();
        let is_dynamic = self.xml.attribute(tag, "mode")?.is_some_and(|mode| mode == "dynamic");
        let of_nodes = match class.as_str() {
            "node" => true,
            "edge" => false,
            other => {
                return Err(self.wrong(&rules::ATTRIBUTE, format!("attributes are for node or edge, not {other:?}")));
            }
        };
        self.pass_over_attributes(tag, &["class", "mode"]);
        self.children(|own, tag, is_empty| {
            if local(tag) != b"attribute" {
                return own.pass_over(tag, is_empty);
            }
            let mut id = String::new();
            own.xml.required(tag, "id", &mut id)?;
            let title = own.xml.attribute(tag, "title")?.unwrap_or_else(|| id.clone());
            let word = own.xml.attribute(tag, "type")?.unwrap_or_else(|| "string".to_owned());
            own.pass_over_attributes(tag, &["id", "title", "type"]);
            let mut declaration = Declaration { id, title, word, is_dynamic, default: None, options: None };
            if !is_empty {
                own.children(|own, tag, is_empty| match local(tag) {
                    b"default" | b"options" if is_empty => Ok(()),
                    b"default" => {
                        declaration.default = Some(own.content()?);
                        Ok(())
                    }
                    b"options" => {
                        declaration.options = Some(own.content()?);
                        Ok(())
                    }
                    _ => own.pass_over(tag, is_empty),
                })?;
            }
            let title = declaration.title.clone();
            if !Kind::of(&declaration.word).1 {
                let message = format!("{title} has type {:?}, whose values are read as text", declaration.word);
                own.findings.push(&rules::TYPE, message, own.xml.place());
            }
            let slots = if of_nodes { &mut record.nodes } else { &mut record.edges };
            let attributes = if of_nodes { &mut own.nodes } else { &mut own.edges };
            if attributes.by_id.contains_key(&declaration.id) {
                let message = format!("the attribute {:?} is declared twice", declaration.id);
                return Err(own.wrong(&rules::ATTRIBUTE, message));
            }
            let Some(name) = attributes.declare(slots, declaration) else {
                return Err(own.xml.limit("there are more than 10,000 attributes"));
            };
            if name != title {
                let message = format!("two attributes have the title {title:?}; the values of this one become {name}");
                own.findings.push(&rules::NAME, message, own.xml.place());
            }
            Ok(())
        })
    }

    /// Reads the values of an element.
    pub(super) fn values(&mut self, slots: &mut Slots, of_nodes: bool) -> Result<()> {
        self.children(|own, tag, is_empty| {
            if local(tag) != b"attvalue" {
                return own.pass_over(tag, is_empty);
            }
            let mut id = std::mem::take(&mut own.text);
            if !own.xml.attribute_into(tag, "for", &mut id)? {
                own.xml.required(tag, "id", &mut id)?;
            }
            let mut value = std::mem::take(&mut own.value);
            own.xml.attribute_into(tag, "value", &mut value)?;
            let attributes = if of_nodes { &own.nodes } else { &own.edges };
            let Some(attribute) = attributes.by_id.get(&id) else {
                return Err(own.wrong(&rules::ATTRIBUTE, format!("the attribute {id:?} is not declared")));
            };
            let (at, kind, is_dynamic) = (attribute.at, attribute.kind, attribute.is_dynamic);
            let (slot, was_set) = slots.slot_at(at);
            let is_value = if is_dynamic {
                let out = begin_value(slot, kind, &value);
                out.map(|out| own.times_of_value(tag, out)).transpose()?.is_some()
            } else if was_set {
                return Err(own.wrong(&rules::ATTRIBUTE, format!("the attribute {id:?} has two values here")));
            } else {
                kind.put(slot, &value)
            };
            if !is_value {
                let cut: String = value.chars().take(40).collect();
                return Err(own.wrong(&rules::VALUE, format!("{cut:?} does not have the type of attribute {id:?}")));
            }
            (own.text, own.value) = (id, value);
            for name in tag.attributes().filter(|name| !matches!(*name, "for" | "id" | "value")) {
                // A value without times of its own has the times of its element.
                if !is_dynamic || !TIMES.contains(&name) {
                    own.pass_over_attribute(name);
                }
            }
            own.pass_over_content(is_empty)
        })
    }

    /// Appends `, start, end]]`, and before the brackets an object with other times, if there are any.
    fn times_of_value(&mut self, tag: &xml::Tag<'_>, out: &mut String) -> Result<()> {
        let mut text = std::mem::take(&mut self.time);
        let mut others = 0;
        for (at, name) in TIMES.into_iter().enumerate() {
            let is_period = at < 2;
            if !self.xml.attribute_into(tag, name, &mut text)? {
                if is_period {
                    self.times.see_open();
                    out.push_str(",null");
                }
                continue;
            }
            self.times.see(&text);
            out.push(',');
            if !is_period {
                out.push_str(if others == 0 { "{" } else { "" });
                json::push_string(out, name);
                out.push(':');
                others += 1;
            }
            json::push_string(out, &text);
        }
        out.push_str(if others > 0 { "}]]" } else { "]]" });
        self.time = text;
        Ok(())
    }
}
