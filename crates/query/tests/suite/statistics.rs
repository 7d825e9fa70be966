//! Counts and bounds that need no rows, and look-ups that need few.

use crate::support::{engine_of, plan, rows, social};

/// Copies a directory.
fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

fn chunks(directory: &std::path::Path, all: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => chunks(&entry.path(), all),
            false if entry.file_name().to_string_lossy().starts_with("chunk") => all.push(entry.path()),
            false => {}
        }
    }
}

/// Destroys the pages of a Parquet file, and leaves its footer.
fn without_pages(file: &std::path::Path) {
    let mut bytes = std::fs::read(file).unwrap();
    let end = bytes.len();
    let footer = u32::from_le_bytes(bytes[end - 8..end - 4].try_into().unwrap()) as usize + 8;
    bytes[4..end - footer].fill(0xAA);
    std::fs::write(file, bytes).unwrap();
}

#[test]
fn counts_and_bounds_come_from_statistics() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("social");
    isomorph::open(&social()).unwrap().convert(&place.display().to_string()).unwrap();
    let whole = engine_of(&place.display().to_string());
    let questions = [
        "select count(*) from person",
        "select count(*) from knows",
        "select min(id), max(id), min(birthday), max(birthday) from person",
        "select count(birthday) from person",
        "select count(*), count(since) from knows",
    ];
    let expected: Vec<_> = questions.iter().map(|question| rows(&whole, question).unwrap()).collect();
    let damaged = home.path().join("damaged");
    copy(&place, &damaged);
    let mut files = Vec::new();
    chunks(&damaged, &mut files);
    assert!(files.len() > 10, "{}", files.len());
    files.iter().for_each(|file| without_pages(file));
    let engine = engine_of(&damaged.display().to_string());
    let mut answered = 0;
    for (question, expected) in questions.iter().zip(&expected) {
        if let Ok(found) = rows(&engine, question) {
            assert_eq!(found, *expected, "{question}");
            answered += 1;
        }
    }
    // What needs rows fails.
    assert!(rows(&engine, "select count(*) from person where gender = 'female'").is_err());
    assert!(answered >= 3, "{answered} of {}", questions.len());
    assert!(rows(&engine, questions[0]).is_ok() && rows(&engine, questions[1]).is_ok());
}

/// The number of rows that a line of an analyzed plan says.
fn output_rows(line: &str) -> u64 {
    let (_, rest) = line.split_once("output_rows=").unwrap();
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

#[test]
fn ends_are_looked_up() {
    let engine = engine_of(&social());
    let one = "select _target from knows where _source = 1007";
    assert!(plan(&engine, one).contains("look-up of 1 key in source"), "{}", plan(&engine, one));
    let some = "select _source from knows where _target in (1007, 1009, 99)";
    assert!(plan(&engine, some).contains("look-up of 3 keys"), "{}", plan(&engine, some));
    let all = "select _source from knows where _target <> 1007";
    assert!(!plan(&engine, all).contains("look-up"), "{}", plan(&engine, all));
    let hops = "select count(*) from knows a join knows b on a._target = b._source where a._source = 1007";
    let plan = plan(&engine, hops);
    assert!(plan.contains("narrowed by 1 filters"), "{plan}");
    assert!(plan.contains("CollectLeft"), "{plan}");
    // The second step reads the edges of those that the first one found, not all of them.
    let analyzed = rows(&engine, &format!("explain analyze {hops}")).unwrap().join("\n");
    let all = rows(&engine, "select count(*) from knows").unwrap().remove(0).parse::<u64>().unwrap();
    let read = analyzed.lines().filter(|line| line.contains("ScanExec") && line.contains("narrowed"));
    let read: Vec<u64> = read.map(output_rows).collect();
    assert!(read.len() == 1 && read[0] > 0 && read[0] < all / 4, "{read:?} of {all}: {analyzed}");
}

#[test]
fn a_question_may_be_planned_once_and_run_often() {
    let engine = engine_of(&social());
    // Recursion runs its scan again and again, each time with other keys on the other side.
    let steps =
        "with recursive r as (select 1007 as id, 0 as n union all select k._target, n + 1 from knows k join r on
        k._source = r.id where n < 2) select n, count(*) from r group by n order by n";
    let joined = |hops: usize| match hops {
        1 => "select count(*) from knows where _source = 1007",
        _ => "select count(*) from knows a join knows b on a._target = b._source where a._source = 1007",
    };
    let [one, two] = [1, 2].map(|hops| rows(&engine, joined(hops)).unwrap().remove(0));
    assert_eq!(rows(&engine, steps).unwrap(), ["0|1".to_owned(), format!("1|{one}"), format!("2|{two}")]);
}
