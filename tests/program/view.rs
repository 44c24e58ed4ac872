//! `esker view`: results in one file, and over HTTP.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

const DROP: &str = r#"
title = "A drop </script>"
duration = 0.1
[solver]
time_step = 5e-3
[materials.glass]
density = 2500.0
youngs_modulus = 1e8
poisson_ratio = 0.25
restitution = 0.2
friction = 0.4
[[boundaries]]
material = "glass"
shape = { kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }
[[grains]]
material = "glass"
radius = { kind = "constant", value = 0.01 }
packing = { kind = "list", positions = [[0, 0, 0.05]] }
[output]
every = 0.05
"#;

fn esker(folder: &std::path::Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_esker")).current_dir(folder).args(arguments).output().unwrap()
}

/// A folder in which a drop was run to `out/drop`.
fn with_results() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("drop.toml"), DROP).unwrap();
    let run = esker(folder.path(), &["run", "drop.toml", "--device", "cpu", "--quiet"]);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    folder
}

#[test]
fn a_file_of_results_holds_all_frames_and_names_no_other_file() {
    let folder = with_results();
    let view = esker(folder.path(), &["view", "out/drop", "--export", "drop.html"]);
    let said = String::from_utf8_lossy(&view.stdout).into_owned();
    assert!(view.status.success() && said.starts_with("drop.html: 3 frames, "), "{said}");
    let page = std::fs::read_to_string(folder.path().join("drop.html")).unwrap();
    assert_eq!(page.matches("id=\"results-frame-").count(), 3);
    assert!(!page.contains("A drop </script>"), "a title cannot end a part of the page");
    for other in ["src=", "\"./", "https://"] {
        assert!(!page.contains(other), "the file names another: {other}");
    }
}

#[test]
fn a_folder_without_frames_is_refused_with_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let view = esker(folder.path(), &["view", ".", "--export", "x.html"]);
    let said = String::from_utf8_lossy(&view.stderr).into_owned();
    assert_eq!(view.status.code(), Some(2), "{said}");
    assert!(said.contains("holds no frames") && !folder.path().join("x.html").exists(), "{said}");
}

/// The server, ended with the test.
struct Served {
    program: Child,
    address: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

fn serve(folder: &std::path::Path) -> Served {
    let mut program = Command::new(env!("CARGO_BIN_EXE_esker"))
        .current_dir(folder)
        .args(["view", "out/drop", "--port", "0"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(program.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.split(['/', ' ']).nth(2).unwrap().to_owned();
    Served { program, address }
}

/// Longest time that an answer may take \[s\]. It takes milliseconds; a server that waits for others has none.
const PATIENCE: u64 = 5;

/// Status line and content of an answer.
fn get(served: &Served, path: &str, host: &str) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(&served.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(PATIENCE))).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let head = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let status = String::from_utf8_lossy(&bytes[..head]).lines().next().unwrap().to_owned();
    (status, bytes[head + 4..].to_vec())
}

#[test]
fn results_are_served_to_this_machine_alone() {
    let folder = with_results();
    let served = serve(folder.path());
    let status = |path: &str, host: &str| get(&served, path, host).0;
    assert!(served.address.starts_with("127.0.0.1:"), "{}", served.address);
    for path in ["/", "/view.js", "/results/index.json", "/results/frames/2"] {
        let line = status(path, "127.0.0.1");
        assert_eq!(line, "HTTP/1.1 200 OK", "{path}");
    }
    for path in ["/results/frames/3", "/results/frames/x", "/../drop.toml", "/drop.toml"] {
        assert!(status(path, "localhost").contains("404"), "{path}");
    }
    assert!(status("/", "elsewhere.org").contains("403"), "a name that was made to point here");
    let (_, index) = get(&served, "/results/index.json", "127.0.0.1");
    let index: serde_json::Value = serde_json::from_slice(&index).unwrap();
    assert_eq!(index["frames"], serde_json::json!([0.0, 0.05, 0.1]));
    assert_eq!(index["series"]["times"], index["frames"]);
}

/// Connections of clients that have sent `text` and then neither read nor end.
fn hang(served: &Served, count: usize, text: &str) -> Vec<TcpStream> {
    let open = |_| {
        let mut stream = TcpStream::connect(&served.address).unwrap();
        // The server may have closed it already, which is what it should do with most of them.
        let _ = stream.write_all(text.as_bytes());
        stream
    };
    (0..count).map(open).collect()
}

#[test]
fn nothing_that_other_clients_do_or_leave_undone_keeps_one_from_its_answers() {
    let folder = with_results();
    // An index that does not fit into the buffers of a connection.
    let row = "0.12345678901234567,7,0.12345678901234567,0.12345678901234567,0.12345678901234567\n";
    let series = format!("time [s],step [-],a [m],b [m],c [m]\n{}", row.repeat(100_000));
    std::fs::write(folder.path().join("out/drop/timeseries.csv"), series).unwrap();
    let served = serve(folder.path());
    let asked = |what: &str| {
        for path in ["/", "/view.js", "/results/frames/1"] {
            assert_eq!(get(&served, path, "127.0.0.1").0, "HTTP/1.1 200 OK", "{path} beside {what}");
        }
    };
    asked("nothing");
    let idle = hang(&served, 300, "");
    asked("idle connections");
    let half = hang(&served, 60, "GET /results/frames/1 HTTP/1.1\r\nHost: 127.0.0.1\r\nX-");
    asked("half a request");
    let slow = hang(&served, 8, "GET /results/index.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    asked("readers that do not read");
    let head = "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n";
    let lengths = ["0", "5", "4294967296", "9223372036854775807", "18446744073709551615", "1e9", "-1"];
    let lengths = lengths.map(|length| format!("Content-Length: {length}\r\n\r\nabc"));
    let bodies: Vec<_> = lengths.iter().map(String::as_str).chain([head]).collect();
    let announced = ["GET", "POST"].map(|method| {
        bodies
            .iter()
            .map(|body| hang(&served, 2, &format!("{method} / HTTP/1.1\r\nHost: 127.0.0.1\r\n{body}")))
            .collect::<Vec<_>>()
    });
    asked("announced bodies");
    let header = format!("X-Long: {}\r\n", "a".repeat(1000));
    let floods = hang(&served, 4, &format!("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n{}", header.repeat(1000)));
    asked("a megabyte of headers");
    drop((idle, half, slow, announced, floods));
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_result_is_refused_unopened() {
    let folder = with_results();
    let results = folder.path().join("out/drop");
    let pipe = |name: &str| {
        let _ = std::fs::rename(results.join(name), results.join(format!("{name}.aside")));
        assert!(Command::new("mkfifo").arg(results.join(name)).status().unwrap().success());
    };
    let put_back =
        |name: &str| std::fs::rename(results.join(format!("{name}.aside")), results.join(name)).unwrap();
    let served = serve(folder.path());
    pipe("grains_000001.vtp");
    let (status, words) = get(&served, "/results/frames/1", "127.0.0.1");
    let words = String::from_utf8_lossy(&words).into_owned();
    assert!(
        status.contains("500") && words.contains("grains_000001.vtp: it is no plain file"),
        "{status}: {words}"
    );
    assert!(get(&served, "/results/frames/0", "127.0.0.1").0.contains("200"));
    put_back("grains_000001.vtp");
    for name in ["scenario.toml", "grains.vtp.series", "timeseries.csv"] {
        pipe(name);
        let view = esker(folder.path(), &["view", "out/drop", "--export", "drop.html"]);
        let said = String::from_utf8_lossy(&view.stderr).into_owned();
        assert!(!view.status.success() && said.contains("it is no plain file"), "{name}: {said}");
        put_back(name);
    }
}
