//! Files that are opened because a text names them.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::columns;
use crate::diagnostic::{Diagnostic, Located, OnRead, Place, Sources, file_names};
use crate::units::Bytes;

/// Number of bytes between two calls of the hook of [`Sources::on_read`] \[B\].
const STEP: u64 = 4 << 20;

/// Largest text that is kept whole, decompressed \[B\]. Scenarios, machines and platforms are far smaller.
const LARGEST_TEXT: u64 = 256 << 20;

/// Decompressed size up to which any compressed file is read \[B\].
const FREE_EXPANSION: u64 = 256 << 20;
/// Largest ratio of decompressed to compressed size beyond [`FREE_EXPANSION`]. The most repetitive schedules
/// and traces stay below 300, while repetitions of a single byte reach 1,030 (gzip) and 32,000 (zstd).
const MOST_EXPANSION: u64 = 500;

/// Most blanks and line ends in a row \[B\]: as many as the longest line of a trace.
const MOST_BLANKS: u64 = 16 << 20;

/// First bytes of every zstd frame.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// First bytes of a gzip file whose content is deflated, the only kind there is.
const GZIP_MAGIC: [u8; 3] = [0x1f, 0x8b, 8];

/// An open file: its name for messages, and its bytes, decompressed if they were compressed with zstd or gzip.
pub struct Input {
    name: String,
    bytes: Box<dyn Read>,
}

/// Decompressed bytes, limited in proportion to the compressed bytes read for them. A small file can hold a
/// lot of data, so the hook is also called with the number of decompressed bytes.
struct Decompressed<R> {
    bytes: R,
    name: String,
    compressed: Arc<AtomicU64>,
    done: u64,
    told: u64,
    hook: Option<OnRead>,
}

impl<R: Read> Read for Decompressed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        self.done += count as u64;
        let (done, compressed) = (self.done, self.compressed.load(Ordering::Relaxed));
        if done > compressed.saturating_mul(MOST_EXPANSION).max(FREE_EXPANSION) {
            return Err(io::Error::other(format!(
                "it expands too much: byte {done} of its content comes from the first {compressed} compressed bytes, \
                 and at most {MOST_EXPANSION} times as many are expected"
            )));
        }
        if let Some(hook) = self.hook.as_ref().filter(|_| self.done >= self.told + STEP) {
            self.told = self.done;
            hook(&self.name, self.done, 0);
        }
        Ok(count)
    }
}

/// A reader that fails after too many blanks in a row. Skipping blank lines would otherwise take hours, or
/// for ever in a pipe.
struct BlankLimit<R> {
    bytes: R,
    /// Number of blanks at the end of the bytes read so far.
    blanks: u64,
}

impl<R: Read> Read for BlankLimit<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        let read = &buffer[..count];
        match read.iter().rposition(|byte| !byte.is_ascii_whitespace()) {
            Some(last) => self.blanks = (count - 1 - last) as u64,
            None => self.blanks += count as u64,
        }
        if self.blanks > MOST_BLANKS {
            let most = Bytes(MOST_BLANKS);
            return Err(io::Error::other(format!(
                "there are more than {most} of nothing but blank lines, as in no file of use"
            )));
        }
        Ok(count)
    }
}

impl Input {
    /// Returns the name of the file for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Creates an input from bytes in memory: for tests and piped input.
    pub fn from_bytes(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self { name: name.into(), bytes: Box::new(io::Cursor::new(bytes)) }
    }

    /// Reads all bytes, at most `most` of them.
    ///
    /// # Errors
    /// There are more bytes, they cannot be read, or memory does not hold them.
    pub fn read_whole(&mut self, most: u64) -> Result<Vec<u8>, Diagnostic> {
        self.read_whole_of(&[], most)
    }

    /// Reads all bytes, as [`read_whole`](Self::read_whole) does, of a file that begins with `magic`. Of any other
    /// file it returns only as many.
    ///
    /// # Errors
    /// Those of [`read_whole`](Self::read_whole).
    pub fn read_whole_of(&mut self, magic: &[u8], most: u64) -> Result<Vec<u8>, Diagnostic> {
        let (mut bytes, start) = (Vec::new(), magic.len() as u64);
        for count in [start, most.saturating_sub(start) + 1] {
            if magic.starts_with(&bytes) {
                let read = self.bytes.by_ref().take(count).read_to_end(&mut bytes);
                read.map_err(|error| Self::failed(&self.name, &error))?;
            }
        }
        if bytes.len() as u64 > most {
            let message = format!("`{}` is larger than {}", self.name, Bytes(most));
            return Err(
                Diagnostic::new("too-large", message).help("no file that is read whole is; is it the right one?")
            );
        }
        Ok(bytes)
    }

    fn new(name: String, bytes: impl Read + 'static, total: u64, hook: Option<OnRead>) -> io::Result<Self> {
        if let Some(hook) = &hook {
            hook(&name, 0, total);
        }
        let expanded = hook.clone();
        let mut bytes = CountingReader { bytes, name: name.clone(), read: Arc::default(), told: 0, total, hook };
        let mut start = Vec::with_capacity(ZSTD_MAGIC.len());
        bytes.by_ref().take(ZSTD_MAGIC.len() as u64).read_to_end(&mut start)?;
        let is_gzip = start.starts_with(&GZIP_MAGIC);
        let compressed = start == ZSTD_MAGIC || is_gzip;
        let read = Arc::clone(&bytes.read);
        let bytes = io::Cursor::new(start).chain(bytes);
        let bytes: Box<dyn Read> = if compressed {
            let bytes = expand(bytes, is_gzip)?;
            let (name, hook) = (name.clone(), expanded);
            Box::new(Decompressed { bytes, name, compressed: read, done: 0, told: 0, hook })
        } else {
            Box::new(bytes)
        };
        Ok(Self { name, bytes: by_rows(bytes)? })
    }

    /// Returns the mistake for a failure of the system while a file is read.
    pub fn failed(name: &str, error: &io::Error) -> Diagnostic {
        Diagnostic::new("unreadable-file", format!("cannot read `{name}`: {error}"))
    }
}

/// Returns the content by rows, even if the table is kept by columns.
fn by_rows(mut bytes: Box<dyn Read>) -> io::Result<Box<dyn Read>> {
    let mut start = Vec::with_capacity(columns::MAGIC.len());
    bytes.by_ref().take(columns::MAGIC.len() as u64).read_to_end(&mut start)?;
    if start == columns::MAGIC {
        return Ok(Box::new(io::Cursor::new(columns::rows_of(bytes)?)));
    }
    Ok(Box::new(BlankLimit { bytes: io::Cursor::new(start).chain(bytes), blanks: 0 }))
}

/// Decompresses bytes.
#[cfg(feature = "simulator")]
fn expand(bytes: impl Read + 'static, is_gzip: bool) -> io::Result<Box<dyn Read>> {
    Ok(match is_gzip {
        true => Box::new(flate2::read::MultiGzDecoder::new(bytes)),
        false => Box::new(zstd::stream::read::Decoder::new(bytes)?),
    })
}

#[cfg(not(feature = "simulator"))]
fn expand(_: impl Read + 'static, _: bool) -> io::Result<io::Empty> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "it is compressed; this program was built without decompression"))
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.bytes.read(buffer)
    }
}

/// A reader that counts the bytes of the file itself (compressed, if it is) and calls the hook.
struct CountingReader<R> {
    bytes: R,
    name: String,
    read: Arc<AtomicU64>,
    told: u64,
    total: u64,
    hook: Option<OnRead>,
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        let done = self.read.fetch_add(count as u64, Ordering::Relaxed) + count as u64;
        let at_end = count == 0 && !buffer.is_empty() && self.told < done;
        if let Some(hook) = &self.hook
            && (done >= self.told + STEP || at_end)
        {
            self.told = done;
            hook(&self.name, done, self.total);
        }
        Ok(count)
    }
}

impl Sources {
    /// Opens the file that `path` names ([`Sources::resolve`]). Its first bytes show if it is compressed with
    /// zstd or gzip.
    ///
    /// # Errors
    /// The file is missing, a directory or unreadable: a diagnostic at the place that names it.
    pub fn open(&self, path: &Located<String>) -> Result<Input, Diagnostic> {
        if let Some(content) = self.find_attached(path) {
            let (name, content) = (path.as_str().to_owned(), Arc::clone(content));
            let total = content.len() as u64;
            return Input::new(name.clone(), io::Cursor::new(content), total, self.hook())
                .map_err(|error| Input::failed(&name, &error));
        }
        if let Some(content) = self.find_built_in(path) {
            let name = format!("<built in>/{}", path.as_str());
            return Input::new(name.clone(), content, content.len() as u64, self.hook())
                .map_err(|error| Input::failed(&name, &error));
        }
        let resolved = self.resolve(path);
        let name = file_names::text_of(&resolved);
        let opened = File::open(&resolved).and_then(|file| {
            let metadata = file.metadata()?;
            if metadata.is_dir() {
                return Err(io::Error::from(io::ErrorKind::IsADirectory));
            }
            Input::new(name.clone(), file, metadata.len(), self.hook())
        });
        opened.map_err(|error| {
            match error.kind() {
                _ if path.is_empty() => Diagnostic::new("missing-file", "the name of a file is empty"),
                io::ErrorKind::NotFound => Diagnostic::new("missing-file", format!("there is no file `{name}`"))
                    .label("no such file")
                    .help("a path is relative to the file that names it, or to the current directory"),
                io::ErrorKind::IsADirectory => {
                    Diagnostic::new("unreadable-file", format!("`{name}` is a directory")).label("a file is expected")
                }
                _ => Input::failed(&name, &error),
            }
            .at_value(path)
        })
    }

    /// Reads the file that `path` names and keeps its text. Returns the text's base (see [`Sources::add`])
    /// and the text.
    ///
    /// # Errors
    /// Those of [`Sources::open`], a file larger than any of its kind, and a file that is not UTF-8 (a
    /// diagnostic at the first wrong byte).
    pub fn read_text(&mut self, path: &Located<String>) -> Result<(usize, Arc<str>), Diagnostic> {
        let mut input = self.open(path)?;
        let bytes = input.read_whole(LARGEST_TEXT).map_err(|diagnostic| diagnostic.at_value(path))?;
        let text: Arc<str> = match String::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(error) => {
                let valid = error.utf8_error().valid_up_to();
                return Err(not_utf8(input.name(), error.as_bytes(), valid));
            }
        };
        Ok((self.add(input.name(), Arc::clone(&text)), text))
    }
}

/// Returns the mistake for the first byte that is not part of a character.
fn not_utf8(file: &str, bytes: &[u8], valid: usize) -> Diagnostic {
    let line_start = bytes[..valid].iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
    let line_end = bytes[valid..].iter().position(|&b| b == b'\n').map_or(bytes.len(), |i| valid + i);
    let text = String::from_utf8_lossy(&bytes[line_start..line_end]);
    Diagnostic::new("not-utf8", format!("`{file}` is not UTF-8 text"))
        .at_place(Place {
            file: file.to_owned(),
            line: bytes[..line_start].iter().filter(|&&b| b == b'\n').count() + 1,
            column: String::from_utf8_lossy(&bytes[line_start..valid]).chars().count() + 1,
            text: text.trim_end_matches('\r').chars().take(400).collect(),
            length: 1,
        })
        .label(format!("byte 0x{:02x} is not a character", bytes.get(valid).copied().unwrap_or(0)))
        .help("save the file as UTF-8")
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::diagnostic::{Invalid, Span};

    /// Returns a `Located` whose span is in the text with this base.
    fn named_in(base: usize, path: &str) -> Located<String> {
        #[derive(serde::Deserialize)]
        struct File {
            path: Located<String>,
        }
        let mut text = " ".repeat(base);
        text.push_str(&format!("path = '{path}'"));
        crate::reading::from_toml::<File>(&text).unwrap().path
    }

    #[test]
    fn a_path_is_relative_to_the_file_that_names_it() {
        let mut sources = Sources::default();
        let text = "x".repeat(100);
        for (name, resolved) in [
            ("dir/scenario.toml", "dir/a.csv"),
            ("scenario.toml", "a.csv"),
            ("--set", "a.csv"),
            ("<torus>", "a.csv"),
            ("/abs/x.toml", "/abs/a.csv"),
        ] {
            let base = sources.add(name, text.as_str());
            assert_eq!(sources.resolve(&named_in(base, "a.csv")).to_str(), Some(resolved));
            assert_eq!(sources.resolve(&named_in(base, "/b.csv")).to_str(), Some("/b.csv"));
        }
        assert_eq!(sources.resolve(&"a.csv".to_owned().into()).to_str(), Some("a.csv"));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_reported_where_it_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let name = directory.path().join("x.toml").display().to_string();
        let mut sources = Sources::default();
        let base = sources.add(name.as_str(), "path = 'none.csv'");
        let error = sources.open(&named_in(base, "none.csv")).err().unwrap();
        assert_eq!(error.place(&sources).map(|place| (place.line, place.column, place.length)), Some((1, 8, 10)));
        assert!(Invalid::one(error, &sources).to_string().contains("there is no file"));
        let error = sources.open(&named_in(base, ".")).err().unwrap();
        assert!(error.message.ends_with("is a directory"), "{}", error.message);
        std::fs::write(directory.path().join("latin.csv"), b"a\nb\xe4c\n").unwrap();
        let error = sources.read_text(&named_in(base, "latin.csv")).unwrap_err();
        let place = error.place(&sources).unwrap();
        assert_eq!((place.line, place.column), (2, 2));
        std::fs::write(directory.path().join("ok.csv"), "a\n").unwrap();
        let (base, text) = sources.read_text(&named_in(base, "ok.csv")).unwrap();
        assert_eq!(&*text, "a\n");
        assert_eq!(sources.place(Span::new(base, base + 1)).unwrap().column, 1);
    }

    #[test]
    fn a_built_in_file_is_found_unless_a_file_is_in_its_way() {
        let mut sources = Sources::default();
        sources.built_in(&[("Cargo.toml", b"built in"), ("only.csv", b"here")]);
        let base = sources.add("<named>", "x".repeat(100));
        let read = |path: &Located<String>| {
            let mut text = String::new();
            sources.open(path).unwrap().read_to_string(&mut text).map(|_| text).unwrap()
        };
        assert_eq!(read(&named_in(base, "Cargo.toml")), "built in");
        assert_eq!(read(&"only.csv".to_owned().into()), "here");
        assert!(read(&"Cargo.toml".to_owned().into()).contains("[package]"));
    }

    #[test]
    fn an_attached_file_is_found_before_all_others_and_as_its_name_is_written() {
        let mut sources = Sources::default();
        sources.built_in(&[("m.csv", b"built in")]);
        sources.attach("m.csv", *b"first");
        sources.attach("m.csv", *b"attached");
        sources.attach("Cargo.toml", zstd::encode_all(&b"packed"[..], 1).unwrap());
        let base = sources.add("dir/scenario.toml", "x".repeat(100));
        let read = |name: &str| {
            let mut text = String::new();
            sources.open(&named_in(base, name)).map(|mut input| input.read_to_string(&mut text).map(|_| text).unwrap())
        };
        assert_eq!(read("m.csv").unwrap(), "attached");
        assert_eq!(read("Cargo.toml").unwrap(), "packed");
        assert!(read("./m.csv").unwrap_err().message.contains("there is no file `dir/./m.csv`"));
    }

    #[test]
    fn the_hook_hears_of_compressed_and_plain_files_to_their_end() {
        let directory = tempfile::tempdir().unwrap();
        let plain = vec![b'x'; 9 << 20];
        let compressed = zstd::encode_all(&plain[..], 1).unwrap();
        for (name, content) in [("plain", &plain), ("compressed", &compressed)] {
            let path = directory.path().join(name);
            std::fs::write(&path, content).unwrap();
            let heard = Arc::new(Mutex::new(Vec::new()));
            let mut sources = Sources::default();
            let log = Arc::clone(&heard);
            sources.on_read(Arc::new(move |_, done, total| log.lock().unwrap().push((done, total))));
            let mut read = Vec::new();
            sources.open(&path.display().to_string().into()).unwrap().read_to_end(&mut read).unwrap();
            assert_eq!(read, plain);
            let size = content.len() as u64;
            assert_eq!(heard.lock().unwrap().last(), Some(&(size, size)));
        }
    }

    /// Reads the content with a hook, and returns the calls of the hook and the result.
    fn read_with_hook(content: &[u8]) -> (Vec<(u64, u64)>, io::Result<usize>) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        std::fs::write(&path, content).unwrap();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let mut sources = Sources::default();
        let log = Arc::clone(&heard);
        sources.on_read(Arc::new(move |_, done, total| log.lock().unwrap().push((done, total))));
        let mut input = sources.open(&path.display().to_string().into()).unwrap();
        let result = io::copy(&mut input, &mut io::sink()).map(|count| count as usize);
        let heard = heard.lock().unwrap().clone();
        (heard, result)
    }

    #[test]
    fn nothing_but_blank_lines_is_given_up_compressed_or_not() {
        let most = usize::try_from(MOST_BLANKS).unwrap();
        for blanks in ["\n", " ", "\r\n", "\t \n"] {
            let text = blanks.repeat(most / blanks.len() + 1);
            for content in [text.as_bytes(), &zstd::encode_all(text.as_bytes(), 1).unwrap()] {
                let error = read_with_hook(content).1.unwrap_err();
                assert!(error.to_string().contains("nothing but blank lines"), "{error}");
            }
        }
        // The largest number of blanks is accepted, and again after another character.
        let much = ["\n".repeat(most), "x".to_owned(), "\n".repeat(most)].concat();
        assert_eq!(read_with_hook(much.as_bytes()).1.unwrap(), 2 * most + 1);
        assert_eq!(read_with_hook(&zstd::encode_all(much.as_bytes(), 1).unwrap()).1.unwrap(), 2 * most + 1);
    }

    #[test]
    fn a_small_file_that_expands_enormously_is_given_up() {
        use std::io::Write;
        let zeros = vec![0; 1 << 20];
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        gzip.write_all(&zeros).unwrap();
        for part in [gzip.finish().unwrap(), zstd::encode_all(&zeros[..], 1).unwrap()] {
            let most = FREE_EXPANSION as usize >> 20;
            assert_eq!(read_with_hook(&part.repeat(most)).1.unwrap(), most << 20);
            let error = read_with_hook(&part.repeat(most + 1)).1.unwrap_err().to_string();
            assert!(error.contains("compressed bytes, and at most 500 times as many are expected"), "{error}");
        }
    }

    #[test]
    fn a_file_that_begins_with_other_bytes_is_not_read_whole() {
        let whole = |bytes: &[u8]| Input::from_bytes("x", bytes.to_vec()).read_whole_of(b"ab", 4);
        assert_eq!(whole(b"abcd").unwrap(), b"abcd");
        assert_eq!(whole(b"xbcdefgh").unwrap(), b"xb");
        assert_eq!(whole(b"a").unwrap(), b"a");
        assert_eq!(whole(b"abcde").unwrap_err().code, "too-large");
    }

    #[test]
    fn what_comes_out_of_a_small_compressed_file_is_heard_of() {
        let compressed = zstd::encode_all(&vec![b'x'; 10 * STEP as usize][..], 1).unwrap();
        let (heard, result) = read_with_hook(&compressed);
        assert_eq!(result.unwrap() as u64, 10 * STEP);
        let out: Vec<u64> =
            heard.iter().filter(|(done, total)| *total == 0 && *done > 0).map(|(done, _)| *done).collect();
        assert!(out.len() == 10 && out.is_sorted() && out[9] == 10 * STEP, "{heard:?}");
    }
}
