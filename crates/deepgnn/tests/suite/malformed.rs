//! Unusual or malformed lines: each is refused with its position and rule, or read as the published converter reads
//! it.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use std::collections::BTreeMap;

use common::{built, files, text};
use isomorph_deepgnn::{BuildOptions, OpenOptions, rules};
use isomorph_error::{Error, Findings};

/// Builds a text of one line, after a valid line.
fn build(
    format: &str,
    line: &str,
    meta: Option<&str>,
    compat: bool,
) -> Result<(BTreeMap<String, Vec<u8>>, Findings), Error> {
    let home = tempfile::tempdir().unwrap();
    let out = home.path().join("out");
    let path = text(home.path(), &format!("graph.{format}"), line, meta);
    let open = OpenOptions { compat, ..OpenOptions::default() };
    let built = built(&path, &out, &open, &BuildOptions::default());
    assert_eq!(out.exists(), built.is_ok(), "nothing is published of a broken text");
    let findings = built?.findings;
    Ok((files(&out), findings))
}

fn refused(format: &str, line: &str, meta: Option<&str>, compat: bool, column: u64, rule: &str) {
    let error = match build(format, line, meta, compat) {
        Ok(_) => panic!("{line:?} was read"),
        Err(error) => error,
    };
    let place = error.place();
    assert_eq!(error.broken_rule().map(|rule| rule.id), Some(rule), "{line:?}: {error}");
    assert_eq!((place.line, place.field.clone()), (Some(1), Some(format!("column {column}"))), "{line:?}: {error}");
    assert!(place.file.as_ref().is_some_and(|file| file.ends_with(format)), "{error}");
}

const DEFAULTS: &str = r#"{"node_default_type": 2, "node_default_weight": 1.0, "node_default_features": "float32 3",
    "edge_default_type": 0, "edge_default_weight": 1, "edge_default_features": "float32 2"}"#;

#[test]
fn linear_lines_that_are_wrong() {
    for (line, column, rule) in [
        ("-1 0 1 .5 binary 1 abc", 11, "DEEPGNN-DTYPE"),
        ("-1 0 1 .5 binary_feature 3 a b c", 28, "DEEPGNN-DTYPE"),
        ("-1 0 1 .5 foo 2 1 2", 11, "DEEPGNN-DTYPE"),
        ("-1 0 1 .5 float32 3 1 2", 24, "DEEPGNN-SHORT"),
        ("-1 0 1 .5 uint8 2 -1 300", 19, "DEEPGNN-NUMBER"),
        ("-1 0 1 .5 uint8 1 1.5", 19, "DEEPGNN-NUMBER"),
        ("-1 0 1 .5 bool 1 maybe", 18, "DEEPGNN-NUMBER"),
        ("-1 0 1 .5 int16 3,2,2 0 1 2 3 4 5 6", 36, "DEEPGNN-SHORT"),
        ("-1 0 1 .5 uint8 2,3 0 4 1 1 1", 21, "DEEPGNN-COORDINATES"),
        ("-1 0 1", 7, "DEEPGNN-FIELD"),
        ("-1 0", 5, "DEEPGNN-FIELD"),
        ("-1", 1, "DEEPGNN-FIELD"),
        ("-1 0 1 .5 0", 11, "DEEPGNN-FIELD"),
        ("-1 0 1 .5 0 1", 14, "DEEPGNN-FIELD"),
        ("-1 0 1 .5 0 1 0", 16, "DEEPGNN-FIELD"),
        ("-1 0 1 .5 int32 3 1 1 1 1.5 0 1 0 1", 25, "DEEPGNN-DTYPE"),
        ("-1 0 1.0 .5", 6, "DEEPGNN-NUMBER"),
        ("-1 x 1 .5", 4, "DEEPGNN-NUMBER"),
        ("-1 -7 1 .5", 4, "DEEPGNN-ID"),
        ("-1 18446744073709551616 1 .5", 4, "DEEPGNN-ID"),
        ("-1 0 1 abc", 8, "DEEPGNN-NUMBER"),
        ("-1 0 -1 .5", 6, "DEEPGNN-TYPE"),
        ("-1 0 1 .5 int32 x 1", 17, "DEEPGNN-NUMBER"),
        ("-1 0 1 .5 int32 -1 1", 17, "DEEPGNN-NUMBER"),
        ("-1 0 1 .5 int32", 16, "DEEPGNN-FIELD"),
        ("-1 0 1 .5 int32 99999999999999999999 1", 17, "DEEPGNN-NUMBER"),
        ("-1 0 0 1 0 1 1 1 0 2 0 1", 1, "DEEPGNN-TYPE-ORDER"),
    ] {
        refused("linear", line, None, false, column, rule);
    }
    refused("linear", "-1 0 1 2", Some(DEFAULTS), false, 9, "DEEPGNN-SHORT");
    refused("linear", "-1 0 1 2 3 0 1", Some(DEFAULTS), false, 15, "DEEPGNN-SHORT");
}

#[test]
fn linear_lines_that_the_published_converter_takes() {
    let same = |line: &str, plain: &str, meta: Option<&str>| {
        let (odd, _) = build("linear", line, meta, true).unwrap_or_else(|error| panic!("{line}: {error:?}"));
        assert_eq!(odd, build("linear", plain, None, false).unwrap().0, "{line}");
    };
    same("-1 0 1 .5 0", "-1 0 1 .5", None);
    same("-1 0 1 .5 float32 3 1 2", "-1 0 1 .5 float32 2 1 2", None);
    same("-1 0 1 .5 bool 2 False 0", "-1 0 1 .5 bool 2 1 1", None);
    same("-1 0 1 2 3 0 1", "-1 0 2 1 float32 3 1 2 3 0 1 0 1 float32 0", Some(DEFAULTS));
    same("", "\n", None);
    let plain = |line: &str, plain: &str| {
        assert_eq!(
            build("linear", line, None, false).unwrap().0,
            build("linear", plain, None, false).unwrap().0,
            "{line}"
        );
    };
    plain("  -1   0\t1 .5   0 1 0 .5  \r\n", "-1 0 1 0.5 0 1 0 0.5");
    plain("-1 +0 1 1e3 int32 1 +3", "-1 0 1 1000 int32 1 3");
    plain("-1 0 1_0 1_0.5 int32 1 1_0", "-1 0 10 10.5 int32 1 10");
    plain("-1 0 1 .5 float 2 1 2 int 1 3 double 1 2", "-1 0 1 .5 float64 2 1 2 int64 1 3 float64 1 2");
    plain("-1 0 1 .5 f4 1 3 half 1 1", "-1 0 1 .5 float32 1 3 float16 1 1");
    plain("-1 0 1 .5 int16 0,0 0 1 0 1", "-1 0 1 .5 int16 0 0 1 0 1");
    plain("-1 0 1 .5 float32 3 nan inf -inf float64 1 inf", "-1 0 1 .5 float32 3 NaN Infinity -INF float64 1 inf");
    same("-1 0 1 .5 float64 1 1e400", "-1 0 1 .5 float64 1 inf", None);
    plain("-1 0 1 .5 -1 3 1 .5", "-1 0 1 .5\n-1 3 1 .5");
    plain("-1 0 1 .5 bool 2 False 1", "-1 0 1 .5 uint8 2 0 1");
}

#[test]
fn edge_lists() {
    for (line, column, rule) in [
        ("0,-1,1", 7, "DEEPGNN-FIELD"),
        ("0,-1,1,.5,float32,2,1", 22, "DEEPGNN-SHORT"),
        ("0,-1,1,.5,foo,1,1", 11, "DEEPGNN-DTYPE"),
        ("0,-1,1,.5,binary,2,a,b", 20, "DEEPGNN-DTYPE"),
        ("0,-1,1,.5,bool,1,No", 18, "DEEPGNN-NUMBER"),
        ("-1,0,1,.5", 1, "DEEPGNN-ID"),
        ("0,-1,1,.5,,float32", 12, "DEEPGNN-FIELD"),
        ("0,-1,1,.5,uint8,1/2/3,1", 17, "DEEPGNN-NUMBER"),
        ("0,0,1,.5,uint8,99999999999/2,1", 30, "DEEPGNN-SHORT"),
        ("x,0,1,.5", 1, "DEEPGNN-NUMBER"),
        (" ", 2, "DEEPGNN-FIELD"),
    ] {
        refused("edgelist", line, None, false, column, rule);
    }
    let same = |line: &str, linear: &str| {
        let (list, _) = build("edgelist", line, None, false).unwrap_or_else(|error| panic!("{line}: {error:?}"));
        assert_eq!(list, build("linear", linear, None, false).unwrap().0, "{line}");
    };
    same("0,-1,1,.5,int32,3,1,1,1,float32,2,1.1,1.1", "-1 0 1 .5 int32 3 1 1 1 float32 2 1.1 1.1");
    same(" 0 , -1 , 1 , .5 , int32 , 1 , 3 ", "-1 0 1 .5 int32 1 3");
    same("0,-1,1,.5,", "-1 0 1 .5");
    same("0,-1,1,.5,binary,1,a\\,b,float32,1,2", "-1 0 1 .5 binary_feature 1 a,b float32 1 2");
    same("0,-1,1,.5,binary,1,a\\\\,float32,1,2", "-1 0 1 .5 binary_feature 1 a\\\\ float32 1 2");
    same("0,-1,1,.5\n0,0,1,.5,uint8,2/2,0,4,10,1,7,8", "-1 0 1 .5 0 1 0 .5 uint8 2,2,2 0 4 10 1 7 8");
}

#[test]
fn tables_of_tabs() {
    for (line, column, rule) in [
        ("1\t0\t1\tf: 1 2", 9, "DEEPGNN-NUMBER"),
        ("1\t0\t1\tf:1  2", 11, "DEEPGNN-NUMBER"),
        ("1\t0\t1\tx:1 2", 7, "DEEPGNN-DTYPE"),
        ("1\t0\t1\tf:1;x:1 2", 11, "DEEPGNN-DTYPE"),
        ("1\t0\t1\tf128:1", 7, "DEEPGNN-DTYPE"),
        ("1\t0\t1\tF:1", 7, "DEEPGNN-DTYPE"),
        ("1\t0\t1\tf1", 7, "DEEPGNN-FIELD"),
        ("1\t0\t1\tf:1:2", 9, "DEEPGNN-NUMBER"),
        ("1\t0\t1\t\t2", 9, "DEEPGNN-FIELD"),
        ("1\t0\t1\t\t2,,", 10, "DEEPGNN-FIELD"),
        ("1\t0\t1\t\t2,0|", 12, "DEEPGNN-FIELD"),
        ("x\t0", 1, "DEEPGNN-NUMBER"),
        ("node_id\tnode_type", 1, "DEEPGNN-NUMBER"),
        ("\t0", 1, "DEEPGNN-FIELD"),
        ("\n\n", 1, "DEEPGNN-FIELD"),
    ] {
        refused("tsv", line, None, false, column, rule);
    }
    let same = |line: &str, linear: &str, compat: bool| {
        let (tsv, findings) = build("tsv", line, None, compat).unwrap_or_else(|error| panic!("{line}: {error:?}"));
        assert_eq!(tsv, build("linear", linear, None, false).unwrap().0, "{line}");
        findings
    };
    for compat in [false, true] {
        assert!(same("1", "-1 1 0 0", compat).is_empty());
        same("1\t\t\t\t", "-1 1 0 0", compat);
        same("1\t0\t1\tf:1;;f:2", "-1 1 0 1 float32 1 1 uint8 0 float32 1 2", compat);
        same(
            "1\t0\t1\tf16:1;f32:2;f64:3;d:4;d9:5;u8:255;i8:-3;bxx:zz",
            "-1 1 0 1 f2 1 1 f4 1 2 f8 1 3 f8 1 4 f8 1 5 u1 1 255 i1 1 -3 binary_feature 1 zz",
            compat,
        );
        same("1\t0\t1\t\"b:a\"\"b\"\t2,0,1", "-1 1 0 1 binary_feature 1 a\"b 1 2 0 1", compat);
        same(
            "1\t0\t0.1\tf:0.1 0.2\t3,1,0.3|2,1,0.2|9,0,1\textra",
            "-1 1 0 0.1 float32 2 0.1 0.2 1 9 0 1 1 2 1 .2 1 3 1 .3",
            compat,
        );
    }
    let spec = "1\t0\t0.1\tf:0.1 0.2;b:str_feat;i:1 2 3\t2, 0, 0.3, 1, f:0.1 0.2;b:str_feat;i:1 2 3";
    let features = "float32 2 0.1 0.2 binary_feature 1 str_feat int64 3 1 2 3";
    let findings = same(spec, &format!("-1 1 0 .1 {features} 1 2 0 .3 {features}"), false);
    let rules: Vec<_> = findings.by_rule().map(|(count, found)| (found[0].rule.id, count)).collect();
    assert_eq!(rules, [("DEEPGNN-NEIGHBOR-FIELDS", 1), ("DEEPGNN-TSV-WIDTH", 2)]);
    refused("tsv", spec, None, true, 30, "DEEPGNN-DTYPE");
    // What the published converter loses is lost only on request.
    same("1\t0\t1\tb:a:b", "-1 1 0 1 binary_feature 1 a:b", false);
    same("1\t0\t1\tf:;b:a:b;f:2", "-1 1 0 1 uint8 0 uint8 0 float32 1 2", true);
    same("1\t0\t1\tf:1;x:1 2", "-1 1 0 1 float32 1 1 float32 2 1 2", true);
    same("1\t0\t1\t\t2,0,1,b:x,y", "-1 1 0 1 1 2 0 1 binary_feature 1 x,y", false);
    same("1\t0\t1\t\t2,0,1,b:x,y", "-1 1 0 1 1 2 0 1 binary_feature 1 x", true);
}

/// A record of node 1 without edges, with further members.
fn node(says: &str) -> String {
    format!(r#"{{"node_id": 1, "node_type": 0, "node_weight": 1.0, "edge": []{says}}}"#)
}

#[test]
fn json_that_is_wrong() {
    let says = node("").len() as u64;
    for (more, rule) in [
        (r#", "float_feature": {"0": []}"#, "DEEPGNN-FIELD"),
        (r#", "foo_feature": {"0": [1]}"#, "DEEPGNN-DTYPE"),
        (r#", "bool_feature": {"0": [true]}"#, "DEEPGNN-DTYPE"),
        (r#", "binary_feature": {"0": ["a"]}"#, "DEEPGNN-DTYPE"),
        (r#", "uint8_feature": {"0": [300]}"#, "DEEPGNN-NUMBER"),
        (r#", "uint8_feature": {"0": [-1]}"#, "DEEPGNN-NUMBER"),
        (r#", "int32_feature": {"0": null}"#, "DEEPGNN-NUMBER"),
        (r#", "int32_feature": {"0": [1.5, -2.9]}"#, "DEEPGNN-NUMBER"),
        (r#", "uint8_feature": {"0": [1, 0.9]}"#, "DEEPGNN-NUMBER"),
        (r#", "int8_feature": {"0": [1e-3]}"#, "DEEPGNN-NUMBER"),
        (r#", "uint64_feature": {"0": [-0.5]}"#, "DEEPGNN-NUMBER"),
        (r#", "int8_feature": {"0": [{"values": [1.5], "created_at": 5}]}"#, "DEEPGNN-NUMBER"),
        (r#", "sparse_float_feature": {"0": {"coordinates": [0.5], "values": [1]}}"#, "DEEPGNN-NUMBER"),
        (r#", "sparse_int8_feature": {"0": {"coordinates": [0], "values": [1.5]}}"#, "DEEPGNN-NUMBER"),
        (r#", "float_feature": {"-1": [1]}"#, "DEEPGNN-NUMBER"),
        (r#", "float_feature": {"99999999": [1]}"#, "DEEPGNN-NUMBER"),
        (r#", "float_feature": {"0": [[1, 2], [3]]}"#, "DEEPGNN-JSON"),
        (r#", "float_feature": {"0": [1, [3]]}"#, "DEEPGNN-JSON"),
        (r#", "sparse_binary_feature": {"0": {"coordinates": [1], "values": ["x"]}}"#, "DEEPGNN-DTYPE"),
        (r#", "sparse_float_feature": {"0": {"coordinates": [0, 4], "values": [1, 1, 1]}}"#, "DEEPGNN-COORDINATES"),
        (r#", "binary_feature": {"0": ["a"]}"#, "DEEPGNN-DTYPE"),
        (r#", "binary_feature": {"0": [{"values": ["a", "b"], "created_at": 5}]}"#, "DEEPGNN-DTYPE"),
        (r#", "binary_feature": {"0": [{"values": 1, "created_at": 5}]}"#, "DEEPGNN-DTYPE"),
        (r#", "float_feature": {"0": [{"created_at": 5}]}"#, "DEEPGNN-JSON"),
        (r#", "sparse_float_feature": {"0": [{"values": [1], "created_at": 5}]}"#, "DEEPGNN-JSON"),
        (
            r#", "sparse_float_feature": {"0": [{"coordinates": [1], "values": [1, 2], "created_at": 5}]}"#,
            "DEEPGNN-COORDINATES",
        ),
        (
            r#", "created_at": 9, "float_feature": {"0": [{"values": [1]}, {"values": [2], "created_at": 5}]}"#,
            "DEEPGNN-TIME",
        ),
        (r#"} trailing"#, "DEEPGNN-JSON"),
        (r#", "binary_feature": {"0": "\ud800"}"#, "DEEPGNN-JSON"),
    ] {
        let error = build("json", &node(more), None, false).map(|_| ()).unwrap_err();
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some(rule), "{more}: {error}");
        assert_eq!(error.place().line, Some(1));
        let column: u64 = error.place().field.as_ref().unwrap()["column ".len()..].parse().unwrap();
        assert!(column >= says, "{more}: {error}");
    }
    refused("json", r#"{"node_id": 1, "node_weight": 1.0, "edge": []}"#, None, false, 1, "DEEPGNN-JSON");
    refused("json", r#"{"node_id": 1, "node_type": 0, "node_weight": 1.0}"#, None, false, 1, "DEEPGNN-JSON");
    refused(
        "json",
        r#"{"node_id": "1", "node_type": 0, "node_weight": 1, "edge": []}"#,
        None,
        false,
        13,
        "DEEPGNN-JSON",
    );
    let broken = format!("{}\n{}", node(""), "{\"node_id\": x}");
    let error = build("json", &broken, None, false).map(|_| ()).unwrap_err();
    assert_eq!((error.place().line, error.place().field.as_deref()), (Some(2), Some("column 13")));
}

#[test]
fn json_that_is_read() {
    let same = |json: &str, linear: &str, compat: bool| {
        let (json, findings) = build("json", json, None, compat).unwrap_or_else(|error| panic!("{json}: {error:?}"));
        assert_eq!(json, build("linear", linear, None, false).unwrap().0, "{linear}");
        findings
    };
    for (more, linear) in [
        (r#", "float_feature": {"2": [1]}"#, "uint8 0 uint8 0 float32 1 1"),
        (r#", "float_feature": null, "x": {"y": [1, {}, "\u0041"]}"#, ""),
        (r#", "float_feature": {"0": null}"#, "float32 1 nan"),
        (r#", "float_feature": {"0": 5}"#, "float32 1 5"),
        (r#", "float_feature": {"0": [[1, 2], [3, 4]]}"#, "float32 4 1 2 3 4"),
        (r#", "binary_feature": {"0": "h\u00e9\u00e9"}"#, "binary_feature 1 hé\u{e9}"),
        (r#", "float_feature": {"0": ["1.5"]}"#, "float32 1 1.5"),
        (r#", "int32_feature": {"0": [1.0, -2e2]}"#, "int32 2 1 -200"),
        (r#", "sparse_float_feature": {"0": {"values": [5.5], "coordinates": [1, 3]}}"#, "float32 2,1 1 3 5.5"),
        (r#", "sparse_float_feature": {"0": {"coordinates": [[1, 3]], "values": [5.5]}}"#, "float32 1,2,1 1 3 5.5"),
    ] {
        for compat in [false, true] {
            assert!(same(&node(more), &format!("-1 1 0 1 {linear}"), compat).is_empty());
        }
    }
    // The published converter drops fractions of integers.
    let cut = node(r#", "int32_feature": {"0": [1.7, -1.7]}"#);
    assert!(same(&cut, "-1 1 0 1 int32 2 1 -1", true).is_empty());
    // As a 64-bit float it would be 9007199254740992, which is the result with `compat`.
    let large = node(r#", "int64_feature": {"0": [9007199254740993.0]}"#);
    assert!(same(&large, "-1 1 0 1 int64 1 9007199254740993", false).is_empty());
    assert!(same(&large, "-1 1 0 1 int64 1 9007199254740992", true).is_empty());
    let collides = node(r#", "uint64_feature": {"0": [1]}, "float_feature": {"0": [2.0]}"#);
    assert!(same(&collides, "-1 1 0 1 float32 1 2", true).is_empty());
    assert_eq!(
        same(&collides, "-1 1 0 1 float32 1 2 uint64 1 1", false).worst(),
        Some(isomorph_error::Severity::Warning)
    );
    let only_neighbors =
        r#"{"node_id": 1, "node_type": 0, "node_weight": 1.0, "neighbor": {"1": {"9": 2.5}, "0": {"7": 1.5}}}"#;
    assert!(!same(only_neighbors, "-1 1 0 1 1 7 0 1.5 1 9 1 2.5", false).is_empty());
    let unsorted = node("").replace("[]", r#"[{"src_id": 1, "dst_id": 5, "edge_type": 1, "weight": 1.0},
        {"src_id": 1, "dst_id": 9, "edge_type": 0, "weight": 1.0}, {"src_id": 1, "dst_id": 3, "edge_type": 0, "weight": 1.0,},]"#);
    assert!(!same(&unsorted, "-1 1 0 1 1 3 0 1 1 9 0 1 1 5 1 1", false).is_empty());
}

#[test]
fn values_at_times_lie_as_the_engine_reads_them() {
    let (files, _) =
        build("json", &node(r#", "float_feature": {"0": [{"values": [1, 2], "created_at": 5}]}"#), None, true).unwrap();
    let expected = [
        1, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 28, 0, 0, 0, 0, 0, 0, 0, 36, 0, 0, 0, 0, 0, 0, 0, 0, 0, 128, 63, 0, 0, 0,
        64, 0, 0, 0, 0, 0, 0, 0, 0,
    ];
    assert_eq!(files["node_features_0_0.data"], expected);
}

/// The documentation of the published engine describes texts and sparse features at times; its converter does not
/// support them.
#[test]
fn texts_and_points_at_times_lie_as_values_without_times_do() {
    let number = |value: i64| value.to_le_bytes().to_vec();
    // A count, times, the start of each value and the end of the last, the values, 8 zeros.
    let blob = |times: &[i64], values: &[Vec<u8>]| {
        let mut bytes = (times.len() as u32).to_le_bytes().to_vec();
        times.iter().for_each(|time| bytes.extend(number(*time)));
        let mut end = 4 + 8 * (2 * times.len() as i64 + 1);
        bytes.extend(number(end));
        for value in values {
            end += value.len() as i64;
            bytes.extend(number(end));
        }
        bytes.extend(values.concat());
        bytes.extend([0; 8]);
        bytes
    };
    let at = |more: &str| build("json", &node(more), None, false).unwrap().0["node_features_0_0.data"].clone();
    // Values are sorted by their times, and a value without a time exists since its element does.
    let words = r#", "binary_feature": {"0": [{"values": ["xbox"], "created_at": 20, "removed_at": 23},
        {"values": "microsoft"}]}, "created_at": 13"#
        .replace('\n', "");
    assert_eq!(at(&words), blob(&[13, 20], &[b"microsoft".to_vec(), b"xbox".to_vec()]));
    let points = r#", "sparse_int32_feature": {"0": [{"values": [-1, 1024], "coordinates": [[5, 13], [7, 25]]},
        {"coordinates": [4], "values": [2], "created_at": 21}]}"#
        .replace('\n', "");
    let sparse = |coordinates: &[i64], width: u32, values: &[i32]| {
        let mut bytes = (coordinates.len() as u32).to_le_bytes().to_vec();
        bytes.extend(width.to_le_bytes());
        coordinates.iter().for_each(|coordinate| bytes.extend(number(*coordinate)));
        values.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
        bytes
    };
    assert_eq!(at(&points), blob(&[0, 21], &[sparse(&[5, 13, 7, 25], 2, &[-1, 1024]), sparse(&[4], 1, &[2])]));
}

/// Some kilobytes that would become gigabytes.
#[test]
fn holes_without_end_are_refused() {
    let line = r#"{"node_id": 1, "node_type": 0, "node_weight": 1, "edge": [], "int8_feature": {"65535": [1]}}"#;
    let error = build("json", &[line; 100].join("\n"), None, false).err();
    assert!(error.is_none(), "{error:?}");
    let error = build("json", &[line; 200].join("\n"), None, false).err().unwrap();
    assert_eq!(error.broken_rule().map(|rule| rule.id), Some("DEEPGNN-HOLES"), "{error}");
    assert_eq!(error.place().line, Some(129));
}

#[test]
fn edges_in_neighbor_alone_are_told_of() {
    let with = |neighbor: &str, edges: &str| {
        format!(r#"{{"node_id": 1, "node_type": 0, "node_weight": 1, "neighbor": {neighbor}, "edge": [{edges}]}}"#)
    };
    let edge = r#"{"src_id": 1, "dst_id": 2, "edge_type": 0, "weight": 2}"#;
    for (line, count) in [
        (with(r#"{"0": {"2": 2.0}}"#, edge), 0),
        (with("{}", edge), 0),
        (with(r#"{"0": {"2": 2.0, "3": 1}, "1": {"2": 1}}"#, edge), 2),
        (with(r#"{"0": {"2": 2.0}}"#, ""), 1),
        (with(r#"{"0": [2]}"#, edge), 1),
    ] {
        let (_, findings) = build("json", &line, None, false).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(findings.count(&rules::NEIGHBOR_ALONE), count, "{line}");
        assert_eq!(findings.by_rule().count(), usize::from(count > 0), "{line}");
    }
}

#[test]
fn keys_that_come_twice() {
    let node = |rest: &str| format!(r#"{{"node_id": 1, "node_type": 0, "node_weight": 1, {rest}}}"#);
    let edge =
        |rest: &str| node(&format!(r#""edge": [{{"src_id": 1, "dst_id": 2, "edge_type": 0, "weight": 2{rest}}}]"#));
    // Both are read, which is reported; or only the last, in the position of the first.
    for (line, both, last) in [
        (
            node(r#""float_feature": {"0": [1]}, "float_feature": {"1": [2]}, "edge": []"#),
            node(r#""float_feature": {"0": [1], "1": [2]}, "edge": []"#),
            node(r#""float_feature": {"1": [2]}, "edge": []"#),
        ),
        (
            node(
                r#""float_feature": {"0": [1]}, "binary_feature": {"0": "x"}, "float_feature": {"0": [3]}, "edge": []"#,
            ),
            node(r#""float_feature": {"0": [3], "1": [1]}, "binary_feature": {"2": "x"}, "edge": []"#),
            node(r#""binary_feature": {"0": "x"}, "edge": []"#),
        ),
        (
            node(r#""node_type": 3, "edge": []"#),
            node(r#""edge": []"#).replace(r#"type": 0"#, r#"type": 3"#),
            String::new(),
        ),
        (edge(r#", "weight": 7"#), edge("").replace(": 2}", ": 7}"), String::new()),
        (
            edge(r#", "int8_feature": {"0": [1]}, "int8_feature": null"#),
            edge(r#", "int8_feature": {"0": [1]}"#),
            edge(""),
        ),
    ] {
        let (files, findings) = build("json", &line, None, false).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(findings.count(&rules::JSON_TWICE), 1, "{line}");
        assert_eq!(files, build("json", &both, None, false).unwrap().0, "{line}");
        let (files, _) = build("json", &line, None, true).unwrap_or_else(|error| panic!("{line}: {error}"));
        let last = if last.is_empty() { &both } else { &last };
        assert_eq!(files, build("json", last, None, true).unwrap().0, "{line}");
    }
}

#[test]
fn truth_values_of_edge_lists_are_those_of_the_published_converter() {
    let same = |line: &str, plain: &str| {
        assert_eq!(build("edgelist", line, None, true).unwrap().0, build("edgelist", plain, None, false).unwrap().0);
    };
    same("0,-1,1,.5,bool,3,0,False,1", "0,-1,1,.5,bool,3,1,1,1");
    same("0,-1,1,.5,bool,2,no, ", "0,-1,1,.5,bool,2,1,1");
    same("0,-1,1,.5,bool,2/1,0,3,false,0", "0,-1,1,.5,bool,2/1,0,3,1,1");
    refused("edgelist", "0,-1,1,.5,bool,2,0", None, true, 19, "DEEPGNN-SHORT");
    refused("edgelist", "0,-1,1,.5,bool,2,0,no", None, false, 20, "DEEPGNN-NUMBER");
}

#[test]
fn the_example_of_the_specification_is_corrected_when_asked() {
    let directory = common::fixtures().join("seed_linear");
    let home = tempfile::tempdir().unwrap();
    let compat = OpenOptions { compat: true, ..OpenOptions::default() };
    for (text, meta) in [("graph.linear", None), ("graph_meta.linear", Some("meta_verbatim.json"))] {
        let defaults = meta.map(|meta| isomorph_storage::Location::from_path(&directory.join(meta)));
        let open = OpenOptions { defaults, ..compat.clone() };
        let out = home.path().join("out");
        let read = built(&directory.join(text), &out, &open, &BuildOptions::default()).unwrap();
        assert_eq!(read.findings.count(&rules::EXAMPLE), 2, "{text}");
        common::compare(&out, &directory.join("bin_fixed"), text);
        let plain = OpenOptions { compat: false, ..open };
        let error =
            built(&directory.join(text), &home.path().join("no"), &plain, &BuildOptions::default()).err().unwrap();
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some("DEEPGNN-COORDINATES"), "{text}");
        assert!(error.hints().any(|hint| hint.contains("3,3 0 4 10")), "{error:?}");
    }
    // Other combinations of two coordinates and three values are not guessed.
    for other in ["uint8 2,3 0 5 1 1 1", "uint8 2,3 0 4 1 1 2", "int8 2,3 0 4 1 1 1"] {
        refused(
            "linear",
            &format!("-1 0 1 .5 {other}"),
            None,
            true,
            if other.starts_with('i') { 20 } else { 21 },
            "DEEPGNN-COORDINATES",
        );
    }
}
