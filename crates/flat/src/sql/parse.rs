//! Parses a mapping file, from the tokens of a SQL lexer.

use std::collections::BTreeMap;

use isomorph_error::Result;
use isomorph_model::{Cardinality, ValueKind};
use isomorph_tables::Encoding;
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer};

use super::{
    At, Column, ColumnType, Edge, End, ExternalTable, Hints, Properties, PropertyGraph, Script, Vertex, types,
};

impl From<Location> for At {
    fn from(location: Location) -> Self {
        At { line: location.line, column: location.column }
    }
}

/// Parses `text`, the mapping file called `file`: tables, then one graph.
///
/// # Errors
/// [`crate::rules::MAPPING`] with line and column, where it is no such file.
pub fn parse(text: &str, file: &str) -> Result<Script> {
    let dialect = PostgreSqlDialect {};
    let tokens = Tokenizer::new(&dialect, text.trim_start_matches('\u{feff}')).tokenize_with_location();
    let tokens = tokens.map_err(|error| At::from(error.location).error(file, error.message))?;
    let is_word = |token: &TokenWithSpan| !matches!(token.token, Token::Whitespace(_) | Token::EOF);
    let end = tokens.last().map(|token| At::from(token.span.end)).unwrap_or_default();
    let tokens: Vec<TokenWithSpan> = tokens.into_iter().filter(is_word).collect();
    Parser { tokens, next: 0, end, file }.script()
}

/// Whether a text has nothing but blanks and comments.
pub(crate) fn is_blank(text: &str) -> bool {
    let tokens = Tokenizer::new(&PostgreSqlDialect {}, text.trim_start_matches('\u{feff}')).tokenize();
    tokens.is_ok_and(|all| all.iter().all(|token| matches!(token, Token::Whitespace(_) | Token::EOF)))
}

struct Parser<'a> {
    tokens: Vec<TokenWithSpan>,
    next: usize,
    end: At,
    file: &'a str,
}

impl Parser<'_> {
    fn script(mut self) -> Result<Script> {
        let (mut tables, mut graph): (Vec<ExternalTable>, Option<PropertyGraph>) = (Vec::new(), None);
        while self.next < self.tokens.len() {
            if self.symbol(&Token::SemiColon) {
                continue;
            }
            let at = self.at();
            self.word("CREATE")?;
            if self.has("OR") {
                self.word("REPLACE")?;
            }
            if self.has("EXTERNAL") {
                self.word("TABLE")?;
                let table = self.table(at)?;
                if tables.iter().any(|known| known.name == table.name) {
                    return Err(at.error(self.file, format!("the table {} is declared twice", table.name)));
                }
                tables.push(table);
            } else if self.has("PROPERTY") {
                self.word("GRAPH")?;
                if graph.is_some() {
                    return Err(at.error(self.file, "a mapping file declares one graph, and this is the second"));
                }
                graph = Some(self.graph(at)?);
            } else {
                return Err(self.expected("EXTERNAL TABLE or PROPERTY GRAPH"));
            }
            if self.next < self.tokens.len() && !self.symbol(&Token::SemiColon) {
                return Err(self.expected(";"));
            }
        }
        let graph = graph.ok_or_else(|| {
            self.end.error(self.file, "the file declares no graph").hint("CREATE PROPERTY GRAPH g VERTEX TABLES (…)")
        })?;
        Ok(Script { tables, graph })
    }

    // Tokens.

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|token| &token.token)
    }

    fn at(&self) -> At {
        self.tokens.get(self.next).map_or(self.end, |token| token.span.start.into())
    }

    fn expected(&self, what: &str) -> isomorph_error::Error {
        let found = self.peek().map_or_else(|| "the end of the file".to_owned(), |token| format!("{token}"));
        let short: String = found.chars().take(40).collect();
        self.at().error(self.file, format!("expected {what}, found {short}"))
    }

    fn symbol(&mut self, symbol: &Token) -> bool {
        let found = self.peek() == Some(symbol);
        self.next += usize::from(found);
        found
    }

    fn must(&mut self, symbol: &Token) -> Result<()> {
        if self.symbol(symbol) { Ok(()) } else { Err(self.expected(&symbol.to_string())) }
    }

    /// Whether a keyword comes next; it is passed then.
    fn has(&mut self, keyword: &str) -> bool {
        let found = self.is(keyword);
        self.next += usize::from(found);
        found
    }

    fn is(&self, keyword: &str) -> bool {
        matches!(self.peek(), Some(Token::Word(word)) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(keyword))
    }

    fn word(&mut self, keyword: &str) -> Result<()> {
        if self.has(keyword) { Ok(()) } else { Err(self.expected(keyword)) }
    }

    fn name(&mut self) -> Result<String> {
        match self.peek() {
            Some(Token::Word(word)) => {
                let name = word.value.clone();
                self.next += 1;
                Ok(name)
            }
            _ => Err(self.expected("a name")),
        }
    }

    fn text(&mut self) -> Result<String> {
        match self.peek() {
            Some(Token::SingleQuotedString(text)) => {
                let text = text.clone();
                self.next += 1;
                Ok(text)
            }
            _ => Err(self.expected("a text in single quotes")),
        }
    }

    /// A list in parentheses.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        self.must(&Token::LParen)?;
        let mut all = Vec::new();
        if self.symbol(&Token::RParen) {
            return Ok(all);
        }
        loop {
            all.push(item(self)?);
            if !self.symbol(&Token::Comma) {
                self.must(&Token::RParen)?;
                return Ok(all);
            }
        }
    }

    // CREATE EXTERNAL TABLE.

    fn table(&mut self, at: At) -> Result<ExternalTable> {
        if self.has("IF") {
            self.word("NOT")?;
            self.word("EXISTS")?;
        }
        let name = self.name()?;
        let columns = if self.peek() == Some(&Token::LParen) { self.list(Self::column)? } else { Vec::new() };
        let mut seen = std::collections::HashSet::new();
        if let Some(column) = columns.iter().find(|column| !seen.insert(column.name.as_str())) {
            return Err(at.error(self.file, format!("the table {name} has two columns {:?}", column.name)));
        }
        let (mut encoding, mut location, mut options) = (None, None, BTreeMap::new());
        loop {
            let here = self.at();
            if self.has("STORED") {
                self.word("AS")?;
                let here = self.at();
                let word = self.name()?;
                encoding = Some(encoding_of(&word).ok_or_else(|| {
                    let error = here.error(self.file, format!("tables are not stored as {word}"));
                    error.hint("CSV, PARQUET, ARROW, JSON (one object per line), ORC")
                })?);
            } else if self.has("LOCATION") {
                location = Some(self.text()?);
            } else if self.has("OPTIONS") {
                for (name, value) in self.list(Self::option)? {
                    if options.insert(name.clone(), value).is_some() {
                        return Err(here.error(self.file, format!("the option {name} is set twice")));
                    }
                }
            } else if self.has("WITH") {
                self.words(&["HEADER", "ROW"])?;
                options.insert("format.has_header".to_owned(), "true".to_owned());
            } else if self.is("PARTITIONED") {
                let error = here.error(
                    self.file,
                    format!("the table {name} is partitioned: names of directories are not read as values"),
                );
                return Err(error.hint("make one file of the partitions first"));
            } else if self.peek().is_some_and(|token| *token != Token::SemiColon) {
                return Err(self.expected("STORED AS, LOCATION, OPTIONS, WITH HEADER ROW or ;"));
            } else {
                break;
            }
        }
        let missing = |what: &str| at.error(self.file, format!("the table {name} lacks {what}"));
        let encoding = encoding.ok_or_else(|| missing("STORED AS"))?;
        let location = location.ok_or_else(|| missing("LOCATION"))?;
        Ok(ExternalTable { name, columns, encoding, location, options, hints: Hints::default(), at })
    }

    fn option(&mut self) -> Result<(String, String)> {
        let name = match self.peek() {
            Some(Token::SingleQuotedString(_)) => self.text()?,
            _ => {
                let mut name = self.name()?;
                while self.symbol(&Token::Period) {
                    name.push('.');
                    name.push_str(&self.name()?);
                }
                name
            }
        };
        if self.has("TRUE") {
            return Ok((name, "true".to_owned()));
        }
        if self.has("FALSE") {
            return Ok((name, "false".to_owned()));
        }
        let value = match self.peek() {
            Some(Token::SingleQuotedString(_)) => self.text()?,
            Some(Token::Number(number, _)) => {
                let number = number.clone();
                self.next += 1;
                number
            }
            _ => return Err(self.expected("the value of the option")),
        };
        Ok((name, value))
    }

    fn column(&mut self) -> Result<Column> {
        let name = self.name()?;
        let ty = self.column_type()?;
        let mut required = false;
        loop {
            if self.has("NOT") {
                self.word("NULL")?;
                required = true;
            } else if self.has("PRIMARY") {
                self.word("KEY")?;
                required = true;
            } else if !self.has("NULL") {
                return Ok(Column { name, ty, required });
            }
        }
    }

    fn column_type(&mut self) -> Result<ColumnType> {
        let at = self.at();
        let name = self.name()?.to_ascii_uppercase();
        let numbers = if self.peek() == Some(&Token::LParen) { self.list(Self::number)? } else { Vec::new() };
        if name == "DOUBLE" {
            self.has("PRECISION");
        }
        if name == "CHARACTER" {
            self.has("VARYING");
        }
        let unsigned = self.has("UNSIGNED");
        let zoned = if self.has("WITH") {
            self.words(&["TIME", "ZONE"])?;
            true
        } else if self.has("WITHOUT") {
            self.words(&["TIME", "ZONE"])?;
            false
        } else {
            false
        };
        let no_type = || at.error(self.file, format!("columns do not have the type {name}"));
        let ty = types::named(&name, &numbers, unsigned, zoned).ok_or_else(no_type)?;
        let is_list = match self.peek() {
            Some(Token::LBracket) => {
                self.next += 1;
                self.must(&Token::RBracket)?;
                true
            }
            _ => self.has("ARRAY"),
        };
        let cardinality = match (is_list, self.has("MULTISET")) {
            (true, false) => Cardinality::List,
            (false, true) => Cardinality::Set,
            (false, false) => return Ok(ty),
            (true, true) => return Err(at.error(self.file, "lists in sets are not read")),
        };
        if ty.kind != ValueKind::Plain || self.peek() == Some(&Token::LBracket) {
            return Err(at.error(self.file, "lists have single values as items"));
        }
        Ok(types::several(&ty, cardinality))
    }

    fn words(&mut self, keywords: &[&str]) -> Result<()> {
        keywords.iter().try_for_each(|keyword| self.word(keyword))
    }

    fn number(&mut self) -> Result<u8> {
        let number = match self.peek() {
            Some(Token::Number(number, _)) => number.parse().ok(),
            _ => None,
        };
        let number = number.ok_or_else(|| self.expected("a number up to 255"))?;
        self.next += 1;
        Ok(number)
    }

    // CREATE PROPERTY GRAPH.

    fn graph(&mut self, at: At) -> Result<PropertyGraph> {
        if self.has("IF") {
            self.words(&["NOT", "EXISTS"])?;
        }
        let name = self.name()?;
        let mut graph = PropertyGraph { name, at, ..PropertyGraph::default() };
        if !(self.has("VERTEX") || self.has("NODE")) {
            return Err(self.expected("VERTEX TABLES"));
        }
        self.word("TABLES")?;
        graph.vertices = self.list(Self::vertex)?;
        if self.has("EDGE") || self.has("RELATIONSHIP") {
            self.word("TABLES")?;
            graph.edges = self.list(Self::edge)?;
        }
        let mut seen = std::collections::HashSet::new();
        if let Some(twice) = graph.vertices.iter().find(|vertex| !seen.insert(vertex.alias.as_str())) {
            let error = twice.at.error(self.file, format!("two tables of nodes are called {}", twice.alias));
            return Err(error.hint("give one another name: person AS author"));
        }
        Ok(graph)
    }

    fn alias(&mut self) -> Result<(String, String)> {
        let table = self.name()?;
        let alias = if self.has("AS") { self.name()? } else { table.clone() };
        Ok((table, alias))
    }

    fn key(&mut self) -> Result<Option<String>> {
        if self.has("KEY") { self.one_column().map(Some) } else { Ok(None) }
    }

    fn one_column(&mut self) -> Result<String> {
        let at = self.at();
        let mut columns = self.list(Self::name)?;
        match (columns.pop(), columns.is_empty()) {
            (Some(column), true) => Ok(column),
            _ => Err(at.error(self.file, "a key is one column").hint("make one column of several before")),
        }
    }

    fn vertex(&mut self) -> Result<Vertex> {
        let at = self.at();
        let (table, alias) = self.alias()?;
        let key = self.key()?;
        let (label, properties) = self.label(&alias)?;
        Ok(Vertex { table, alias, key, label, properties, at })
    }

    fn edge(&mut self) -> Result<Edge> {
        let at = self.at();
        let (table, alias) = self.alias()?;
        let key = self.key()?;
        self.word("SOURCE")?;
        let source = self.end()?;
        self.word("DESTINATION")?;
        let target = self.end()?;
        let (label, properties) = self.label(&alias)?;
        Ok(Edge { table, key, source, target, label, properties, at })
    }

    fn end(&mut self) -> Result<End> {
        let at = self.at();
        if !self.is("KEY") {
            return Err(self.expected("KEY (column) REFERENCES table (column)"));
        }
        self.word("KEY")?;
        let column = self.one_column()?;
        self.word("REFERENCES")?;
        let references = self.name()?;
        let referenced = if self.peek() == Some(&Token::LParen) { Some(self.one_column()?) } else { None };
        Ok(End { column, references, referenced, at })
    }

    /// The label and the properties of a table, which are its alias and all columns where nothing is said.
    fn label(&mut self, alias: &str) -> Result<(String, Properties)> {
        let mut label = None;
        let mut properties = Properties::All;
        let mut named = false;
        loop {
            let at = self.at();
            if self.is("LABEL") || self.is("DEFAULT") {
                let given = if self.has("DEFAULT") {
                    self.word("LABEL")?;
                    alias.to_owned()
                } else {
                    self.word("LABEL")?;
                    self.name()?
                };
                if label.replace(given).is_some() {
                    let error = at.error(self.file, "a table has one label, and this is the second");
                    return Err(error.hint("OPTIONS ('isomorph.labels' 'column')    labels that differ by row"));
                }
                continue;
            }
            let given = if self.has("NO") {
                self.word("PROPERTIES")?;
                Properties::Listed(Vec::new())
            } else if self.has("PROPERTIES") {
                self.properties()?
            } else {
                break;
            };
            if std::mem::replace(&mut named, true) {
                return Err(at.error(self.file, "the properties of a table are said twice"));
            }
            properties = given;
        }
        Ok((label.unwrap_or_else(|| alias.to_owned()), properties))
    }

    fn properties(&mut self) -> Result<Properties> {
        self.has("ARE");
        if self.has("ALL") {
            self.word("COLUMNS")?;
            return Ok(match self.has("EXCEPT") {
                true => Properties::Except(self.list(Self::name)?),
                false => Properties::All,
            });
        }
        Ok(Properties::Listed(self.list(|own| {
            let column = own.name()?;
            let name = if own.has("AS") { own.name()? } else { column.clone() };
            Ok((column, name))
        })?))
    }
}

fn encoding_of(word: &str) -> Option<Encoding> {
    Some(match word.to_ascii_uppercase().as_str() {
        "CSV" => Encoding::Csv,
        "PARQUET" => Encoding::Parquet,
        "ARROW" => Encoding::Arrow,
        "JSON" | "NDJSON" => Encoding::JsonLines,
        "ORC" => Encoding::Orc,
        _ => return None,
    })
}
