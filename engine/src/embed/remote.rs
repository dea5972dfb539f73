//! A client of the `/v1/embeddings` endpoint that many servers of models offer.
//!
//! It blocks its caller, tries again a bounded number of times, and believes nothing: count,
//! order, dimension and numbers of an answer are checked. After a failure the endpoint is
//! left alone for a moment, so that an outage costs each caller little.

use std::io::ErrorKind;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::{Embedder, Prefixes};
use crate::{Error, Result};

/// Longest pause between two tries.
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// First pause between two tries; each is twice as long as the one before.
const PAUSE: Duration = Duration::from_millis(100);
/// Bytes that a number of an answer takes at most, and what is around them.
const NUMBER_BYTES: u64 = 32;
const ANSWER_BYTES: u64 = 1 << 20;
/// What is embedded to learn the dimension.
const PROBE: &str = "dimension";
const DIMENSION_MAX: usize = 4096;

/// Where the model is, and how to ask it.
#[derive(Clone)]
pub struct RemoteOptions {
    /// Where the service is, such as `http://localhost:8080` or `https://host/v1`.
    pub url: String,
    /// Name of the model, as the service knows it.
    pub model: String,
    /// What is sent as bearer token.
    pub api_key: Option<String>,
    /// Numbers per vector. When absent the service is asked once, on opening.
    pub dimensions: Option<usize>,
    /// Whether to ask for vectors shortened to `dimensions`, which not every model can do
    /// (default: false).
    pub shorten: bool,
    /// Prefixes; when absent those of E5 where the model's name has a part `e5`.
    pub prefixes: Option<Prefixes>,
    /// Texts in one request (default: 64).
    pub batch: usize,
    /// How long one try may take (default: 20 s).
    pub timeout: Duration,
    /// Tries after the first one when the service cannot be reached, is busy or broken
    /// (default: 2).
    pub retries: u32,
    /// After all tries have failed, calls fail at once for so long (default: 5 s).
    pub rest: Duration,
}

impl RemoteOptions {
    /// A service and a model with all defaults.
    pub fn new(url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            model: model.into(),
            api_key: None,
            dimensions: None,
            shorten: false,
            prefixes: None,
            batch: 64,
            timeout: Duration::from_secs(20),
            retries: 2,
            rest: Duration::from_secs(5),
        }
    }
}

impl std::fmt::Debug for RemoteOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The key is nobody's business.
        f.debug_struct("RemoteOptions")
            .field("url", &self.url)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

/// A model behind an OpenAI-compatible `/v1/embeddings`.
pub struct RemoteEmbedder {
    options: RemoteOptions,
    prefixes: Prefixes,
    endpoint: String,
    id: String,
    dimension: usize,
    agent: ureq::Agent,
    /// When all tries failed last.
    failed: Mutex<Option<Instant>>,
}

impl std::fmt::Debug for RemoteEmbedder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RemoteEmbedder")
            .field("id", &self.id)
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: Vec<String>,
    encoding_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(default)]
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// Why a try failed, and when the next one makes sense: never, or after a pause that may
/// have been asked for.
struct Failure {
    why: String,
    again: Option<Option<Duration>>,
}

impl RemoteEmbedder {
    /// Checks the options and, unless they say the dimension, asks the service for it.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] names the option; [`Error::Unavailable`] when the service had
    /// to be asked and gave no vector.
    pub fn open(options: RemoteOptions) -> Result<Self> {
        let bad = |field: &str, why: &str| Err(Error::invalid(format!("embedder_{field}"), why));
        let local = match options.url.split_once("://") {
            Some(("http", rest)) => is_local(rest),
            Some(("https", _)) if cfg!(feature = "remote-embedder-tls") => false,
            Some(("https", _)) => {
                return bad("url", "https needs a build with the feature remote-embedder-tls");
            }
            _ => return bad("url", "must begin with http:// or https://"),
        };
        if options.model.is_empty() || options.model.len() > 256 {
            return bad("model", "must have 1 to 256 bytes");
        }
        if let Some(key) = &options.api_key
            && !key.bytes().all(|byte| (b'!'..=b'~').contains(&byte))
        {
            return bad("api_key", "must be of visible ASCII characters");
        }
        if options.dimensions.is_some_and(|dimensions| !(1..=DIMENSION_MAX).contains(&dimensions)) {
            return bad("dimensions", "must be 1 to 4096");
        }
        if options.shorten && options.dimensions.is_none() {
            return bad("dimensions", "must be given to shorten vectors");
        }
        let url = options.url.trim_end_matches('/');
        let endpoint = match url {
            url if url.ends_with("/embeddings") => url.to_owned(),
            url if url.ends_with("/v1") => format!("{url}/embeddings"),
            url => format!("{url}/v1/embeddings"),
        };
        let mut config = ureq::Agent::config_builder()
            .timeout_global(Some(options.timeout))
            .http_status_as_error(false)
            .max_redirects(0);
        if local {
            config = config.proxy(None);
        }
        let prefixes = options.prefixes.clone().or_else(|| Prefixes::of_model(&options.model));
        let prefixes = prefixes.unwrap_or_default();
        let mut id = format!("remote:{}", options.model);
        if prefixes != Prefixes::default() {
            let both = format!("{}\0{}", prefixes.query, prefixes.passage);
            id.push_str(&format!("+{:016x}", xxh3_64(both.as_bytes())));
        }
        let mut embedder = Self {
            dimension: options.dimensions.unwrap_or(0),
            prefixes,
            endpoint,
            id,
            agent: ureq::Agent::new_with_config(config.build()),
            failed: Mutex::new(None),
            options: RemoteOptions { batch: 1, ..options.clone() },
        };
        if embedder.dimension == 0 {
            let vectors = embedder.ask("", &[PROBE])?;
            embedder.dimension = vectors.first().map_or(0, Vec::len);
        }
        embedder.options.batch = options.batch.max(1);
        Ok(embedder)
    }

    fn embed_all(&self, prefix: &str, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>> {
        // Services refuse texts of nothing.
        let worded: Vec<usize> = (0..texts.len()).filter(|at| !texts[*at].trim().is_empty()).collect();
        let mut vectors = vec![None; texts.len()];
        for places in worded.chunks(self.options.batch) {
            let part: Vec<&str> = places.iter().map(|at| texts[*at]).collect();
            for (at, vector) in places.iter().zip(self.ask(prefix, &part)?) {
                vectors[*at] = Some(vector);
            }
        }
        Ok(vectors)
    }

    /// One request, tried again where that makes sense.
    fn ask(&self, prefix: &str, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let unavailable =
            |why: &str| Error::Unavailable(format!("the embedding service {}: {why}", self.endpoint));
        if self.failed.lock().is_some_and(|at| at.elapsed() < self.options.rest) {
            return Err(unavailable("did not answer a moment ago"));
        }
        let request = Request {
            model: &self.options.model,
            input: texts.iter().map(|text| format!("{prefix}{text}")).collect(),
            encoding_format: "float",
            dimensions: self.options.dimensions.filter(|_| self.options.shorten),
        };
        let body = serde_json::to_vec(&request).map_err(|error| Error::Internal(error.to_string()))?;
        let mut pause = PAUSE;
        let mut tries = 0;
        loop {
            let Failure { why, again } = match self.send(&body, texts.len()) {
                Ok(vectors) => {
                    *self.failed.lock() = None;
                    return Ok(vectors);
                }
                Err(failure) => failure,
            };
            match again {
                Some(asked) if tries < self.options.retries => {
                    std::thread::sleep(asked.unwrap_or(pause).min(PAUSE_MAX));
                    pause = pause.saturating_mul(2);
                    tries += 1;
                }
                again => {
                    if again.is_some() {
                        *self.failed.lock() = Some(Instant::now());
                    }
                    return Err(unavailable(&why));
                }
            }
        }
    }

    fn send(&self, body: &[u8], count: usize) -> Result<Vec<Vec<f32>>, Failure> {
        let mut request = self.agent.post(&self.endpoint).header("content-type", "application/json");
        if let Some(key) = &self.options.api_key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let mut response = request.send(body).map_err(|error| Failure {
            again: (!is_lasting(&error)).then_some(None),
            why: error.to_string(),
        })?;
        let status = response.status();
        let asked = response.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
        let most = ANSWER_BYTES + count as u64 * DIMENSION_MAX as u64 * NUMBER_BYTES;
        let read = response.body_mut().with_config().limit(most).read_to_vec();
        let bytes = read.map_err(|error| Failure {
            again: (!is_lasting(&error)).then_some(None),
            why: format!("its answer cannot be read: {error}"),
        })?;
        if !status.is_success() {
            let busy = matches!(status.as_u16(), 408 | 429) || status.is_server_error();
            return Err(Failure {
                why: format!("answered {status}{}", detail(&bytes)),
                again: busy.then(|| asked.map(Duration::from_secs)),
            });
        }
        self.read(&bytes, count).map_err(|why| Failure { why, again: None })
    }

    /// The vectors of an answer, in the order of the texts.
    fn read(&self, bytes: &[u8], count: usize) -> Result<Vec<Vec<f32>>, String> {
        let answer: Answer = serde_json::from_slice(bytes)
            .map_err(|error| format!("its answer is not understood: {error}"))?;
        if answer.data.len() != count {
            return Err(format!("gave {} vectors for {count} texts", answer.data.len()));
        }
        let mut vectors = vec![Vec::new(); count];
        for (at, item) in answer.data.into_iter().enumerate() {
            let index = item.index.unwrap_or(at);
            let place = vectors.get_mut(index).filter(|place| place.is_empty());
            let place = place.ok_or_else(|| format!("gave index {index} twice, or for no text"))?;
            let length = item.embedding.len();
            if !(1..=DIMENSION_MAX).contains(&length) || (self.dimension != 0 && length != self.dimension) {
                return Err(format!("gave a vector of {length} numbers, {} are expected", self.dimension));
            }
            *place = unit(item.embedding).ok_or("gave a vector without a direction")?;
        }
        Ok(vectors)
    }
}

/// What an error's answer says, in short.
fn detail(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(400)]);
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(200).collect();
    if text.is_empty() { text } else { format!(": {text}") }
}

/// True for an error that the same request would meet again.
fn is_lasting(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::Io(error) => matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::InvalidData),
        ureq::Error::Timeout(_) | ureq::Error::ConnectionFailed | ureq::Error::HostNotFound => false,
        _ => true,
    }
}

/// True when what stands after `http://` names this machine: then no proxy is asked.
fn is_local(rest: &str) -> bool {
    let authority = rest.split('/').next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[') {
        Some(six) => six.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// A vector at unit length; `None` when it has no direction.
fn unit(vector: Vec<f32>) -> Option<Vec<f32>> {
    let length = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    let usable = length.is_finite() && length > 0.0;
    usable.then(|| vector.iter().map(|x| (f64::from(*x) / length) as f32).collect())
}

impl Embedder for RemoteEmbedder {
    fn model_id(&self) -> &str {
        &self.id
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn embed(&self, text: &str) -> Result<Option<Vec<f32>>> {
        Ok(self.embed_all(&self.prefixes.passage, &[text])?.pop().flatten())
    }

    fn embed_query(&self, text: &str) -> Result<Option<Vec<f32>>> {
        Ok(self.embed_all(&self.prefixes.query, &[text])?.pop().flatten())
    }

    fn embed_batch(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>> {
        self.embed_all(&self.prefixes.passage, texts)
    }
}
