//! The formats, their layouts, and what each of them refuses.

use isomorph_convert::{Format, WriteOptions};
use isomorph_graphar::info::{AdjListType, FileType};
use isomorph_graphar::write::Grouping;
use isomorph_model::Direction;
use isomorph_model::capability::Directions;
use isomorph_nock::{By, Partitioning, Types};
use isomorph_tables::Compression;

use crate::stage::Case;

/// A format in the harness.
pub struct Member {
    pub format: Format,
    /// The layouts to test; the argument is the number of rows of the largest table.
    pub layouts: fn(u64) -> Vec<Layout>,
    /// Graphs of the zoo that cannot be stored, and some words of the reason.
    pub refuses: &'static [(&'static str, &'static str)],
}

/// A way to write a format.
pub struct Layout {
    pub name: String,
    /// Name of the file or directory.
    pub file: &'static str,
    pub write: WriteOptions,
    /// Whether it keeps the positions of nodes; otherwise graphs with meaningful positions are refused.
    pub keeps_order: bool,
}

impl Member {
    /// The layouts that can store a graph.
    pub fn layouts_for(&self, case: &Case) -> Vec<Layout> {
        let all = (self.layouts)(case.rows()).into_iter();
        all.filter(|layout| layout.keeps_order || !case.has_order()).collect()
    }

    /// Some words of the reason why the graph cannot be stored; `None` if it can be.
    pub fn reason(&self, case: &Case) -> Option<&'static str> {
        let listed = self.refuses.iter().find(|(name, _)| *name == case.name).map(|(_, words)| *words);
        listed.or_else(|| self.mixes_directions(case).then_some("direction of edges would be lost"))
    }

    /// Whether a typed graph has directions that a file of a graph tool states for all edges together.
    fn mixes_directions(&self, case: &Case) -> bool {
        let one = [Format::NODELINK, Format::KGX, Format::GML, Format::CX2].contains(&self.format);
        let edges = &case.memory.graph.edges;
        let same = match edges.first().map(|ty| ty.direction) {
            None | Some(Direction::Directed) => Direction::Directed,
            Some(_) if self.format.capability().directions == Directions::None => Direction::Directed,
            Some(_) => Direction::Undirected,
        };
        one && edges.iter().any(|ty| ty.direction != same)
    }

    /// Whether the graph cannot be stored.
    pub fn refuses(&self, case: &Case) -> bool {
        self.reason(case).is_some()
    }
}

/// All formats but files of graph tools, and two of these in turn: each pair of formats costs time.
pub fn members_in_turn(turn: usize) -> impl Iterator<Item = &'static Member> {
    let tools = [Format::NODELINK, Format::GEXF, Format::GML, Format::JGF];
    let chosen = [tools[turn % 4], tools[(turn + 1) % 4]];
    MEMBERS.iter().filter(move |member| !tools.contains(&member.format) || chosen.contains(&member.format))
}

/// All formats. A new one is added here.
pub const MEMBERS: &[Member] =
    &[GRAPHAR, NOCK, ANNNET, DEEPGNN, GRAPHLAKE, RDF, GRAPHML, NODE_LINK, GEXF, GML, JGF, PARQUET, CSV];

/// Formats that differ from one of these in their encoding alone.
pub const ENCODED: &[Member] = &[ARROW, JSON_LINES, KGX_LINES, NEO4J, XLSX, APOC, CYPHER, KGX, CX2];

/// The entry of a format.
pub fn member(format: Format) -> &'static Member {
    MEMBERS.iter().chain(ENCODED).find(|member| member.format == format).unwrap()
}

const GRAPHAR: Member = Member {
    format: Format::GRAPHAR,
    layouts: graphar_layouts,
    refuses: &[
        // Parquet chunks can store them.
        ("wide types", "finer than the milliseconds"),
        ("rdf", "cannot be written as nodes and edges"),
        ("triples and an empty graph", "without triples would be lost"),
        ("deepgnn", "GraphAr has no"),
    ],
};

fn graphar_layouts(rows: u64) -> Vec<Layout> {
    use AdjListType::{OrderedByDest, OrderedBySource, UnorderedByDest, UnorderedBySource};
    // Chunk sizes that split every graph into several chunks with a partial last one; and the defaults.
    let (small, other) = (Some((rows / 3 + 1, rows / 5 + 1)), Some((rows / 7 + 1, rows / 2 + 1)));
    let all = &AdjListType::ALL[..];
    type Way = (FileType, Option<(u64, u64)>, &'static [AdjListType], Option<Grouping>, Compression);
    let ways: Vec<Way> = vec![
        (FileType::Parquet, None, &[], None, Compression::Zstd(1)),
        (FileType::Parquet, small, &AdjListType::ALL, Some(Grouping::Each), Compression::None),
        (FileType::Parquet, other, &[UnorderedByDest], Some(Grouping::One), Compression::Snappy),
        (FileType::Orc, small, &[OrderedBySource, UnorderedBySource], None, Compression::Zstd(1)),
        (FileType::Orc, other, &[OrderedByDest], Some(Grouping::Each), Compression::None),
        (FileType::Csv, small, &[OrderedBySource, OrderedByDest], None, Compression::None),
        (FileType::Csv, other, &[UnorderedBySource], Some(Grouping::Each), Compression::None),
        (FileType::Json, small, &[UnorderedByDest, OrderedByDest], Some(Grouping::Each), Compression::None),
        (FileType::Json, other, &[UnorderedBySource], None, Compression::None),
    ];
    let layout = |(file_type, chunks, lists, grouping, compression): Way| {
        let mut write = WriteOptions::default();
        write.get_mut::<isomorph_graphar::WriteOptions>().file_type = Some(file_type);
        write.get_mut::<isomorph_graphar::WriteOptions>().vertex_chunk = chunks.map(|chunks| chunks.0);
        write.get_mut::<isomorph_graphar::WriteOptions>().edge_chunk = chunks.map(|chunks| chunks.1);
        write.get_mut::<isomorph_graphar::WriteOptions>().adjacency = (!lists.is_empty()).then(|| lists.to_vec());
        write.get_mut::<isomorph_graphar::WriteOptions>().grouping = grouping;
        write.get_mut::<isomorph_graphar::WriteOptions>().compression = compression;
        let lists = if lists.len() == all.len() { "all lists".to_owned() } else { format!("{lists:?}") };
        let name = format!("GraphAr {file_type} {chunks:?} {lists} {grouping:?}");
        Layout { name, file: "graph.graphar", write, keeps_order: true }
    };
    ways.into_iter().map(layout).collect()
}

const NOCK: Member = Member {
    format: Format::NOCK,
    layouts: nock_layouts,
    refuses: &[
        ("rdf", "cannot be written as nodes and edges"),
        ("triples and an empty graph", "without triples would be lost"),
        ("deepgnn", "only nodes and edges can be bundled"),
    ],
};

fn nock_layouts(_: u64) -> Vec<Layout> {
    let partitions = |count| Some(Partitioning { count, by: By::Name });
    let of = |name: &str, file, change: &dyn Fn(&mut isomorph_nock::CreateOptions)| {
        let mut write = WriteOptions::default();
        change(write.get_mut::<isomorph_nock::CreateOptions>());
        let keeps_order = write.get_mut::<isomorph_nock::CreateOptions>().partitions.is_none()
            && !write.get_mut::<isomorph_nock::CreateOptions>().sort;
        Layout { name: format!("NOCK {name}"), file, write, keeps_order }
    };
    vec![
        of("Parquet", "graph.parq", &|_| ()),
        of("Parquet, types of pynock", "graph.parq", &|nock| nock.types = Types::Pynock),
        of("Parquet, small row groups", "graph.parq", &|nock| {
            (nock.row_group_rows, nock.compression) = (2, Compression::Zstd(3));
        }),
        of("Parquet, nested edges", "graph.parq", &|nock| nock.nested_edges = true),
        of("Parquet, map", "graph.parq", &|nock| nock.props_map = true),
        of("Parquet, nested edges and map", "graph.parq", &|nock| (nock.nested_edges, nock.props_map) = (true, true)),
        of("Parquet, partitions", "graph", &|nock| nock.partitions = partitions(3)),
        of("Parquet, nested partitions of pynock's types", "graph", &|nock| {
            (nock.partitions, nock.nested_edges, nock.types) = (partitions(2), true, Types::Pynock);
        }),
        of("CSV", "graph.csv", &|_| ()),
        of("CSV, sorted", "graph.csv", &|nock| nock.sort = true),
        of("CSV, partitions", "graph", &|nock| {
            (nock.partitions, nock.format) = (partitions(3), isomorph_nock::Format::Csv);
        }),
    ]
}

const ANNNET: Member = Member {
    format: Format::ANNNET,
    layouts: annnet_layouts,
    refuses: &[
        ("rdf", "cannot be written as nodes and edges"),
        ("triples and an empty graph", "without triples would be lost"),
        ("deepgnn", "only nodes and edges can be fused"),
    ],
};

fn annnet_layouts(_: u64) -> Vec<Layout> {
    use isomorph_annnet::WriteLayout::{Specification, V2};
    let of = |name: &str, file, compression, (layout, matrix)| {
        let mut write = WriteOptions::default();
        (
            write.get_mut::<isomorph_annnet::WriteOptions>().compression,
            write.get_mut::<isomorph_annnet::WriteOptions>().layout,
            write.get_mut::<isomorph_annnet::WriteOptions>().matrix,
        ) = (compression, layout, matrix);
        Layout { name: format!("annnet {name}"), file, write, keeps_order: true }
    };
    vec![
        of("archive", "graph.annnet", Compression::Zstd(3), (V2, false)),
        of("directory", "graph", Compression::Snappy, (V2, false)),
        of("directory, not compressed, with its matrix", "graph", Compression::None, (V2, true)),
        of("directory of the specification", "graph", Compression::Lz4, (Specification, false)),
        of("archive of the specification", "graph.annnet", Compression::Gzip(1), (Specification, false)),
    ]
}

/// Edge lists have no data about nodes, so they can store few graphs: see `edge_lists.rs`.
pub const EDGELIST: Member = Member {
    format: Format::EDGELIST,
    layouts: |_| {
        let layout = |name: &str, file, data| {
            let mut write = WriteOptions::default();
            write.get_mut::<isomorph_edgelist::WriteOptions>().data = data;
            Layout { name: format!("edge list {name}"), file, write, keeps_order: false }
        };
        vec![
            layout("", "graph.edges", None),
            layout("of dictionaries, packed", "graph.edges.gz", Some(isomorph_edgelist::EdgeData::Dictionary)),
        ]
    },
    refuses: &[],
};

/// Notations that, like edge lists, can store few graphs: see `edge_lists.rs`.
pub const NOTATIONS: &[Member] = &[
    Member {
        format: Format::MATRIX_MARKET,
        layouts: |_| notations("matrix", ["graph.mtx", "graph.mtx.gz"]),
        refuses: &[],
    },
    Member {
        format: Format::ADJACENCY_LIST,
        layouts: |_| notations("adjacency list", ["graph.adjlist", "graph.adjlist.zst"]),
        refuses: &[],
    },
    Member {
        format: Format::MULTILINE,
        layouts: |_| notations("multiline", ["graph.multiline_adjlist", "graph.multiline_adjlist.gz"]),
        refuses: &[],
    },
    Member { format: Format::METIS, layouts: |_| notations("METIS", ["graph.metis", "graph.graph.gz"]), refuses: &[] },
    Member {
        format: Format::GRAPHALYTICS,
        layouts: |_| notations("Graphalytics", ["graph", "graph.graphalytics"]),
        refuses: &[],
    },
    Member { format: Format::PAJEK, layouts: |_| notations("Pajek", ["graph.net", "graph.net.gz"]), refuses: &[] },
    Member { format: Format::PSL, layouts: |_| notations("PSL", ["graph", "psl"]), refuses: &[] },
];

fn notations(name: &str, files: [&'static str; 2]) -> Vec<Layout> {
    let layout = |file| Layout {
        name: format!("{name} {file}"),
        file,
        write: WriteOptions::default(),
        keeps_order: name == "Pajek",
    };
    files.map(layout).into()
}

const GRAPHML: Member = Member {
    format: Format::GRAPHML,
    layouts: |_| {
        let layout = |name: &str, file| {
            let write = WriteOptions::default();
            Layout { name: format!("GraphML {name}"), file, write, keeps_order: true }
        };
        vec![layout("", "graph.graphml"), layout("packed", "graph.graphml.gz")]
    },
    refuses: &[
        ("rdf", "cannot be written as nodes and edges"),
        ("triples and an empty graph", "without triples would be lost"),
        ("deepgnn", "only nodes and edges can be fused"),
        ("texts", "XML does not allow the character"),
        ("strings", "XML does not allow the character"),
    ],
};

const NODE_LINK: Member = Member {
    format: Format::NODELINK,
    layouts: |_| {
        vec![
            record_file("node-link JSON", "graph.nodelink.json"),
            record_file("node-link JSON, packed", "graph.nodelink.json.zst"),
        ]
    },
    refuses: NO_DIRECTIONS,
};

const KGX: Member = Member {
    format: Format::KGX,
    layouts: |_| vec![record_file("KGX JSON", "graph.kgx.json")],
    refuses: NO_DIRECTIONS,
};

const GEXF: Member = Member {
    format: Format::GEXF,
    layouts: |_| vec![record_file("GEXF", "graph.gexf"), record_file("GEXF, packed", "graph.gexf.gz")],
    refuses: &[
        ("rdf", "cannot be written as nodes and edges"),
        ("triples and an empty graph", "without triples would be lost"),
        ("deepgnn", "only nodes and edges can be fused"),
        ("texts", "XML does not allow the character"),
        ("strings", "XML does not allow the character"),
    ],
};

const GML: Member =
    Member { format: Format::GML, layouts: |_| vec![record_file("GML", "graph.gml")], refuses: NO_DIRECTIONS };

const JGF: Member = Member {
    format: Format::JGF,
    layouts: |_| vec![record_file("JSON Graph Format", "graph.jgf.json")],
    refuses: NO_RECORDS,
};

const CX2: Member =
    Member { format: Format::CX2, layouts: |_| vec![record_file("CX2", "graph.cx2")], refuses: NO_DIRECTIONS };

/// The same, and a bundled graph that has edges of both kinds of direction when it is typed.
const NO_DIRECTIONS: &[(&str, &str)] = &[
    ("rdf", "cannot be written as nodes and edges"),
    ("triples and an empty graph", "without triples would be lost"),
    ("deepgnn", "only nodes and edges can be fused"),
    ("undirected", "direction of edges would be lost"),
];

const NO_RECORDS: &[(&str, &str)] = &[
    ("rdf", "cannot be written as nodes and edges"),
    ("triples and an empty graph", "without triples would be lost"),
    ("deepgnn", "only nodes and edges can be fused"),
];

fn record_file(name: &str, file: &'static str) -> Layout {
    Layout { name: name.to_owned(), file, write: WriteOptions::default(), keeps_order: true }
}

const PARQUET: Member =
    Member { format: Format::PARQUET, layouts: |_| vec![tables("Parquet tables")], refuses: NO_TABLES };

const CSV: Member = Member { format: Format::CSV, layouts: |_| vec![tables("CSV tables")], refuses: NO_TABLES };

const ARROW: Member = Member { format: Format::ARROW, layouts: |_| vec![tables("Arrow tables")], refuses: NO_TABLES };

const JSON_LINES: Member =
    Member { format: Format::JSON_LINES, layouts: |_| vec![tables("JSON lines tables")], refuses: NO_TABLES };

const NEO4J: Member = Member { format: Format::NEO4J, layouts: |_| vec![tables("Neo4j CSV")], refuses: NO_TABLES };

const KGX_LINES: Member =
    Member { format: Format::KGX_LINES, layouts: |_| vec![tables("JSON lines of KGX")], refuses: NO_RECORDS };

const XLSX: Member = Member {
    format: Format::XLSX,
    layouts: |_| vec![Layout { file: "graph.xlsx", ..tables("workbook") }],
    refuses: NO_SHEETS,
};

const APOC: Member = Member {
    format: Format::APOC,
    layouts: |_| {
        let layout = |name: &str, file| Layout { file, ..tables(name) };
        vec![layout("APOC", "graph.json"), layout("APOC, packed", "graph.json.gz")]
    },
    refuses: &[
        ("empty", "a graph without nodes would be an empty file"),
        ("a text of nothing", "a graph without nodes would be an empty file"),
        ("many members", "cannot be stored (node.props)"),
        ("rdf", "cannot be written as nodes and edges"),
        ("triples and an empty graph", "without triples would be lost"),
        ("deepgnn", "only nodes and relationships"),
    ],
};

const CYPHER: Member = Member {
    format: Format::CYPHER,
    layouts: |_| {
        let layout = |name: &str, file| Layout { file, ..tables(name) };
        vec![layout("Cypher", "graph.cypher"), layout("Cypher, packed", "graph.cypher.zst")]
    },
    refuses: NOT_IN_CYPHER,
};

const NOT_IN_CYPHER: &[(&str, &str)] = &[
    ("rdf", "cannot be written as nodes and edges"),
    ("triples and an empty graph", "without triples would be lost"),
    ("deepgnn", "only nodes and relationships"),
    ("many members", "cannot be stored (node.props)"),
];

const NO_TABLES: &[(&str, &str)] = &[
    ("rdf", "cannot be written as nodes and edges"),
    ("triples and an empty graph", "without triples would be lost"),
    ("deepgnn", "only nodes and edges"),
];

/// The same, and a graph with a text that is too long for a cell.
const NO_SHEETS: &[(&str, &str)] = &[
    ("texts", "more than 32,767 characters"),
    ("rdf", "cannot be written as nodes and edges"),
    ("triples and an empty graph", "without triples would be lost"),
    ("deepgnn", "only nodes and edges"),
];

fn tables(name: &str) -> Layout {
    Layout { name: name.to_owned(), file: "graph", write: WriteOptions::default(), keeps_order: true }
}

const GRAPHLAKE: Member = Member {
    format: Format::GRAPHLAKE,
    layouts: |_| {
        let write = WriteOptions::default();
        vec![Layout { name: "GraphLake".to_owned(), file: "graph.lake", write, keeps_order: true }]
    },
    refuses: &[
        ("rdf", "cannot be written as nodes and edges"),
        ("deepgnn", "only nodes and edges with columns can be lifted"),
    ],
};

const RDF: Member = Member {
    format: Format::RDF,
    // The syntaxes that can state everything that triples can; the others have separate tests.
    layouts: |_| {
        let layout = |name: &str, file| Layout {
            name: format!("RDF {name}"),
            file,
            write: WriteOptions::default(),
            keeps_order: true,
        };
        vec![layout("N-Quads", "graph.nq"), layout("TriG, packed", "graph.trig.zst")]
    },
    refuses: &[
        ("rdf", "cannot be written as nodes and edges"),
        ("triples and an empty graph", "cannot store the graph"),
        ("deepgnn", "only nodes and edges with columns can be lifted"),
    ],
};

const DEEPGNN: Member = Member {
    format: Format::DEEPGNN,
    layouts: deepgnn_layouts,
    refuses: &[
        ("rdf", "cannot be written as nodes and edges"),
        ("triples and an empty graph", "without triples would be lost"),
        ("deepgnn", "only nodes and edges can be numbered"),
    ],
};

fn deepgnn_layouts(_: u64) -> Vec<Layout> {
    use isomorph_deepgnn::{Dispatch, TextFormat};
    let binary = |name: &str, partitions, dispatch, samplers| {
        let mut write = WriteOptions::default();
        (
            write.get_mut::<isomorph_deepgnn::WriteOptions>().binary.partitions,
            write.get_mut::<isomorph_deepgnn::WriteOptions>().binary.dispatch,
        ) = (partitions, dispatch);
        (
            write.get_mut::<isomorph_deepgnn::WriteOptions>().binary.node_samplers,
            write.get_mut::<isomorph_deepgnn::WriteOptions>().binary.edge_samplers,
        ) = (samplers, samplers);
        Layout { name: format!("DeepGNN binary {name}"), file: "graph", write, keeps_order: true }
    };
    let text = |format: TextFormat, file| {
        let mut write = WriteOptions::default();
        write.get_mut::<isomorph_deepgnn::WriteOptions>().text = Some(format);
        Layout { name: format!("DeepGNN {format}"), file, write, keeps_order: true }
    };
    let parts = |count, dispatch| {
        let mut layout = text(TextFormat::Json, "graph");
        (
            layout.write.get_mut::<isomorph_deepgnn::WriteOptions>().parts,
            layout.write.get_mut::<isomorph_deepgnn::WriteOptions>().binary.dispatch,
        ) = (Some(count), dispatch);
        Layout { name: format!("DeepGNN JSON in {count} files by {dispatch:?}"), ..layout }
    };
    vec![
        binary("", 1, Dispatch::Line, true),
        binary("in three partitions", 3, Dispatch::Line, true),
        // The other texts cannot store every text.
        text(TextFormat::Json, "graph.json"),
        binary("in two partitions by id, without tables", 2, Dispatch::Id, false),
        parts(3, Dispatch::Line),
        parts(2, Dispatch::Id),
    ]
}
