//! Runs one measurement and prints one line of JSON, for `benches/run.py`.
//!
//! If there is a peer in Rust, both run alternately, on the same bytes, in the same process. Results are printed with
//! the times, so that a fast but wrong result is noticed. Data is generated from a fixed seed.

mod algorithms;
mod annnet;
mod draw;
mod edges;
mod graph;
mod lake;
mod look_ups;
mod measure;
mod nock;
mod sampling;
mod scans;
mod selected;
mod triples;

use std::process::ExitCode;

use isomorph_error::{Error, Result};
use serde_json::Value;

const HELP: &str = "\
isomorph-bench nock-make ROWS FILE            a NOCK file, one node row per three edge rows
isomorph-bench nock-read FILE RUNS THREADS    read into the model, and a bare read with the parquet crate
isomorph-bench edges-make EDGES VERTICES FILE an edge table: src, dst, weight, unordered
isomorph-bench edges-write FILE VERTICES DIRECTORY RUNS THREADS
                                              the table as GraphAr with both ordered lists, offsets and the weight
isomorph-bench graph-scan GRAPH RUNS          all edges of one list on one thread, and the parquet crate
isomorph-bench graph-neighbours GRAPH LOOKUPS neighbours of random vertices, warm; bytes of cold look-ups
isomorph-bench annnet-make VERTICES EDGES HYPEREDGES PATH RUNS
                                              a generated annnet graph: a directory, or NAME.annnet
isomorph-bench annnet-read GRAPH RUNS         read into the model
isomorph-bench annnet-neighbours GRAPH LOOKUPS the edges of random nodes, warm
isomorph-bench algorithms GRAPH ALGORITHM BYTES THREADS
                                              pagerank, components, clustering, communities or statistics, within BYTES
isomorph-bench sampling-make NODES EDGES FLOATS DIRECTORY ORDER
                                              a generated DeepGNN binary; ORDER of ids is sorted or shuffled
isomorph-bench sampling-run DIRECTORY BATCHES THREADS ORDER
                                              batches of 1024: neighbours, walks, features, nodes, edges
isomorph-bench lake-commit FILES TRIPLES PATH RUNS
                                              a GraphLake store of FILES files of TRIPLES triples each, and
                                              durable transactions of one triple on top of it
isomorph-bench triples-make TRIPLES PREDICATES FILE
                                              generated triples as N-Triples
isomorph-bench triples-look-ups STORE TRIPLES LOOKUPS
                                              random look-ups, warm: by subject, object and predicate, and by id
isomorph-bench look-ups GRAPH TABLE COLUMN KEYS RUNS
                                              rows of a table by random values of a column, and a pass over it
isomorph-bench selected GRAPH TABLE COLUMNS CONDITION RUNS
                                              some columns of a table with a condition, and the whole table
isomorph-bench triples-scans STORE TRIPLES RUNS THREADS
                                              a predicate, a batch and a join, on one thread and on THREADS
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(measured) => {
            println!("{measured}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result<Value> {
    match arguments {
        ["nock-make", rows, file] => nock::make(number(rows)?, file),
        ["nock-read", file, runs, threads] => nock::read(file, number(runs)?, number(threads)?),
        ["edges-make", edges, vertices, file] => edges::make(number(edges)?, number(vertices)?, file),
        ["edges-write", file, vertices, directory, runs, threads] => {
            edges::write(file, number(vertices)?, directory, number(runs)?, number(threads)?)
        }
        ["algorithms", graph, algorithm, bytes, threads] => {
            algorithms::run(graph, algorithm, number(bytes)?, number(threads)?)
        }
        ["graph-scan", graph, runs] => graph::scan(graph, number(runs)?),
        ["graph-neighbours", graph, lookups] => graph::neighbours(graph, number(lookups)?),
        ["annnet-make", vertices, edges, hyperedges, path, runs] => {
            let drawn =
                annnet::Drawn { vertices: number(vertices)?, edges: number(edges)?, hyperedges: number(hyperedges)? };
            annnet::make(drawn, path, number(runs)?)
        }
        ["lake-commit", files, triples, path, runs] => {
            lake::commit(number(files)?, number(triples)?, path, number(runs)?)
        }
        ["triples-make", triples, predicates, file] => triples::make(number(triples)?, number(predicates)?, file),
        ["triples-look-ups", store, triples, lookups] => triples::look_ups(store, number(triples)?, number(lookups)?),
        ["triples-scans", store, triples, runs, threads] => {
            scans::scans(store, number(triples)?, number(runs)?, number(threads)?)
        }
        ["look-ups", graph, table, column, keys, runs] => {
            look_ups::look_ups(graph, table, column, number(keys)?, number(runs)?)
        }
        ["selected", graph, table, columns, condition, runs] => {
            selected::selected(graph, table, columns, condition, number(runs)?)
        }
        ["annnet-read", graph, runs] => annnet::read(graph, number(runs)?),
        ["annnet-neighbours", graph, lookups] => annnet::neighbours(graph, number(lookups)?),
        ["sampling-make", nodes, edges, floats, directory, order] => {
            sampling::make(number(nodes)?, number(edges)?, number(floats)?, directory, *order == "shuffled")
        }
        ["sampling-run", directory, batches, threads, order] => {
            sampling::run(directory, number(batches)?, number(threads)?, *order == "shuffled")
        }
        _ => Err(Error::usage(format!("expected a measurement\n\n{HELP}"))),
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T> {
    text.parse().map_err(|_| Error::usage(format!("{text} is not a number")))
}
