//! The graph model: schema, keys, terms, batches, equality and digest
