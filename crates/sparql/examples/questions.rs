//! Times questions on a GraphLake store, over columns and row at a time:
//! `cargo run --release -p isomorph-sparql --example questions -- LAKE QUESTIONS [ROUNDS]`.
//!
//! QUESTIONS has a line `name|query` for each. Prints the best milliseconds of reading what the query can read, of both evaluations on that
//! index, and of the first evaluation after reading, which also makes the orders that it needs; then the number of solutions.

use std::sync::Arc;
use std::time::Instant;

use isomorph::Location;
use isomorph::convert::Silent;
use isomorph::error::{Error, Result};
use isomorph::formats::graphlake::{GraphLake, OpenOptions};
use isomorph::storage::Resources;
use isomorph_sparql::{Answer, Question, QuestionOptions, load_triples};

fn count(answer: Answer<'_>) -> Result<u64> {
    let mut count = 0;
    match answer {
        Answer::Solutions(solutions) => solutions.into_iter().try_for_each(|one| one.map(|_| count += 1))?,
        Answer::Graph(triples) => triples.into_iter().try_for_each(|one| one.map(|_| count += 1))?,
        Answer::Boolean(yes) => count = u64::from(yes),
    }
    Ok(count)
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [lake, questions, rest @ ..] = arguments.as_slice() else {
        return Err(Error::usage("questions LAKE QUESTIONS [ROUNDS]"));
    };
    let rounds = rest.first().and_then(|text| text.parse().ok()).unwrap_or(5);
    let resources = Resources::of_this_machine()?;
    let options = OpenOptions { survey_up_to: 0, threads: resources.threads, ..OpenOptions::default() };
    let lake = GraphLake::open(&Location::from_path(lake.as_ref()), &options)?;
    let text = std::fs::read_to_string(questions)?;
    println!("name,read_ms,first_ms,columns_ms,rows_ms,solutions");
    for (name, query) in text.lines().filter_map(|line| line.split_once('|')) {
        let question = Question::parse(query, &QuestionOptions::default())?;
        let wanted = Arc::new(question.wanted());
        let mut best = [f64::INFINITY; 4];
        let mut time = |at: usize, work: &mut dyn FnMut() -> Result<()>| {
            let begin = Instant::now();
            work()?;
            best[at] = best[at].min(begin.elapsed().as_secs_f64() * 1e3);
            Ok::<(), Error>(())
        };
        let (mut solutions, mut index) = ([0; 2], None);
        for _ in 0..rounds {
            time(0, &mut || {
                index = Some(load_triples(&lake, &wanted, &resources, &Silent)?);
                Ok(())
            })?;
            let Some(index) = &index else { continue };
            for at in [1, 2] {
                time(at, &mut || {
                    solutions[0] = question.run(index, None, count)?;
                    Ok(())
                })?;
            }
            time(3, &mut || {
                solutions[1] = question.run_row_at_a_time(index, None, count)?;
                Ok(())
            })?;
        }
        let [read, first, columns, rows] = best;
        let [found, expected] = solutions;
        println!("{name},{read:.2},{first:.2},{columns:.2},{rows:.2},{found}");
        if found != expected {
            return Err(Error::malformed(format!("{name}: {found} solutions over columns, {expected} row at a time")));
        }
    }
    Ok(())
}
