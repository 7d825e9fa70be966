//! Reads the page: headings name graphs and questions, and a block of code each language.

/// The languages, as blocks of code name them.
pub const LANGUAGES: [&str; 3] = ["sql", "cypher", "sparql"];

/// A question of the page.
#[derive(Debug)]
pub struct Question {
    pub graph: String,
    pub title: String,
    /// In the order of [`LANGUAGES`].
    texts: [String; 3],
}

impl Question {
    pub fn text(&self, language: &str) -> &str {
        let at = LANGUAGES.iter().position(|one| *one == language).unwrap();
        &self.texts[at]
    }
}

/// All questions.
pub fn read(page: &str) -> Vec<Question> {
    let (mut questions, mut graph, mut inside) = (Vec::<Question>::new(), "", None);
    for line in page.lines() {
        if let Some(language) = line.strip_prefix("```") {
            inside = LANGUAGES.iter().position(|one| *one == language).filter(|_| !questions.is_empty());
        } else if let Some(name) = line.strip_prefix("## Of ") {
            graph = name;
        } else if let Some(title) = line.strip_prefix("### ") {
            questions.push(Question { graph: graph.to_owned(), title: title.to_owned(), texts: Default::default() });
        } else if let (Some(at), Some(question)) = (inside, questions.last_mut()) {
            question.texts[at].push_str(line);
            question.texts[at].push('\n');
        }
    }
    questions
}
