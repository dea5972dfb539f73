//! The file of an index: its arrays as they are in memory, each piece with a checksum.
//!
//! `header · arrays`. The header holds what the arrays mean, where they are, and the xxh3
//! of every mebibyte of them; its own xxh3 ends it. Long arrays start at pages, so that
//! opening maps them: what is not touched is not read. Small files are verified when they
//! are opened, large ones afterwards ([`VectorIndex::verify_file`]), before anything that came
//! from them is written again. Any bytes are safe to search: numbers
//! that point nowhere are skipped.

use std::io;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use crate::index::vector::codes::{Codes, code_stride};
#[cfg(any(all(test, not(loom)), feature = "fuzzing"))]
use crate::index::vector::damage;
use crate::index::vector::generation::{Generation, capacity_for};
use crate::index::vector::graph::{BASE_LINKS, Graph, LINKS, upper_blocks};
use crate::index::vector::handle::VectorIndex;
use crate::index::vector::memory::{AppendOnly, Arena};
use crate::index::vector::quantize::{Scalar, bit_row_length};
use crate::index::vector::sync::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use crate::index::vector::{MAXIMUM_DIMENSION, MAXIMUM_ID, VectorOptions};
use crate::store::io::{self as files, Io, IoFile, OpenMode};
use crate::{Error, Result};

const MAGIC: u64 = u64::from_le_bytes(*b"MCVECTOR");
const VERSION: u64 = 1;
/// Bytes under one checksum.
const PIECE: usize = 1 << 20;
/// Where long arrays start: pages of most machines.
const PAGE: usize = 4096;
/// Files up to this size are verified when they are opened.
const VERIFIED_AT_OPEN: u64 = if cfg!(test) { 1 << 20 } else { 64 << 20 };
/// Numbers in front of the table of arrays.
const FIELDS: usize = 13;
/// Arrays of a file.
const ARRAYS: usize = 11;

/// What the owner writes into a file to know it again: the change it holds last, say.
pub type SnapshotTag = [u64; 2];

/// The numbers that say what the arrays mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Shape {
    dimension: usize,
    seed: u64,
    tag: SnapshotTag,
    slots: usize,
    identifiers: usize,
    has_graph: bool,
    settled: usize,
    entry: u64,
    upper_used: usize,
}

impl Shape {
    /// Bytes of every array, in the order of the file; `None` when they cannot be addressed.
    fn lengths(&self) -> Option<[usize; ARRAYS]> {
        let scalar = Scalar::of(self.dimension);
        let graph = usize::from(self.has_graph);
        let of = |count: usize, width: usize| count.checked_mul(width);
        Some([
            of(self.slots, self.dimension.checked_mul(4)?)?,
            of(self.slots, bit_row_length(self.dimension))?,
            of(self.slots, 4)?,
            of(self.slots.div_ceil(64), 8)?,
            of(self.identifiers, 4)?,
            of(self.slots, code_stride(scalar.length()))?,
            of(self.slots, 4)?,
            of(self.slots, 2)?,
            of(self.settled, BASE_LINKS * 4 * graph)?,
            of(self.settled, 4 * graph)?,
            of(self.upper_used, LINKS * 4 * graph)?,
        ])
    }
}

/// Where everything is in a file.
#[derive(Clone, Debug)]
struct Layout {
    shape: Shape,
    /// Offset and length of every array.
    arrays: [(u64, usize); ARRAYS],
    header: usize,
    end: u64,
}

impl Layout {
    fn of(shape: Shape) -> Option<Self> {
        let lengths = shape.lengths()?;
        let pieces: usize = lengths.iter().map(|length| length.div_ceil(PIECE)).sum();
        let header = (FIELDS + pieces + 1) * 8;
        let mut at = header;
        let mut arrays = [(0, 0); ARRAYS];
        for (array, length) in arrays.iter_mut().zip(lengths) {
            at = at.checked_next_multiple_of(if length >= PAGE { PAGE } else { 64 })?;
            *array = (at as u64, length);
            at = at.checked_add(length)?;
        }
        Some(Self { shape, arrays, header, end: at as u64 })
    }

    fn header_bytes(&self, checksums: &[u64]) -> Vec<u8> {
        let shape = &self.shape;
        let fields: [u64; FIELDS] = [
            MAGIC,
            VERSION,
            shape.dimension as u64,
            shape.seed,
            shape.tag[0],
            shape.tag[1],
            shape.slots as u64,
            shape.identifiers as u64,
            u64::from(shape.has_graph),
            shape.settled as u64,
            shape.entry,
            shape.upper_used as u64,
            self.end,
        ];
        let mut bytes: Vec<u8> = fields.iter().chain(checksums).flat_map(|x| x.to_le_bytes()).collect();
        bytes.extend_from_slice(&xxh3_64(&bytes).to_le_bytes());
        bytes
    }

    /// The layout that the first numbers of a header speak of.
    fn of_fields(fields: &[u64]) -> Result<Self, String> {
        if fields[0] != MAGIC || fields[1] != VERSION {
            return Err("no vector index of this version".into());
        }
        let size = |number: u64| usize::try_from(number).map_err(|_| "a length beyond memory".to_owned());
        let shape = Shape {
            dimension: size(fields[2])?,
            seed: fields[3],
            tag: [fields[4], fields[5]],
            slots: size(fields[6])?,
            identifiers: size(fields[7])?,
            has_graph: fields[8] == 1,
            settled: size(fields[9])?,
            entry: fields[10],
            upper_used: size(fields[11])?,
        };
        // Slots are numbers of 31 bits; everything else hangs on them.
        let sane = (1..=MAXIMUM_DIMENSION).contains(&shape.dimension)
            && shape.slots <= 1 << 31
            && shape.identifiers <= MAXIMUM_ID as usize + 1
            && shape.settled <= shape.slots
            && shape.upper_used <= upper_blocks(shape.slots);
        sane.then(|| Self::of(shape)).flatten().ok_or_else(|| "counts that do not fit together".to_owned())
    }

    /// Reads the header of a file: its layout and the checksums of its pieces.
    fn read(file: &dyn IoFile) -> Result<(Self, Vec<u64>), String> {
        let broken = |error: io::Error| error.to_string();
        let length = file.len().map_err(broken)?;
        let mut fields = [0; FIELDS * 8];
        file.read_at(0, &mut fields).map_err(broken)?;
        let numbers = fields.as_chunks::<8>().0.iter().map(|x| u64::from_le_bytes(*x));
        let fields: Vec<u64> = numbers.collect();
        let layout = Self::of_fields(&fields)?;
        if layout.end != length || fields[12] != length {
            return Err(format!("{length} bytes, not {}", layout.end));
        }
        let mut header = vec![0; layout.header];
        file.read_at(0, &mut header).map_err(broken)?;
        let (body, checksum) = header.split_last_chunk::<8>().ok_or("no header")?;
        if xxh3_64(body) != u64::from_le_bytes(*checksum) {
            return Err("header checksum mismatch".into());
        }
        let checksums =
            body[FIELDS * 8..].as_chunks::<8>().0.iter().map(|x| u64::from_le_bytes(*x)).collect();
        Ok((layout, checksums))
    }

    /// Compares every piece with its checksum; false when it was stopped before the last one.
    fn verify(&self, file: &dyn IoFile, checksums: &[u64], stop: &dyn Fn() -> bool) -> Result<bool, String> {
        let mut checksums = checksums.iter();
        let mut buffer = vec![0; PIECE];
        let mut at = self.header as u64;
        for (array, (offset, length)) in self.arrays.iter().enumerate() {
            let gap = &mut buffer[..(offset - at) as usize];
            file.read_at(at, gap).map_err(|error| error.to_string())?;
            if gap.iter().any(|byte| *byte != 0) {
                return Err(format!("bytes before array {array} that are not zero"));
            }
            at = offset + *length as u64;
            for from in (0..*length).step_by(PIECE) {
                if stop() {
                    return Ok(false);
                }
                let piece = &mut buffer[..PIECE.min(length - from)];
                file.read_at(offset + from as u64, piece).map_err(|error| error.to_string())?;
                if checksums.next() != Some(&xxh3_64(piece)) {
                    return Err(format!("array {array}, byte {from}: checksum mismatch"));
                }
            }
        }
        Ok(true)
    }
}

/// A file that an index was opened from, and whose arrays were not compared with their
/// checksums yet.
#[derive(Debug)]
pub(super) struct Unverified {
    file: Box<dyn IoFile>,
    place: String,
    layout: Layout,
    checksums: Vec<u64>,
}

/// An array to be written.
enum Source<'a> {
    Bytes(&'a [u8]),
    Cells(&'a [AtomicU32]),
}

impl Source<'_> {
    /// Calls with piece after piece.
    fn pieces(&self, length: usize, mut write: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        match self {
            Source::Bytes(bytes) => bytes[..length.min(bytes.len())].chunks(PIECE).try_for_each(write),
            Source::Cells(cells) => {
                let cells = &cells[..(length / 4).min(cells.len())];
                let mut buffer = Vec::with_capacity(PIECE);
                cells.chunks(PIECE / 4).try_for_each(|cells| {
                    buffer.clear();
                    for cell in cells {
                        buffer.extend_from_slice(&cell.load(Ordering::Acquire).to_le_bytes());
                    }
                    write(&buffer)
                })
            }
        }
    }
}

/// Reads a whole file and compares every piece with its checksum.
///
/// # Errors
/// [`Error::Io`]; [`Error::Corrupt`] naming what does not fit.
pub fn verify_snapshot(io: &dyn Io, path: &Path) -> Result<()> {
    let file = files::at(path, io.open(path, OpenMode::Read))?;
    Layout::read(&*file)
        .and_then(|(layout, checksums)| layout.verify(&*file, &checksums, &|| false))
        .map(drop)
        .map_err(|detail| Error::corrupt(path.display().to_string(), detail))
}

impl VectorIndex {
    /// Writes the index to a file, which holds either its old content or all of the new one
    /// whatever happens; gives its size in bytes. Searches and insertions go on meanwhile;
    /// what comes in meanwhile is not in the file.
    ///
    /// # Errors
    /// [`Error::Io`] when the file cannot be written; [`Error::InvalidArgument`] when the index
    /// has no dimension that vectors can have; as [`VectorIndex::verify_file`].
    pub fn save(&self, io: &dyn Io, path: &Path, tag: SnapshotTag) -> Result<u64> {
        self.check_dimension()?;
        // Damage must not get a checksum that fits.
        self.verify_file(&|| false)?;
        // Nobody links meanwhile; what is appended stays out, and a generation that is
        // replaced stays as it is.
        let _links = self.links.lock();
        let (generation, mut shape, live, mut slots) = {
            let _writer = self.writer.lock();
            let generation = self.generation.load_full();
            let shape = self.shape_of(&generation, tag);
            let live: Vec<u64> =
                (0..shape.slots.div_ceil(64)).map(|word| generation.live_word(word)).collect();
            let cells = generation.slots.cells().iter().map(|cell| cell.load(Ordering::Acquire));
            (generation.clone(), shape, live, cells.collect::<Vec<u32>>())
        };
        // Identifiers behind the last in use take no room.
        slots.truncate(slots.iter().rposition(|place| *place != 0).map_or(0, |last| last + 1));
        shape.identifiers = slots.len();
        let too_large = || Error::LimitExceeded { what: "bytes of a vector index".into(), limit: u64::MAX };
        let layout = Layout::of(shape).ok_or_else(too_large)?;
        let graph = generation.graph();
        let sources: [Source<'_>; ARRAYS] = [
            Source::Bytes(bytemuck::cast_slice(generation.vectors.values())),
            Source::Bytes(generation.bits.values()),
            Source::Bytes(bytemuck::cast_slice(generation.ids.values())),
            Source::Bytes(bytemuck::cast_slice(&live)),
            Source::Bytes(bytemuck::cast_slice(&slots)),
            Source::Bytes(generation.codes.rows.values()),
            Source::Bytes(bytemuck::cast_slice(generation.codes.scales.values())),
            Source::Bytes(bytemuck::cast_slice(generation.codes.sums.values())),
            Source::Cells(graph.map_or(&[], |graph| graph.base.cells())),
            Source::Cells(graph.map_or(&[], |graph| graph.upper_at.cells())),
            Source::Cells(graph.map_or(&[], |graph| graph.upper.cells())),
        ];
        files::replace_file(io, path, |file| {
            let mut checksums = Vec::new();
            for (source, (offset, length)) in sources.iter().zip(layout.arrays) {
                let mut at = offset;
                source.pieces(length, |piece| {
                    checksums.push(xxh3_64(piece));
                    file.write_at(at, piece)?;
                    at += piece.len() as u64;
                    Ok(())
                })?;
            }
            // The last array may be empty and end behind what was written.
            file.set_len(layout.end)?;
            file.write_at(0, &layout.header_bytes(&checksums))
        })?;
        Ok(layout.end)
    }

    fn shape_of(&self, generation: &Generation, tag: SnapshotTag) -> Shape {
        let slots = generation.len();
        let graph = generation.graph();
        Shape {
            dimension: self.options.dimension,
            seed: self.options.seed,
            tag,
            slots,
            identifiers: generation.identifiers(),
            has_graph: graph.is_some(),
            settled: graph.map_or(0, Graph::settled),
            entry: graph.map_or(0, |graph| graph.entry.load(Ordering::Acquire)),
            upper_used: graph.map_or(0, |graph| graph.upper_used.load(Ordering::Acquire)),
        }
    }

    /// Opens an index from its file. Dimension and seed are those of the file; `options` says
    /// the rest.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`] when the file is damaged, cut short or of another
    /// version or tag: it is derived data, so the owner makes it anew.
    pub fn open(io: &dyn Io, path: &Path, options: &VectorOptions, tag: SnapshotTag) -> Result<Self> {
        let file = files::at(path, io.open(path, OpenMode::Read))?;
        let corrupt = |detail: String| Error::corrupt(path.display().to_string(), detail);
        let (layout, checksums) = Layout::read(&*file).map_err(corrupt)?;
        if layout.shape.tag != tag {
            return Err(corrupt("of another state".into()));
        }
        let verified = layout.end <= VERIFIED_AT_OPEN;
        if verified {
            layout.verify(&*file, &checksums, &|| false).map_err(corrupt)?;
        }
        let generation = files::at(path, load(&*file, &layout))?;
        let index = Self::of_file(&layout, generation, options);
        if !verified {
            let place = path.display().to_string();
            *index.unverified.lock() = Some(Unverified { file, place, layout, checksums });
        }
        Ok(index)
    }

    /// True while the file that the index was opened from was not compared with its checksums.
    pub fn is_unverified(&self) -> bool {
        self.unverified.lock().is_some()
    }

    /// Compares the file that the index was opened from with its checksums, unless that is done;
    /// false when it was stopped before the end. Reads the whole file.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when it is damaged, also each further time: the index may then give wrong
    /// answers, and the owner makes it anew.
    pub fn verify_file(&self, stop: &dyn Fn() -> bool) -> Result<bool> {
        let mut unverified = self.unverified.lock();
        let Some(Unverified { file, place, layout, checksums }) = &*unverified else { return Ok(true) };
        let done = layout
            .verify(&**file, checksums, stop)
            .map_err(|detail| Error::corrupt(place.clone(), detail))?;
        if done {
            *unverified = None;
        }
        Ok(done)
    }

    fn of_file(layout: &Layout, generation: Generation, options: &VectorOptions) -> Self {
        let options =
            VectorOptions { dimension: layout.shape.dimension, seed: layout.shape.seed, ..options.clone() };
        Self::with_generation(options, generation)
    }

    /// Opens whatever a header speaks of, however damaged the rest is: what a large file
    /// may do to those who search it. Fills up or cuts off the bytes to the length they
    /// should have, if that is at most `most`.
    #[cfg(any(all(test, not(loom)), feature = "fuzzing"))]
    pub(super) fn open_damaged(mut bytes: Vec<u8>, most: usize, options: &VectorOptions) -> Option<Self> {
        let head = bytes.get(..FIELDS * 8)?.as_chunks::<8>().0;
        let fields: Vec<u64> = head.iter().map(|x| u64::from_le_bytes(*x)).collect();
        let layout = Layout::of_fields(&fields).ok().filter(|layout| layout.end <= most as u64)?;
        bytes.resize(layout.end as usize, 0);
        let generation = load(&damage::Bytes(bytes), &layout).ok()?;
        Some(Self::of_file(&layout, generation, options))
    }
}

fn load(file: &dyn IoFile, layout: &Layout) -> io::Result<Generation> {
    let shape = &layout.shape;
    let (slots, dimension) = (shape.slots, shape.dimension);
    let capacity = capacity_for(slots);
    let scalar = Scalar::of(dimension);
    let offset = |array: usize| layout.arrays[array].0;
    let live = Arena::<AtomicU64>::load(file, offset(3), slots.div_ceil(64), capacity.div_ceil(64))?;
    let live_count = live.cells().iter().map(|word| word.load(Ordering::Relaxed).count_ones() as usize).sum();
    let generation = Generation {
        dimension,
        capacity,
        vectors: AppendOnly::load(file, offset(0), dimension, slots, capacity)?,
        bits: AppendOnly::load(file, offset(1), bit_row_length(dimension), slots, capacity)?,
        codes: Codes {
            scalar,
            rows: AppendOnly::load(file, offset(5), code_stride(scalar.length()), slots, capacity)?,
            scales: AppendOnly::load(file, offset(6), 1, slots, capacity)?,
            sums: AppendOnly::load(file, offset(7), 1, slots, capacity)?,
        },
        ids: AppendOnly::load(file, offset(2), 1, slots, capacity)?,
        live,
        slots: Arena::load(
            file,
            offset(4),
            shape.identifiers,
            capacity_for(shape.identifiers.saturating_sub(1)),
        )?,
        live_count: AtomicUsize::new(live_count),
        complete: AtomicUsize::new(slots),
        graph: Default::default(),
    };
    if shape.has_graph {
        let nodes = shape.settled;
        generation.set_graph(Graph {
            seed: shape.seed,
            base: Arena::load(file, offset(8), nodes * BASE_LINKS, capacity * BASE_LINKS)?,
            upper_at: Arena::load(file, offset(9), nodes, capacity)?,
            upper: Arena::load(file, offset(10), shape.upper_used * LINKS, upper_blocks(capacity) * LINKS)?,
            upper_used: AtomicUsize::new(shape.upper_used),
            entry: AtomicU64::new(shape.entry),
            settled: AtomicUsize::new(shape.settled),
        });
    }
    Ok(generation)
}
