//! Tokens, TLS, and the limits of one client.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use isomorph_server::load::{Client, ClientTls, Endpoint};
use isomorph_server::wire::*;
use isomorph_server::{Access, Limits, Log, TlsFiles};

use crate::client::{call, certificate, connect};
use crate::graphs::{budget, engine, limited};
use crate::running::{Running, TYPES, asked, run};

const TOKEN: &str = "a-token-of-these-tests";

fn served(access: Access) -> Running {
    Running::with(engine("hetero/bin_linear_p1", None), access, Log::none())
}

/// A directory with a server's certificate and key, which are replaced by those of another server.
struct Files(tempfile::TempDir);

impl Files {
    fn of(server: &str) -> Files {
        let files = Files(tempfile::tempdir().unwrap());
        files.put(server);
        files
    }

    fn put(&self, server: &str) {
        for ending in ["pem", "key"] {
            let to = self.0.path().join(format!("server.{ending}"));
            std::fs::copy(certificate(&format!("{server}.{ending}")), to).unwrap();
        }
    }

    fn access(&self, client_authorities: Option<&str>) -> Access {
        let client_authorities = client_authorities.map(certificate);
        let (certificates, key) = (self.0.path().join("server.pem"), self.0.path().join("server.key"));
        Access { tokens: None, tls: Some(TlsFiles { certificates, key, client_authorities }) }
    }
}

/// A client that trusts an authority, and has a certificate.
fn endpoint(address: SocketAddr, authority: &str, identity: Option<&str>, token: Option<&str>) -> Endpoint {
    let identity = identity.map(|name| (certificate(&format!("{name}.pem")), certificate(&format!("{name}.key"))));
    let tls = ClientTls { authorities: Some(certificate(authority)), identity };
    Endpoint::parse(&format!("https://{address}"), &tls, token).unwrap()
}

/// Whether a call is answered. A refused certificate of TLS 1.3 is known only after the client's side of the handshake.
async fn answers(endpoint: &Endpoint) -> bool {
    let Ok(client) = Client::connect(endpoint).await else { return false };
    let request = isomorph_server::load::framed(&prost::Message::encode_to_vec(&asked()));
    client.call(TYPES, request, &[]).await.is_ok_and(|answered| answered.status == 0)
}

#[test]
fn a_server_with_tokens_answers_nobody_else() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), format!("{TOKEN}\n")).unwrap();
    let told = Arc::new(Mutex::new(String::new()));
    let heard = Arc::clone(&told);
    let log = Log::new(move |event| heard.lock().unwrap().push_str(&format!("{event:?}\n")));
    let access = Access { tokens: Some(file.path().to_owned()), tls: None };
    let running = Running::with(engine("hetero/bin_linear_p1", None), access, log);
    let address = running.address;
    run(async {
        let endpoint = |token| Endpoint::parse(&address.to_string(), &ClientTls::default(), token).unwrap();
        for (token, words) in [(None, "needs a token"), (Some("another-token-entirely"), "does not know this token")] {
            let client = Client::connect(&endpoint(token)).await.unwrap();
            let refused = call::<NodeTypesReply>(&client, TYPES, &asked()).await.unwrap_err();
            assert_eq!(refused.status, 16, "{refused:?}");
            assert!(refused.text.contains(words), "{refused:?}");
            // Calls that do not exist are refused alike.
            let refused = call::<Empty>(&client, "/snark.GraphEngine/Forget", &Empty {}).await.unwrap_err();
            assert_eq!(refused.status, 16, "{refused:?}");
            let request = HealthRequest::default();
            let health = call::<HealthReply>(&client, "/grpc.health.v1.Health/Check", &request);
            assert_eq!(health.await.unwrap().status, 1);
        }
        let client = Client::connect(&endpoint(Some(TOKEN))).await.unwrap();
        call::<NodeTypesReply>(&client, TYPES, &asked()).await.unwrap();
        // The token is replaced: also on connections that exist.
        std::fs::write(file.path(), "the-next-token-of-these-tests").unwrap();
        running.options.gate.refresh().unwrap();
        assert_eq!(call::<NodeTypesReply>(&client, TYPES, &asked()).await.unwrap_err().status, 16);
        let client = Client::connect(&endpoint(Some("the-next-token-of-these-tests"))).await.unwrap();
        call::<NodeTypesReply>(&client, TYPES, &asked()).await.unwrap();
    });
    running.stop();
    let told = told.lock().unwrap();
    assert!(told.contains("request_refused") && told.contains("UNAUTHENTICATED"), "{told}");
    for token in [TOKEN, "another-token-entirely", "the-next-token-of-these-tests"] {
        assert!(!told.contains(token), "{told}");
    }
}

#[test]
fn tls_shows_the_certificate_and_a_new_one_after_it_is_replaced() {
    let files = Files::of("server");
    let running = served(files.access(None));
    let address = running.address;
    run(async {
        let right = endpoint(address, "authority.pem", None, None);
        let wrong = endpoint(address, "other_authority.pem", None, None);
        assert!(answers(&right).await);
        assert!(!answers(&wrong).await);
        // Without TLS there is no answer, and the server goes on.
        assert!(!answers(&Endpoint::parse(&address.to_string(), &ClientTls::default(), None).unwrap()).await);
        let kept = Client::connect(&right).await.unwrap();
        call::<NodeTypesReply>(&kept, TYPES, &asked()).await.unwrap();
        files.put("other_server");
        assert!(running.options.gate.refresh().unwrap());
        assert!(!answers(&right).await);
        assert!(answers(&wrong).await);
        // Connections that exist are kept.
        call::<NodeTypesReply>(&kept, TYPES, &asked()).await.unwrap();
        // A key that does not belong to the certificate: what was there stays in use.
        std::fs::copy(certificate("server.key"), files.0.path().join("server.key")).unwrap();
        let error = running.options.gate.refresh().unwrap_err();
        assert!(error.to_string().contains("does not belong to the certificate"), "{error}");
        assert!(answers(&wrong).await);
    });
    running.stop();
}

#[test]
fn mutual_tls_answers_clients_with_a_certificate_only() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), TOKEN).unwrap();
    let access = Access { tokens: Some(file.path().to_owned()), ..Files::of("server").access(Some("authority.pem")) };
    // The files of TLS are gone by now: they must exist when they are opened.
    assert!(isomorph_server::Gate::open(access).is_err());
    let files = Files::of("server");
    let access = Access { tokens: Some(file.path().to_owned()), ..files.access(Some("authority.pem")) };
    let running = served(access);
    let address = running.address;
    run(async {
        for (identity, token, answered) in [
            (Some("client"), Some(TOKEN), true),
            (Some("client"), None, false),
            (None, Some(TOKEN), false),
            (Some("other_client"), Some(TOKEN), false),
            // A server's certificate does not identify a client.
            (Some("server"), Some(TOKEN), false),
        ] {
            let endpoint = endpoint(address, "authority.pem", identity, token);
            assert_eq!(answers(&endpoint).await, answered, "{identity:?} {token:?}");
        }
    });
    running.stop();
}

#[test]
fn files_that_are_not_certificates_are_refused_at_once() {
    let open = |certificates: &str, key: &str, authorities: Option<&str>| {
        let (certificates, key) = (certificate(certificates), certificate(key));
        let tls = TlsFiles { certificates, key, client_authorities: authorities.map(certificate) };
        match isomorph_server::Gate::open(Access { tokens: None, tls: Some(tls) }) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("opened"),
        }
    };
    for (certificates, key, authorities, words) in [
        ("README.md", "server.key", None, "no certificate in PEM"),
        ("server.pem", "server.pem", None, "no private key in PEM"),
        ("server.pem", "other_server.key", None, "does not belong to the certificate"),
        ("server.pem", "server.key", Some("README.md"), "no certificate in PEM"),
        ("missing.pem", "server.key", None, "missing.pem"),
    ] {
        let text = open(certificates, key, authorities);
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn one_client_cannot_take_all_connections() {
    let limits = Limits { client_connections: 2, ..Limits::default() };
    let running = Running::of(limited("hetero/bin_linear_p1", None, &limits, &budget()));
    let address = running.address;
    run(async {
        let first = connect(address).await;
        call::<NodeTypesReply>(&first, TYPES, &asked()).await.unwrap();
        let second = connect(address).await;
        call::<NodeTypesReply>(&second, TYPES, &asked()).await.unwrap();
        let endpoint = Endpoint::parse(&address.to_string(), &ClientTls::default(), None).unwrap();
        assert!(!answers(&endpoint).await);
        // Those that exist are not affected, and make room when they end.
        call::<NodeTypesReply>(&first, TYPES, &asked()).await.unwrap();
        drop(second);
        let mut again = false;
        for _ in 0..10_000 {
            again = again || answers(&endpoint).await;
        }
        assert!(again);
    });
    let text = running.options.metrics.text();
    assert!(text.contains("isomorph_connections_total{outcome=\"refused\"}"), "{text}");
    running.stop();
}
