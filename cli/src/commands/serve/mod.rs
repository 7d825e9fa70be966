//! `serve`: a graph for trainers that draw from it over the network.

mod cache;
mod events;

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use isomorph::convert::Registry;
use isomorph::formats::deepgnn::{BinaryFiles, OpenOptions};
use isomorph::sampling::answers::KeyedGraph;
use isomorph::sampling::{Generator, Graph, GraphOptions, Hold, IndexFile, Names};
use isomorph::storage::{Resources, Scheme};
use isomorph::{Error, Kind, Location, Result, Sampled, SampledOptions};
use isomorph_server::{Access, Engine, Gate, Limits, Metrics, Monitor, Options, Server, TlsFiles};
use serde::Serialize;

use super::{Answer, open_at};
use crate::args::sample::Groups;
use crate::args::serve::{AccessArgs, CapArgs, LogFormat, ServeArgs};
use crate::args::{ServeCommand, file_place};
use crate::console::Console;
use crate::interrupt::Interrupt;
use crate::render::of;

/// Lists of more names are cut on the screen.
const SHOWN: usize = 12;

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    path: &'a str,
    protocol: &'a str,
    address: String,
    metrics: Option<String>,
    tls: &'a str,
    token: bool,
    generator: &'a str,
    nodes: u64,
    edges: u64,
    partitions: Vec<u32>,
    node_types: Option<Vec<&'a str>>,
    edge_types: Option<Vec<&'a str>>,
    node_features: Option<Vec<&'a str>>,
    edge_features: Option<Vec<&'a str>>,
    left_out: &'a [String],
}

/// Opens, listens, says where, and answers until a signal comes.
///
/// # Errors
/// When the graph cannot be opened, or the address not be had.
pub fn run(command: &ServeCommand, formats: &Registry, console: &Console) -> Result<Answer> {
    let ServeCommand::Deepgnn(args) = command;
    let gate = Arc::new(Gate::open(access(&args.access))?);
    let address = address(&args.address, "--address 127.0.0.1:50051", gate.access(), args.access.insecure)?;
    let format = args.log.unwrap_or(if console.json { LogFormat::Json } else { LogFormat::Text });
    let ((log, _writer), metrics) = (events::log(format)?, Metrics::new());
    // Before the graph is opened, which may take long: whoever watches the server learns that it is alive, and not ready.
    let monitor = match &args.access.metrics {
        None => None,
        Some(text) => {
            let at = self::address(text, "--metrics 127.0.0.1:9100", gate.access(), args.access.insecure)?;
            let gate = (!at.ip().is_loopback()).then_some(&gate);
            Some(Monitor::start(at, &metrics, gate, &log)?)
        }
    };
    let resources = args.resources.resources()?;
    let sampled = open(args, formats, &resources, console)?;
    let (graph, names) = (sampled.graph.graph(), sampled.graph.names());
    let generator = generator(args, names)?;
    let limits = limits(&args.caps);
    let engine = Engine::new(graph, names, generator, &limits, &resources.budget);
    let (partitions, (nodes, edges)) = (engine.summary().node_weights.len(), totals(&engine));
    let interrupt = Interrupt::listen()?;
    let options = Options { threads: resources.threads, gate: Arc::clone(&gate), metrics, log };
    let server = Server::bind(address, engine, &options)?;
    let mut document = document(args, &sampled, generator, server.address()?, (nodes, edges), partitions);
    document.metrics = monitor.as_ref().map(|monitor| monitor.address().to_string());
    document.tls = match &gate.access().tls {
        None => "none",
        Some(TlsFiles { client_authorities: None, .. }) => "server",
        Some(_) => "mutual",
    };
    document.show(console, resources.threads)?;
    let ended = server.run(|| interrupt.check().is_err())?;
    drop(monitor);
    let mut screen = console.screen();
    let cut = "requests that took longer than ten seconds were cut off";
    screen.line("stopped", if ended { "every request was answered" } else { cut });
    console.show(&screen)?;
    Ok(Answer::Yes)
}

fn access(args: &AccessArgs) -> Access {
    let tls = args.tls_cert.clone().zip(args.tls_key.clone()).map(|(certificates, key)| TlsFiles {
        certificates,
        key,
        client_authorities: args.tls_client_ca.clone(),
    });
    Access { tokens: args.token_file.clone(), tls }
}

fn totals(engine: &Engine) -> (u64, u64) {
    (engine.summary().nodes, engine.summary().edges)
}

/// Where to listen.
///
/// # Errors
/// When it is no address; when other machines reach it, and not everybody who connects is known and encrypted, without `insecure`.
fn address(text: &str, example: &str, access: &Access, insecure: bool) -> Result<SocketAddr> {
    let wrong = |why: String| Error::usage(format!("{text:?} is not an address to listen at{why}")).hint(example);
    let mut found = text.to_socket_addrs().map_err(|error| wrong(format!(": {error}")))?;
    let address = found.next().ok_or_else(|| wrong(String::new()))?;
    if address.ip().is_loopback() || insecure || (access.encrypts() && access.authenticates()) {
        return Ok(address);
    }
    let lacks = match (access.encrypts(), access.authenticates()) {
        (false, false) => "neither TLS nor tokens",
        (false, true) => "no TLS: tokens would be readable on the way",
        (true, _) => "neither tokens nor client certificates: everybody could read the graph",
    };
    Err(Error::usage(format!("{address} is reached by other machines, and the server has {lacks}"))
        .hint(format!("{example}    this machine alone"))
        .hint("--tls-cert FILE --tls-key FILE    encrypt; with --token-file FILE or --tls-client-ca FILE, for known clients")
        .hint("--insecure    on a network where everybody may read the graph"))
}

/// What draws.
///
/// # Errors
/// When the engine of DeepGNN is asked for, and the graph is no binary.
fn generator(args: &ServeArgs, names: Option<&Names>) -> Result<Generator> {
    match (args.generator, names) {
        (None, None) => Ok(Generator::Compat),
        (None, Some(_)) => Ok(Generator::Stable),
        (Some(Generator::Compat), Some(_)) => {
            Err(Error::usage("--generator deepgnn: DeepGNN's engine draws from binaries, and this graph is not one")
                .hint("isomorph convert PATH NEW --to deepgnn    makes one"))
        }
        (Some(generator), _) => Ok(generator),
    }
}

fn limits(args: &CapArgs) -> Limits {
    let own = Limits::default();
    let seconds = |number: Option<std::num::NonZeroU16>, own: Duration| {
        number.map_or(own, |seconds| Duration::from_secs(seconds.get().into()))
    };
    let index = |number: Option<std::num::NonZeroU32>, own: usize| number.map_or(own, |number| number.get() as usize);
    Limits {
        message: args.max_message.map_or(own.message, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX)),
        reply: args.max_reply.unwrap_or(own.reply),
        batch: index(args.max_batch, own.batch),
        count: index(args.max_count, own.count),
        edges: args.max_edges.unwrap_or(own.edges),
        connections: index(args.max_connections, own.connections),
        client_connections: index(args.max_client_connections, own.client_connections),
        deadline: seconds(args.deadline, own.deadline),
        stall: seconds(args.max_stall, own.stall),
        ..own
    }
}

/// Opens the graph: a binary of DeepGNN as it is, anything else by reading it once.
fn open(args: &ServeArgs, formats: &Registry, resources: &Resources, console: &Console) -> Result<Sampled> {
    let hold = if args.copy { Hold::Copied } else { Hold::Mapped };
    let index = if args.no_index { IndexFile::Ignore } else { IndexFile::Keep };
    let (first, others) = args.paths.split_first().ok_or_else(|| Error::usage("a path is needed"))?;
    let mut options = GraphOptions {
        hold,
        index,
        partitions: args.partitions.clone(),
        ..GraphOptions::new(&resources.budget, &resources.scratch)
    };
    let of = |graph| {
        let graph = KeyedGraph::new(Arc::new(graph), None, isomorph::model::Graph::default());
        Sampled { graph, left_out: Vec::new() }
    };
    if args.partitions.is_some() || !others.is_empty() {
        // Files of other partitions need not exist: they are not looked at, also not to recognise the format.
        options.further = others.iter().map(|path| file_place(path)).collect::<Result<_>>()?;
        return Graph::open(&file_place(first)?, &options).map(of).map_err(|error| match error.kind() {
            Kind::NotFound => error.hint("--partitions, and several paths, are for binaries of DeepGNN"),
            _ => error,
        });
    }
    let opened = args.open.place(first, formats, resources).and_then(|(location, mut how)| {
        how.get_mut::<OpenOptions>().no_recovery = true;
        open_at(&location, &how, console)
    });
    let opened = match opened {
        // A web server lists nothing: the directory of a binary is known by its metadata.
        Err(error) if error.kind() == Kind::NotFound && is_web(first) => {
            let location = file_place(first)?;
            let files = BinaryFiles::open_some(&location, &[], None).map_err(|_| error)?;
            options.partitions = Some(files.partitions.iter().map(|partition| partition.number).collect());
            return Graph::open(&location, &options).map(of);
        }
        opened => opened?,
    };
    console.warn(&opened.cautions()?);
    let own = SampledOptions { hyperedges: args.hyperedges, groups_as_nodes: args.groups == Groups::Reify };
    let read = || Sampled::whole(&opened, &own, &options, resources);
    match &args.cache {
        // A binary is mapped where it is.
        Some(directory) if !Sampled::is_binary(&opened) => {
            // The path as it was given: it may name a snapshot.
            let flags = format!("{first:?} {:?} {:?} {:?}", args.open, args.hyperedges, args.groups);
            cache::sampled(directory, &opened, flags, &options, read)
        }
        _ => read(),
    }
}

fn is_web(path: &str) -> bool {
    Location::parse(path).is_ok_and(|location| matches!(location.scheme(), Scheme::Http | Scheme::Https))
}

fn document<'a>(
    args: &'a ServeArgs,
    sampled: &'a Sampled,
    generator: Generator,
    address: SocketAddr,
    (nodes, edges): (u64, u64),
    partitions: usize,
) -> Document<'a> {
    let all = || (0..u32::try_from(partitions).unwrap_or(u32::MAX)).collect();
    let names = sampled.graph.names();
    let texts = |list: &'a [String]| list.iter().map(String::as_str).collect::<Vec<&str>>();
    Document {
        path: args.paths.first().map_or("", String::as_str),
        protocol: "deepgnn",
        address: address.to_string(),
        metrics: None,
        tls: "none",
        token: args.access.token_file.is_some(),
        generator: match generator {
            Generator::Stable => "stable",
            Generator::Compat => "deepgnn",
        },
        nodes,
        edges,
        partitions: args.partitions.clone().unwrap_or_else(all),
        node_types: names.map(Names::node_types),
        edge_types: names.map(|names| texts(names.edge_types())),
        node_features: names.map(|names| texts(names.features())),
        edge_features: names.map(|names| texts(names.edge_features())),
        left_out: &sampled.left_out,
    }
}

impl Document<'_> {
    /// Says where it listens: one line under `--json`, which whoever started it reads before the end.
    fn show(&self, console: &Console, threads: usize) -> Result<()> {
        if console.json {
            return console.write(|out| {
                serde_json::to_writer(&mut *out, self)?;
                std::io::Write::write_all(out, b"\n")
            });
        }
        let mut screen = console.screen();
        let (nodes, edges) = (of(self.nodes, "node"), of(self.edges, "edge"));
        screen.line("graph", &format!("{} · {nodes} · {edges}", self.path));
        let lists = [
            ("nodes", &self.node_types),
            ("edges", &self.edge_types),
            ("features", &self.node_features),
            ("of edges", &self.edge_features),
        ];
        for (what, list) in lists {
            let Some(names) = list.as_ref().filter(|names| !names.is_empty()) else { continue };
            let mut shown: Vec<String> =
                names.iter().take(SHOWN).enumerate().map(|(number, name)| format!("{number} {name}")).collect();
            if names.len() > SHOWN {
                shown.push(format!("… {} more: --json lists all", names.len() - SHOWN));
            }
            screen.line(what, &shown.join(", "));
        }
        if !self.left_out.is_empty() {
            let kinds = self.left_out.join(", ");
            screen.line("left out", &format!("groups: {kinds}    --groups reify takes them as nodes"));
        }
        let access = match (self.tls, self.token) {
            ("none", false) => "",
            ("none", true) => " · with a token",
            ("server", false) => " · TLS",
            ("server", true) => " · TLS · with a token",
            (_, false) => " · mutual TLS",
            (_, true) => " · mutual TLS · with a token",
        };
        let (address, generator) = (&self.address, self.generator);
        screen.line("listens", &format!("{address} · {threads} threads · draws as {generator}{access}"));
        if let Some(address) = &self.metrics {
            screen.line("metrics", address);
        }
        console.show(&screen)
    }
}
