//! Output is read back, breaks no rule, and matches the schema of the specification.
#![allow(clippy::unwrap_used)]

use crate::common;

use common::{broken, fixtures, lines, open, write};
use isomorph_graphlake::{At, OpenOptions, Order, Tolerance, WriteOptions};
use isomorph_model::faces::{Object, Quad};
use isomorph_storage::{Budget, Location};

fn dated() -> WriteOptions {
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_millis(1_700_000_000_000);
    WriteOptions { time: Some(time), ..WriteOptions::default() }
}

#[test]
fn every_snapshot_is_written_anew() {
    let root = fixtures();
    let home = tempfile::tempdir().unwrap();
    for (store, version) in
        [("tiny", 1), ("five_k", 1), ("history", 1), ("history", 5), ("history", 8), ("history", 12)]
    {
        let from = OpenOptions { at: At::Version(version), ..OpenOptions::default() };
        let source = open(&root.join(store), &from).unwrap();
        let expected = lines(&source, Order::Subject).unwrap();
        // Small files and little memory give the same quads.
        let little = Budget::new(4 << 20);
        for (name, options) in [
            ("plain", dated()),
            ("small", WriteOptions { file_bytes: 4_000, id_filters: false, budget: little.clone(), ..dated() }),
        ] {
            let path = home.path().join(format!("{store}{version}{name}"));
            let created = write(&path, &options, |writer| {
                source
                    .snapshot()
                    .graphs
                    .iter()
                    .filter(|graph| graph.name.contains("example"))
                    .try_for_each(|graph| writer.graph(&graph.name))?;
                // Twice, and the second time by object.
                source.quads(Order::Subject, &mut |quad| writer.push(&quad))?;
                source.quads(Order::Object, &mut |quad| writer.push(&quad))
            })
            .unwrap();
            assert_eq!(created.triples, expected.lines().count() as u64);
            let strict = OpenOptions { tolerance: Tolerance::Strict, ..OpenOptions::default() };
            let lake = open(&path, &strict).unwrap();
            for order in [Order::Subject, Order::Object] {
                assert!(lines(&lake, order).unwrap() == expected, "{store} version {version}, {name} {order:?}");
            }
            assert_eq!(broken(&path, &strict), Vec::<&str>::new(), "{store} version {version}, {name}");
            let files = lake.snapshot().graphs.iter().map(|graph| graph.subject_files.len()).max().unwrap_or(0);
            assert!(name == "plain" || store != "five_k" || files > 20, "{files} small files");
        }
        assert_eq!(little.used(), 0);
    }
}

/// Every file of a store, by name.
fn bytes(path: &std::path::Path) -> Vec<(String, Vec<u8>)> {
    let root = isomorph_storage::Root::open(&Location::from_path(path)).unwrap();
    let files = root.list("").unwrap().into_iter();
    files.map(|file| (file.name.clone(), root.read(&file.name, 1 << 30).unwrap().to_vec())).collect()
}

#[test]
fn one_input_gives_one_store() {
    let root = fixtures();
    let source = open(&root.join("five_k"), &OpenOptions::default()).unwrap();
    let home = tempfile::tempdir().unwrap();
    let mut all = Vec::new();
    for (name, order) in [("a", Order::Subject), ("b", Order::Object)] {
        let path = home.path().join(name).join("lake");
        std::fs::create_dir(home.path().join(name)).unwrap();
        write(&path, &dated(), |writer| source.quads(order, &mut |quad| writer.push(&quad))).unwrap();
        all.push(bytes(&path));
    }
    assert!(all[0].len() > 20 && all[0] == all[1]);
}

/// Triples in no order, many of them twice; their terms differ late, or are long.
fn drawn(number: u64, take: &mut dyn FnMut(Quad<'_>) -> isomorph_error::Result<()>) -> isomorph_error::Result<()> {
    let mut state = 7 + number;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for _ in 0..8_000 {
        let subject = format!("http://example.org/a/long/name/of/something/{}", next(700));
        let predicate = format!("urn:p:{}", next(5));
        let text = format!("{}{}", "x".repeat(next(300) as usize), next(40));
        let iri = format!("urn:{text}");
        let graph = if next(4) == 0 { Some("urn:graph") } else { None };
        let object = match next(4) {
            0 => Object::Term(&iri),
            1 => Object::plain(&text, ""),
            2 => Object::plain(&text, "urn:d"),
            _ => Object::Literal { lexical: &text, datatype: "", language: Some("en"), direction: None },
        };
        take(Quad { subject: &subject, predicate: &predicate, object, graph })?;
    }
    Ok(())
}

#[test]
fn threads_and_memory_change_no_byte() {
    let home = tempfile::tempdir().unwrap();
    let mut expected: Option<Vec<(String, Vec<u8>)>> = None;
    for (threads, memory) in [(1, 512 << 20), (3, 512 << 20), (1, 4 << 20), (2, 6 << 20)] {
        let budget = Budget::new(memory);
        let scratch = isomorph_storage::Scratch::new(Some(home.path())).unwrap();
        let options = WriteOptions {
            file_bytes: 100_000,
            threads,
            budget: budget.clone(),
            scratch: Some(scratch.clone()),
            ..dated()
        };
        let path = home.path().join(format!("{threads}-{memory}")).join("lake");
        std::fs::create_dir(path.parent().unwrap()).unwrap();
        write(&path, &options, |writer| {
            let mut fillers = writer.fillers(threads)?;
            // Each piece goes to a different filler each time.
            for piece in 0..4 {
                let at = (piece as usize + threads / 2) % threads;
                drawn(piece, &mut |quad| fillers[at].push(&quad))?;
            }
            writer.absorb(fillers)?;
            // And some are pushed directly.
            drawn(4, &mut |quad| writer.push(&quad))
        })
        .unwrap();
        assert!(budget.peak() > memory / 8 || memory > 100 << 20, "{} of {memory} were used", budget.peak());
        assert_eq!((budget.used(), scratch.used()), (0, 0));
        let found = bytes(&path);
        assert!(found.len() > 100, "{} files", found.len());
        assert!(expected.get_or_insert_with(|| found.clone()) == &found, "{threads} threads, {memory} bytes");
        assert_eq!(broken(&path, &OpenOptions::default()), Vec::<&str>::new());
    }
}

#[test]
fn any_text_comes_back() {
    let long = "x".repeat(70_000);
    let texts = [
        "",
        "\u{0}\u{1}\u{7f}\n\r\t\"\\",
        "é\u{301}",
        "\u{10ffff}\u{d7ff}\u{e000}",
        "<<( no )>>",
        "_:no",
        long.as_str(),
    ];
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let literal = |lexical, datatype, language, direction| Object::Literal { lexical, datatype, language, direction };
    let mut objects: Vec<Object<'_>> = texts.iter().map(|text| Object::plain(text, "")).collect();
    objects.extend(texts.iter().map(|text| literal(text, "", Some("EN-gb"), None)));
    objects.extend(texts.iter().map(|text| literal(text, "", Some("ar"), Some("rtl"))));
    objects.extend(texts.iter().map(|text| Object::plain(text, "urn:d#x")));
    objects.extend([
        Object::Term("_:b/1"),
        Object::Term("urn:x"),
        Object::Term("http://example.org/日本"),
        Object::plain("urn:x", ""),
    ]);
    write(&path, &dated(), |writer| {
        objects.iter().try_for_each(|object| {
            let quad = Quad { subject: "_:b/1", predicate: "urn:p", object: *object, graph: Some("_:g") };
            writer.push(&quad)?;
            // xsd:string is implied: the same triple.
            match *object {
                Object::Literal { lexical, datatype: "", language: None, direction: None } => {
                    writer.push(&Quad { object: Object::plain(lexical, isomorph_model::xsd::STRING), ..quad })
                }
                _ => Ok(()),
            }
        })
    })
    .unwrap();
    assert_eq!(broken(&path, &OpenOptions::default()), Vec::<&str>::new());
    let lake = open(&path, &OpenOptions::default()).unwrap();
    let mut found = 0;
    lake.quads(Order::Subject, &mut |quad| {
        let same = objects.iter().any(|object| match (*object, quad.object) {
            (
                Object::Literal { lexical, datatype, language, direction },
                Object::Literal { lexical: l, datatype: d, language: n, direction: r },
            ) => {
                let language = language.map(str::to_lowercase);
                lexical == l
                    && language.as_deref() == n
                    && direction == r
                    && (n.is_some() || datatype == d || datatype.is_empty() && d == isomorph_model::xsd::STRING)
            }
            (one, other) => one == other,
        });
        assert!(same && quad.graph == Some("_:g"), "{quad:?}");
        found += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!(found, objects.len());
}

#[test]
fn what_is_no_rdf_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let fine = Quad { subject: "urn:s", predicate: "urn:p", object: Object::Term("urn:o"), graph: None };
    for quad in [
        Quad { subject: "s", ..fine },
        Quad { subject: "", ..fine },
        Quad { subject: "_:", ..fine },
        Quad { predicate: "_:p", ..fine },
        Quad { object: Object::Term("http://a b"), ..fine },
        Quad { object: Object::plain("1", "integer"), ..fine },
        Quad { graph: Some("g"), ..fine },
        Quad { subject: "<<( <urn:s> <urn:p> )>>", ..fine },
        Quad { object: Object::Term("<<( <urn:s> <p> <urn:o> )>>"), ..fine },
    ] {
        let path = home.path().join("lake");
        let error = write(&path, &dated(), |writer| writer.push(&quad)).unwrap_err();
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some("GRAPHLAKE-IRI"), "{quad:?}");
        assert!(!path.exists(), "nothing is left");
    }
    // An empty store has an empty snapshot.
    write(&home.path().join("lake"), &dated(), |_| Ok(())).unwrap();
    assert_eq!(broken(&home.path().join("lake"), &OpenOptions::default()), Vec::<&str>::new());
}

#[test]
fn filters_of_a_snapshot_stay_small() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    // 60 predicates of 3,000 subjects each: about 5 MB of filters, if all were kept.
    write(&path, &dated(), |writer| {
        for predicate in 0..60 {
            let predicate = format!("urn:p{predicate}");
            for subject in 0..3_000 {
                let subject = format!("urn:s{subject}");
                writer.push(&Quad {
                    subject: &subject,
                    predicate: &predicate,
                    object: Object::Term(&subject),
                    graph: None,
                })?;
            }
        }
        Ok(())
    })
    .unwrap();
    let lake = open(&path, &OpenOptions::default()).unwrap();
    let files: Vec<_> =
        lake.snapshot().graphs.iter().flat_map(|graph| graph.subject_files.iter().chain(&graph.object_files)).collect();
    let ids: usize = files.iter().filter_map(|file| file.id_bloom_filter.as_ref()).map(String::len).sum();
    let keys: usize = files.iter().map(|file| file.bloom_filter.len()).sum();
    assert!(keys + ids <= 2 << 20 && keys > 100_000, "{keys} and {ids}");
}
