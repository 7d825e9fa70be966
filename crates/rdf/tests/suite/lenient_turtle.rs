//! Read leniently, texts of the Turtle family say nothing that they do not say: what is sound says the same as strictly, and what
//! cannot be known behind a mistake is left out and counted, or refused.
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)]

use std::path::{Path, PathBuf};

use isomorph_error::Result;
use isomorph_model::ntriples::push_quad;
use isomorph_rdf::{ReadOptions, Reading, Syntax, read, read_lines, rules};

/// The quads of a text as lines, and what was read.
fn with(text: &[u8], syntax: Syntax, options: &ReadOptions) -> Result<(Vec<String>, Reading)> {
    let mut lines = Vec::new();
    let reading = read(&mut &text[..], syntax, options, &mut |quad| {
        let mut line = String::new();
        push_quad(&mut line, &quad);
        lines.push(line.trim_end().to_owned());
        Ok(())
    })?;
    assert_eq!(reading.findings.count(&rules::SKIPPED), reading.skipped);
    Ok((lines, reading))
}

fn lenient(text: &str, syntax: Syntax) -> Result<(Vec<String>, Reading)> {
    with(text.as_bytes(), syntax, &ReadOptions { lenient: true, ..ReadOptions::default() })
}

/// Each text, what it says, and how many mistakes were skipped.
fn says(syntax: Syntax, cases: &[(&str, &[&str], u64)]) {
    for (text, lines, skipped) in cases {
        let (found, reading) = lenient(text, syntax).unwrap_or_else(|error| panic!("{text}\n{error}"));
        assert_eq!(
            (found, reading.skipped),
            (lines.iter().map(|line| (*line).to_owned()).collect(), *skipped),
            "{text}"
        );
    }
}

/// Each text, and the line in which what cannot be known begins.
fn refuses(syntax: Syntax, cases: &[(&str, u64)]) {
    for (text, line) in cases {
        let error = lenient(text, syntax).map(|(lines, _)| lines).expect_err(text);
        assert_eq!((error.broken_rule(), error.place().line), (Some(&rules::SYNTAX), Some(*line)), "{text}\n{error}");
        assert!(
            error.hints().any(|hint| hint.contains("not even leniently; statements before it: ")),
            "{text}\n{error:?}"
        );
    }
}

#[test]
fn a_broken_statement_of_a_graph_moves_nothing_out_of_it() {
    says(
        Syntax::TriG,
        &[
            (
                "PREFIX ex: <http://e/>\nex:g1 { ex:a ex:p ex:b c . ex:a ex:p \"1\" . }\nex:g2 { ex:a ex:p \"2\" . ex:a ex:p \"3\" . }\n",
                &[
                    "<http://e/a> <http://e/p> \"1\" <http://e/g1> .",
                    "<http://e/a> <http://e/p> \"2\" <http://e/g2> .",
                    "<http://e/a> <http://e/p> \"3\" <http://e/g2> .",
                ],
                1,
            ),
            (
                "<urn:private> {\n <urn:a> <urn:p> \"broken\\x\" .\n <urn:a> <urn:p> \"secret\" .\n}\n<urn:e> <urn:p> \"out\" .\n<urn:f> <urn:p> \"too\" .\n",
                &[
                    "<urn:a> <urn:p> \"secret\" <urn:private> .",
                    "<urn:e> <urn:p> \"out\" .",
                    "<urn:f> <urn:p> \"too\" .",
                ],
                1,
            ),
            // A graph whose name is broken is left out as a whole.
            (
                "<urn: g> { <urn:a> <urn:p> 1 . <urn:b> <urn:p> 2 }\nGRAPH <urn:h> { <urn:c> <urn:p> <urn:d> }",
                &["<urn:c> <urn:p> <urn:d> <urn:h> ."],
                1,
            ),
            (
                "<urn:x> <urn:y> <urn:z>\n<urn:g> { <urn:a> <urn:p> <urn:b> }\n<urn:c> <urn:p> <urn:d> .",
                &["<urn:c> <urn:p> <urn:d> ."],
                1,
            ),
            // A graph without a label is one node, whatever is broken in it.
            (
                "[ ] { <urn:a> <urn:p> [] . <urn:b> . _:x <urn:p> <urn:c> ; }\n{ <urn:d> <urn:p> <urn:e> . . <urn:f> <urn:p> <urn:g> }",
                &[
                    "<urn:a> <urn:p> _:anon0 _:anon1 .",
                    "_:x <urn:p> <urn:c> _:anon1 .",
                    "<urn:d> <urn:p> <urn:e> .",
                    "<urn:f> <urn:p> <urn:g> .",
                ],
                2,
            ),
        ],
    );
    refuses(
        Syntax::TriG,
        &[
            // Which graph ends where?
            ("<urn:g> { <urn:a> <urn:p> <urn:b> .\n<urn:h> { <urn:c> <urn:p> <urn:d> }", 2),
            ("<urn:g> { <urn:a> <urn:p> <urn:b> }\n} <urn:c> <urn:p> <urn:d> .", 2),
            ("<urn:x> <urn:p> <urn:b> .\n<urn:g> { <urn:a> <urn:p> <urn:b> .\n<urn:c> <urn:p> <urn:d> .", 2),
            ("<urn:g> {\n<urn:a> <urn:p> [ <urn:q> <urn:r> } <urn:c> <urn:p> <urn:d> .", 2),
        ],
    );
    // Graphs are none of Turtle.
    says(
        Syntax::Turtle,
        &[(
            "<urn:g> { <urn:a> <urn:p> <urn:b> . <urn:c> <urn:p> <urn:d> . }\n<urn:e> <urn:p> <urn:f> .",
            &["<urn:e> <urn:p> <urn:f> ."],
            1,
        )],
    );
}

#[test]
fn behind_a_broken_directive_nothing_stands_for_the_prefix() {
    let new = "ex:a ex:p ex:b .\n@prefix ex: <urn:n:> .\nex:a ex:p ex:b .";
    let known = &["<urn:n:a> <urn:n:p> <urn:n:b> ."];
    for broken in [
        "@prefix ex: <http://new /> .",
        "@prefix ex: <http://new/ .",
        "PREFIX ex: <http://new />",
        "@prefix ex: <http://new/>",
        "@prefix ex <http://new/> .",
        "@prefx ex: <http://new/> .",
        "PREFX ex: <http://new/>",
        "@prefix <http://new/> .",
        "<urn:x> <urn:y> \"z\" @prefix ex: <http://new/> .",
        "<urn:x> <urn:y> <urn:z . @prefix ex: <http://new/> .",
    ] {
        for syntax in [Syntax::Turtle, Syntax::TriG] {
            let text = format!("@prefix ex: <http://old/> .\n{broken}\nex:c ex:p ex:d .\n{new}");
            let (lines, reading) = lenient(&text, syntax).unwrap();
            assert_eq!(lines, known, "{text}");
            assert!((2..=3).contains(&reading.skipped), "{text} {}", reading.skipped);
        }
    }
    says(
        Syntax::Turtle,
        &[
            (
                "@base <http://old/> .\n@base <http://n ew/> .\n<a> <urn:p> <b> .\n<urn:a> <urn:p> <urn:b> .\n@base <http://e/> .\n<a> <p> <> .",
                &["<urn:a> <urn:p> <urn:b> .", "<http://e/a> <http://e/p> <http://e/> ."],
                2,
            ),
            // Other prefixes stay what they are.
            (
                "PREFIX a: <urn:a:>\nPREFIX b: <urn:b:>\nPREFIX b: <urn: >\na:x a:p a:y . b:x a:p a:y . a:z a:p 1 .",
                &[
                    "<urn:a:x> <urn:a:p> <urn:a:y> .",
                    "<urn:a:z> <urn:a:p> \"1\"^^<http://www.w3.org/2001/XMLSchema#integer> .",
                ],
                2,
            ),
        ],
    );
    // What is asked for is no base either, behind a broken one of the text.
    let options = ReadOptions { lenient: true, base: Some("http://asked/".to_owned()), ..ReadOptions::default() };
    let (lines, reading) = with(b"<a> <p> 'x' .\n@base <\\> .\n<b> <p> 'x' .\n", Syntax::Turtle, &options).unwrap();
    assert_eq!((lines.len(), reading.skipped, reading.base), (1, 2, None));
}

#[test]
fn what_stands_in_a_string_is_no_statement() {
    says(
        Syntax::Turtle,
        &[
            (
                "<urn:a> <urn:p> \"\"\"bad \\x . \n<urn:evil> <urn:p> <urn:e> . \n\"\"\" .\n<urn:e> <urn:p> <urn:f> .\n",
                &["<urn:e> <urn:p> <urn:f> ."],
                1,
            ),
            (
                "<urn:a> <urn:p> '''a\\\\' \\'' . ''' , \\x .\n<urn:a> . # it's . \"\n<urn:e> <urn:p> '' , \"a . \\\" b\" .",
                &["<urn:e> <urn:p> \"\" .", "<urn:e> <urn:p> \"a . \\\" b\" ."],
                2,
            ),
            // Quotation marks that are not escaped: strings end with their line.
            (
                "<urn:a> <urn:p> \"he said \"so . <urn:evil> <urn:p> <urn:e> . \" to\" .\n<urn:e> <urn:p> <urn:f> .\n",
                &["<urn:e> <urn:p> <urn:f> ."],
                1,
            ),
            // IRIs, too.
            (
                "<urn:a> <urn:p> <http://a b. c> .\n<urn:a> <urn:p> <urn:c .\n<urn:e> <urn:p> <urn:f> .\n<urn:g> <urn:p> <urn:h> .",
                &["<urn:e> <urn:p> <urn:f> .", "<urn:g> <urn:p> <urn:h> ."],
                2,
            ),
        ],
    );
    refuses(
        Syntax::Turtle,
        &[
            ("<urn:a> <urn:p> <urn:b> .\n<urn:a> <urn:p> \"one .\n<urn:evil> <urn:p> <urn:e> .\n\" .", 2),
            ("<urn:a> <urn:p> \"\"\"one .\n<urn:b> <urn:p> \"\"\"two .\n<urn:evil> <urn:p> <urn:e> .\n\"\"\" .", 1),
            ("\n<urn:a> <urn:p> \"\"\"one .\n<urn:b> <urn:p> <urn:c> .\n", 2),
            ("<urn:a> <urn:p> ( \"one <urn:b> \"two . <urn:evil> <urn:p> <urn:e> . \" ) .", 1),
            ("<urn:a> <urn:p> \"one \" and \"\"\" .\n<urn:evil> <urn:p> <urn:e> .", 1),
        ],
    );
}

#[test]
fn what_stands_in_brackets_is_no_statement() {
    says(
        Syntax::Turtle,
        &[
            (
                "<urn:a> <urn:p> ( <urn:b> \"\\x\" <urn:c> ) .\n<urn:e> <urn:p> <urn:f> .",
                &["<urn:e> <urn:p> <urn:f> ."],
                1,
            ),
            ("<urn:a> <urn:p> <urn:b> , \"\\x\" , <urn:c> ; <urn:q> <urn:d> .", &[], 1),
            (
                "<urn:a> <urn:p> [ <urn:q> 1 . <urn:x> <urn:p> <urn:y> . ] .\n<urn:e> <urn:p> <urn:f> .",
                &["<urn:e> <urn:p> <urn:f> ."],
                1,
            ),
            ("<urn:e> <urn:p> <urn:f> .\n<urn:a> <urn:p> [ <urn:q> 1 ", &["<urn:e> <urn:p> <urn:f> ."], 1),
        ],
    );
    refuses(Syntax::Turtle, &[("<urn:a> <urn:p> [ <urn:q>\n1 .\n<urn:x> <urn:p> <urn:y> .\n", 2)]);
}

#[test]
fn mistakes_have_their_places() {
    let text = "\n@prefix é: <urn:é:> . é:a é:p 'é' ,\n é:b , ü:c , é:d .\né:a é:p <a b> . é:a é:p é:b .";
    let (lines, reading) = lenient(text, Syntax::Turtle).unwrap();
    assert_eq!(lines, ["<urn:é:a> <urn:é:p> <urn:é:b> ."]);
    let kept = reading.findings.by_rule().flat_map(|(_, kept)| kept);
    let places: Vec<_> = kept.map(|one| (one.place.line, one.place.field.clone().unwrap(), one.place.offset)).collect();
    let at = |line, column: &str, sign: &str| (Some(line), column.to_owned(), text.find(sign).map(|at| at as u64));
    assert_eq!(places, [at(3, "column 8", "ü:c"), at(4, "column 9", "<a b>")]);
}

#[test]
fn nothing_of_a_broken_line_is_given() {
    for broken in [
        "<urn:a> <urn:p> \"secret\" \"g\" .",
        "<urn:a> <urn:p> <urn:b> <urn:g> <urn:h> .",
        "<urn:a> <urn:p> <urn:b>",
        "<urn:a> <urn:p> \"b\"",
        "<urn:a> <urn:p> <urn:b> <urn:g> . <urn:a>",
        "<urn:a> <urn:p> <urn:b> .\r<urn:a> <urn:p> .",
    ] {
        let text = format!("{broken}\n<urn:s> <urn:p> \"\\u0041\" .\r\n<urn:t> <urn:p> <urn:o> .\n{broken}");
        let sound = if broken.contains('\r') { 4 } else { 2 };
        for syntax in [Syntax::NTriples, Syntax::NQuads] {
            let (lines, reading) = lenient(&text, syntax).unwrap();
            assert_eq!((lines.len(), reading.quads, reading.skipped), (sound, sound as u64, 2), "{text} {lines:?}");
            let options = ReadOptions { lenient: true, ..ReadOptions::default() };
            let mut takers = vec![0; 3];
            let take = |count: &mut u64, _: isomorph_model::faces::Quad<'_>| {
                *count += 1;
                Ok(())
            };
            let reading = read_lines(&mut text.as_bytes(), syntax, &options, &mut takers, &take).unwrap();
            assert_eq!((takers.iter().sum::<u64>(), reading.skipped), (sound as u64, 2), "{text}");
        }
    }
    let graph = "<urn:a> <urn:p> <urn:b> <urn:g> .";
    assert_eq!(lenient(graph, Syntax::NTriples).unwrap().0.len(), 0);
}

fn texts(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap().map(std::result::Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            texts(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "ttl" || ending == "trig") {
            found.push(path);
        }
    }
}

/// Asserts that a text that is sound says the same leniently, and that one that is not is not taken for sound; whether it is sound.
fn alike(text: &[u8], syntax: Syntax, shown: &str) -> bool {
    let base = "http://example.org/a/../base/";
    let read =
        |lenient| with(text, syntax, &ReadOptions { lenient, base: Some(base.to_owned()), ..ReadOptions::default() });
    match (read(false), read(true)) {
        (Ok((strict, one)), Ok((lenient, other))) => {
            assert_eq!(
                (strict, one.prefixes, one.base, 0),
                (lenient, other.prefixes, other.base, other.skipped),
                "{shown}"
            );
            true
        }
        (Err(error), Ok((_, reading))) => {
            // A base with dot segments that a text has itself can be asked for, where what stands behind it is read by itself.
            assert!(reading.skipped > 0 || error.message().contains("dot segments"), "{shown}\n{error}");
            false
        }
        (Err(_), Err(_)) => false,
        (Ok(_), Err(error)) => panic!("{shown}\n{error}"),
    }
}

#[test]
fn the_suites_say_the_same_leniently() {
    let Some(root) = isomorph_fixtures::public_data("rdf-tests/rdf") else { return };
    let (mut found, mut sound) = (Vec::new(), 0);
    texts(&root, &mut found);
    for path in &found {
        let text = std::fs::read(path).unwrap();
        for syntax in [Syntax::Turtle, Syntax::TriG] {
            sound += usize::from(alike(&text, syntax, &path.display().to_string()));
        }
    }
    assert!(sound > 900 && sound < 2 * found.len() - 300, "{sound} of {}", found.len());
}

/// Changed bytes: what is sound says the same, and whatever is read leniently without a mistake is sound.
#[test]
fn changed_texts_are_read_alike() {
    let text = "@prefix x: <urn:x:> . BASE <http://e/x>\nx:a.b x:p 1.5, .5e0 , 1. <y> a x:\\.c; x:q 'it\\'s . {' , \"\"\"a \"b\" \n. \"\"\"@en--ltr .\n\
                # it's . a { comment\n[] x:p ( 1 \"a\"\"b\"x:c [ x:p true ] ) {| x:r <<( x:a x:p _:b.c )>> |} .\n<<x:a x:p <z>>> x:p x:d.\n\
                GRAPH [] { x:a x:p x:b . x:c x:p \"x\"^^x:d }\nx:g {x:a x:p x:b}{ [] x:p [] }\nVERSION \"1.2\" _:g { } x:z x:p x:z .\n";
    assert!(alike(text.as_bytes(), Syntax::TriG, text));
    let mut state = 5u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let (signs, mut sound) = (b"<>'\"\\.,;:{}[]()@#^ \n1x", 0);
    for _ in 0..4_000 {
        let mut text = text.as_bytes().to_vec();
        let (at, sign) = (next(text.len()), signs[next(signs.len())]);
        match next(3) {
            0 => text[at] = sign,
            1 => text.insert(at, sign),
            _ => {
                text.remove(at);
            }
        }
        let shown = String::from_utf8_lossy(&text).into_owned();
        sound += usize::from(alike(&text, Syntax::TriG, &shown));
    }
    assert!((400..3_600).contains(&sound), "{sound} sound");
}

/// Tokens and statements that are longer than what is read at once.
#[test]
fn long_texts_are_read_leniently() {
    let long = "long . \" ".repeat(60_000);
    let comments = "# . nothing'\n".repeat(40_000);
    let many: String = (0..20_000).map(|n| format!("x:s{n} x:p \"\"\"{n}\n\"\"\" .\n")).collect();
    let text = format!("@prefix x: <urn:x:> .\n{comments}x:a x:p '''{long}''' .\n{many}x:b x:p x:c .\n");
    assert!(alike(text.as_bytes(), Syntax::Turtle, "long"));
    let broken = format!("{text}x:a x:p '''{long}''' . . x:e\n{comments}x:p x:f .\n{text}");
    let (lines, reading) = lenient(&broken, Syntax::Turtle).unwrap();
    assert_eq!((lines.len(), reading.skipped), (2 * 20_002 + 2, 1));
}

/// One mistake changes what its own statement says, and nothing else: others say what they did, in the same graph, or are left out.
#[test]
fn a_mistake_changes_no_other_statement() {
    let parts = [
        "@prefix x: <urn:x:> .\n",
        "x:s1 x:p \"a\" , \"\"\"it's\n . x:evil x:p x:e .\n\"\"\" .\n",
        "x:s2 x:p ( 1 \"b\" [ x:q x:o ] ) ; x:q <urn:o> .\n",
        "x:g1 {\n",
        "x:s4 x:p \"c . x:evil x:p x:e .\" .\n",
        "x:s5 x:p 'e' . ",
        "x:s6 x:p '''f . } x:evil x:p \"x:e\" .''' }\n",
        "@prefix y: <urn:y:> .\n",
        "x:s8 x:p y:z .\n",
        "PREFIX y: <urn:z:>\n",
        "x:s10 x:p y:z , <urn:o> .\n",
        "@base <http://e/> .\n",
        "x:s12 x:p <r> , \"\"\"g\n. x:evil x:p x:e .\"\"\" .\n",
        "BASE <http://f/>\n",
        "x:s14 x:p <r> .\n",
        "GRAPH x:g2 { ",
        "x:s16 x:p x:o , [ x:q \"h\" ] . }\n",
        "x:s17 x:p x:o .\n",
        "<urn:x:s18> x:p \"i\"@en , y:z .\n",
    ];
    let whole = parts.concat();
    // Labels are numbers, which what is left out changes.
    let unnumbered = |line: &String| {
        line.split("anon").map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit())).collect::<String>()
    };
    let (original, _) = lenient(&whole, Syntax::TriG).unwrap();
    let original: Vec<_> = original.iter().map(unnumbered).collect();
    let mut state = 7u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let pieces = [
        "\"\"\"", "'''", "}", "{", ".", "\"", "'", "<", ">", "\\", "[", "]", "(", ")", ":", " ", "\n", "@", "#", ";",
        "x", "\\x", "..", "@prefix ",
    ];
    let (mut read, mut refused, mut wrong) = (0, 0, Vec::new());
    for _ in 0..5_000 {
        let at = next(whole.len());
        let (piece, gone) = (pieces[next(pieces.len())], next(4));
        // Something more, something else, or something less; where it stands, so that tokens are lost as a whole.
        let found: Vec<_> = whole.match_indices(piece).map(|(at, _)| at).collect();
        let (at, text) = match (gone, found.is_empty()) {
            (0, false) => {
                let at = found[next(found.len())];
                (at, [&whole[..at], &whole[at + piece.len()..]].concat())
            }
            (1, _) => (at, [&whole[..at], piece, &whole[at + 1..]].concat()),
            _ => (at, [&whole[..at], piece, &whole[at..]].concat()),
        };
        let mut end = 0;
        let own = parts.iter().position(|part| {
            end += part.len();
            at < end
        });
        match with(text.as_bytes(), Syntax::TriG, &ReadOptions::default()) {
            Err(error) if !error.message().contains("dot segments") => {}
            _ => continue,
        }
        let Ok((lines, _)) = lenient(&text, Syntax::TriG) else {
            refused += 1;
            continue;
        };
        read += 1;
        let graph = |line: &str| ["<urn:x:g1> .", "<urn:x:g2> ."].into_iter().find(|graph| line.ends_with(graph));
        let own = own.map(|own| format!("<urn:x:s{own}>")).unwrap_or_default();
        let own_graph = original.iter().find(|line| line.starts_with(&own)).map(|line| graph(line));
        for line in lines.iter().map(unnumbered) {
            let is_own = line.starts_with(&own) || !line.contains("<urn:x:s");
            let is_there = original.contains(&line) || is_own && own_graph.is_none_or(|own| own == graph(&line));
            if !is_there || line.starts_with("<urn:x:evil") {
                wrong.push(format!("{line}\n{text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} {}", wrong.len(), wrong.iter().take(5).cloned().collect::<String>());
    assert!(read > 500 && refused > 200, "{read} read, {refused} refused");
}
