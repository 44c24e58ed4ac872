//! Server of the page. It answers this machine alone.
//!
//! A connection is for one request. What it announces as a body is never read. Nothing that a client sends, or does not, keeps others from
//! their answers: heads of requests are limited in size and time, and connections in number ([`Guests`]).

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::yield_now;
use tokio::time::sleep;

use crate::error::Error;

use super::super::terminal::say;
use super::guests::{Guests, Seat};
use super::page;
use super::shelf::Shelf;
use super::show::{PagePart, ShownResults};

/// Time for the head of a request \[s\].
const HEAD_SECONDS: u64 = 10;
/// Largest head of a request \[bytes\].
const LARGEST_HEAD: usize = 16 << 10;
/// Number of connections that wait for the program to accept them.
const BACKLOG: u32 = 1024;
/// Pause after a connection that could not be accepted \[ms\].
const PAUSE: u64 = 20;

const TEXT: &str = "text/plain; charset=utf-8";

/// Answer: status, type, content.
type HttpAnswer = (StatusCode, &'static str, Bytes);

/// What all connections share.
struct Server {
    shelf: Shelf,
    guests: Arc<Guests>,
}

/// Serves the page until the program is ended.
///
/// # Errors
/// When the port is taken.
pub(super) fn serve(show: ShownResults, port: u16) -> Result<(), Error> {
    let refused = |error: io::Error| Error::Unusable {
        origin: format!("port {port} of 127.0.0.1"),
        found: error.to_string(),
        advice: "choose another with --port, or a free one with --port 0".to_owned(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(refused)?;
    runtime.block_on(async {
        let listener = listen(port).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        say!("http://{address}/  shows {} frames; Ctrl-C ends it", show.frame_count());
        let server = Server { shelf: Shelf::new(show), guests: Arc::default() };
        accept(&listener, &Arc::new(server)).await;
        Ok(())
    })
}

fn listen(port: u16) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    // On Windows this would share the port with a program that has it already.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    socket.listen(BACKLOG)
}

async fn accept(listener: &TcpListener, server: &Arc<Server>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let own = Arc::clone(server);
                server.guests.admit(|seat| talk(own, stream, seat));
            }
            // The system has no more of what a connection takes: others give theirs back.
            Err(_) => {
                server.guests.dismiss_one();
                sleep(Duration::from_millis(PAUSE)).await;
            }
        }
        // A flood of connections does not keep those that are there from their turn.
        yield_now().await;
    }
}

/// Answers the one request of a connection.
async fn talk(server: Arc<Server>, stream: TcpStream, seat: Seat) {
    let (server, seat) = (&server, &seat);
    let answer = service_fn(|request| async move {
        seat.asks();
        let answer = answer(server, request).await;
        seat.is_sent(answer.2.len());
        Ok::<_, Infallible>(response(answer))
    });
    // A connection that ends early concerns nobody but its client: a browser that was closed no longer wants an answer.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_secs(HEAD_SECONDS))
        .max_buf_size(LARGEST_HEAD)
        .keep_alive(false)
        .half_close(true)
        .serve_connection(TokioIo::new(stream), answer)
        .await;
}

/// Whether a request names this machine. A page of another site whose name is made to point to this machine does not.
fn is_from_here(headers: &HeaderMap) -> bool {
    let is_here = |host: &HeaderValue| {
        let host = host.to_str().unwrap_or_default();
        matches!(host.rsplit_once(':').map_or(host, |(name, _)| name), "127.0.0.1" | "localhost")
    };
    headers.get_all(header::HOST).iter().all(is_here)
}

fn refusal(status: StatusCode, words: &'static str) -> HttpAnswer {
    (status, TEXT, Bytes::from_static(words.as_bytes()))
}

async fn answer(server: &Server, request: Request<Incoming>) -> HttpAnswer {
    if !is_from_here(request.headers()) {
        return refusal(StatusCode::FORBIDDEN, "this page is for 127.0.0.1 alone");
    }
    if *request.method() != Method::GET {
        return refusal(StatusCode::METHOD_NOT_ALLOWED, "there is only GET");
    }
    let path = request.uri().path();
    if let Some((kind, text)) = page::file(path) {
        return (StatusCode::OK, kind, Bytes::from(text));
    }
    let frame = path.strip_prefix("/results/frames/").map(str::parse::<usize>);
    let (part, kind) = match (path, frame) {
        ("/results/index.json", _) => (PagePart::Index, "application/json"),
        (_, Some(Ok(i))) if i < server.shelf.show().frame_count() => {
            (PagePart::Frame(i), "application/octet-stream")
        }
        _ => return refusal(StatusCode::NOT_FOUND, "there is no such file"),
    };
    match server.shelf.get(part).await {
        Ok(bytes) => (StatusCode::OK, kind, bytes),
        Err(words) => (StatusCode::INTERNAL_SERVER_ERROR, TEXT, Bytes::from(words)),
    }
}

fn response((status, kind, content): HttpAnswer) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(content));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
