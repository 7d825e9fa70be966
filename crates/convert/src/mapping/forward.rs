//! Methods of [`isomorph_model::Source`] that a view passes on to the source behind it.

/// Implements the named methods of [`isomorph_model::Source`] by calling them on a field: `forward!(inner: prepare about);`.
///
/// A view names every method that it passes on. What it does not name keeps the default of the trait, which knows
/// nothing and promises nothing: a method that is added to the trait is never answered by rows that a view does not show.
macro_rules! forward {
    ($inner:ident: $($method:ident)+) => { $($crate::mapping::forward!(@ $inner $method);)+ };
    (@ $inner:ident graph) => {
        fn graph(&self) -> &isomorph_model::Graph {
            self.$inner.graph()
        }
    };
    (@ $inner:ident prepare) => {
        fn prepare(&self, threads: usize, progress: &dyn isomorph_model::Progress) -> isomorph_error::Result<()> {
            self.$inner.prepare(threads, progress)
        }
    };
    (@ $inner:ident scan) => {
        fn scan(&self, request: &isomorph_model::Request) -> isomorph_error::Result<isomorph_model::Run<'_>> {
            self.$inner.scan(request)
        }
    };
    (@ $inner:ident is_one_table) => {
        fn is_one_table(&self, tables: isomorph_model::Tables) -> bool {
            self.$inner.is_one_table(tables)
        }
    };
    (@ $inner:ident edge_orders) => {
        fn edge_orders(&self, ty: usize) -> Vec<isomorph_model::EdgeOrder> {
            self.$inner.edge_orders(ty)
        }
    };
    (@ $inner:ident runs) => {
        fn runs(
            &self,
            ty: usize,
            order: isomorph_model::EdgeOrder,
        ) -> isomorph_error::Result<Option<Vec<isomorph_model::Run<'_>>>> {
            self.$inner.runs(ty, order)
        }
    };
    (@ $inner:ident end_form) => {
        fn end_form(&self, ty: usize) -> isomorph_model::EndForm {
            self.$inner.end_form(ty)
        }
    };
    (@ $inner:ident about) => {
        fn about(&self) -> isomorph_model::About {
            self.$inner.about()
        }
    };
    (@ $inner:ident neighbors) => {
        fn neighbors(
            &self,
            edge: usize,
            node: isomorph_model::NodeId<'_>,
            side: isomorph_model::Side,
        ) -> isomorph_error::Result<Box<dyn isomorph_model::Part + '_>> {
            self.$inner.neighbors(edge, node, side)
        }
    };
    (@ $inner:ident narrowed_neighbors) => {
        fn narrowed_neighbors(
            &self,
            edge: usize,
            node: isomorph_model::NodeId<'_>,
            side: isomorph_model::Side,
            narrowing: isomorph_model::Narrowing,
        ) -> isomorph_error::Result<Box<dyn isomorph_model::Part + '_>> {
            self.$inner.narrowed_neighbors(edge, node, side, narrowing)
        }
    };
    (@ $inner:ident incidents) => {
        fn incidents(&self, key: &str) -> isomorph_error::Result<isomorph_model::Incidents> {
            self.$inner.incidents(key)
        }
    };
    (@ $inner:ident look_up_cost) => {
        fn look_up_cost(&self, tables: isomorph_model::Tables, column: &str) -> isomorph_model::Cost {
            self.$inner.look_up_cost(tables, column)
        }
    };
    (@ $inner:ident as_any) => {
        fn as_any(&self) -> Option<&dyn std::any::Any> {
            self.$inner.as_any()
        }
    };
    (@ $inner:ident validate) => {
        fn validate(&self, findings: &mut isomorph_error::Findings) -> isomorph_error::Result<()> {
            self.$inner.validate(findings)
        }
    };
}

pub(crate) use forward;
