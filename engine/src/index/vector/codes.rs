//! The scalar codes of all slots: what a walk steers by, and the second pass of a scan.

use crate::index::vector::kernels::{self, Kernels};
use crate::index::vector::memory::{AppendOnly, prefetch};
use crate::index::vector::quantize::{CodeTail, CodedQuery, Scalar};

/// Codes by slot.
#[derive(Debug)]
pub(crate) struct Codes {
    pub(super) scalar: Scalar,
    pub(super) rows: AppendOnly<u8>,
    pub(super) scales: AppendOnly<f32>,
    pub(super) sums: AppendOnly<i16>,
}

/// Bytes from one code to the next: none lies over more cache lines than it must.
pub(super) fn code_stride(length: usize) -> usize {
    if length > 64 { length.next_multiple_of(64) } else { length.next_power_of_two() }
}

impl Codes {
    /// Room for the codes of `capacity` slots.
    pub(crate) fn new(scalar: Scalar, capacity: usize) -> Self {
        Self {
            scalar,
            rows: AppendOnly::new(code_stride(scalar.length()), capacity),
            scales: AppendOnly::new(1, capacity),
            sums: AppendOnly::new(1, capacity),
        }
    }

    /// Slots that have a code.
    pub(crate) fn len(&self) -> usize {
        // Published last.
        self.sums.len()
    }

    /// How vectors are coded.
    pub(crate) fn scalar(&self) -> Scalar {
        self.scalar
    }

    /// Bytes of one code with what belongs to it.
    pub(crate) fn row_bytes(&self) -> usize {
        self.rows.width() + size_of::<f32>() + size_of::<i16>()
    }

    /// Encodes the next slot; false when there is no room. `levels` and `code` are room.
    pub(crate) fn push(&self, rotated: &[f32], levels: &mut Vec<u8>, code: &mut Vec<u8>) -> bool {
        code.clear();
        code.resize(self.rows.width(), 0);
        let tail = self.scalar.encode(rotated, levels, &mut code[..self.scalar.length()]);
        self.append(code, tail)
    }

    /// Takes over the code of a slot of others; false when there is none, or no room.
    pub(crate) fn push_from(&self, others: &Self, slot: u32) -> bool {
        match (others.rows.get(slot), others.code(slot)) {
            (Some(row), Some((_, tail))) => self.append(row, tail),
            _ => false,
        }
    }

    /// Takes over the codes of all slots that are not here yet; false without room.
    pub(crate) fn extend_from(&self, others: &Self) -> bool {
        self.rows.extend_from(&others.rows)
            && self.scales.extend_from(&others.scales)
            && self.sums.extend_from(&others.sums)
    }

    fn append(&self, row: &[u8], tail: CodeTail) -> bool {
        self.rows.append(row) && self.scales.append(&[tail.scale]) && self.sums.append(&[tail.sum])
    }

    /// The code of a slot.
    #[inline]
    pub(crate) fn code(&self, slot: u32) -> Option<(&[u8], CodeTail)> {
        let code = &self.rows.get(slot)?[..self.scalar.length()];
        let scale = *self.scales.values().get(slot as usize)?;
        let sum = *self.sums.values().get(slot as usize)?;
        Some((code, CodeTail { scale, sum }))
    }

    /// All codes, to be gathered.
    pub(crate) fn rows(&self) -> kernels::Rows<'_, u8> {
        kernels::Rows { data: self.rows.values(), stride: self.rows.width(), length: self.scalar.length() }
    }

    /// The scales of all codes.
    pub(crate) fn scales(&self) -> &[f32] {
        self.scales.values()
    }

    /// Asks for the scales and the first of the codes.
    pub(crate) fn prefetch_small(&self) {
        const FIRST: usize = 2048;
        prefetch(self.scales());
        let rows = self.rows.values();
        prefetch(&rows[..rows.len().min(FIRST)]);
    }

    /// Asks for what an estimate of a slot will read.
    #[inline]
    pub(crate) fn prefetch(rows: kernels::Rows<'_, u8>, scales: &[f32], slot: u32) {
        let slot = slot as usize;
        if let Some(code) = rows.data.get(slot * rows.stride..(slot + 1) * rows.stride) {
            prefetch(code);
        }
        if let Some(scale) = scales.get(slot..=slot) {
            prefetch(scale);
        }
    }

    /// Estimated cosines of slots with a prepared query; `dots` and `out` are as long as
    /// `slots`.
    #[inline]
    pub(crate) fn estimate(
        &self,
        kernels: &dyn Kernels,
        query: &CodedQuery,
        slots: &[u32],
        dots: &mut [i32],
        out: &mut [f32],
    ) {
        query.gather_scalar(kernels, self.rows(), slots, dots);
        let scales = self.scales();
        for ((slot, dot), out) in slots.iter().zip(dots).zip(out) {
            *out = query.cosine(scales[*slot as usize], *dot);
        }
    }
}
