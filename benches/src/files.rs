//! Data files of a comparison: vectors from `.fvecs` and `.npy`, single columns, and results
//! as `.ivecs`. All little-endian. Errors name the file and what is wrong with it.

use std::fmt;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use crate::npy::{self, Element};

/// The widest vectors that are believed; a larger number is a damaged or foreign file.
const WIDEST: u64 = 65_536;

/// A data file that cannot be used.
pub struct FileError {
    path: PathBuf,
    problem: String,
}

impl FileError {
    /// Says what is wrong with a file.
    pub fn new(path: &Path, problem: impl fmt::Display) -> Self {
        Self { path: path.to_path_buf(), problem: problem.to_string() }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.problem)
    }
}

/// The same as for people: an error that ends a program is shown in this form.
impl fmt::Debug for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for FileError {}

/// Vectors in row order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    /// Numbers per row.
    pub dimension: usize,
    /// All rows, one after the other.
    pub values: Vec<f32>,
}

impl Matrix {
    /// True without any row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.values.len().checked_div(self.dimension).unwrap_or(0)
    }

    /// A row; `None` past the end.
    pub fn row(&self, row: usize) -> Option<&[f32]> {
        self.values.get(row * self.dimension..(row + 1) * self.dimension)
    }

    /// All rows.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> + Clone {
        self.values.chunks_exact(self.dimension.max(1))
    }
}

/// An open file and its length.
pub fn open(path: &Path) -> Result<(BufReader<File>, u64), FileError> {
    let wrong = |error| FileError::new(path, error);
    let file = File::open(path).map_err(wrong)?;
    let length = file.metadata().map_err(wrong)?.len();
    Ok((BufReader::with_capacity(1 << 20, file), length))
}

/// Reads at most `most` vectors from row `from` on, by the ending of the name.
pub fn read_vectors(path: &Path, from: usize, most: usize) -> Result<Matrix, FileError> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("fvecs") => read_fvecs(path, from, most),
        Some("npy") => npy::read_matrix(path, from, most),
        _ => Err(FileError::new(path, "vectors are read from .fvecs and .npy only")),
    }
}

/// Reads a column of numbers that all fit an `i32`: `.npy`, or raw `.u8` and `.i32`.
pub fn read_column(path: &Path) -> Result<Vec<i32>, FileError> {
    let element = match path.extension().and_then(|ending| ending.to_str()) {
        Some("npy") => return npy::read_column(path),
        Some("u8") => Element::U8,
        Some("i32") => Element::I32,
        _ => return Err(FileError::new(path, "columns are read from .npy, .u8 and .i32 only")),
    };
    let bytes = std::fs::read(path).map_err(|error| FileError::new(path, error))?;
    if !bytes.len().is_multiple_of(element.size()) {
        let problem = format!("truncated: {} bytes are no whole number of {element}", bytes.len());
        return Err(FileError::new(path, problem));
    }
    bytes.chunks_exact(element.size()).map(|value| npy::integer(path, element, value)).collect()
}

/// Reads a column of row numbers.
pub fn read_ids(path: &Path) -> Result<Vec<u32>, FileError> {
    let id = |number| u32::try_from(number).map_err(|_| FileError::new(path, format!("{number} is no row")));
    read_column(path)?.into_iter().map(id).collect()
}

/// The file NAME with its usual ending, or with `.npy` when that is not there.
pub fn file_of(folder: &Path, name: &str, usual: &str) -> PathBuf {
    let raw = folder.join(format!("{name}.{usual}"));
    let array = folder.join(format!("{name}.npy"));
    if !raw.exists() && array.exists() { array } else { raw }
}

/// Reads `.fvecs`: each record is its dimension as `i32` and as many `f32`.
fn read_fvecs(path: &Path, from: usize, most: usize) -> Result<Matrix, FileError> {
    let (mut file, length) = open(path)?;
    let wrong = |problem: String| FileError::new(path, problem);
    let mut head = [0u8; 4];
    if length < 4 {
        return Err(wrong(format!("{length} bytes are too few for .fvecs")));
    }
    file.read_exact(&mut head).map_err(|error| FileError::new(path, error))?;
    let dimension = u64::try_from(i32::from_le_bytes(head)).unwrap_or(0);
    if !(1..=WIDEST).contains(&dimension) {
        let said = i32::from_le_bytes(head);
        return Err(wrong(format!("not .fvecs: the first record says dimension {said}")));
    }
    let record = 4 + 4 * dimension;
    if !length.is_multiple_of(record) {
        return Err(wrong(format!("truncated: {length} bytes are no whole number of records of {record}")));
    }
    let rows = (length / record) as usize;
    let end = from.saturating_add(most).min(rows);
    file.seek_relative((from.min(end) as u64 * record) as i64 - 4)
        .map_err(|error| FileError::new(path, error))?;
    let mut values = Vec::with_capacity(end.saturating_sub(from) * dimension as usize);
    let mut bytes = vec![0u8; record as usize];
    for row in from..end {
        file.read_exact(&mut bytes).map_err(|error| FileError::new(path, error))?;
        let (own, numbers) = bytes.split_at(4);
        if own != head {
            return Err(wrong(format!("record {row} has another dimension than the first ({dimension})")));
        }
        values.extend(numbers.chunks_exact(4).map(|number| Element::F32.number(number) as f32));
    }
    Ok(Matrix { dimension: dimension as usize, values })
}

/// Writes rows of `width` numbers as `.ivecs`: each record is its width and as many `i32`.
pub fn write_ivecs(path: &Path, width: usize, values: &[i32]) -> Result<(), FileError> {
    let write = || {
        let mut file = BufWriter::new(File::create(path)?);
        for record in values.chunks_exact(width.max(1)) {
            file.write_all(&(width as i32).to_le_bytes())?;
            for value in record {
                file.write_all(&value.to_le_bytes())?;
            }
        }
        file.flush()
    };
    write().map_err(|error: std::io::Error| FileError::new(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        (folder, path)
    }

    fn fvecs(rows: &[&[f32]]) -> Vec<u8> {
        let record = |row: &&[f32]| {
            let mut bytes = (row.len() as i32).to_le_bytes().to_vec();
            row.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
            bytes
        };
        rows.iter().flat_map(record).collect()
    }

    fn complaint(name: &str, bytes: &[u8]) -> String {
        let (_folder, path) = file(name, bytes);
        let text = read_vectors(&path, 0, usize::MAX).unwrap_err().to_string();
        assert!(text.contains(name), "{text} does not name the file");
        text
    }

    #[test]
    fn fvecs_are_read_whole_and_in_part() {
        let (_folder, path) = file("a.fvecs", &fvecs(&[&[1.0, 2.0], &[3.0, -4.5], &[5.0, 6.0]]));
        let all = read_vectors(&path, 0, usize::MAX).unwrap();
        assert_eq!((all.dimension, all.len()), (2, 3));
        assert_eq!(all.row(1), Some(&[3.0, -4.5][..]));
        assert_eq!(all.row(3), None);
        assert_eq!(read_vectors(&path, 1, 1).unwrap().values, [3.0, -4.5]);
        assert_eq!(read_vectors(&path, 2, 9).unwrap().values, [5.0, 6.0]);
        assert_eq!(read_vectors(&path, 7, 9).unwrap().len(), 0);
    }

    #[test]
    fn broken_fvecs_are_refused() {
        let mut bytes = fvecs(&[&[1.0, 2.0], &[3.0, 4.0]]);
        assert!(complaint("empty.fvecs", &[]).contains("too few"));
        assert!(complaint("cut.fvecs", &bytes[..bytes.len() - 1]).contains("truncated"));
        assert!(complaint("zero.fvecs", &0i32.to_le_bytes()).contains("dimension 0"));
        assert!(complaint("minus.fvecs", &(-2i32).to_le_bytes()).contains("dimension -2"));
        assert!(complaint("text.fvecs", b"{\"cmd\":\"quit\"}  ").contains("not .fvecs"));
        bytes[12] = 3;
        assert!(complaint("mixed.fvecs", &bytes).contains("record 1 has another dimension"));
        assert!(complaint("a.csv", b"1,2").contains("only"));
        let missing = Path::new("no such folder/b.fvecs");
        assert!(read_vectors(missing, 0, 1).unwrap_err().to_string().starts_with("no such folder"));
    }

    #[test]
    fn ivecs_have_the_width_before_each_row() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("o.ivecs");
        write_ivecs(&path, 3, &[1, 2, -1, 7, 8, 9]).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let read: Vec<i32> =
            bytes.chunks_exact(4).map(|x| i32::from_le_bytes([x[0], x[1], x[2], x[3]])).collect();
        assert_eq!(read, [3, 1, 2, -1, 3, 7, 8, 9]);
    }

    #[test]
    fn raw_columns_are_read_and_cut_ones_refused() {
        let (_folder, path) = file("attr_p50.u8", &[1, 0, 255]);
        assert_eq!(read_column(&path).unwrap(), [1, 0, 255]);
        let (_folder, path) = file("tenant.i32", &[2, 0, 0, 0, 255, 255, 255, 255]);
        assert_eq!(read_column(&path).unwrap(), [2, -1]);
        let (_folder, path) = file("tenant.i32", &[2, 0, 0, 0, 1]);
        assert!(read_column(&path).unwrap_err().to_string().contains("truncated"));
    }

    #[test]
    fn any_file_may_also_be_npy() {
        let folder = tempfile::tempdir().unwrap();
        assert!(file_of(folder.path(), "tenant", "i32").ends_with("tenant.i32"));
        std::fs::write(folder.path().join("tenant.npy"), b"").unwrap();
        assert!(file_of(folder.path(), "tenant", "i32").ends_with("tenant.npy"));
        std::fs::write(folder.path().join("tenant.i32"), b"").unwrap();
        assert!(file_of(folder.path(), "tenant", "i32").ends_with("tenant.i32"));
    }
}
