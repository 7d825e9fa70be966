//! Nodes of NOCK with the column of their partitions, whether or not a node needs it: the name of a member `shadow` of
//! their props must not depend on other nodes.

use std::borrow::Cow;

use isomorph_error::Result;
use isomorph_model::part::shown;
use isomorph_model::{Batch, EdgeOrder, Graph, Part, Property, Request, Run, Source, well_known};

use crate::mapping::forward;

/// A graph to be compared: unchanged, or with a column that its description omits.
pub(super) struct Shadowed<'a> {
    source: &'a dyn Source,
    graph: Cow<'a, Graph>,
    /// Node types that have the added column.
    types: Vec<usize>,
}

impl<'a> Shadowed<'a> {
    /// Shows `source` in this form.
    pub fn of(source: &'a dyn Source) -> Self {
        let mut graph = Cow::Borrowed(source.graph());
        let lacks = |(number, properties): (usize, &[Property])| {
            let has = properties.iter().any(|property| property.name == well_known::SHADOW);
            (!has && well_known::keep_shadow(properties)).then_some(number)
        };
        let nodes = source.graph().nodes.iter().map(|ty| ty.properties.as_slice());
        let types: Vec<usize> = nodes.enumerate().filter_map(lacks).collect();
        for &ty in &types {
            let shadow = Property::new(well_known::SHADOW, arrow_schema::DataType::Int64);
            graph.to_mut().nodes[ty].properties.push(shadow);
        }
        Shadowed { source, graph, types }
    }

    fn parts<'p>(&'p self, parts: Run<'p>) -> Run<'p> {
        let with_column = |inner: Box<dyn Part + 'p>| {
            shown(inner, |batch, take| match batch {
                Batch::Nodes(mut nodes) if self.types.contains(&nodes.ty) => {
                    nodes.properties.push(None);
                    take(Batch::Nodes(nodes))
                }
                other => take(other),
            })
        };
        parts.into_iter().map(with_column).collect()
    }
}

impl Source for Shadowed<'_> {
    forward!(source: prepare edge_orders end_form about);

    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        Ok(self.parts(self.source.scan(&request.whole())?))
    }

    fn runs(&self, ty: usize, order: EdgeOrder) -> Result<Option<Vec<Run<'_>>>> {
        Ok(self.source.runs(ty, order)?.map(|runs| runs.into_iter().map(|run| self.parts(run)).collect()))
    }
}
