//! Server of the page. It answers this machine alone.

use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddrV4};

use tiny_http::{HTTPVersion, Header, Method, Request, Response, Server};

use crate::error::Error;

use super::super::terminal::{note, say};
use super::page;
use super::show::Show;

/// Answer: status, type, content.
type Answer = (u16, &'static str, Vec<u8>);

/// Serves the page until the program is ended.
///
/// # Errors
/// When the port is taken.
pub(super) fn serve(show: Show, port: u16) -> Result<(), Error> {
    let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, port);
    let server = Server::http(address).map_err(|error| Error::Unusable {
        origin: format!("port {port} of 127.0.0.1"),
        found: error.to_string(),
        advice: "choose another with --port, or a free one with --port 0".to_owned(),
    })?;
    let address =
        server.server_addr().to_ip().map_or_else(|| address.to_string(), |address| address.to_string());
    say!("http://{address}/  shows {} frames; Ctrl-C ends it", show.frame_count());
    for request in server.incoming_requests() {
        let answer = if is_from_here(&request) { answer(&show, &request) } else { refusal() };
        respond(request, answer);
    }
    Ok(())
}

/// Whether a request names this machine. A page of another site whose name is made to point to this machine does not.
fn is_from_here(request: &Request) -> bool {
    let hosts = request.headers().iter().filter(|header| header.field.equiv("Host"));
    let is_here = |host: &str| {
        matches!(host.rsplit_once(':').map_or(host, |(name, _)| name), "127.0.0.1" | "localhost")
    };
    hosts.map(|header| header.value.as_str()).all(is_here)
}

fn refusal() -> Answer {
    (403, "text/plain; charset=utf-8", b"this page is for 127.0.0.1 alone".to_vec())
}

fn answer(show: &Show, request: &Request) -> Answer {
    if *request.method() != Method::Get {
        return (405, "text/plain; charset=utf-8", b"there is only GET".to_vec());
    }
    let path = request.url().split(['?', '#']).next().unwrap_or_default();
    let frame = path.strip_prefix("/results/frames/").map(str::parse::<usize>);
    let found = match (path, frame) {
        ("/results/index.json", _) => {
            let all: Vec<usize> = (0..show.frame_count()).collect();
            show.index(&all).map(|text| ("application/json", text.into_bytes()))
        }
        (_, Some(Ok(i))) if i < show.frame_count() => {
            show.frame(i).map(|bytes| ("application/octet-stream", bytes))
        }
        _ => match page::file(path) {
            Some((kind, text)) => Ok((kind, text.into_bytes())),
            None => return (404, "text/plain; charset=utf-8", b"there is no such file".to_vec()),
        },
    };
    match found {
        Ok((kind, bytes)) => (200, kind, bytes),
        Err(error) => (500, "text/plain; charset=utf-8", error.to_string().into_bytes()),
    }
}

/// Answers as HTTP 1.0, after which a client ends the connection. A connection that stays open would hold a thread in the pool of
/// `tiny_http`: in a burst, the connections beyond its four threads would wait in a queue until others end.
fn respond(request: Request, (status, kind, bytes): Answer) {
    let mut response = Response::from_data(bytes).with_status_code(status);
    let headers =
        [("Content-Type", kind), ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff")];
    headers.into_iter().filter_map(|(name, value)| Header::from_bytes(name, value).ok()).for_each(|header| {
        response.add_header(header);
    });
    let is_head = *request.method() == Method::Head;
    let mut writer = request.into_writer();
    let sent = response.raw_print(&mut writer, HTTPVersion(1, 0), &[], is_head, None);
    if let Err(error) = sent.and_then(|()| writer.flush()) {
        // A browser that was closed no longer wants an answer.
        if !matches!(error.kind(), BrokenPipe | ConnectionReset | ConnectionAborted) {
            note!("warning: a request was not answered: {error}");
        }
    }
}
