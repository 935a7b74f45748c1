//! The HTTP client of the stores: how long it waits, how much it takes, and where it lets itself be
//! sent.
//!
//! An answer is taken whole, and no more of it than was asked for: a range has its length, and any
//! other answer at most [`MOST_ANSWER`] bytes, whatever its headers say.
//!
//! A store is followed to other paths of the same host only: its requests have credentials. The hub
//! and web servers may name another host, which gets none; a server that is reached by HTTPS never
//! leads to one without.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use futures_util::StreamExt;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use object_store::{ClientConfigKey, ClientOptions, HeaderMap};
use reqwest::redirect::Policy;

use super::failure::Failure;

/// The most bytes of an answer that is not a range. A page of a listing has a few MiB.
const MOST_ANSWER: u64 = 32 << 20;

/// The bytes of an error that are read.
const MOST_ERROR: u64 = 64 << 10;

const MOST_REDIRECTS: usize = 10;

/// Makes the clients of a store.
#[derive(Debug)]
pub(super) struct Connector {
    /// The headers of every request.
    pub headers: HeaderMap,
    /// Whether the server may name another host.
    pub leaves: bool,
}

#[derive(Debug)]
struct Client(reqwest::Client);

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let plain = options.get_config_value(&ClientConfigKey::AllowHttp);
        let leaves = self.leaves;
        let redirects = Policy::custom(move |attempt| {
            let place = |url: &reqwest::Url| {
                let host = url.host_str().map(str::to_string);
                (url.scheme().to_string(), host, url.port_or_known_default())
            };
            let first = attempt.previous().first();
            let same = first.is_some_and(|first| place(first) == place(attempt.url()));
            if attempt.previous().len() > MOST_REDIRECTS {
                attempt.error("it redirects again and again")
            } else if same || leaves {
                attempt.follow()
            } else {
                let to = attempt.url().host_str().unwrap_or_default().to_string();
                attempt.error(format!(
                    "it redirects to {to}, and requests with credentials follow to no other host; \
                     give its --region or --endpoint"
                ))
            }
        });
        let client = reqwest::Client::builder()
            .user_agent(concat!("lookalike/", env!("CARGO_PKG_VERSION")))
            .default_headers(self.headers.clone())
            .timeout(Duration::from_secs(120))
            .connect_timeout(Duration::from_secs(10))
            .https_only(plain.as_deref() != Some("true"))
            .redirect(redirects)
            .http1_only()
            // Sizes of objects are those of their bytes.
            .no_gzip()
            .no_brotli()
            .no_zstd()
            .no_deflate()
            .build();
        let client = client.map_err(|error| object_store::Error::Generic {
            store: "HTTP client",
            source: Box::new(error),
        })?;
        Ok(HttpClient::new(Client(client)))
    }
}

/// The first and the last byte of a range that is asked for, `bytes=BEGIN-LAST`, or that an answer
/// has, `bytes BEGIN-LAST/SIZE`.
fn range(headers: &HeaderMap, name: &str) -> Option<(u64, u64)> {
    let range = headers.get(name)?.to_str().ok()?.trim();
    let range = range.strip_prefix("bytes")?.get(1..)?;
    let (begin, last) = range.split('/').next()?.split_once('-')?;
    Some((begin.parse().ok()?, last.parse().ok()?))
}

fn refused(what: String) -> HttpError {
    HttpError::new(HttpErrorKind::Decode, Failure(what))
}

impl Client {
    async fn answer(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let asked = range(request.headers(), "range");
        let (parts, body) = self.0.call(request).await?.into_parts();
        let sent = range(&parts.headers, "content-range");
        if let (Some((_, last)), Some((_, sent))) = (asked, sent)
            && sent > last
        {
            // The client counts up to the byte after it.
            let what = format!("the server sent bytes up to {sent}; the range ends with {last}");
            return Err(refused(what));
        }
        let bytes = asked.and_then(|(begin, last)| last.checked_sub(begin)?.checked_add(1));
        let (most, cuts) = match (bytes, parts.status.as_u16()) {
            (Some(bytes), 206) => (bytes, false),
            // A server that knows no ranges sends the whole object, which nobody wants.
            (Some(_), 200) => (0, true),
            (_, 400..) => (MOST_ERROR, true),
            _ => (MOST_ANSWER, false),
        };
        let mut taken = Vec::new();
        let mut body = body.bytes_stream();
        while let Some(bytes) = body.next().await {
            let bytes = match bytes {
                Ok(bytes) => bytes,
                // Whoever asked for the range goes on where it ends.
                Err(_) if parts.status.as_u16() == 206 && !taken.is_empty() => break,
                Err(error) => return Err(error),
            };
            let room = (most - taken.len() as u64).min(bytes.len() as u64) as usize;
            taken.extend_from_slice(&bytes[..room]);
            if room < bytes.len() && cuts {
                break;
            } else if room < bytes.len() {
                let what = format!("the server sent more than the {most} bytes that are expected");
                return Err(refused(what));
            }
        }
        Ok(HttpResponse::from_parts(parts, taken.into()))
    }
}

impl HttpService for Client {
    // This signature is the one to which `async_trait` would expand an `async fn`.
    fn call<'c, 'a>(
        &'c self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'a>>
    where
        'c: 'a,
        Self: 'a,
    {
        Box::pin(self.answer(request))
    }
}
