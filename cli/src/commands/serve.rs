//! `serve`: a graph for trainers that draw from it over the network.

use isomorph::Result;
use isomorph::convert::Registry;

use super::Answer;
use crate::args::ServeCommand;
use crate::console::Console;

/// Of another command: cargo's.
#[cfg(not(feature = "serve"))]
const BUILD: &str = "cargo install --path cli    build the command with the server";

/// Says that it cannot.
///
/// # Errors
/// Always.
#[cfg(not(feature = "serve"))]
pub fn run(_: &ServeCommand, _: &Registry, _: &Console) -> Result<Answer> {
    Err(isomorph::Error::unsupported("this command was built without the server").hint(BUILD))
}

/// Serves until it is told to stop.
///
/// # Errors
/// Whatever keeps it from doing so.
#[cfg(feature = "serve")]
pub fn run(command: &ServeCommand, formats: &Registry, console: &Console) -> Result<Answer> {
    let ServeCommand::Deepgnn(args) = command;
    served::run(args, formats, console)
}

#[cfg(feature = "serve")]
mod served {
    use std::net::{SocketAddr, ToSocketAddrs};
    use std::sync::Arc;
    use std::time::Duration;

    use isomorph::convert::Registry;
    use isomorph::formats::deepgnn::OpenOptions;
    use isomorph::sampling::answers::KeyedGraph;
    use isomorph::sampling::{Generator, Graph, GraphOptions, Hold, IndexFile, Names};
    use isomorph::storage::Resources;
    use isomorph::{Error, Kind, Result, Sampled, SampledOptions};
    use isomorph_server::{Engine, Limits, Server};
    use serde::Serialize;

    use crate::args::sample::Groups;
    use crate::args::serve::{CapArgs, ServeArgs};
    use crate::commands::{Answer, open_at};
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
    pub fn run(args: &ServeArgs, formats: &Registry, console: &Console) -> Result<Answer> {
        let address = address(&args.address, args.insecure)?;
        let resources = args.resources.resources()?;
        let sampled = open(args, formats, &resources, console)?;
        let (graph, names) = (sampled.graph.graph(), sampled.graph.names());
        let generator = generator(args, names)?;
        let limits = limits(&args.caps);
        let engine = Engine::new(graph, names, generator, &limits, &resources.budget);
        let (partitions, (nodes, edges)) = (engine.summary().node_weights.len(), totals(&engine));
        let interrupt = Interrupt::listen()?;
        let server = Server::bind(address, engine, resources.threads)?;
        let document = document(args, &sampled, generator, server.address()?, (nodes, edges), partitions);
        document.show(console, resources.threads)?;
        let ended = server.run(|| interrupt.check().is_err())?;
        let mut screen = console.screen();
        let cut = "requests that took longer than ten seconds were cut off";
        screen.line("stopped", if ended { "every request was answered" } else { cut });
        console.show(&screen)?;
        Ok(Answer::Yes)
    }

    fn totals(engine: &Engine) -> (u64, u64) {
        (engine.summary().nodes, engine.summary().edges)
    }

    /// Where to listen.
    ///
    /// # Errors
    /// When it is no address, or one that others reach without `insecure`.
    fn address(text: &str, insecure: bool) -> Result<SocketAddr> {
        let wrong = |why: String| {
            Error::usage(format!("{text:?} is not an address to listen at{why}")).hint("--address 127.0.0.1:50051")
        };
        let mut found = text.to_socket_addrs().map_err(|error| wrong(format!(": {error}")))?;
        let address = found.next().ok_or_else(|| wrong(String::new()))?;
        if !address.ip().is_loopback() && !insecure {
            let message = format!("{address} is reached by other machines, and this server has no token and no TLS");
            return Err(Error::usage(message)
                .hint("--address 127.0.0.1:50051    this machine alone")
                .hint("--insecure    lets everybody read the graph"));
        }
        Ok(address)
    }

    /// What draws.
    ///
    /// # Errors
    /// When the engine of DeepGNN is asked for, and the graph is no binary.
    fn generator(args: &ServeArgs, names: Option<&Names>) -> Result<Generator> {
        match (args.generator, names) {
            (None, None) => Ok(Generator::Compat),
            (None, Some(_)) => Ok(Generator::Stable),
            (Some(Generator::Compat), Some(_)) => Err(Error::usage(
                "--generator deepgnn: DeepGNN's engine draws from binaries, and this graph is not one",
            )
            .hint("isomorph convert PATH NEW --to deepgnn    makes one")),
            (Some(generator), _) => Ok(generator),
        }
    }

    fn limits(args: &CapArgs) -> Limits {
        let own = Limits::default();
        let index =
            |number: Option<std::num::NonZeroU32>, own: usize| number.map_or(own, |number| number.get() as usize);
        Limits {
            message: args.max_message.map_or(own.message, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX)),
            reply: args.max_reply.unwrap_or(own.reply),
            batch: index(args.max_batch, own.batch),
            count: index(args.max_count, own.count),
            edges: args.max_edges.unwrap_or(own.edges),
            connections: index(args.max_connections, own.connections),
            deadline: args.deadline.map_or(own.deadline, |seconds| Duration::from_secs(u64::from(seconds.get()))),
            ..own
        }
    }

    /// Opens the graph: a binary of DeepGNN as it lies, anything else by reading it once.
    fn open(args: &ServeArgs, formats: &Registry, resources: &Resources, console: &Console) -> Result<Sampled> {
        let hold = if args.copy { Hold::Copied } else { Hold::Mapped };
        let index = if args.no_index { IndexFile::Ignore } else { IndexFile::Keep };
        let partitions = args.partitions.clone();
        let options =
            GraphOptions { hold, index, partitions, ..GraphOptions::new(&resources.budget, &resources.scratch) };
        let (location, mut how) = args.open.place(&args.path, formats, resources)?;
        how.get_mut::<OpenOptions>().no_recovery = true;
        if args.partitions.is_some() {
            // The files of others need not be there: they are not looked at.
            let of = |graph| {
                let graph = KeyedGraph::new(Arc::new(graph), None, isomorph::model::Graph::default());
                Sampled { graph, left_out: Vec::new() }
            };
            return Graph::open(&location, &options).map(of).map_err(|error| match error.kind() {
                Kind::NotFound => error.hint("--partitions    are those of a binary of DeepGNN"),
                _ => error,
            });
        }
        let opened = open_at(&location, &how, console)?;
        console.warn(&opened.cautions()?);
        let own = SampledOptions { hyperedges: args.hyperedges, groups_as_nodes: args.groups == Groups::Reify };
        Sampled::whole(&opened, &own, &options, resources)
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
            path: &args.path,
            protocol: "deepgnn",
            address: address.to_string(),
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
            screen.line("listens", &format!("{} · {threads} threads · draws as {}", self.address, self.generator));
            console.show(&screen)
        }
    }
}
