//! Memory of the vector index: aligned arrays with a fixed place.
//!
//! An [`Arena`] is a zeroed array that never moves; large ones are 2 MB-aligned and ask for
//! huge pages, or lie over a file, copy-on-write. [`AppendOnly`] grows inside an arena: one
//! writer appends, any number of readers see the rows that are complete. This is the only
//! module of the index, kernels apart, that holds `unsafe`; it knows nothing of vectors,
//! codes or graphs.

#![allow(unsafe_code)]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::ptr::NonNull;

use crate::index::vector::sync::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, Watch};
use crate::store::io::IoFile;

/// Arrays from this size on are mapped, aligned to huge pages, and ask for them.
const HUGE: usize = 2 << 20;
/// Runs of a file from this size on are mapped.
#[cfg(unix)]
const MAPPED_FROM: usize = 64 << 10;
/// Alignment of smaller ones: a cache line.
const LINE: usize = 64;

/// Values an arena may hold: any bit pattern is one, zero included, and none owns anything.
///
/// # Safety
/// The type must be valid for every bit pattern, have no padding, and need no drop.
pub(crate) unsafe trait Plain: Send + Sync + 'static {
    /// Atomics of the model checker are more than their bits.
    #[cfg(all(test, loom))]
    fn zero() -> Self;
}

macro_rules! plain {
    ($type:ty, $zero:expr) => {
        // SAFETY: integers and floats are valid for all bits; their atomics have the same
        // layout. Those of the model checker are written one by one and never read as bytes.
        unsafe impl Plain for $type {
            #[cfg(all(test, loom))]
            fn zero() -> Self {
                $zero
            }
        }
    };
}

plain!(u8, 0);
plain!(i16, 0);
plain!(u32, 0);
plain!(f32, 0.0);
plain!(AtomicU32, AtomicU32::new(0));
plain!(AtomicU64, AtomicU64::new(0));

#[derive(Debug)]
enum Backing {
    Heap(Layout),
    #[cfg(unix)]
    Mapped {
        /// Of the whole reservation.
        base: NonNull<u8>,
        length: usize,
    },
}

/// A zeroed array of a fixed length that stays where it is.
#[derive(Debug)]
pub(crate) struct Arena<T> {
    start: NonNull<T>,
    length: usize,
    backing: Backing,
}

// SAFETY: the arena owns its memory; shared access goes through `&[T]` of atomics, or
// through the functions below whose callers keep writers and readers apart.
unsafe impl<T: Plain> Send for Arena<T> {}
// SAFETY: as above.
unsafe impl<T: Plain> Sync for Arena<T> {}

impl<T: Plain> Arena<T> {
    /// An array of `length` zeros.
    pub(crate) fn new(length: usize) -> Self {
        let bytes = length.saturating_mul(size_of::<T>()).max(1);
        #[cfg(all(unix, not(all(test, loom))))]
        if bytes >= HUGE
            && let Some(arena) = Self::mapped(length, bytes)
        {
            return arena;
        }
        let Ok(layout) = Layout::from_size_align(bytes, LINE) else { capacity_overflow() };
        // SAFETY: the layout has a size above zero.
        let Some(start) = NonNull::new(unsafe { alloc_zeroed(layout) }) else { handle_alloc_error(layout) };
        #[cfg(all(test, loom))]
        for at in 0..length {
            // SAFETY: inside the allocation, which nobody else knows yet.
            unsafe { start.cast::<T>().add(at).write(T::zero()) };
        }
        Self { start: start.cast(), length, backing: Backing::Heap(layout) }
    }

    #[cfg(unix)]
    #[cfg_attr(all(test, loom), allow(dead_code))]
    fn mapped(length: usize, bytes: usize) -> Option<Self> {
        use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
        let whole = bytes.checked_next_multiple_of(HUGE)?.checked_add(HUGE)?;
        #[cfg(target_os = "linux")]
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        #[cfg(not(target_os = "linux"))]
        let flags = MapFlags::PRIVATE;
        // SAFETY: a new private mapping at an address of the system's choice touches no
        // memory that anybody uses.
        let base =
            unsafe { mmap_anonymous(std::ptr::null_mut(), whole, ProtFlags::READ | ProtFlags::WRITE, flags) };
        let base = NonNull::new(base.ok()?.cast::<u8>())?;
        let skip = base.as_ptr().align_offset(HUGE).min(HUGE);
        // SAFETY: `skip` is at most one huge page, and the mapping is one longer than needed.
        let start = unsafe { base.add(skip) };
        #[cfg(target_os = "linux")]
        {
            // SAFETY: the range lies inside the mapping made above. Refused advice costs
            // speed only.
            let _ = unsafe {
                rustix::mm::madvise(start.as_ptr().cast(), whole - HUGE, rustix::mm::Advice::LinuxHugepage)
            };
        }
        Some(Self { start: start.cast(), length, backing: Backing::Mapped { base, length: whole } })
    }

    /// An array whose first `values` come from a file, at a byte offset; `length` in all.
    /// A long run of them is mapped, copy-on-write: only what is touched is read, and
    /// what is changed stays in memory.
    ///
    /// # Errors
    /// When the file is too short or cannot be read.
    pub(crate) fn load(file: &dyn IoFile, offset: u64, values: usize, length: usize) -> io::Result<Self> {
        let bytes = values.saturating_mul(size_of::<T>());
        if values > length || offset.checked_add(bytes as u64).is_none_or(|end| end > file.len().unwrap_or(0))
        {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        #[cfg(all(test, loom))]
        if std::mem::needs_drop::<T>() {
            return Err(ErrorKind::Unsupported.into());
        }
        let arena = Self::new(length);
        #[cfg(unix)]
        if bytes >= MAPPED_FROM
            && offset.is_multiple_of(rustix::param::page_size() as u64)
            && let Backing::Mapped { .. } = arena.backing
            && let Some(file) = file.as_file()
        {
            use rustix::mm::{MapFlags, ProtFlags, mmap};
            // SAFETY: the target is the start of this arena's own mapping, page-aligned and,
            // rounded up to pages, not longer than it; nobody has a reference into it yet.
            // The file is long enough (checked), and the store's lock keeps it from being
            // cut. Copy-on-write: nothing is written to it.
            let mapped = unsafe {
                mmap(
                    arena.start.as_ptr().cast(),
                    bytes,
                    ProtFlags::READ | ProtFlags::WRITE,
                    MapFlags::PRIVATE | MapFlags::FIXED,
                    file,
                    offset,
                )
            };
            mapped?;
            // The last page goes on with what follows in the file.
            let tail = bytes.next_multiple_of(rustix::param::page_size()) - bytes;
            // SAFETY: the page belongs to this arena, which is not shared yet, and is mapped
            // copy-on-write.
            unsafe { std::ptr::write_bytes(arena.start.as_ptr().cast::<u8>().add(bytes), 0, tail) };
            return Ok(arena);
        }
        // SAFETY: the arena is not shared yet, `bytes` lie inside it, and any bytes are
        // valid values.
        let content = unsafe { std::slice::from_raw_parts_mut(arena.start.as_ptr().cast::<u8>(), bytes) };
        file.read_at(offset, content)?;
        Ok(arena)
    }

    /// How many values there are.
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// # Safety
    /// Nobody may write to the range while the slice lives, and it must lie inside.
    unsafe fn slice(&self, range: Range<usize>) -> &[T] {
        debug_assert!(range.start <= range.end && range.end <= self.length);
        // SAFETY: inside the allocation, initialised (zeroed or written), not written to by
        // the caller's promise.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().add(range.start), range.len()) }
    }
}

impl Arena<AtomicU32> {
    /// The values.
    pub(crate) fn cells(&self) -> &[AtomicU32] {
        // SAFETY: atomics may be written to while they are shared.
        unsafe { self.slice(0..self.length) }
    }
}

impl Arena<AtomicU64> {
    /// The values.
    pub(crate) fn cells(&self) -> &[AtomicU64] {
        // SAFETY: atomics may be written to while they are shared.
        unsafe { self.slice(0..self.length) }
    }
}

impl<T> Drop for Arena<T> {
    fn drop(&mut self) {
        #[cfg(all(test, loom))]
        // SAFETY: every value was written by `new`, and is dropped once.
        unsafe {
            std::ptr::slice_from_raw_parts_mut(self.start.as_ptr(), self.length).drop_in_place();
        }
        match self.backing {
            // SAFETY: allocated in `new` with this layout, freed once.
            Backing::Heap(layout) => unsafe { dealloc(self.start.as_ptr().cast(), layout) },
            #[cfg(unix)]
            Backing::Mapped { base, length } => {
                // SAFETY: the mapping of `mapped`, unmapped once; no reference outlives the arena.
                let _ = unsafe { rustix::mm::munmap(base.as_ptr().cast(), length) };
            }
        }
    }
}

#[cold]
fn capacity_overflow() -> ! {
    panic!("an array beyond the address space")
}

/// AppendOnly of `width` values that one writer appends and any number of readers see.
///
/// A row is written once, before its number is published, and never again: readers take no
/// lock and need no retry.
#[derive(Debug)]
pub(crate) struct AppendOnly<T> {
    arena: Arena<T>,
    width: usize,
    published: AtomicUsize,
    writing: AtomicBool,
    watch: Watch,
}

impl<T: Plain + Copy> AppendOnly<T> {
    /// No rows yet, room for `capacity` of them.
    pub(crate) fn new(width: usize, capacity: usize) -> Self {
        Self {
            arena: Arena::new(width * capacity),
            width,
            published: AtomicUsize::new(0),
            writing: AtomicBool::new(false),
            watch: Watch::new(capacity),
        }
    }

    /// As [`AppendOnly::new`], the first `rows` from a file.
    pub(crate) fn load(
        file: &dyn IoFile,
        offset: u64,
        width: usize,
        rows: usize,
        capacity: usize,
    ) -> io::Result<Self> {
        let values = rows.checked_mul(width).ok_or(ErrorKind::UnexpectedEof)?;
        Ok(Self {
            arena: Arena::load(file, offset, values, width * capacity)?,
            width,
            published: AtomicUsize::new(rows),
            writing: AtomicBool::new(false),
            watch: Watch::new(capacity),
        })
    }

    /// How many rows readers may see.
    pub(crate) fn len(&self) -> usize {
        self.published.load(Ordering::Acquire)
    }

    /// Values per row.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// All rows that are complete, one after the other.
    pub(crate) fn values(&self) -> &[T] {
        let rows = self.len();
        let values = rows * self.width;
        self.watch.read(0..rows);
        // SAFETY: published rows are never written again, and `append` publishes only what
        // fits.
        unsafe { self.arena.slice(0..values) }
    }

    /// A complete row; `None` beyond the last.
    pub(crate) fn get(&self, row: u32) -> Option<&[T]> {
        self.values().get(row as usize * self.width..(row as usize + 1) * self.width)
    }

    /// Appends the rows of another array that are not here yet; false when they do not fit.
    #[must_use]
    pub(crate) fn extend_from(&self, other: &Self) -> bool {
        other.values().get(self.values().len()..).is_some_and(|rest| self.append(rest))
    }

    /// Appends whole rows; false, and nothing changes, when they do not fit, are cut short,
    /// or another thread is appending.
    #[must_use]
    pub(crate) fn append(&self, values: &[T]) -> bool {
        if self.writing.swap(true, Ordering::Acquire) {
            return false;
        }
        let from = self.published.load(Ordering::Relaxed) * self.width;
        let fits = self.width > 0
            && values.len().is_multiple_of(self.width)
            && self.arena.len() - from >= values.len();
        if fits {
            // SAFETY: the target lies inside the arena (checked), beyond all published rows,
            // so that no reader has a slice of it; `writing` keeps other writers out.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    values.as_ptr(),
                    self.arena.start.as_ptr().add(from),
                    values.len(),
                );
            }
            let rows = (from + values.len()) / self.width;
            self.watch.write(from / self.width..rows);
            self.published.store(rows, Ordering::Release);
        }
        self.writing.store(false, Ordering::Release);
        fits
    }
}

/// Asks for the cache lines of a few values that are about to be read.
#[inline]
pub(crate) fn prefetch<T>(values: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let bytes = size_of_val(values);
        let start = values.as_ptr().cast::<i8>();
        for offset in (0..bytes).step_by(LINE) {
            // SAFETY: the address lies inside the slice; a prefetch reads nothing.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.add(offset)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = values;
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn arenas_are_zeroed_and_aligned() {
        for length in [0, 1, 63, 4096, 3 << 20] {
            let arena: Arena<u8> = Arena::new(length);
            // SAFETY: nobody writes.
            let values = unsafe { arena.slice(0..length) };
            assert!(values.iter().all(|value| *value == 0));
            let alignment = if length >= HUGE { HUGE } else { LINE };
            assert!(arena.start.as_ptr().is_aligned_to_bytes(alignment));
        }
    }

    trait Aligned {
        fn is_aligned_to_bytes(&self, bytes: usize) -> bool;
    }

    impl Aligned for *mut u8 {
        fn is_aligned_to_bytes(&self, bytes: usize) -> bool {
            (*self as usize).is_multiple_of(bytes)
        }
    }

    /// A long array of a file is mapped by whole pages: what follows it stays out.
    #[test]
    fn arrays_of_a_file_end_where_they_end() {
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, &vec![0xFF; 1 << 20]).unwrap();
        for values in [1, 1000, MAPPED_FROM / 4, MAPPED_FROM / 4 + 1, 100_001] {
            let arena: Arena<AtomicU32> = Arena::load(&file, 4096, values, HUGE).unwrap();
            let (loaded, rest) = arena.cells().split_at(values);
            assert!(loaded.iter().all(|cell| cell.load(Ordering::Relaxed) == u32::MAX));
            assert!(rest.iter().all(|cell| cell.load(Ordering::Relaxed) == 0), "{values}");
        }
        assert!(Arena::<AtomicU32>::load(&file, 4096, 1 << 20, 1 << 21).is_err());
    }

    #[test]
    fn rows_refuse_what_does_not_fit() {
        let rows: AppendOnly<u32> = AppendOnly::new(3, 2);
        assert!(!rows.append(&[1, 2]));
        assert!(rows.append(&[1, 2, 3]));
        assert!(!rows.append(&[4; 6]));
        assert!(rows.append(&[4, 5, 6]));
        assert!(!rows.append(&[7; 3]));
        assert_eq!(rows.values(), [1, 2, 3, 4, 5, 6]);
        assert_eq!((rows.get(1), rows.get(2)), (Some(&[4, 5, 6][..]), None));
    }

    #[test]
    fn readers_see_only_complete_rows() {
        let rows: AppendOnly<u32> = AppendOnly::new(5, 10_000);
        std::thread::scope(|scope| {
            scope.spawn(|| (0..10_000u32).for_each(|row| assert!(rows.append(&[row; 5]))));
            for _ in 0..2 {
                scope.spawn(|| {
                    loop {
                        let seen = rows.values();
                        for (number, row) in seen.chunks_exact(5).enumerate().rev().take(3) {
                            assert!(row.iter().all(|value| *value as usize == number));
                        }
                        if seen.len() == 50_000 {
                            break;
                        }
                    }
                });
            }
        });
    }
}
