//! The client of `/v1/embeddings` against small servers on this machine that answer well,
//! wrongly, late or not at all.

#![cfg(feature = "remote-embedder")]
#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use memcards::embed::{Embedder, Prefixes, RemoteEmbedder, RemoteOptions};
use memcards::{Error, Options, Recall, Remember, Store};
use serde_json::{Value, json};

/// What a server was sent.
struct Request {
    head: String,
    body: Value,
}

/// What a server makes of a request: status and text.
type Reply = fn(&Value) -> (u16, String);

/// Serves one answer per connection, as long as there are any; gives its address and what
/// it was sent.
fn serve(answers: Vec<Reply>) -> (String, Receiver<Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for answer in answers {
            let Ok((stream, _)) = listener.accept() else { return };
            let mut reader = BufReader::new(stream);
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if line.trim().is_empty() {
                    break;
                }
                if let Some((name, value)) = line.split_once(':')
                    && name.eq_ignore_ascii_case("content-length")
                {
                    length = value.trim().parse().unwrap();
                }
                head.push_str(&line);
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let body: Value = serde_json::from_slice(&body).unwrap();
            let (status, text) = answer(&body);
            let _ = sender.send(Request { head, body });
            let mut stream = reader.into_inner();
            let _ = write!(
                stream,
                "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
                text.len()
            );
        }
    });
    (url, receiver)
}

/// A vector per text: its length, and ones.
fn vectors(body: &Value) -> (u16, String) {
    let texts = body["input"].as_array().unwrap();
    // Not in the order of the texts: the index counts.
    let data: Vec<Value> = texts
        .iter()
        .enumerate()
        .rev()
        .map(|(index, text)| json!({"index": index, "embedding": [text.as_str().unwrap().len(), 1, 1]}))
        .collect();
    (200, json!({ "data": data }).to_string())
}

fn options(url: &str) -> RemoteOptions {
    RemoteOptions {
        dimensions: Some(3),
        timeout: Duration::from_millis(400),
        retries: 0,
        rest: Duration::ZERO,
        ..RemoteOptions::new(url, "tiny")
    }
}

fn always(answers: usize, answer: Reply) -> (String, Receiver<Request>) {
    serve(vec![answer; answers])
}

fn unavailable(result: memcards::Result<Option<Vec<f32>>>) -> String {
    match result {
        Err(error @ Error::Unavailable(_)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn texts_are_sent_in_batches_and_vectors_come_back_in_order() {
    let (url, requests) = always(4, vectors);
    let settings = RemoteOptions {
        dimensions: None,
        batch: 2,
        api_key: Some("secret".into()),
        ..options(&format!("{url}/v1/"))
    };
    assert!(!format!("{settings:?}").contains("secret"));
    let model = RemoteEmbedder::open(settings).unwrap();
    assert_eq!((model.model_id(), model.dimension()), ("remote:tiny", 3));
    let found = model.embed_batch(&["a", " ", "bb", "cccc"]).unwrap();
    assert!(found[1].is_none());
    for (at, length) in [(0, 1f32), (2, 2.0), (3, 4.0)] {
        let vector = found[at].as_ref().unwrap();
        let norm = vector.iter().map(|x| x * x).sum::<f32>();
        assert!((norm - 1.0).abs() < 1e-6 && (vector[0] / vector[1] - length).abs() < 1e-5, "{vector:?}");
    }
    drop(model.embed("x").unwrap().unwrap());
    let requests: Vec<Request> = requests.iter().take(4).collect();
    let inputs: Vec<&Value> = requests.iter().map(|request| &request.body["input"]).collect();
    assert_eq!(inputs, [&json!(["dimension"]), &json!(["a", "bb"]), &json!(["cccc"]), &json!(["x"])]);
    assert_eq!(requests[0].body["model"], "tiny");
    assert!(requests[0].head.starts_with("POST /v1/embeddings HTTP/1.1"), "{}", requests[0].head);
    assert!(requests[0].head.to_lowercase().contains("authorization: bearer secret"));
}

#[test]
fn questions_and_texts_have_their_prefixes() {
    let (url, requests) = always(4, vectors);
    let model = RemoteEmbedder::open(RemoteOptions { model: "x/e5-small".into(), ..options(&url) }).unwrap();
    drop((model.embed("a").unwrap(), model.embed_query("b").unwrap()));
    let plain =
        RemoteOptions { prefixes: Some(Prefixes::default()), model: "x/e5-small".into(), ..options(&url) };
    let plain = RemoteEmbedder::open(plain).unwrap();
    assert_ne!(plain.model_id(), model.model_id());
    let short = RemoteOptions { shorten: true, ..options(&url) };
    drop((plain.embed("c").unwrap(), RemoteEmbedder::open(short).unwrap().embed("d").unwrap()));
    let bodies: Vec<Value> = requests.iter().take(4).map(|request| request.body).collect();
    let inputs: Vec<&str> = bodies.iter().map(|body| body["input"][0].as_str().unwrap()).collect();
    assert_eq!(inputs, ["passage: a", "query: b", "c", "d"]);
    assert_eq!((&bodies[0]["dimensions"], &bodies[3]["dimensions"]), (&Value::Null, &json!(3)));
}

#[test]
fn wrong_answers_are_told_and_never_taken() {
    let cases: [(Reply, &str); 10] = [
        (|_| (200, r#"{"data":[]}"#.into()), "0 vectors for 1"),
        (|_| (200, r#"{"data":[{"embedding":[1,2]}]}"#.into()), "2 numbers"),
        (|_| (200, r#"{"data":[{"embedding":[0,0,0]}]}"#.into()), "direction"),
        (|_| (200, r#"{"data":[{"embedding":[1,2,1e39]}]}"#.into()), "direction"),
        (|_| (200, r#"{"data":[{"embedding":[1,2,null]}]}"#.into()), "not understood"),
        (|_| (200, r#"{"data":[{"index":4,"embedding":[1,2,3]}]}"#.into()), "index 4"),
        (|_| (200, "<html>".into()), "not understood"),
        (|_| (500, r#"{"error":"out of memory"}"#.into()), "out of memory"),
        (|_| (401, "no key".into()), "401"),
        (|_| (302, String::new()), "302"),
    ];
    for (answer, expected) in cases {
        let (url, _requests) = always(1, answer);
        let error = unavailable(RemoteEmbedder::open(options(&url)).unwrap().embed("a"));
        assert!(error.contains(expected), "{expected:?} is not in: {error}");
    }
}

#[test]
fn it_tries_again_a_bounded_number_of_times_then_rests() {
    let busy: Reply = |_| (503, String::new());
    let refused: Reply = |_| (400, String::new());
    let settings = |url: &str| RemoteOptions { retries: 2, rest: Duration::from_secs(60), ..options(url) };
    let (url, requests) = serve(vec![busy, busy, vectors, refused]);
    let model = RemoteEmbedder::open(settings(&url)).unwrap();
    assert!(model.embed("a").unwrap().is_some());
    assert!(unavailable(model.embed("a")).contains("400"), "what is refused is not sent again");
    assert_eq!(requests.iter().count(), 4);

    let (url, requests) = always(9, busy);
    let model = RemoteEmbedder::open(settings(&url)).unwrap();
    assert!(unavailable(model.embed("a")).contains("503"));
    let start = Instant::now();
    assert!(unavailable(model.embed("a")).contains("a moment ago"));
    assert!(start.elapsed() < Duration::from_millis(50));
    assert_eq!(requests.try_iter().count(), 3);
}

#[test]
fn who_is_late_or_absent_is_waited_for_no_longer_than_told() {
    let late: Reply = |body| {
        std::thread::sleep(Duration::from_secs(3));
        vectors(body)
    };
    let (url, _requests) = always(1, late);
    let start = Instant::now();
    unavailable(RemoteEmbedder::open(options(&url)).unwrap().embed("a"));
    assert!(start.elapsed() < Duration::from_secs(2));

    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let model = RemoteEmbedder::open(options(&format!("http://{free}"))).unwrap();
    unavailable(model.embed("a"));
    let asked = RemoteOptions { dimensions: None, ..options(&format!("http://{free}")) };
    assert_eq!(RemoteEmbedder::open(asked).unwrap_err().code(), "unavailable");
}

#[test]
fn options_that_cannot_be_are_named() {
    let named = |change: fn(&mut RemoteOptions)| {
        let mut settings = options("http://localhost:1");
        change(&mut settings);
        RemoteEmbedder::open(settings).unwrap_err().field().unwrap().to_owned()
    };
    assert_eq!(named(|options| options.url = "localhost".into()), "embedder_url");
    assert_eq!(named(|options| options.url = "ftp://x".into()), "embedder_url");
    if !cfg!(feature = "remote-embedder-tls") {
        assert_eq!(named(|options| options.url = "https://x".into()), "embedder_url");
    }
    assert_eq!(named(|options| options.model.clear()), "embedder_model");
    assert_eq!(named(|options| options.api_key = Some("a\nb".into())), "embedder_api_key");
    assert_eq!(named(|options| options.dimensions = Some(0)), "embedder_dimensions");
}

#[test]
fn a_store_goes_on_without_its_service() {
    let directory = tempfile::tempdir().unwrap();
    let (url, _requests) = always(2, vectors);
    let embedder = RemoteEmbedder::open(options(&url)).unwrap();
    let embedder: Option<std::sync::Arc<dyn Embedder>> = Some(std::sync::Arc::new(embedder));
    let store = Store::open(directory.path(), Options { embedder, ..Options::default() }).unwrap();
    let tenant = store.tenant("t").unwrap();
    let remember = |content: &str| {
        tenant.remember(Remember { content: content.into(), ..Remember::default() }).unwrap().degraded.len()
    };
    let recall = || tenant.recall(Recall { query: Some("key".into()), ..Recall::default() }).unwrap();
    assert_eq!(remember("The key is under the pot"), 0);
    assert!(recall().degraded.is_empty());
    // The server has given all its answers.
    assert_eq!(remember("The spare key is with Anna"), 1);
    let answer = recall();
    assert_eq!((answer.hits.len(), answer.degraded.len()), (2, 1));
    assert_eq!(store.reembed(None, |_| {}).unwrap_err().code(), "unavailable");
}
