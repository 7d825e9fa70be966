//! Templates of the help texts. They begin with examples that work on files of the repository.

/// Template of the top-level help: three things to do with a graph in the repository, before everything else.
pub const ISOMORPH: &str = "\
  isomorph info examples/social                  what it contains
  isomorph convert examples/social social.parq   convert to NOCK, and verify the output
  isomorph diff examples/social social.parq      compare the two: equal in any format

{about}.

{usage-heading} {usage}

{all-args}{after-help}";

/// Shown after the options.
pub const AFTER: &str = "\
Exit codes: 0 yes · 1 no: different, invalid · 2 usage · 3 bad input
            4 would lose data · 5 environment, or interrupted
Further:    isomorph help COMMAND · isomorph explain ID · --color auto|always|never
            isomorph completions bash · isomorph man COMMAND";

/// The help of `convert`.
pub const CONVERT: &str = "\
  isomorph convert examples/social social.parq --plan          show the plan only
  isomorph convert examples/social social.parq                 from GraphAr to NOCK
  isomorph convert social.parq again --to graphar              and back

{about}

{usage-heading} {usage}

{all-args}";

/// The help of `neighbors`.
pub const NEIGHBORS: &str = "\
  isomorph neighbors examples/social Lisbon --type city --in   who lives there
  isomorph neighbors examples/social --type person --row 0     whom the first person knows
  isomorph neighbors social.parq 1007 --type person            the same graph in NOCK

{about}

{usage-heading} {usage}

{all-args}";

/// The help of `stats`.
pub const STATS: &str = "\
  isomorph stats examples/social                       counts, degrees, components, columns
  isomorph stats examples/social --edge knows          of one relation
  isomorph stats examples/social --html social.html    a page with plots

{about}

{usage-heading} {usage}

{all-args}";

/// The help of `paths`.
pub const PATHS: &str = "\
  isomorph paths examples/social 1000 1007 --type person --both    one shortest path
  isomorph paths examples/social 1000 1007 --type person --edge knows --all
  isomorph paths examples/social 1000 Lisbon --type person --to-type city

{about}

{usage-heading} {usage}

{all-args}";

/// The help of `rank`.
pub const RANK: &str = "\
  isomorph rank examples/social                        the nodes with the greatest PageRank
  isomorph rank examples/social --edge knows --top 5   by one relation
  isomorph rank examples/social -o ranks.parquet       of all nodes, as a file

{about}

{usage-heading} {usage}

{all-args}";

/// The help of `components`.
pub const COMPONENTS: &str = "\
  isomorph components examples/social                  the largest components
  isomorph components examples/social --edge knows     by one relation
  isomorph components examples/social --each -o component.csv

{about}

{usage-heading} {usage}

{all-args}";

/// The help of `match`.
pub const MATCH: &str = "\
  isomorph match lake 'ex:alice ?p ?o' --ns ex=http://example.org/   all triples about alice
  isomorph match lake '?s rdf:type ?class' --limit 10                some resources with their classes
  isomorph match lake@3 '_ _ _ default' --nquads                     the default graph of version 3, as N-Quads
  isomorph match examples/social '?s <urn:x-isomorph:livesIn> ?o'    edges of a property graph

{about}

{usage-heading} {usage}

{all-args}";

/// The help of `sql`.
pub const SQL: &str = "\
  isomorph sql examples/social 'select gender, count(*) from person group by gender'
  isomorph sql examples/social 'select * from knows where _source = 1007' --format csv
  isomorph sql examples/social 'select count(*) from person where id < $id' --param id=1500

{about}

{usage-heading} {usage}

{all-args}";

/// The help of `sparql`.
pub const SPARQL: &str = "\
  isomorph sparql examples/people.ttl 'SELECT ?s ?o { ?s a ?o }'      in an RDF text
  isomorph sparql examples/social 'SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p'
  isomorph sparql people.lake -f query.rq --format csv -o answer.csv   in a store

{about}

{usage-heading} {usage}

{all-args}";

/// The help of `cypher`.
#[cfg(feature = "cypher")]
pub const CYPHER: &str = "\
  isomorph cypher examples/social 'MATCH (p)-[:knows]->(q) RETURN p.id, q.id LIMIT 5'
  isomorph cypher examples/social 'MATCH (c:city)<--(p) RETURN c.name, count(*)'
  isomorph cypher examples/social 'MATCH (p {id: $id}) RETURN p' --param id=1007

{about}

{usage-heading} {usage}

{all-args}";

/// The help of `cluster`.
#[cfg(feature = "cluster")]
pub const CLUSTER: &str = "\
  isomorph cluster scheduler                                  one process, at 127.0.0.1:50050
  isomorph cluster executor --allow /data                     on each machine that shall work
  isomorph sql /data/social 'select count(*) from person' --cluster 127.0.0.1:50050
  isomorph cypher /data/social 'MATCH (p:person) RETURN count(*)' --cluster 127.0.0.1:50050

{about}

{usage-heading} {usage}

{all-args}";

/// The help of `shell`.
pub const SHELL: &str = "\
  isomorph shell examples/social                             SQL, with history and completion
  isomorph shell examples/social --language cypher           openCypher first
  echo 'select count(*) from person' | isomorph shell examples/social

{about}

{usage-heading} {usage}

{all-args}";

/// The help of `sample`.
pub const SAMPLE: &str = "\
  isomorph sample examples/social nodes --types person --count 3    some people
  isomorph sample examples/social neighbors 1000 --type person      neighbors of a person
  isomorph sample examples/social walk 1000 --type person -p 0.5    a node2vec walk

{about}

{usage-heading} {usage}

{all-args}";

/// The help of `serve`.
pub const SERVE: &str = "\
  isomorph serve deepgnn examples/social                       to trainers on this machine
  isomorph serve deepgnn graph --partitions 0,2                some partitions of a binary
  isomorph serve deepgnn graph --address 127.0.0.1:0 --json    any free port, told as JSON
  isomorph serve deepgnn graph --metrics 127.0.0.1:9100        with metrics and health

{about}

{usage-heading} {usage}

{all-args}";

/// The help of `bench`.
pub const BENCH: &str = "\
  isomorph bench serve http://127.0.0.1:50051                  the work of a trainer
  isomorph bench serve 127.0.0.1:50051 --connections 64        64 trainers
  isomorph bench serve 127.0.0.1:50051 --recording calls.json  recorded requests

{about}

{usage-heading} {usage}

{all-args}";

/// The help of `extend`.
pub const EXTEND: &str = "\
  isomorph convert examples/social social --to graphar                a graph to extend
  isomorph extend social --type person --table examples/scores.csv    properties of a table, by key
  isomorph extend social --type likes --adj-list unordered_by_source  another order of the edges
  isomorph convert examples/social net --to annnet --lossy            an annnet graph to extend
  isomorph extend net --edges examples/ties.csv --history ties        edges, and a history note

{about}

{usage-heading} {usage}

{all-args}";

/// The help of `lake`.
pub const LAKE: &str = "\
  isomorph lake load people.lake people.nq                a new store
  isomorph lake insert people.lake '<urn:a> <urn:b> <urn:c>' a transaction
  isomorph lake log people.lake                           what each snapshot changed

{about}

{usage-heading} {usage}

{all-args}";
