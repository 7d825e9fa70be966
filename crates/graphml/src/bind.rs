//! Keys as properties: which attribute of a record the data of a key is.

use arrow_schema::DataType;
use isomorph_model::Property;
use isomorph_records::{Slot, Slots, Tag};

use crate::keys::{Domain, Key, Keys, float, integer, says, truth};

/// The property with the ids of edges, which need not be unique.
const ID: &str = "id";

/// In [`Property::declared`]: marks a property that is an attribute of the element, not data; and the type of yEd's
/// data.
pub(crate) const ATTRIBUTE: &str = "graphml.attribute";
pub(crate) const YFILES: &str = "yfiles.type";

/// Why data is not a value of its property.
pub(crate) enum Misfit {
    /// It is not what this says.
    Not(&'static str),
    /// Another key of the property has a value already.
    Twice,
}

/// The data of one property.
struct Bound {
    name: String,
    slot: usize,
    data_type: DataType,
    /// Its keys: several if numbers of one name have different types.
    keys: Vec<usize>,
    /// The key that gave the value of the current element.
    owner: usize,
}

/// The properties of elements of one kind.
#[derive(Default)]
pub(crate) struct Binding {
    properties: Vec<Bound>,
    /// The property of each key, for keys of these elements.
    of_key: Vec<Option<usize>>,
    /// Values of elements without data: slots, keys and values; or what the text of the default is not.
    defaults: Vec<(usize, usize, Result<Slot, &'static str>)>,
    /// The slot of the ids of elements.
    id: Option<usize>,
    /// Names of keys that were already used, and the names of their properties.
    pub renamed: Vec<(String, String)>,
}

impl Binding {
    /// Declares the properties of the keys that are new; returns false if there are too many names.
    pub fn bind(&mut self, keys: &Keys, of: Domain, slots: &mut Slots) -> bool {
        for at in self.of_key.len()..keys.all.len() {
            let Some(key) = keys.all.get(at).filter(|key| key.domain.includes(of)) else {
                self.of_key.push(None);
                continue;
            };
            let same = self.properties.iter().position(|own| own.name == key.name);
            let joined = same.and_then(|same| merged(keys, &self.properties[same].keys, key).map(|ty| (same, ty)));
            let position = match joined {
                Some((position, data_type)) => {
                    let own = &mut self.properties[position];
                    own.keys.push(at);
                    own.data_type = data_type;
                    position
                }
                None => {
                    let name = self.free(&key.name);
                    if name != key.name {
                        self.renamed.push((key.name.clone(), name.clone()));
                    }
                    let data_type = key.data_type.clone();
                    self.properties.push(Bound { name, slot: 0, data_type, keys: vec![at], owner: at });
                    self.properties.len() - 1
                }
            };
            self.of_key.push(Some(position));
            let own = &mut self.properties[position];
            let mut property = Property::new(own.name.clone(), own.data_type.clone());
            if let Some(yfiles) = &key.yfiles {
                property.declared.insert(YFILES.to_owned(), yfiles.clone());
            }
            let Some(slot) = slots.declare(property) else { return false };
            own.slot = slot;
        }
        self.set_defaults(keys);
        true
    }

    fn set_defaults(&mut self, keys: &Keys) {
        self.defaults.clear();
        for own in &self.properties {
            let Some(at) = own.keys.first().copied() else { continue };
            let Some(key) = keys.all.get(at) else { continue };
            let Some(text) = key.default.as_deref().filter(|text| says(&key.data_type, text)) else { continue };
            let mut slot = Slot::default();
            let value = put(key, &own.data_type, &mut slot, text).map(|()| slot);
            self.defaults.push((own.slot, at, value));
        }
    }

    fn free(&self, name: &str) -> String {
        let is_free = |name: &String| !self.properties.iter().any(|other| other.name == *name);
        let mut names = std::iter::once(name.to_owned()).chain((2..).map(|number| format!("{name}_{number}")));
        names.find(is_free).unwrap_or_default()
    }

    /// Returns the slot of the ids of elements; `None` if there are too many names.
    pub fn id(&mut self, slots: &mut Slots) -> Option<usize> {
        if self.id.is_none() {
            let name = self.free(ID);
            let mut property = Property::new(name.clone(), DataType::Utf8);
            property.declared.insert(ATTRIBUTE.to_owned(), ID.to_owned());
            let slot = slots.declare(property)?;
            let (data_type, keys, owner) = (DataType::Utf8, Vec::new(), usize::MAX);
            self.properties.push(Bound { name, slot, data_type, keys, owner });
            self.id = Some(slot);
        }
        self.id
    }

    /// Puts the data of a key into the slot of its property. Without a value, the last data of this key is removed.
    pub fn put(&mut self, keys: &Keys, at: usize, slots: &mut Slots, text: &str) -> Result<(), Misfit> {
        let Some(key) = keys.all.get(at) else { return Ok(()) };
        let Some(own) = self.of_key.get(at).copied().flatten().and_then(|own| self.properties.get_mut(own)) else {
            return Ok(());
        };
        let is_set = slots.get(own.slot).is_some();
        if !says(&key.data_type, text) {
            if is_set && own.owner == at {
                slots.slot_at(own.slot).0.unset();
            }
            return Ok(());
        }
        if is_set && own.owner != at {
            return Err(Misfit::Twice);
        }
        own.owner = at;
        put(key, &own.data_type, slots.slot_at(own.slot).0, text).map_err(Misfit::Not)
    }

    /// Puts the defaults of keys into the slots that have no value.
    ///
    /// # Errors
    /// Returns the key of a default that has another type, and what it is not.
    pub fn put_defaults(&self, slots: &mut Slots) -> Result<(), (usize, &'static str)> {
        for (slot, key, value) in &self.defaults {
            if slots.get(*slot).is_none() {
                slots.slot_at(*slot).0.copy_from(value.as_ref().map_err(|what| (*key, *what))?);
            }
        }
        Ok(())
    }
}

/// Puts a text into a slot; the error is what it is not.
fn put(key: &Key, data_type: &DataType, slot: &mut Slot, text: &str) -> Result<(), &'static str> {
    match key.data_type {
        DataType::Boolean => slot.put_bool(truth(text).ok_or("a boolean")?),
        DataType::Int32 | DataType::Int64 => {
            let value = integer(text).ok_or("a 64-bit integer")?;
            if *data_type != DataType::Float64 {
                slot.put_integer(value);
            } else if is_exact(value) {
                slot.put_float(value as f64);
            } else {
                return Err("exact as a double, which is the type of other values with this name");
            }
        }
        DataType::Float64 => slot.put_float(float(text).ok_or("a number in the range of doubles")?),
        _ => slot.put(Tag::Text, text),
    }
    Ok(())
}

/// Returns the type of numbers whose keys have the same name and different types. NetworkX declares a key for each type
/// of an attribute, and reads only one of them.
fn merged(keys: &Keys, before: &[usize], key: &Key) -> Option<DataType> {
    let before: Vec<&Key> = before.iter().filter_map(|at| keys.all.get(*at)).collect();
    let is_number = |key: &&Key| {
        key.yfiles.is_none() && matches!(key.data_type, DataType::Int32 | DataType::Int64 | DataType::Float64)
    };
    let is_new = !before.is_empty() && before.iter().all(|own| own.data_type != key.data_type);
    if !is_new || !before.iter().chain([&key]).all(is_number) {
        return None;
    }
    let has_doubles = before.iter().chain([&key]).any(|key| key.data_type == DataType::Float64);
    Some(if has_doubles { DataType::Float64 } else { DataType::Int64 })
}

/// Returns whether a double represents an integer exactly: at most 53 bits from the first to the last set bit.
fn is_exact(value: i64) -> bool {
    let size = value.unsigned_abs();
    size.leading_zeros() + size.trailing_zeros() >= u64::BITS - f64::MANTISSA_DIGITS
}
