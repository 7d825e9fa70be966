//! Places and bytes: local files, object stores, ranges, atomic publish, budgets
