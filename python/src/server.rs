//! A server of DeepGNN in this process.

use std::net::ToSocketAddrs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use isomorph::convert::sound;
use isomorph::formats::deepgnn;
use isomorph::sampling::answers::KeyedGraph;
use isomorph::sampling::{Generator, Graph as Sampling, GraphOptions};
use isomorph::storage::Resources;
use isomorph::{Error, Kind, Location, Result, Sampled, SampledOptions};
use isomorph_server::{Access, Engine, Gate, Limits, Log, Metrics, Options, Server as Bound, TlsFiles};
use pyo3::prelude::*;

use crate::errors::{panicked, raised};
use crate::options::Opening;
use crate::work::{Ending, run};

/// How a graph is served. Python passes all members.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Served {
    address: String,
    /// Partitions of a binary, and the directory of each; all of them without.
    partitions: Option<Vec<(String, u32)>>,
    generator: Option<String>,
    /// Files of the certificate, its key, and the authorities of clients.
    tls: Option<(String, String, Option<String>)>,
    tokens: Option<String>,
}

/// A running server. It ends with the process; a forked child has none.
#[pyclass(module = "isomorph._isomorph", frozen)]
pub(crate) struct Server {
    address: String,
    stop: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<Result<bool>>>>,
    process: u32,
}

#[pymethods]
impl Server {
    #[new]
    fn new(py: Python<'_>, path: String, opening: Opening, served: Served) -> PyResult<Server> {
        run(py, None, Ending::Awaited, move |_| start(&path, &opening, &served))
    }

    /// Host and port.
    #[getter]
    fn address(&self) -> &str {
        &self.address
    }

    /// Stops: the address is free when this returns. Returns whether all requests had ended.
    fn stop(&self, py: Python<'_>) -> PyResult<bool> {
        if self.process != std::process::id() {
            return Ok(true);
        }
        self.stop.store(true, Ordering::Relaxed);
        let ended = py.detach(|| {
            let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
            thread.map_or(Ok(true), |thread| thread.join().unwrap_or_else(|_| Err(panicked())))
        });
        ended.map_err(|error| raised(py, &error))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Its thread is not waited for: this may be called while the interpreter ends.
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn start(path: &str, opening: &Opening, served: &Served) -> Result<Server> {
    let tls = served.tls.as_ref().map(|(certificates, key, authorities)| TlsFiles {
        certificates: certificates.into(),
        key: key.into(),
        client_authorities: authorities.as_ref().map(Into::into),
    });
    let gate = Arc::new(Gate::open(Access { tokens: served.tokens.as_ref().map(Into::into), tls })?);
    let wrong = || Error::usage(format!("{:?} is not an address to listen at", served.address));
    let example = "127.0.0.1:50051";
    let mut addresses = served.address.to_socket_addrs().map_err(|error| wrong().caused_by(error).hint(example))?;
    let address = addresses.next().ok_or_else(|| wrong().hint(example))?;
    let resources = opening.resources()?;
    let sampled = sampled(path, opening, served, &resources)?;
    let (graph, names) = (sampled.graph.graph(), sampled.graph.names());
    let generator = match (served.generator.as_deref(), names) {
        (None, None) | (Some("deepgnn"), None) => Generator::Compat,
        (None | Some("stable"), _) => Generator::Stable,
        (Some("deepgnn"), Some(_)) => {
            let error = Error::usage("the generator of DeepGNN draws from binaries, and this graph is not one");
            return Err(error.hint("isomorph.convert(path, new, to=\"deepgnn\")    makes one"));
        }
        (Some(other), _) => {
            return Err(Error::usage(format!("generator must be one of stable, deepgnn; found {other:?}")));
        }
    };
    let engine = Engine::new(graph, names, generator, &Limits::default(), &resources.budget);
    let options = Options { threads: resources.threads, gate, metrics: Metrics::new(), log: Log::none() };
    let bound = Bound::bind(address, engine, &options)?;
    let (address, stop) = (bound.address()?.to_string(), Arc::new(AtomicBool::new(false)));
    let asked = Arc::clone(&stop);
    let thread = std::thread::Builder::new().name("isomorph-server".to_owned());
    let thread = thread.spawn(move || bound.run(|| asked.load(Ordering::Relaxed)))?;
    Ok(Server { address, stop, thread: Mutex::new(Some(thread)), process: std::process::id() })
}

/// The graph: partitions of a binary, as they are; any other graph by reading it once.
fn sampled(path: &str, opening: &Opening, served: &Served, resources: &Resources) -> Result<Sampled> {
    let (location, mut how) = opening.place(path)?;
    let graph_options = GraphOptions::new(&resources.budget, &resources.scratch);
    isomorph::install_network();
    let missing = match &served.partitions {
        None => None,
        Some(partitions) => match binary(&location, partitions, &graph_options) {
            Ok(sampled) => return Ok(sampled),
            // Not a binary, or one that lacks files.
            Err(error) if matches!(error.kind(), Kind::NotFound | Kind::Incomplete | Kind::Malformed) => Some(error),
            Err(error) => return Err(error),
        },
    };
    how.get_mut::<deepgnn::OpenOptions>().no_recovery = true;
    let graph = isomorph::Graph::open(&location, &how, resources.clone())?;
    let opened = graph.opened();
    if let Some(error) = missing {
        let is_whole = served.partitions.iter().flatten().all(|(own, number)| *number == 0 && own == path);
        if Sampled::is_binary(opened) || !is_whole {
            return Err(error);
        }
    }
    if !how.unsound {
        sound(&opened.cautions()?)?;
    }
    Sampled::whole(opened, &SampledOptions::default(), &graph_options, resources)
}

fn binary(location: &Location, partitions: &[(String, u32)], options: &GraphOptions) -> Result<Sampled> {
    let mut further: Vec<Location> = Vec::new();
    for (own, _) in partitions {
        let own = crate::options::absolute(Location::parse(own)?)?;
        if own != *location && !further.contains(&own) {
            further.push(own);
        }
    }
    let numbers = partitions.iter().map(|(_, number)| *number).collect();
    let options = GraphOptions { partitions: Some(numbers), further, ..options.clone() };
    let graph = Arc::new(Sampling::open(location, &options)?);
    let graph = KeyedGraph::new(graph, None, isomorph::model::Graph::default());
    Ok(Sampled { graph, left_out: Vec::new() })
}
