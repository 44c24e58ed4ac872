//! Files of the report of a study: text, tables of numbers, plots.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use crate::error::Error;
use crate::output::atomic;

use super::report::StudyReport;
use super::{draw, markdown};

/// Names of the files that are written beside the plots.
pub(super) const FILES: [&str; 3] = ["results.csv", "results.json", "report.md"];

impl StudyReport {
    /// Writes `report.md`, `results.csv`, `results.json` and the plots into a folder.
    ///
    /// # Errors
    /// When a file cannot be written or a plot cannot be drawn.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        fs::create_dir_all(folder).map_err(Error::file(folder))?;
        for (figure, (name, _)) in self.drawings.iter().zip(&self.plots) {
            let refused = |path: &Path, refusal: draw::DrawError| {
                Error::file(path)(io::Error::other(refusal.to_string()))
            };
            let path = folder.join(format!("{name}.svg"));
            let text = draw::svg(figure).map_err(|refusal| refused(&path, refusal))?;
            atomic::write(&path, |out| out.write_all(text.as_bytes()))?;
            let path = folder.join(format!("{name}.png"));
            let picture = draw::png(figure).map_err(|refusal| refused(&path, refusal))?;
            atomic::write(&path, |out| out.write_all(&picture))?;
        }
        atomic::write(&folder.join(FILES[0]), |out| {
            let mut table = csv::Writer::from_writer(out);
            self.rows.iter().try_for_each(|row| table.write_record(row))?;
            table.flush()
        })?;
        atomic::write(&folder.join(FILES[1]), |out| {
            serde_json::to_writer_pretty(&mut *out, self)?;
            out.write_all(b"\n")
        })?;
        atomic::write(&folder.join(FILES[2]), |out| out.write_all(markdown::text(self).as_bytes()))
    }
}
