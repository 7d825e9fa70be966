//! A snapshot in the model.
#![allow(clippy::unwrap_used)]

use crate::common;

use common::{fixtures, lines, open};
use isomorph_graphlake::{At, OpenOptions, Order, push_quad};
use isomorph_model::faces::Quads;
use isomorph_model::{Request, Source, Tables};

/// The contents of the batches of a source, as sorted lines.
fn said(source: &dyn Source, request: &Request) -> String {
    let mut all = Vec::new();
    let mut quads = Quads::new(source.graph(), None);
    let mut push = |quad: isomorph_model::faces::Quad<'_>| {
        let mut line = String::new();
        push_quad(&mut line, &quad);
        all.push(line + "\n");
        Ok(())
    };
    for mut part in source.scan(request).unwrap() {
        part.read(&mut |batch| {
            assert!(batch.rows() > 0 && batch.rows() <= request.batch_rows);
            match batch {
                isomorph_model::Batch::Groups(_) => Ok(()),
                batch => quads.batch(&batch, &mut push),
            }
        })
        .unwrap();
    }
    quads.finish(&mut push).unwrap();
    all.sort();
    all.concat()
}

#[test]
fn batches_say_what_the_files_say() {
    let root = fixtures();
    for (store, versions) in [("tiny", 1..2), ("five_k", 1..2), ("history", 1..13)] {
        for version in versions {
            let options = OpenOptions { at: At::Version(version), ..OpenOptions::default() };
            let lake = open(&root.join(store), &options).unwrap();
            let expected = lines(&lake, Order::Subject).unwrap();
            for batch_rows in [7, 65_536] {
                let request = Request::of(Tables::All).in_batches_of(batch_rows);
                assert!(said(&lake, &request) == expected, "{store} version {version}");
            }
            let edges = said(&lake, &Request::of(Tables::AllEdges));
            let rest = said(&lake, &Request::of(Tables::Rest));
            let mut both: Vec<&str> = edges.lines().chain(rest.lines()).collect();
            both.sort_unstable();
            assert!(both.iter().copied().eq(expected.lines()), "{store} version {version}");
            assert!(edges.lines().all(|line| !line.contains('"')));
        }
    }
}
