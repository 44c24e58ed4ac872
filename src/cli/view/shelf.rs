//! Parts of the results as bytes, made once for all who ask for them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyper::body::Bytes;
use tokio::sync::{OnceCell, Semaphore};
use tokio::task::spawn_blocking;

use super::show::{PagePart, ShownResults, Stamp};

/// Largest number of bytes that are kept for others who may ask; the last part is kept whatever its size.
const MOST_BYTES: usize = 256 << 20;
/// Number of parts that are read at the same time.
const READERS: usize = 2;

/// Content of a part, or why there is none.
pub(super) type ShelfContent = Result<Bytes, String>;

/// The last parts that were asked for, the last at the end.
pub(super) struct Shelf {
    show: Arc<ShownResults>,
    readers: Arc<Semaphore>,
    list: Mutex<VecDeque<KeptContent>>,
}

struct KeptContent {
    part: PagePart,
    /// Files as they were read.
    stamp: Stamp,
    content: Arc<OnceCell<ShelfContent>>,
}

impl Shelf {
    pub(super) fn new(show: ShownResults) -> Shelf {
        Shelf { show: Arc::new(show), readers: Arc::new(Semaphore::new(READERS)), list: Mutex::default() }
    }

    /// Content of a part. Its files are read again only if they have changed.
    pub(super) async fn get(&self, part: PagePart) -> ShelfContent {
        let show = Arc::clone(&self.show);
        let stamp = spawn_blocking(move || show.stamp(part)).await.map_err(|error| error.to_string())?;
        let cell = self.cell(part, stamp);
        let content = cell.get_or_init(|| self.read(part)).await.clone();
        self.trim();
        content
    }

    fn cell(&self, part: PagePart, stamp: Stamp) -> Arc<OnceCell<ShelfContent>> {
        let mut list = self.list();
        let known = list.iter().position(|kept| kept.part == part).and_then(|i| list.remove(i));
        let content = known.filter(|kept| kept.stamp == stamp).map(|kept| kept.content).unwrap_or_default();
        list.push_back(KeptContent { part, stamp, content: Arc::clone(&content) });
        content
    }

    /// Reads a part on a thread that may wait for the disk.
    async fn read(&self, part: PagePart) -> ShelfContent {
        // The permit lasts as long as the thread works, also where nobody waits for it any more.
        let permit = Arc::clone(&self.readers).acquire_owned().await;
        let show = Arc::clone(&self.show);
        let made = spawn_blocking(move || {
            let content = show.content(part).map(Bytes::from).map_err(|error| error.to_string());
            drop(permit);
            content
        });
        made.await.unwrap_or_else(|error| Err(error.to_string()))
    }

    /// Forgets what is old, and what could not be read.
    fn trim(&self) {
        let mut list = self.list();
        list.retain(|kept| !kept.content.get().is_some_and(Result::is_err));
        let size = |kept: &KeptContent| {
            kept.content.get().and_then(|content| content.as_ref().ok()).map_or(0, Bytes::len)
        };
        while list.len() > 1 && list.iter().map(size).sum::<usize>() > MOST_BYTES {
            list.pop_front();
        }
    }

    fn list(&self) -> MutexGuard<'_, VecDeque<KeptContent>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn show(&self) -> &ShownResults {
        &self.show
    }
}
