//! Descriptors of our `.proto` files, which use a small part of the language: messages of scalars and messages, and services.

use prost::Message;

/// A file.
pub(super) struct Schema {
    pub name: String,
    package: String,
    messages: Vec<Descriptor>,
    services: Vec<Service>,
}

/// `google.protobuf.FileDescriptorProto`, as far as it is needed here.
#[derive(Clone, PartialEq, Message)]
struct File {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    package: String,
    #[prost(message, repeated, tag = "4")]
    messages: Vec<Descriptor>,
    #[prost(message, repeated, tag = "6")]
    services: Vec<Service>,
    #[prost(string, tag = "12")]
    syntax: String,
}

/// `DescriptorProto`.
#[derive(Clone, PartialEq, Message)]
struct Descriptor {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, repeated, tag = "2")]
    fields: Vec<Field>,
}

/// `FieldDescriptorProto`.
#[derive(Clone, PartialEq, Message)]
struct Field {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(int32, tag = "3")]
    number: i32,
    #[prost(int32, tag = "4")]
    label: i32,
    #[prost(int32, tag = "5")]
    kind: i32,
    #[prost(string, tag = "6")]
    type_name: String,
}

/// `ServiceDescriptorProto`.
#[derive(Clone, PartialEq, Message)]
struct Service {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, repeated, tag = "2")]
    methods: Vec<Method>,
}

/// `MethodDescriptorProto`.
#[derive(Clone, PartialEq, Message)]
struct Method {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    input: String,
    #[prost(string, tag = "3")]
    output: String,
}

/// `FieldDescriptorProto.Label`.
const OPTIONAL: i32 = 1;
const REPEATED: i32 = 3;

/// `FieldDescriptorProto.Type`: the scalars that our files use, and messages.
const SCALARS: [(&str, i32); 8] = [
    ("float", 2),
    ("int64", 3),
    ("uint64", 4),
    ("int32", 5),
    ("bool", 8),
    ("string", 9),
    ("bytes", 12),
    ("uint32", 13),
];
const MESSAGE: i32 = 11;

impl Schema {
    /// Parses one of our files. What it does not know is skipped; a test compares the result with the messages in `wire`.
    pub fn parse(name: &str, text: &str) -> Schema {
        let mut schema =
            Schema { name: name.to_owned(), package: String::new(), messages: Vec::new(), services: Vec::new() };
        let mut in_service = false;
        for line in text.lines() {
            let words: Vec<&str> = line.split([' ', ';', '(', ')']).filter(|word| !word.is_empty()).collect();
            match words.as_slice() {
                ["package", package] => schema.package = (*package).to_owned(),
                ["message", name, ..] => {
                    in_service = false;
                    schema.messages.push(Descriptor { name: (*name).to_owned(), fields: Vec::new() });
                }
                ["service", name, ..] => {
                    in_service = true;
                    schema.services.push(Service { name: (*name).to_owned(), methods: Vec::new() });
                }
                ["rpc", name, input, "returns", output] if in_service => {
                    let full = |ty: &str| format!(".{}.{ty}", schema.package);
                    let method = Method { name: (*name).to_owned(), input: full(input), output: full(output) };
                    schema.services.iter_mut().last().into_iter().for_each(|of| of.methods.push(method.clone()));
                }
                ["repeated", ty, name, "=", number] => schema.field(REPEATED, ty, name, number),
                [ty, name, "=", number] => schema.field(OPTIONAL, ty, name, number),
                _ => {}
            }
        }
        schema
    }

    fn field(&mut self, label: i32, ty: &str, name: &str, number: &str) {
        let scalar = SCALARS.iter().find(|(scalar, _)| *scalar == ty);
        let kind = scalar.map_or(MESSAGE, |(_, kind)| *kind);
        let type_name = if scalar.is_some() { String::new() } else { format!(".{}.{ty}", self.package) };
        let (Ok(number), Some(message)) = (number.parse(), self.messages.last_mut()) else { return };
        message.fields.push(Field { name: name.to_owned(), number, label, kind, type_name });
    }

    /// Returns the full names of the services.
    pub fn services(&self) -> impl Iterator<Item = String> {
        self.services.iter().map(|service| format!("{}.{}", self.package, service.name))
    }

    /// Returns whether the file has a service, a call or a message of this full name.
    pub fn has(&self, symbol: &str) -> bool {
        let Some(rest) = symbol.strip_prefix(&self.package).and_then(|rest| rest.strip_prefix('.')) else {
            return false;
        };
        let (name, call) = rest.split_once('.').map_or((rest, None), |(name, call)| (name, Some(call)));
        let of = self.services.iter().find(|service| service.name == name);
        match (of, call) {
            (Some(service), Some(call)) => service.methods.iter().any(|method| method.name == call),
            (Some(_), None) => true,
            (None, None) => self.messages.iter().any(|message| message.name == name),
            (None, Some(_)) => false,
        }
    }

    /// Returns the encoded descriptor.
    pub fn descriptor(&self) -> Vec<u8> {
        let file = File {
            name: self.name.clone(),
            package: self.package.clone(),
            messages: self.messages.clone(),
            services: self.services.clone(),
            syntax: "proto3".to_owned(),
        };
        file.encode_to_vec()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::schemas;

    /// The fields of every message, as our structures for the wire state them: structure, kind, whether it repeats, number, name.
    fn of_wire() -> Vec<(String, String, bool, i32, String)> {
        let (mut found, mut within, mut tag) = (Vec::new(), String::new(), None);
        for line in include_str!("../wire.rs").lines().map(str::trim) {
            if let Some(rest) = line.strip_prefix("pub struct ") {
                within = rest.split(' ').next().unwrap().to_owned();
            } else if let Some(rest) = line.strip_prefix("#[prost(") {
                let parts: Vec<&str> = rest.trim_end_matches(")]").split(", ").collect();
                let kind = parts[0].split(' ').next().unwrap().to_owned();
                let number = parts.last().unwrap().trim_start_matches("tag = ").trim_matches('"').parse().unwrap();
                tag = Some((kind, parts.contains(&"repeated"), number));
            } else if let (Some(rest), Some((kind, repeated, number))) = (line.strip_prefix("pub "), tag.take()) {
                found.push((within.clone(), kind, repeated, number, rest.split(':').next().unwrap().to_owned()));
            }
        }
        found
    }

    #[test]
    fn descriptors_state_what_is_on_the_wire() {
        let mut told = Vec::new();
        for message in schemas().iter().flat_map(|schema| &schema.messages) {
            for field in &message.fields {
                let scalar = super::SCALARS.iter().find(|(_, kind)| *kind == field.kind);
                let kind = scalar.map_or("message", |(name, _)| name).to_owned();
                told.push((
                    message.name.clone(),
                    kind,
                    field.label == super::REPEATED,
                    field.number,
                    field.name.clone(),
                ));
            }
        }
        let (mut told, mut expected) = (told, of_wire());
        told.sort();
        expected.sort();
        assert!(expected.len() > 80, "{}", expected.len());
        assert_eq!(told, expected);
        // Types of calls and of fields exist.
        for schema in schemas() {
            let known = |name: &str| schema.has(name.trim_start_matches('.'));
            for method in schema.services.iter().flat_map(|service| &service.methods) {
                assert!(known(&method.input) && known(&method.output), "{method:?}");
            }
            for field in schema.messages.iter().flat_map(|message| &message.fields) {
                assert!(field.type_name.is_empty() || known(&field.type_name), "{field:?}");
            }
        }
    }
}
