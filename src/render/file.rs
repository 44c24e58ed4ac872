//! Pictures and animations on disk. Each file appears whole or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::picture::Picture;
use crate::error::Error;
use crate::output::lock::{FolderLock, Sharing};
use crate::output::{atomic, picture_number};

/// Kind of output that a path stands for, by its ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureTarget {
    /// A folder of pictures.
    Folder,
    /// One picture.
    Png,
    /// An animated PNG.
    Apng,
    /// An animated GIF.
    Gif,
    /// An MP4 film, made by ffmpeg.
    Mp4,
}

impl PictureTarget {
    /// Returns the kind of output of a path.
    ///
    /// # Errors
    /// [`Error::Unusable`] when the path ends like a file of another kind.
    pub fn of(path: &Path) -> Result<PictureTarget, Error> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            Some("png") => Ok(PictureTarget::Png),
            Some("apng") => Ok(PictureTarget::Apng),
            Some("gif") => Ok(PictureTarget::Gif),
            Some("mp4") => Ok(PictureTarget::Mp4),
            Some(other) if !path.is_dir() => Err(Error::Unusable {
                origin: "--out".to_owned(),
                found: format!("no pictures are written as .{other}"),
                advice: "expected .png, .apng, .gif, .mp4, or a folder".to_owned(),
            }),
            _ => Ok(PictureTarget::Folder),
        }
    }

    /// Whether the output is an animation.
    pub fn is_animation(self) -> bool {
        matches!(self, PictureTarget::Apng | PictureTarget::Gif | PictureTarget::Mp4)
    }
}

/// Writes a picture as PNG.
///
/// # Errors
/// When the file cannot be written.
pub fn write_png(path: &Path, picture: &Picture) -> Result<(), Error> {
    atomic::write(path, |out| {
        let mut writer = encoder(out, picture).write_header().map_err(io::Error::other)?;
        writer.write_image_data(picture.bytes()).map_err(io::Error::other)?;
        writer.finish().map_err(io::Error::other)
    })
}

fn encoder<W: Write>(out: W, picture: &Picture) -> png::Encoder<'static, W> {
    let mut encoder = png::Encoder::new(out, picture.width as u32, picture.height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    encoder.set_compression(png::Compression::High);
    encoder
}

/// A folder of numbered pictures.
#[derive(Debug)]
pub struct PictureFolder {
    path: PathBuf,
    count: usize,
    _lock: FolderLock,
}

impl PictureFolder {
    /// Makes the folder and removes earlier pictures from it. Other files in it stay.
    ///
    /// # Errors
    /// When the folder cannot be made, a file cannot be removed, or another run draws into the folder.
    pub fn create(path: &Path) -> Result<PictureFolder, Error> {
        PictureFolder::with_pictures(path, 0)
    }

    /// Opens the folder of a run that continues after `count` pictures: pictures beyond them are removed.
    ///
    /// # Errors
    /// As [`PictureFolder::create`], and when one of the `count` pictures is missing.
    pub fn with_pictures(path: &Path, count: usize) -> Result<PictureFolder, Error> {
        let lock = FolderLock::take(path, Sharing::Alone)?;
        let drawn = (0..count).map(|number| path.join(picture_name(number)));
        drawn.into_iter().try_for_each(|path| path.metadata().map(drop).map_err(Error::file(&path)))?;
        let is_beyond = |name: &str| picture_number(name).is_some_and(|number| number >= count as u64);
        atomic::remove_files(path, is_beyond)?;
        Ok(PictureFolder { path: path.to_owned(), count, _lock: lock })
    }

    /// Flushes the pictures from number `first` on to the disk.
    ///
    /// # Errors
    /// When a picture cannot be flushed.
    pub fn sync_from(&self, first: usize) -> Result<(), Error> {
        (first..self.count).try_for_each(|number| atomic::sync(&self.path.join(picture_name(number))))
    }

    /// Number of pictures in the folder.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Writes the next picture, `picture_000012.png`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&mut self, picture: &Picture) -> Result<(), Error> {
        write_png(&self.path.join(picture_name(self.count)), picture)?;
        self.count += 1;
        Ok(())
    }
}

fn picture_name(number: usize) -> String {
    format!("picture_{number:06}.png")
}

/// Removes the pictures of an earlier run from a folder. Does nothing if there is no folder.
///
/// # Errors
/// When a picture cannot be removed, or another run draws into the folder.
pub fn remove_pictures(folder: &Path) -> Result<(), Error> {
    if folder.is_dir() { PictureFolder::create(folder).map(drop) } else { Ok(()) }
}

/// Pictures in order, each drawn when it is asked for.
pub type Pictures<'a> = &'a mut dyn Iterator<Item = Result<Picture, Error>>;

/// Writes an endless animation of `count` pictures at `rate` pictures per second.
///
/// # Errors
/// When a picture cannot be drawn, the file cannot be written, or ffmpeg is missing or fails.
pub fn write_animation(
    path: &Path,
    target: PictureTarget,
    (count, rate): (usize, u16),
    pictures: Pictures<'_>,
) -> Result<(), Error> {
    let mut failure = None;
    let mut drawn = pictures.map_while(|picture| picture.map_err(|error| failure = Some(error)).ok());
    let Some(first) = drawn.next() else {
        drop(drawn);
        return failure.map_or(Ok(()), Err);
    };
    let mut drawn = std::iter::once(first).chain(drawn);
    let written = match target {
        PictureTarget::Gif => atomic::write(path, |out| write_gif(out, (count, rate), &mut drawn)),
        PictureTarget::Mp4 => write_mp4(path, (count, rate), &mut drawn),
        _ => atomic::write(path, |out| write_apng(out, (count, rate), &mut drawn)),
    };
    drop(drawn);
    match failure {
        Some(error) => Err(error),
        None => written,
    }
}

/// Fails when fewer or more pictures were written than expected.
fn check_count(count: usize, expected: usize) -> io::Result<()> {
    match count == expected {
        true => Ok(()),
        false => Err(io::Error::other(format!("{count} of {expected} pictures were drawn"))),
    }
}

fn write_apng(
    out: &mut impl Write,
    (count, rate): (usize, u16),
    pictures: &mut dyn Iterator<Item = Picture>,
) -> io::Result<()> {
    let mut writer = None;
    let mut written = 0;
    let mut out = Some(out);
    for picture in pictures {
        if let Some(out) = out.take() {
            let mut encoder = encoder(out, &picture);
            encoder.set_animated(count as u32, 0).map_err(io::Error::other)?;
            encoder.set_frame_delay(1, rate).map_err(io::Error::other)?;
            writer = Some(encoder.write_header().map_err(io::Error::other)?);
        }
        if let Some(writer) = &mut writer {
            writer.write_image_data(picture.bytes()).map_err(io::Error::other)?;
            written += 1;
        }
    }
    check_count(written, count)?;
    writer.map_or(Ok(()), |writer| writer.finish().map_err(io::Error::other))
}

/// Ticks per second of a GIF \[1/s\]: its delays are whole numbers of ticks.
const GIF_TICKS: u16 = 100;

fn write_gif(
    out: &mut impl Write,
    (count, rate): (usize, u16),
    pictures: &mut dyn Iterator<Item = Picture>,
) -> io::Result<()> {
    let Some(first) = pictures.next() else { return Ok(()) };
    // Sizes are at most 8192 pixels.
    let (width, height) = (first.width as u16, first.height as u16);
    let mut encoder = gif::Encoder::new(out, width, height, &[]).map_err(io::Error::other)?;
    encoder.set_repeat(gif::Repeat::Infinite).map_err(io::Error::other)?;
    let mut written = 0;
    for picture in std::iter::once(first).chain(pictures) {
        let mut frame = gif::Frame::from_rgb_speed(width, height, picture.bytes(), 10);
        frame.delay = (GIF_TICKS / rate).max(1);
        encoder.write_frame(&frame).map_err(io::Error::other)?;
        written += 1;
    }
    check_count(written, count)
}

/// Sends the pictures through ffmpeg into a temporary file beside the result, which is renamed when it is complete.
fn write_mp4(
    path: &Path,
    (count, rate): (usize, u16),
    pictures: &mut dyn Iterator<Item = Picture>,
) -> Result<(), Error> {
    let Some(first) = pictures.next() else { return Ok(()) };
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = atomic::builder().tempfile_in(folder);
    let file = file.map_err(Error::file(path))?.into_temp_path();
    let mut ffmpeg = start_ffmpeg(&file, &first, rate).map_err(|error| no_ffmpeg(path, &error))?;
    let mut written = 0;
    let sent = match ffmpeg.stdin.take() {
        Some(mut stdin) => std::iter::once(first).chain(pictures).try_for_each(|picture| {
            written += 1;
            stdin.write_all(picture.bytes())
        }),
        None => Ok(()),
    };
    let output = ffmpeg.wait_with_output().map_err(Error::file(path))?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        return Err(Error::Unusable {
            origin: path.display().to_string(),
            found: format!("ffmpeg failed: {}", words.trim()),
            advice: "write .apng or .gif instead".to_owned(),
        });
    }
    sent.and_then(|()| check_count(written, count)).map_err(Error::file(path))?;
    make_readable(&file).map_err(Error::file(path))?;
    file.persist(path).map_err(|error| Error::file(path)(error.error))
}

fn start_ffmpeg(file: &Path, first: &Picture, rate: u16) -> io::Result<Child> {
    let (size, rate) = (format!("{}x{}", first.width, first.height), rate.to_string());
    let input = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", &size, "-r", &rate, "-i", "-"];
    // Players need even widths and heights, and this pixel format.
    let output = ["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p", "-movflags", "+faststart"];
    // The name of the temporary file does not tell the format.
    let format = ["-f", "mp4"];
    Command::new("ffmpeg")
        .args(["-y", "-loglevel", "error"])
        .args(input)
        .args(output)
        .args(format)
        .arg(file)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
}

fn no_ffmpeg(path: &Path, error: &io::Error) -> Error {
    let found = match error.kind() {
        io::ErrorKind::NotFound => "MP4 is made by the program ffmpeg, which is not on the PATH".to_owned(),
        _ => format!("ffmpeg does not start: {error}"),
    };
    let advice = "install ffmpeg, or write .apng or .gif".to_owned();
    Error::Unusable { origin: path.display().to_string(), found, advice }
}

/// Makes a temporary file, which is private, as readable as any other new file.
fn make_readable(file: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(file, fs::Permissions::from_mode(0o644))?;
    }
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_of_a_path_says_what_it_becomes() {
        let target = |name: &str| PictureTarget::of(Path::new(name)).ok();
        assert_eq!(target("out/pictures"), Some(PictureTarget::Folder));
        assert_eq!(target("pile.PNG"), Some(PictureTarget::Png));
        assert_eq!(target("pile.gif"), Some(PictureTarget::Gif));
        assert_eq!(target("pile.avi"), None);
    }

    fn pictures() -> impl Iterator<Item = Result<Picture, Error>> {
        (0..4u8).map(|i| Ok(Picture { width: 64, height: 64, pixels: vec![[i * 60, 0, 255]; 64 * 64] }))
    }

    #[test]
    fn an_animation_has_as_many_pictures_as_there_were_frames() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.apng");
        write_animation(&path, PictureTarget::Apng, (4, 25), &mut pictures()).expect("written");
        let file = io::BufReader::new(fs::File::open(&path).expect("a file"));
        let reader = png::Decoder::new(file).read_info().expect("a PNG");
        assert_eq!(reader.info().animation_control().map(|control| control.num_frames), Some(4));

        let path = folder.path().join("a.gif");
        write_animation(&path, PictureTarget::Gif, (4, 25), &mut pictures()).expect("written");
        let mut decoder =
            gif::DecodeOptions::new().read_info(fs::File::open(&path).expect("a file")).expect("a GIF");
        let mut count = 0;
        while decoder.read_next_frame().expect("a frame").is_some() {
            count += 1;
        }
        assert_eq!(count, 4);
    }

    #[test]
    fn an_animation_whose_drawing_fails_leaves_no_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let fails = || Err(Error::NoState { reason: "no frame".to_owned() });
        for target in [PictureTarget::Apng, PictureTarget::Gif] {
            let mut broken = pictures().take(2).chain(std::iter::once_with(fails));
            let path = folder.path().join("animation");
            let error = write_animation(&path, target, (4, 25), &mut broken).expect_err("a failure");
            assert!(error.to_string().contains("no frame"), "{error}");
            assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 0);
        }
    }
}
