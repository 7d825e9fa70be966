//! Weights and times of graphs that are read: all their bits, one clock, and invalid values.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::sync::Arc;

use arrow_array::{ArrayRef, Date32Array, TimestampMicrosecondArray, TimestampMillisecondArray, UInt64Array};
use arrow_schema::TimeUnit;
use common::Built;
use isomorph_error::{Kind, Result};
use isomorph_model::{Property, ValueKind};
use isomorph_sampling::{
    Ask, Bias, Choice, Clock, Draw, EdgeSampler, Generator, Graph, GraphOptions, Missing, NO_TIME, Names,
    NeighborLists, NodeSampler, Picks, Sampler, TypeSet,
};
use isomorph_storage::{Budget, Scratch};
use isomorph_zoo::{Build, Edges, Nodes, bools, float32, float64, int64, text};

fn options() -> GraphOptions {
    GraphOptions::new(&Budget::new(64 << 20), &Scratch::new(None).unwrap())
}

/// Node 0 with edges to 1, 2 and 3, of a type for each of these lists of columns.
fn star(types: &[(&str, &[(&str, ArrayRef)])]) -> (Arc<Graph>, Names) {
    let mut build = Build::default();
    build.nodes(Nodes::keyed("n", int64([0, 1, 2, 3])));
    for (name, columns) in types {
        let mut edges = Edges::rows(0, name, 0, [(0, 1), (0, 2), (0, 3)]);
        for (column, cells) in *columns {
            let property = match *column {
                "" => Property::bag(),
                "json weight" => Property::new("weight", cells.data_type().clone()).of_kind(ValueKind::Json),
                column => Property::new(column, cells.data_type().clone()),
            };
            edges = edges.property(property, Arc::clone(cells));
        }
        build.edges(edges);
    }
    let (graph, names) = Graph::of_source(&build.finish(), &options()).unwrap();
    (Arc::new(graph), names)
}

/// Returns the neighbours of node 0 by a strategy, with exact weights.
fn drawn(
    graph: &Arc<Graph>,
    count: usize,
    how: impl Fn(&mut Sampler, &mut Picks<'_>) -> Result<()>,
) -> Result<(Vec<i64>, Vec<f64>)> {
    let (mut ids, mut exact) = (vec![0; count], vec![0.0; count]);
    let mut picks = Picks { exact: &mut exact, ..Picks::of_ids(&mut ids) };
    how(&mut Sampler::new(graph, Generator::Stable, 1), &mut picks)?;
    Ok((ids, exact))
}

fn top(graph: &Arc<Graph>, types: &TypeSet, count: usize) -> Result<(Vec<i64>, Vec<f64>)> {
    drawn(graph, count, |sampler, picks| sampler.top(&Ask::new(&[0], types), count, &Missing::default(), picks))
}

fn weighted(graph: &Arc<Graph>, types: &TypeSet, count: usize) -> Result<(Vec<i64>, Vec<f64>)> {
    let missing = Missing::default();
    drawn(graph, count, |sampler, picks| sampler.weighted(&Ask::new(&[0], types), count, Draw::of(1), &missing, picks))
}

fn last(graph: &Arc<Graph>, types: &TypeSet, count: usize) -> Result<Vec<i64>> {
    drawn(graph, count, |sampler, picks| sampler.last(&Ask::new(&[0], types), count, &Missing::default(), picks))
        .map(|(ids, _)| ids)
}

fn all(graph: &Arc<Graph>) -> NeighborLists {
    let mut lists = NeighborLists::default();
    Sampler::new(graph, Generator::Stable, 1).neighbors(&Ask::new(&[0], &TypeSet::all()), &mut lists).unwrap();
    lists
}

#[test]
fn weights_have_all_their_bits() {
    let every = TypeSet::all();
    for (weights, heaviest, weight) in [
        (int64([16_777_216, 16_777_216, 16_777_217]), 3, 16_777_217.0),
        (int64([1_700_000_001, 1_700_000_030, 1_700_000_050]), 3, 1_700_000_050.0),
        (float64([1e200, 1e300, 1.0]), 2, 1e300),
        (float64([1e-300, 3e-300, 1e-300]), 2, 3e-300),
        (float64([1.0, f64::MAX, f64::MAX]), 2, f64::MAX),
    ] {
        let (graph, _) = star(&[("k", &[("weight", Arc::clone(&weights))])]);
        assert!(graph.has_exact_weights());
        assert_eq!(top(&graph, &every, 1).unwrap(), (vec![heaviest], vec![weight]), "{weights:?}");
        let (ids, exact) = weighted(&graph, &every, 40).unwrap();
        assert!(ids.contains(&heaviest) && exact.contains(&weight), "{weights:?}: {ids:?}");
        assert_eq!(all(&graph).exact.len(), 3);
        // The content of lists does not depend on threads.
        let nodes = vec![0; 4000];
        let mut lists = NeighborLists::default();
        Sampler::new(&graph, Generator::Stable, 2).neighbors(&Ask::new(&nodes, &every), &mut lists).unwrap();
        assert_eq!(lists.exact, all(&graph).exact.repeat(4000));
        let mut walk = [0; 2];
        let mut sampler = Sampler::new(&graph, Generator::Stable, 1);
        sampler.walk(&Ask::new(&[0], &every), 1, Bias::default(), Draw::of(1), -1, &mut walk).unwrap();
        assert!(walk[1] > 0, "{weights:?}: {walk:?}");
        let mut edges = EdgeSampler::new(&graph, &every, Choice::Weighted, Generator::Stable).unwrap();
        let (mut sources, mut targets, mut kinds) = ([0; 40], [0; 40], [0; 40]);
        edges.sample(Draw::of(1), -1, &mut sources, &mut targets, &mut kinds).unwrap();
        assert!(targets.contains(&heaviest), "{weights:?}: {targets:?}");
    }
    // If 32 bits can represent all weights, there are no exact ones.
    let (graph, _) = star(&[("k", &[("weight", float64([0.5, 2.0, 1.0]))])]);
    assert!(!graph.has_exact_weights());
    assert_eq!((all(&graph).weights, all(&graph).exact.len()), (vec![0.5, 2.0, 1.0], 0));
}

#[test]
fn the_engine_has_no_weights_beyond_32_bits() {
    let (graph, _) = star(&[("k", &[("weight", float64([1e300, 1.0, 1.0]))])]);
    let (every, mut ids) = (TypeSet::all(), [0; 3]);
    let mut sampler = Sampler::new(&graph, Generator::Compat, 1);
    let ask = Ask::new(&[0], &every);
    let error = sampler.weighted(&ask, 3, Draw::of(1), &Missing::default(), &mut Picks::of_ids(&mut ids)).unwrap_err();
    assert!(error.message().contains("the weight 1e300 of an edge of type k does not fit into 32 bits"), "{error:?}");
    assert!(sampler.neighbors(&ask, &mut NeighborLists::default()).is_err());
    assert!(EdgeSampler::new(&graph, &every, Choice::Weighted, Generator::Compat).is_err());
    // The generator rounds other weights, as a binary of this graph does.
    let (graph, _) = star(&[("k", &[("weight", float64([0.1, 0.1, 0.1]))])]);
    // It draws elements of the whole graph by tables, which only a binary has.
    let draw = |choice, generator| EdgeSampler::new(&graph, &every, choice, generator).map(|_| ());
    let error = draw(Choice::Weighted, Generator::Compat).unwrap_err();
    assert!(error.kind() == Kind::Usage && error.message().contains("tables of a binary"), "{error:?}");
    draw(Choice::Weighted, Generator::Stable).unwrap();
    draw(Choice::Uniform, Generator::Compat).unwrap();
    let mut sampler = Sampler::new(&graph, Generator::Compat, 1);
    sampler.weighted(&ask, 3, Draw::of(1), &Missing::default(), &mut Picks::of_ids(&mut ids)).unwrap();
}

#[test]
fn a_weight_in_a_bag_is_one() {
    let bags = text([
        Some(r#"{"a": "weight", "weight": 1.5}"#),
        Some(r#"{"w\u0065ight": 30, "b": {"weight": 7}}"#),
        Some(r#"{"b": {"weight": 7}}"#),
    ]);
    let (graph, _) = star(&[("k", &[("", bags)])]);
    assert_eq!(all(&graph).weights, [1.5, 30.0, 1.0]);
    assert_eq!(top(&graph, &TypeSet::all(), 3).unwrap().0, [2, 1, 3]);
    // A column of JSON values.
    let (graph, _) = star(&[("k", &[("json weight", text([Some("2"), None, Some("0.25")]))])]);
    assert_eq!(all(&graph).weights, [2.0, 1.0, 0.25]);
}

/// Only numbers are weights. Other values do not affect requests that need no weights.
#[test]
fn a_weight_that_is_no_number_is_refused_where_it_is_needed() {
    let sound: (&str, &[(&str, ArrayRef)]) = ("sound", &[("weight", float32([1.0, 2.0, 3.0]))]);
    for (column, cells, says) in [
        ("weight", text(["light", "5", "x"]), "the weight of an edge of type k is string, but weights must be numbers"),
        ("weight", bools([true, true, false]), "is bool, but"),
        ("weight", Arc::new(TimestampMillisecondArray::from(vec![1, 2, 3])) as ArrayRef, "is timestamp[ms], but"),
        ("weight", Arc::new(Date32Array::from(vec![1, 2, 3])), "is date, but"),
        ("weight", Arc::new(UInt64Array::from(vec![1, u64::MAX, 1])), "is 18446744073709551615, an integer"),
        ("json weight", text(["1", "[2]", "true"]), "is a list, but"),
        ("", text([r#"{"weight": 1}"#, r#"{"weight": "5"}"#, ""]), "is the text \"5\", but"),
        ("", text([r#"{"weight": 1}"#, r#"{"weight": 1e999}"#, ""]), "is 1e999, which is not a 64-bit float, but"),
    ] {
        let (graph, _) = star(&[("k", &[(column, cells)]), sound]);
        for types in [TypeSet::all(), TypeSet::of(&[0])] {
            for error in [
                top(&graph, &types, 1).unwrap_err(),
                weighted(&graph, &types, 1).unwrap_err(),
                EdgeSampler::new(&graph, &types, Choice::Weighted, Generator::Stable).map(|_| ()).unwrap_err(),
            ] {
                assert!(error.message().contains(says), "{says}: {error:?}");
                assert_eq!(error.kind(), Kind::Malformed);
            }
        }
        // The other type works, and so do requests that need no weights.
        let (ids, exact) = top(&graph, &TypeSet::of(&[1]), 1).unwrap();
        assert_eq!((ids, exact), (vec![3], vec![3.0]), "{says}");
        let lists = all(&graph);
        assert_eq!(lists.ids, [1, 2, 3, 1, 2, 3], "{says}");
        assert!(!graph.knows_weights(0) && graph.knows_weights(1));
        assert!(lists.weights[..3].iter().any(|weight| weight.is_nan()), "{says}: {:?}", lists.weights);
        EdgeSampler::new(&graph, &TypeSet::all(), Choice::Uniform, Generator::Stable).unwrap();
    }
}

#[test]
fn nothing_is_drawn_by_a_weight_below_0() {
    for (weights, says) in [
        (float64([-2.0, 1.0, 5.0]), "the weight -2.0 of an edge of type k is below 0"),
        (float64([1.0, f64::INFINITY, 5.0]), "the weight inf of an edge of type k is not finite"),
        (float64([1.0, f64::NAN, 5.0]), "the weight NaN of an edge of type k is not finite"),
    ] {
        let (graph, _) = star(&[("k", &[("weight", weights)])]);
        let mut walk = [0; 2];
        let mut sampler = Sampler::new(&graph, Generator::Stable, 1);
        for error in [
            weighted(&graph, &TypeSet::all(), 1).unwrap_err(),
            sampler.walk(&Ask::new(&[0], &TypeSet::all()), 1, Bias::default(), Draw::of(1), -1, &mut walk).unwrap_err(),
            EdgeSampler::new(&graph, &TypeSet::all(), Choice::Weighted, Generator::Stable).map(|_| ()).unwrap_err(),
        ] {
            assert!(error.message().contains(says), "{says}: {error:?}");
        }
        // It can be ranked among the others.
        assert_eq!(top(&graph, &TypeSet::all(), 3).unwrap().0.len(), 3);
    }
    let mut build = Build::default();
    build.nodes(Nodes::keyed("n", int64([4, 5])).column("weight", float64([1.0, -1.0])));
    let graph = Arc::new(Graph::of_source(&build.finish(), &options()).unwrap().0);
    let draw = |choice| NodeSampler::new(&graph, &TypeSet::all(), choice, Generator::Stable).map(|_| ());
    let error = draw(Choice::Weighted).unwrap_err();
    assert!(error.message().contains("the weight -1.0 of row 1 of the nodes of type n is below 0"), "{error:?}");
    draw(Choice::Uniform).unwrap();
}

#[test]
fn nothing_is_drawn_from_a_binary_by_a_weight_below_0() {
    let text = "1,-1,0,-1\n1,0,2,-2\n1,0,3,1\n1,0,4,5\n2,-1,0,3\n";
    let built = Built::with(text, "edgelist", 1, None);
    for graph in [common::opened(&built.path), common::opened(&built.without_tables().path)] {
        for generator in [Generator::Stable, Generator::Compat] {
            let mut sampler = Sampler::new(&graph, generator, 1);
            let (every, mut ids) = (TypeSet::all(), [0; 3]);
            let ask = Ask::new(&[1], &every);
            let missing = Missing::default();
            let error = sampler.weighted(&ask, 3, Draw::of(1), &missing, &mut Picks::of_ids(&mut ids)).unwrap_err();
            assert!(error.message().contains("negative"), "{error:?}");
            let edges = EdgeSampler::new(&graph, &every, Choice::Weighted, generator).map(|_| ()).unwrap_err();
            let nodes = NodeSampler::new(&graph, &every, Choice::Weighted, generator).map(|_| ()).unwrap_err();
            assert_eq!((edges.kind(), nodes.kind()), (Kind::Malformed, Kind::Malformed));
            sampler.uniform(&ask, 3, true, Draw::of(1), &missing, &mut Picks::of_ids(&mut ids)).unwrap();
        }
    }
}

/// A node that is stated twice is one node, by its first statement, as in the text.
#[test]
fn a_node_that_is_stated_twice_is_one() {
    for (text, partitions) in [
        ("-1 5 1 1.0\n-1 6 0 1.0\n-1 5 1 8.0\n", 1),
        ("-1 5 1 1.0\n-1 5 0 8.0\n-1 6 0 1.0\n", 1),
        ("-1 5 1 1.0\n-1 6 0 1.0\n-1 7 0 1.0\n-1 5 1 8.0\n-1 6 0 1.0\n", 2),
    ] {
        let built = Built::of(text, partitions);
        for graph in [common::opened(&built.path), common::opened(&built.without_tables().path)] {
            let known: Vec<i64> = [5, 6, 7].into_iter().filter(|id| graph.has(*id)).collect();
            let draw = |choice, types: &TypeSet, count| {
                let mut sampler = NodeSampler::new(&graph, types, choice, Generator::Stable).unwrap();
                let (mut ids, mut kinds) = (vec![0; count], vec![0; count]);
                let filled = sampler.sample(Draw::of(3), -1, &mut ids, &mut kinds).unwrap();
                ids.truncate(filled);
                ids
            };
            let mut ids = draw(Choice::WithoutReplacement, &TypeSet::all(), 9);
            ids.sort_unstable();
            assert_eq!(ids, known, "{text:?}");
            assert_eq!(draw(Choice::WithoutReplacement, &TypeSet::of(&[1]), 9), [5], "{text:?}");
            let fives = draw(Choice::Uniform, &TypeSet::all(), 6000).iter().filter(|id| **id == 5).count();
            let wanted = 6000 / known.len();
            assert!(fives.abs_diff(wanted) < 250, "{text:?}: {fives} of {wanted}");
        }
    }
}

#[test]
fn times_are_on_one_clock() {
    let day = 86_400_000;
    let created = |column: ArrayRef| [("created_at", column)];
    let (k, l, m) = (
        created(Arc::new(TimestampMillisecondArray::from(vec![Some(20_000 * day), None, Some(3 * day)]))),
        created(Arc::new(TimestampMicrosecondArray::from(vec![18_000 * day * 1000, 5 * day * 1000, 4]))),
        created(Arc::new(Date32Array::from(vec![19_000, -1, 1]))),
    );
    let (graph, names) = star(&[("k", &k), ("l", &l), ("m", &m)]);
    assert_eq!(names.clock(), Some((Clock::Moments(TimeUnit::Microsecond), false)));
    let every = TypeSet::all();
    let mut created = [0; 9];
    let (mut ids, mut kinds) = ([0; 9], [0; 9]);
    let mut picks = Picks { types: &mut kinds, created: &mut created, ..Picks::of_ids(&mut ids) };
    let mut sampler = Sampler::new(&graph, Generator::Stable, 1);
    sampler.last(&Ask::new(&[0], &every), 9, &Missing::default(), &mut picks).unwrap();
    let us = day * 1000;
    assert_eq!(created, [20_000 * us, 19_000 * us, 18_000 * us, 5 * us, 3 * us, us, 4, -us, NO_TIME]);
    assert_eq!(kinds, [0, 2, 1, 1, 0, 2, 1, 2, 0]);
    let at = |time: i64| {
        let mut count = [0];
        let ask = Ask { nodes: &[0], types: &every, times: Some(&[time]) };
        Sampler::new(&graph, Generator::Stable, 1).neighbor_counts(&ask, &mut count).unwrap();
        count[0]
    };
    assert_eq!([at(-2 * us), at(-us), at(4), at(3 * us), at(19_500 * us)], [1, 2, 3, 5, 8]);
    // An edge removed a day before 1970 is removed; plain days are days.
    let removed: ArrayRef = Arc::new(Date32Array::from(vec![Some(-1), None, Some(7)]));
    let (graph, names) = star(&[("k", &[("removed_at", removed)])]);
    assert_eq!(names.clock(), Some((Clock::Days, true)));
    let at = |time: i64| {
        let mut count = [0];
        let ask = Ask { nodes: &[0], types: &every, times: Some(&[time]) };
        Sampler::new(&graph, Generator::Stable, 1).neighbor_counts(&ask, &mut count).unwrap();
        count[0]
    };
    assert_eq!([at(-2), at(-1), at(6), at(7)], [3, 2, 2, 1]);
}

#[test]
fn times_that_are_none_are_refused_where_they_are_asked_for() {
    let every = TypeSet::all();
    let written = text(["2020-01-01", "2022-01-01", "2021-01-01"]);
    let days: ArrayRef = Arc::new(Date32Array::from(vec![1, 3, 2]));
    let far: ArrayRef = Arc::new(Date32Array::from(vec![1, i32::MAX, 2]));
    let fine: ArrayRef = Arc::new(arrow_array::TimestampNanosecondArray::from(vec![1, 2, 3]));
    let dated = |column: &ArrayRef| [("created_at", Arc::clone(column))];
    let (text_column, number_column) = (dated(&written), dated(&int64([1, 2, 3])));
    let (day_column, far_column, fine_column) = (dated(&days), dated(&far), dated(&fine));
    for (types, says) in [
        (vec![("k", &[][..])], "edges of this graph have no times"),
        (vec![("k", &text_column[..])], "edges of type k: created_at is string, but times must be dates, timestamps"),
        (vec![("k", &text_column), ("l", &day_column)], "edges of type k: created_at is string"),
        (vec![("k", &number_column), ("l", &day_column)], "edges of type k: created_at is int64, but other times"),
        (vec![("k", &far_column), ("l", &fine_column)], "does not fit into nanoseconds"),
    ] {
        let (graph, names) = star(&types);
        for error in [last(&graph, &every, 1).unwrap_err(), graph.check_times(&every).unwrap_err()] {
            assert!(error.message().contains(says), "{says}: {error:?}");
            assert_eq!(error.kind(), Kind::Usage);
        }
        if types.len() > 1 {
            assert_eq!(last(&graph, &TypeSet::of(&[1]), 1).unwrap().len(), 1, "{says}");
        }
        // A text is an ordinary feature.
        assert_eq!(names.edge_features().contains(&"created_at".to_owned()), says.contains("string"), "{says}");
        assert_eq!(all(&graph).ids.len(), 3 * types.len());
    }
    // Edges of a type without times come last, and are refused if they are alone.
    let (graph, _) = star(&[("k", &[]), ("l", &day_column)]);
    assert_eq!(last(&graph, &every, 4).unwrap(), [2, 3, 1, 1]);
    let error = last(&graph, &TypeSet::of(&[0]), 1).unwrap_err();
    assert!(error.message().contains("edges of these types have no times"), "{error:?}");
    // So is a binary without.
    let built = Built::of("-1 1 0 1.0 1 2 0 1.0\n-1 2 0 1.0\n", 1);
    let error = last(&common::opened(&built.path), &every, 1).unwrap_err();
    assert!(error.message().contains("edges of this graph have no times"), "{error:?}");
}
