//! The part of Gherkin that the kit uses: backgrounds, outlines with examples, texts and tables below steps.

#[derive(Debug, Clone, Default)]
pub struct Step {
    pub text: String,
    pub doc: Option<String>,
    pub table: Vec<Vec<String>>,
}

#[derive(Debug, Clone)]
pub struct Scenario {
    /// Title, and the number of the example of an outline.
    pub name: String,
    pub steps: Vec<Step>,
}

/// A scenario that is being read: its title, its steps, its examples.
type Open = (String, Vec<Step>, Vec<Vec<String>>);

/// The scenarios of a feature file; outlines become one scenario for each example.
pub fn scenarios(text: &str) -> Vec<Scenario> {
    let (mut found, mut background): (Vec<Scenario>, Vec<Step>) = (Vec::new(), Vec::new());
    let mut lines = text.lines().peekable();
    let mut current: Option<Open> = None;
    let (mut in_examples, mut in_background) = (false, false);
    let mut finish = |current: &mut Option<Open>, background: &[Step]| {
        if let Some((name, steps, examples)) = current.take() {
            let steps: Vec<Step> = background.iter().cloned().chain(steps).collect();
            found.extend(instances(&name, &steps, &examples));
        }
    };
    while let Some(line) = lines.next() {
        let line = line.trim();
        let title = |prefix: &str| line.strip_prefix(prefix).map(|title| title.trim().to_owned());
        if line.is_empty() || line.starts_with('#') || line.starts_with('@') || line.starts_with("Feature:") {
            continue;
        }
        if line.starts_with("Background:") {
            in_background = true;
        } else if let Some(name) = title("Scenario Outline:").or_else(|| title("Scenario:")) {
            finish(&mut current, &background);
            current = Some((name, Vec::new(), Vec::new()));
            (in_examples, in_background) = (false, false);
        } else if line.starts_with("Examples:") {
            in_examples = true;
        } else if line.starts_with("\"\"\"") {
            let mut doc = Vec::new();
            for line in lines.by_ref() {
                if line.trim() == "\"\"\"" {
                    break;
                }
                doc.push(line);
            }
            let indent =
                doc.iter().filter(|line| !line.trim().is_empty()).map(|line| line.len() - line.trim_start().len());
            let indent = indent.min().unwrap_or(0);
            let doc: Vec<&str> = doc.iter().map(|line| line.get(indent..).unwrap_or("")).collect();
            let steps = if in_background { &mut background } else { &mut current.as_mut().expect("a scenario").1 };
            steps.last_mut().expect("a step").doc = Some(doc.join("\n"));
        } else if line.starts_with('|') {
            let row = cells(line);
            let (_, steps, examples) = match &mut current {
                Some(scenario) => (0, &mut scenario.1, &mut scenario.2),
                None => panic!("a table outside of a scenario: {line}"),
            };
            if in_examples {
                examples.push(row);
            } else {
                steps.last_mut().expect("a step").table.push(row);
            }
        } else {
            let text = line.split_once(' ').map_or(line, |(_, rest)| rest).trim().to_owned();
            let step = Step { text, ..Step::default() };
            if in_background { background.push(step) } else { current.as_mut().expect("a scenario").1.push(step) }
        }
    }
    finish(&mut current, &background);
    found
}

/// The cells of a line of a table; `\|` is a bar.
fn cells(line: &str) -> Vec<String> {
    let (mut all, mut cell, mut escaped) = (Vec::new(), String::new(), false);
    for one in line.trim().trim_start_matches('|').chars() {
        match one {
            '\\' if !escaped => escaped = true,
            '|' if !escaped => all.push(std::mem::take(&mut cell).trim().to_owned()),
            _ => {
                if std::mem::take(&mut escaped) && one != '|' && one != '\\' {
                    cell.push('\\');
                }
                cell.push(one);
            }
        }
    }
    all
}

fn instances(name: &str, steps: &[Step], examples: &[Vec<String>]) -> Vec<Scenario> {
    let Some((header, rows)) = examples.split_first() else {
        return vec![Scenario { name: name.to_owned(), steps: steps.to_vec() }];
    };
    let filled = |text: &str, row: &[String]| {
        header.iter().zip(row).fold(text.to_owned(), |text, (name, value)| text.replace(&format!("<{name}>"), value))
    };
    let instance = |(at, row): (usize, &Vec<String>)| Scenario {
        name: format!("{name} #{}", at + 1),
        steps: steps
            .iter()
            .map(|step| Step {
                text: filled(&step.text, row),
                doc: step.doc.as_ref().map(|doc| filled(doc, row)),
                table: step.table.iter().map(|line| line.iter().map(|cell| filled(cell, row)).collect()).collect(),
            })
            .collect(),
    };
    rows.iter().enumerate().map(instance).collect()
}
