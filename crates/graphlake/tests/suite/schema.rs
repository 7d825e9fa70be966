//! Snapshots that we write, against the JSON schema in the specification's text.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use isomorph_graphlake::{CompactMode, Lake, OpenOptions, WriteOptions};
use isomorph_model::faces::{Object, Quad};
use isomorph_storage::Location;
use serde_json::Value;

/// The schema of snapshot files, from the text of the specification.
fn schema() -> Value {
    serde_json::from_slice(&std::fs::read(isomorph_fixtures::fixture("graphlake/schema.json")).unwrap()).unwrap()
}

/// Where `value` does not match `schema`: only the keywords of this schema are supported.
fn check(root: &Value, schema: &Value, value: &Value, at: &str, wrong: &mut Vec<String>) {
    let words = [
        "$schema",
        "title",
        "definitions",
        "description",
        "$ref",
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
    ];
    assert!(schema.as_object().unwrap().keys().all(|word| words.contains(&word.as_str())), "{schema}");
    if let Some(name) = schema["$ref"].as_str() {
        return check(root, &root["definitions"][name.trim_start_matches("#/definitions/")], value, at, wrong);
    }
    let fits = match schema["type"].as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64(),
        "boolean" => value.is_boolean(),
        other => panic!("{other}"),
    };
    if !fits {
        wrong.push(format!("{at} is {value}"));
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        if value.get(name.as_str().unwrap()).is_none() {
            wrong.push(format!("{at} has no {name}"));
        }
    }
    for (name, member) in value.as_object().into_iter().flatten() {
        let at = format!("{at}.{name}");
        match (schema["properties"].get(name), schema.get("additionalProperties")) {
            (Some(own), _) => check(root, own, member, &at, wrong),
            (None, Some(Value::Bool(false))) => wrong.push(format!("{at} is not in the schema")),
            (None, Some(own)) => check(root, own, member, &at, wrong),
            (None, None) => {}
        }
    }
    if let Some(schema) = schema.get("items") {
        for (number, item) in value.as_array().into_iter().flatten().enumerate() {
            check(root, schema, item, &format!("{at}[{number}]"), wrong);
        }
    }
}

#[test]
fn snapshots_fit_the_schema_of_the_specification() {
    let schema = schema();
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let lake = Lake::create(&Location::from_path(&path), &OpenOptions::default(), &WriteOptions::default()).unwrap();
    for round in 0..4 {
        let mut transaction = lake.begin().unwrap();
        for (number, graph) in [(0, None), (1, Some("urn:g")), (2, Some("urn:g"))] {
            let subject = format!("urn:s:{number}:{round}");
            let object = Object::Literal { lexical: "x", datatype: "", language: Some("en"), direction: None };
            transaction.insert(&Quad { subject: &subject, predicate: "urn:p", object, graph }).unwrap();
            let old = format!("urn:s:{number}:{}", round - 1);
            transaction.delete(&Quad { subject: &old, predicate: "urn:p", object, graph }).unwrap();
        }
        transaction.create_graph(Some("urn:empty")).unwrap();
        transaction.copy_graph(Some("urn:g"), Some("urn:copy")).unwrap();
        transaction.commit().unwrap();
    }
    lake.compact(CompactMode::Full, &|_| Ok(())).unwrap();
    common::write(&home.path().join("bulk"), &WriteOptions::default(), |writer| {
        writer.push(&Quad { subject: "urn:s", predicate: "urn:p", object: Object::Term("urn:o"), graph: None })
    })
    .unwrap();
    let snapshot =
        |name: &str| -> Value { serde_json::from_slice(&std::fs::read(home.path().join(name)).unwrap()).unwrap() };
    for name in (1..=5)
        .map(|version| format!("lake/snapshots/snapshot{version}.json"))
        .chain(["bulk/snapshots/snapshot1.json".to_owned()])
    {
        let mut wrong = Vec::new();
        check(&schema, &schema, &snapshot(&name), &name, &mut wrong);
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
    // The check can fail.
    let mut broken = snapshot("bulk/snapshots/snapshot1.json");
    broken["more"] = 1.into();
    broken["version"] = "1".into();
    broken["graphs"]["urn:g"] = serde_json::json!({ "id": "g", "so_data_files": [{}] });
    let mut wrong = Vec::new();
    check(&schema, &schema, &broken, "broken", &mut wrong);
    assert_eq!(wrong.len(), 2 + 1 + 14, "{wrong:#?}");
}
