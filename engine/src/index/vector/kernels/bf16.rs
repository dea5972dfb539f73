//! The 16-bit float with the exponent of an f32.

#![allow(unsafe_code)]

/// The upper half of an f32: 8 bits of exponent, 7 of mantissa.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Bf16(pub u16);

// SAFETY: a transparent wrapper of a u16; every bit pattern is a value.
unsafe impl bytemuck::Zeroable for Bf16 {}
// SAFETY: as above; no padding, no references, no interior mutability.
unsafe impl bytemuck::Pod for Bf16 {}

impl Bf16 {
    /// The nearest bf16, ties to even; a NaN stays a NaN.
    pub fn from_f32(value: f32) -> Self {
        let bits = value.to_bits();
        if value.is_nan() {
            // The payload may sit in the lower half alone: keep it a NaN by the quiet bit.
            return Self((bits >> 16) as u16 | 0x0040);
        }
        // Just under one half, and one more when the last kept bit is odd. The largest
        // finite values carry over into infinity, as they should.
        let rounding = 0x7FFF + ((bits >> 16) & 1);
        Self(((bits + rounding) >> 16) as u16)
    }

    /// The same value as an f32.
    pub fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }
}
