//! Solutions as columns of term numbers.

/// A variable of a plan.
pub(super) type Var = usize;

/// A set of variables.
pub(super) type Vars = u128;

/// The most variables of a plan.
pub(super) const MOST_VARIABLES: usize = 120;

/// In a column: the variable has no value.
pub(super) const UNBOUND: u32 = 0;

/// A set of one variable.
pub(super) fn only(var: Var) -> Vars {
    1 << var
}

/// Whether a set has a variable.
pub(super) fn has(set: Vars, var: Var) -> bool {
    set & only(var) != 0
}

/// The variables of a set.
pub(super) fn each(set: Vars) -> impl Iterator<Item = Var> {
    (0..MOST_VARIABLES + 8).filter(move |var| has(set, *var))
}

/// Some solutions. A variable without a column has no value in any of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    pub vars: Vec<Var>,
    pub columns: Vec<Vec<u32>>,
    pub rows: usize,
}

impl Table {
    /// One solution without values.
    pub fn unit() -> Self {
        Table { rows: 1, ..Table::default() }
    }

    /// No solutions, with columns for these variables.
    pub fn empty(vars: Vars) -> Self {
        let vars: Vec<Var> = each(vars).collect();
        Table { columns: vec![Vec::new(); vars.len()], vars, rows: 0 }
    }

    /// The variables that have columns.
    pub fn set(&self) -> Vars {
        self.vars.iter().fold(0, |set, var| set | only(*var))
    }

    pub fn column(&self, var: Var) -> Option<&[u32]> {
        self.vars.iter().position(|of| *of == var).map(|at| self.columns[at].as_slice())
    }

    /// The value of a variable in a row.
    pub fn value(&self, var: Var, row: usize) -> u32 {
        self.column(var).map_or(UNBOUND, |column| column[row])
    }

    pub fn push_column(&mut self, var: Var, column: Vec<u32>) {
        self.vars.push(var);
        self.columns.push(column);
    }

    /// Without the columns of other variables.
    pub fn keep(mut self, vars: Vars) -> Self {
        if self.vars.iter().all(|var| has(vars, *var)) {
            return self;
        }
        let columns = std::mem::take(&mut self.columns);
        let kept = self.vars.iter().zip(columns).filter(|(var, _)| has(vars, **var));
        let (vars, columns) = kept.map(|(var, column)| (*var, column)).unzip();
        Table { vars, columns, rows: self.rows }
    }

    /// These rows, with the columns of `vars`.
    pub fn take(&self, rows: &[u32], vars: Vars) -> Table {
        let mut taken = Table { rows: rows.len(), ..Table::default() };
        for (var, column) in self.vars.iter().zip(&self.columns) {
            if has(vars, *var) {
                taken.push_column(*var, rows.iter().map(|row| column[*row as usize]).collect());
            }
        }
        taken
    }

    /// A range of rows, with all columns.
    pub fn slice(&self, start: usize, end: usize) -> Table {
        let columns = self.columns.iter().map(|column| column[start..end].to_vec()).collect();
        Table { vars: self.vars.clone(), columns, rows: end - start }
    }

    /// Adds the rows of another table, whose columns may be others.
    pub fn append(&mut self, other: &Table) {
        for var in &other.vars {
            if !self.vars.contains(var) {
                self.push_column(*var, vec![UNBOUND; self.rows]);
            }
        }
        self.rows += other.rows;
        for (var, column) in self.vars.iter().zip(&mut self.columns) {
            match other.column(*var) {
                Some(more) => column.extend_from_slice(more),
                None => column.resize(self.rows, UNBOUND),
            }
        }
    }

    /// Bytes of all columns.
    pub fn bytes(&self) -> u64 {
        (self.columns.len().max(1) * self.rows * size_of::<u32>()) as u64
    }

    /// The values of some variables in a row.
    pub fn tuple(&self, vars: &[Var], row: usize) -> Vec<u32> {
        vars.iter().map(|var| self.value(*var, row)).collect()
    }

    /// Rows by which of these variables have values: the sets of variables, and the rows of each.
    pub fn by_bound(&self, vars: Vars) -> Vec<(Vars, Vec<u32>)> {
        let columns: Vec<(Var, &Vec<u32>)> =
            self.vars.iter().copied().zip(&self.columns).filter(|(var, _)| has(vars, *var)).collect();
        let whole = columns.iter().fold(0, |set, (var, _)| set | only(*var));
        let partial: Vec<&(Var, &Vec<u32>)> = columns.iter().filter(|(_, column)| column.contains(&UNBOUND)).collect();
        let all = || (0..self.rows).map(number).collect();
        if partial.is_empty() {
            return if self.rows == 0 { Vec::new() } else { vec![(whole, all())] };
        }
        let mut parts: Vec<(Vars, Vec<u32>)> = Vec::new();
        for row in 0..self.rows {
            let bound = partial.iter().filter(|(_, column)| column[row] == UNBOUND);
            let bound = bound.fold(whole, |set, (var, _)| set & !only(*var));
            match parts.iter_mut().find(|(set, _)| *set == bound) {
                Some((_, rows)) => rows.push(number(row)),
                None => parts.push((bound, vec![number(row)])),
            }
        }
        parts
    }
}

/// The number of a row. Tables have fewer than 2^32 rows: see [`super::Context::hold`].
pub(super) fn number(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_with_other_columns_are_appended() {
        let mut table = Table::empty(only(1));
        table.append(&Table { vars: vec![2], columns: vec![vec![7, 8]], rows: 2 });
        table.append(&Table { vars: vec![1, 2], columns: vec![vec![5], vec![6]], rows: 1 });
        assert_eq!((table.vars.as_slice(), table.rows), ([1, 2].as_slice(), 3));
        assert_eq!(table.columns, [vec![0, 0, 5], vec![7, 8, 6]]);
        assert_eq!(table.by_bound(only(1) | only(2)), [(only(2), vec![0, 1]), (only(1) | only(2), vec![2])]);
        assert_eq!(table.take(&[2, 0], only(2)).columns, [vec![6, 7]]);
        assert_eq!((table.value(1, 2), table.value(9, 2)), (5, UNBOUND));
    }
}
