//! What a question means, where the plan that the engine makes of it means something else: subqueries, types that differ, instants.

pub(crate) mod correlated;
pub(crate) mod correlated_sets;
pub(crate) mod correlated_unions;
pub(crate) mod exact;
pub(crate) mod groups;
pub(crate) mod instants;
pub(crate) mod kept_names;
pub(crate) mod lifted;
pub(crate) mod limited;
pub(crate) mod lists;
pub(crate) mod marks;
pub(crate) mod memberships;
pub(crate) mod mixed;
pub(crate) mod null_lists;
pub(crate) mod one_row;
pub(crate) mod own_names;
pub(crate) mod prepared;
pub(crate) mod quantified;
pub(crate) mod row_counts;
pub(crate) mod times;
pub(crate) mod unions;
pub(crate) mod zones;
