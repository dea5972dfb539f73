//! Arrays of NumPy (`.npy`, versions 1 to 3): little-endian numbers, row after row (C order).

use std::fmt;
use std::io::Read;
use std::path::Path;

use crate::files::{self, FileError, Matrix};

/// The longest header that is believed.
const LONGEST_HEADER: usize = 1 << 16;

/// A number format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// Half precision.
    F16,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
    /// Signed, 32 bits.
    I32,
    /// Signed, 64 bits.
    I64,
    /// Unsigned, 8 bits.
    U8,
}

impl Element {
    /// Bytes of one number.
    pub fn size(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::F16 => 2,
            Self::F32 | Self::I32 => 4,
            Self::F64 | Self::I64 => 8,
        }
    }

    /// The format of a `descr`, such as `<f4`.
    fn of(descr: &str) -> Option<Self> {
        Some(match descr {
            "<f2" => Self::F16,
            "<f4" => Self::F32,
            "<f8" => Self::F64,
            "<i4" => Self::I32,
            "<i8" => Self::I64,
            "|u1" | "<u1" => Self::U8,
            _ => return None,
        })
    }

    /// A number from its little-endian bytes.
    pub fn number(self, bytes: &[u8]) -> f64 {
        let mut padded = [0u8; 8];
        let used = bytes.len().min(8);
        padded[..used].copy_from_slice(&bytes[..used]);
        let bits = u64::from_le_bytes(padded);
        match self {
            Self::U8 => bits as f64,
            Self::F16 => f64::from(half(bits as u16)),
            Self::F32 => f64::from(f32::from_bits(bits as u32)),
            Self::F64 => f64::from_bits(bits),
            Self::I32 => f64::from(bits as u32 as i32),
            Self::I64 => bits as i64 as f64,
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", format!("{self:?}").to_lowercase())
    }
}

/// A half-precision number.
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0f32 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f32::from(bits & 0x3ff));
    sign * match exponent {
        0 => fraction * 2f32.powi(-24),
        0x1f if fraction == 0.0 => f32::INFINITY,
        0x1f => f32::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f32.powi(exponent - 15),
    }
}

/// A whole number that fits an `i32`.
pub fn integer(path: &Path, element: Element, bytes: &[u8]) -> Result<i32, FileError> {
    let number = element.number(bytes);
    let whole = number as i32;
    if f64::from(whole) == number {
        return Ok(whole);
    }
    Err(FileError::new(path, format!("{number} is no 32-bit whole number")))
}

/// What a header says.
#[derive(Debug, PartialEq)]
struct Header {
    element: Element,
    rows: usize,
    /// Numbers in a row; 1 for a flat array.
    width: usize,
}

/// Reads the header and leaves the reader at the first number.
fn read_header(path: &Path, file: &mut impl Read, length: u64) -> Result<Header, FileError> {
    let wrong = |problem: String| FileError::new(path, problem);
    let cut = |_| FileError::new(path, format!("truncated in the header ({length} bytes)"));
    let mut start = [0u8; 8];
    file.read_exact(&mut start).map_err(cut)?;
    if start[..6] != *b"\x93NUMPY" {
        return Err(wrong(String::from("not .npy: no NUMPY at the start")));
    }
    let bytes_of_size = match start[6] {
        1 => 2,
        2 | 3 => 4,
        version => return Err(wrong(format!("version {version} of .npy is unknown"))),
    };
    let mut size = [0u8; 4];
    file.read_exact(&mut size[..bytes_of_size]).map_err(cut)?;
    let size = u32::from_le_bytes(size) as usize;
    if size > LONGEST_HEADER {
        return Err(wrong(format!("a header of {size} bytes is too long")));
    }
    let mut text = vec![0u8; size];
    file.read_exact(&mut text).map_err(cut)?;
    let text = String::from_utf8_lossy(&text).into_owned();

    let (descr, order, shape) = (value(&text, "descr"), value(&text, "fortran_order"), value(&text, "shape"));
    let (Some(descr), Some(order), Some(shape)) = (descr, order, shape) else {
        return Err(wrong(format!("the header lacks descr, fortran_order or shape: {}", text.trim())));
    };
    let descr = descr.trim_matches(['\'', '"']);
    let Some(element) = Element::of(descr) else {
        return Err(wrong(format!("numbers of type {descr} are not read (f16, f32, f64, i32, i64, u8 are)")));
    };
    let numbers: Result<Vec<usize>, _> =
        shape.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::parse).collect();
    let (rows, width) = match numbers.as_deref() {
        Ok([rows]) => (*rows, 1),
        Ok([rows, width]) => (*rows, *width),
        _ => return Err(wrong(format!("shape ({shape}) is neither one list of numbers nor one of rows"))),
    };
    if order != "False" && width > 1 {
        return Err(wrong(String::from("column after column (fortran_order) is not read")));
    }
    let data = length.saturating_sub((8 + bytes_of_size + size) as u64);
    let needed = (rows as u64).checked_mul(width as u64).and_then(|n| n.checked_mul(element.size() as u64));
    match needed {
        Some(needed) if data == needed => Ok(Header { element, rows, width }),
        Some(needed) if data < needed => {
            Err(wrong(format!("truncated: {data} of {needed} bytes of numbers")))
        }
        _ => Err(wrong(format!("{data} bytes of numbers are more than shape ({shape}) of {element}"))),
    }
}

/// The text of a key's value in the header, which is a Python dictionary.
fn value<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) =
        ['\'', '"'].iter().find_map(|quote| header.split_once(&format!("{quote}{key}{quote}")))?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    match rest.strip_prefix('(') {
        Some(tuple) => tuple.split_once(')').map(|(inside, _)| inside),
        None => rest.split([',', '}']).next().map(str::trim),
    }
}

/// Reads at most `most` rows from row `from` on, as vectors.
pub fn read_matrix(path: &Path, from: usize, most: usize) -> Result<Matrix, FileError> {
    let (mut file, length) = files::open(path)?;
    let header = read_header(path, &mut file, length)?;
    let record = header.width * header.element.size();
    let end = from.saturating_add(most).min(header.rows);
    if record == 0 {
        return Err(FileError::new(path, "vectors without numbers"));
    }
    let failed = |error| FileError::new(path, error);
    file.seek_relative((from.min(end) * record) as i64).map_err(failed)?;
    let mut values = Vec::with_capacity(end.saturating_sub(from) * header.width);
    let mut bytes = vec![0u8; record];
    for _ in from..end {
        file.read_exact(&mut bytes).map_err(failed)?;
        values.extend(
            bytes.chunks_exact(header.element.size()).map(|number| header.element.number(number) as f32),
        );
    }
    Ok(Matrix { dimension: header.width, values })
}

/// Reads a flat array of whole numbers.
pub fn read_column(path: &Path) -> Result<Vec<i32>, FileError> {
    let (mut file, length) = files::open(path)?;
    let header = read_header(path, &mut file, length)?;
    if header.width != 1 {
        return Err(FileError::new(path, format!("{} columns where one was expected", header.width)));
    }
    let mut bytes = Vec::with_capacity(header.rows * header.element.size());
    file.read_to_end(&mut bytes).map_err(|error| FileError::new(path, error))?;
    bytes.chunks_exact(header.element.size()).map(|number| integer(path, header.element, number)).collect()
}

/// Writes row numbers as a flat array of `i32`.
pub fn write_ids(path: &Path, ids: impl Iterator<Item = u32>) -> Result<(), FileError> {
    let numbers: Vec<u8> = ids.flat_map(|id| (id as i32).to_le_bytes()).collect();
    let shape = numbers.len() / 4;
    let mut header = format!("{{'descr': '<i4', 'fortran_order': False, 'shape': ({shape},), }}");
    // The numbers start at a multiple of 64; a line break ends the header.
    let padding = (10 + header.len() + 1).next_multiple_of(64) - (10 + header.len() + 1);
    header.push_str(&" ".repeat(padding));
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(numbers);
    std::fs::write(path, bytes).map_err(|error| FileError::new(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of a `.npy` file, as NumPy writes it.
    fn npy(header: &str, data: &[u8]) -> Vec<u8> {
        let mut text = String::from(header);
        while (10 + text.len() + 1) % 64 != 0 {
            text.push(' ');
        }
        text.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes.extend(data);
        bytes
    }

    fn header(descr: &str, shape: &str) -> String {
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}")
    }

    fn file(bytes: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        std::fs::write(&path, bytes).unwrap();
        (folder, path)
    }

    fn matrix(bytes: &[u8]) -> Result<Matrix, FileError> {
        let (_folder, path) = file(bytes);
        read_matrix(&path, 0, usize::MAX)
    }

    fn complaint(bytes: &[u8]) -> String {
        let text = matrix(bytes).unwrap_err().to_string();
        assert!(text.contains("a.npy: "), "{text} does not name the file");
        text
    }

    fn bytes<const N: usize, T: Copy>(values: &[T], of: impl Fn(T) -> [u8; N]) -> Vec<u8> {
        values.iter().flat_map(|value| of(*value)).collect()
    }

    #[test]
    fn each_type_of_number_is_read() {
        let cases = [
            ("<f4", bytes(&[1.0, -2.5, 0.0, 100.0], f32::to_le_bytes)),
            ("<f8", bytes(&[1.0, -2.5, 0.0, 100.0], f64::to_le_bytes)),
            ("<f2", bytes(&[0x3c00, 0xc100, 0, 0x5640], u16::to_le_bytes)),
        ];
        for (descr, data) in cases {
            let read = matrix(&npy(&header(descr, "2, 2"), &data)).unwrap();
            assert_eq!(read.dimension, 2);
            assert_eq!(read.values, [1.0, -2.5, 0.0, 100.0], "{descr}");
        }
        let cases = [
            ("<i4", bytes(&[1, -2, 300], i32::to_le_bytes), [1, -2, 300]),
            ("<i8", bytes(&[1, -2, 300], i64::to_le_bytes), [1, -2, 300]),
            ("|u1", vec![1, 0, 255], [1, 0, 255]),
        ];
        for (descr, data, expected) in cases {
            let (_folder, path) = file(&npy(&header(descr, "3,"), &data));
            assert_eq!(read_column(&path).unwrap(), expected, "{descr}");
        }
    }

    #[test]
    fn a_part_is_read_from_the_middle() {
        let (_folder, path) = file(&npy(&header("<f4", "3, 1"), &bytes(&[1.0, 2.0, 3.0], f32::to_le_bytes)));
        assert_eq!(read_matrix(&path, 1, 1).unwrap().values, [2.0]);
        assert_eq!(read_matrix(&path, 1, 9).unwrap().values, [2.0, 3.0]);
        assert_eq!(read_matrix(&path, 4, 9).unwrap().len(), 0);
    }

    #[test]
    fn the_second_version_has_a_longer_size() {
        let mut file = npy(&header("<f4", "1, 1"), &1f32.to_le_bytes());
        file[6] = 2;
        file.splice(10..10, [0, 0]);
        assert_eq!(matrix(&file).unwrap().values, [1.0]);
    }

    #[test]
    fn half_precision_is_exact() {
        let known = [
            (0x0000, 0.0),
            (0x8000, -0.0),
            (0x0001, 5.960_464_5e-8),
            (0x03ff, 6.097_555e-5),
            (0x0400, 6.103_515_6e-5),
            (0x3555, 0.333_251_95),
            (0x7bff, 65_504.0),
            (0x7c00, f32::INFINITY),
            (0xfc00, f32::NEG_INFINITY),
        ];
        for (bits, number) in known {
            assert_eq!(half(bits).to_bits(), f32::to_bits(number), "{bits:#x}");
        }
        assert!(half(0x7e00).is_nan());
    }

    #[test]
    fn wrong_headers_are_refused() {
        let data = [0u8; 16];
        let good = npy(&header("<f4", "2, 2"), &data);
        assert!(complaint(b"").contains("truncated in the header"));
        assert!(complaint(&good[..20]).contains("truncated in the header"));
        assert!(complaint(&good[..good.len() - 1]).contains("truncated: 15 of 16"));
        assert!(complaint(&[&good[..], &[0]].concat()).contains("more than shape"));
        assert!(complaint(b"not an array at all").contains("no NUMPY"));
        assert!(complaint(&npy(&header(">f4", "2, 2"), &data)).contains("type >f4"));
        assert!(complaint(&npy(&header("|O", "2, 2"), &data)).contains("type |O"));
        assert!(complaint(&npy(&header("<f4", "2, 2, 1"), &data)).contains("shape"));
        assert!(complaint(&npy(&header("<f4", "-2, 2"), &data)).contains("shape"));
        assert!(complaint(&npy(&header("<f4", ""), &data)).contains("shape"));
        assert!(complaint(&npy(&header("<f4", "0, 0"), &[])).contains("without numbers"));
        assert!(complaint(&npy("{'descr': '<f4'}", &data)).contains("lacks"));
        let columns = header("<f4", "2, 2").replace("False", "True");
        assert!(complaint(&npy(&columns, &data)).contains("fortran_order"));
        let huge = header("<f4", "18446744073709551615, 4");
        assert!(complaint(&npy(&huge, &data)).contains("more than shape"));
        let mut version = good;
        version[6] = 9;
        assert!(complaint(&version).contains("version 9"));
    }

    #[test]
    fn columns_hold_whole_numbers_only() {
        let (_folder, path) = file(&npy(&header("<f4", "1,"), &1.5f32.to_le_bytes()));
        assert!(read_column(&path).unwrap_err().to_string().contains("1.5 is no"));
        let (_folder, path) = file(&npy(&header("<i8", "1,"), &(1i64 << 40).to_le_bytes()));
        assert!(read_column(&path).unwrap_err().to_string().contains("is no 32-bit"));
        let (_folder, path) = file(&npy(&header("<i4", "1, 2"), &[0; 8]));
        assert!(read_column(&path).unwrap_err().to_string().contains("2 columns"));
    }

    #[test]
    fn ids_come_back_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.npy");
        for ids in [vec![], vec![7], (0..1000).collect::<Vec<u32>>()] {
            write_ids(&path, ids.iter().copied()).unwrap();
            assert_eq!(files::read_ids(&path).unwrap(), ids);
            assert!(std::fs::metadata(&path).unwrap().len() as usize % 64 == ids.len() * 4 % 64);
        }
        std::fs::write(&path, npy(&header("<i4", "1,"), &(-1i32).to_le_bytes())).unwrap();
        assert!(files::read_ids(&path).unwrap_err().to_string().contains("-1 is no row"));
    }
}
