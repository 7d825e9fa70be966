//! Times of elements and of values.

/// The attributes of nodes, edges and values with times: the first two are a period, as NetworkX has it.
pub(crate) const TIMES: [&str; 7] = ["start", "end", "startopen", "endopen", "timestamp", "timestamps", "intervals"];

/// The times of a file, as far as they decide how it must be written: NetworkX reads times only as the graph states their format.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Times {
    are_there: bool,
    /// Whether there is one that is no number, or a period without its start or end, for which NetworkX has no number.
    are_texts: bool,
}

impl Times {
    /// Takes a time.
    pub fn see(&mut self, text: &str) {
        self.are_there = true;
        self.are_texts |= text.parse::<f64>().is_err();
    }

    /// Takes a start or an end that is not stated.
    pub fn see_open(&mut self) {
        (self.are_there, self.are_texts) = (true, true);
    }

    /// Adds what the attributes of a graph with times do not state.
    pub fn complete(self, graph: &mut Vec<(String, String)>) {
        let format = if self.are_texts { "date" } else { "double" };
        for (name, value) in [("mode", "dynamic"), ("timeformat", format)] {
            if self.are_there && !graph.iter().any(|(own, _)| own == name) {
                graph.push((name.to_owned(), value.to_owned()));
            }
        }
    }
}
