//! `esker view`: results of a run in a browser, served on this machine or as one file.

mod guests;
mod page;
mod serve;
mod shelf;
mod show;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;

use crate::error::{Error, in_words};
use crate::output::atomic;

use super::terminal::{note, say};
use super::{ExitOutcome, Failure};
use show::ShownResults;

/// Largest file that is exported \[bytes\]. A browser holds it in memory three times: as text, as bytes and as numbers.
const LARGEST_FILE: u64 = 256 << 20;

/// Arguments of `esker view`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Folder that `esker run` wrote.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Port on 127.0.0.1 that the page is served on; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = 8642)]
    port: u16,
    /// Write one file that holds the page and all results, and needs no server.
    #[arg(long, value_name = "FILE.html", conflicts_with = "port")]
    export: Option<PathBuf>,
}

/// Serves the results until the program is ended, or writes them to a file.
pub(super) fn view(arguments: &Arguments) -> Result<ExitOutcome, Failure> {
    super::render::check_results(&arguments.folder)?;
    let show = ShownResults::open(&arguments.folder)?;
    match &arguments.export {
        Some(file) => export(&show, file)?,
        None => serve::serve(show, arguments.port).map_err(super::render::input)?,
    }
    Ok(ExitOutcome::Done)
}

/// Writes the page with its results. If all frames are too large for a browser, only every n-th frame is written.
fn export(show: &ShownResults, file: &Path) -> Result<(), Failure> {
    let count = show.frame_count();
    let of_one = 4 * show.frame(count - 1)?.len().div_ceil(3) as u64;
    if of_one > LARGEST_FILE {
        let found =
            format!("a frame takes {}, and the file would be too large for a browser", in_words(of_one));
        return Err(wrong(file, found, "leave out --export: `esker view` loads one frame at a time"));
    }
    let every = (count as u64 * of_one).div_ceil(LARGEST_FILE).max(1) as usize;
    let chosen: Vec<usize> = (0..count).step_by(every).collect();
    if every > 1 {
        let all = in_words(count as u64 * of_one);
        note!("note: all {count} frames would take about {all}: the file has every {every}th");
    }
    write(show, file, &chosen)?;
    let size = file.metadata().map_err(Error::file(file))?.len();
    say!("{}: {} frames, {}", file.display(), chosen.len(), in_words(size));
    Ok(())
}

fn write(show: &ShownResults, file: &Path, chosen: &[usize]) -> Result<(), Error> {
    let index = show.index(chosen)?;
    let [before, after] = page::around_the_results(&index)?;
    let mut failure = None;
    let written = atomic::write(file, |out| {
        out.write_all(before.as_bytes())?;
        for (i, &frame) in chosen.iter().enumerate() {
            let Some(bytes) = show.frame(frame).map_err(|error| failure = Some(error)).ok() else { break };
            write!(out, r#"<script type="text/plain" id="results-frame-{i}">"#)?;
            let mut encoder = EncoderWriter::new(&mut *out, &STANDARD);
            encoder.write_all(&bytes)?;
            encoder.finish()?;
            drop(encoder);
            out.write_all(b"</script>\n")?;
        }
        if failure.is_some() {
            Err(std::io::Error::other("a frame is missing"))
        } else {
            out.write_all(after.as_bytes())
        }
    });
    // The error of an unreadable frame says more than the error of the unwritten file.
    failure.map_or(written, Err)
}

fn wrong(file: &Path, found: String, advice: &str) -> Failure {
    super::render::input(Error::Unusable {
        origin: file.display().to_string(),
        found,
        advice: advice.to_owned(),
    })
}
