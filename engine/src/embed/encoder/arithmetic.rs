//! Functions over rows of numbers, written so that a compiler makes vector instructions of
//! them: no branches, no calls.

use super::folder::Activation;

/// `e^x`, within a millionth of itself for −87 ≤ x ≤ 88; what is below gives nearly 0.
#[inline]
fn exp(x: f32) -> f32 {
    // Adding and taking away this number rounds to a whole one.
    const ROUND: f32 = 12_582_912.0;
    let x = x.clamp(-87.0, 88.0);
    let power = (x * std::f32::consts::LOG2_E + ROUND) - ROUND;
    // ln 2 in two parts: the first has so few digits that its multiples are exact.
    let rest = (x - power * 0.693_359_4) - power * -2.121_944_4e-4;
    let series = 1.0
        + rest
            * (1.0
                + rest
                    * (0.5
                        + rest
                            * (0.166_666_66
                                + rest * (0.041_666_64 + rest * (0.008_333_37 + rest * 0.001_393_2)))));
    series * f32::from_bits(((power as i32 + 127) as u32) << 23)
}

/// The error function, within 3e-7: a quotient of polynomials.
#[inline]
fn erf(x: f32) -> f32 {
    let x = x.clamp(-4.0, 4.0);
    let y = x * x;
    let above = -2.726_142_3e-10;
    let above = above * y + 2.770_681_4e-8;
    let above = above * y + -2.101_024e-6;
    let above = above * y + -5.692_506_4e-5;
    let above = above * y + -7.349_906_3e-4;
    let above = above * y + -2.954_6e-3;
    let above = (above * y + -1.609_603_3e-2) * x;
    let below = -1.456_607_2e-5;
    let below = below * y + -2.133_740_5e-4;
    let below = below * y + -1.682_827e-3;
    let below = below * y + -7.373_329_3e-3;
    let below = below * y + -1.426_474e-2;
    above / below
}

/// Applies an activation to every number.
pub(super) fn activate(activation: Activation, numbers: &mut [f32]) {
    match activation {
        Activation::Gelu => {
            numbers.iter_mut().for_each(|x| *x *= 0.5 * (1.0 + erf(*x * std::f32::consts::FRAC_1_SQRT_2)));
        }
        Activation::GeluTanh => numbers.iter_mut().for_each(|x| {
            // tanh by the exponential: 1 − 2 / (e^2t + 1).
            let t = 0.797_884_6 * (*x + 0.044_715 * *x * *x * *x);
            *x *= 1.0 - 1.0 / (exp(2.0 * t) + 1.0);
        }),
        Activation::Relu => numbers.iter_mut().for_each(|x| *x = x.max(0.0)),
    }
}

/// Turns scores into shares that add up to 1.
pub(super) fn softmax(scores: &mut [f32]) {
    let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    scores.iter_mut().for_each(|x| *x = exp(*x - most));
    let sum: f32 = lanes(scores, |x| x);
    let scale = 1.0 / sum;
    scores.iter_mut().for_each(|x| *x *= scale);
}

/// Brings a row to mean 0 and variance 1, then scales and shifts each number.
pub(super) fn normalize(row: &mut [f32], weight: &[f32], bias: &[f32], epsilon: f32) {
    let count = row.len() as f32;
    let mean = lanes(row, |x| x) / count;
    let variance = lanes(row, |x| (x - mean) * (x - mean)) / count;
    let scale = 1.0 / (variance + epsilon).sqrt();
    for ((x, weight), bias) in row.iter_mut().zip(weight).zip(bias) {
        *x = (*x - mean) * scale * weight + bias;
    }
}

/// A sum in eight strands, whose order is the same everywhere.
fn lanes(numbers: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let (whole, rest) = numbers.as_chunks::<8>();
    let mut sums = [0f32; 8];
    for part in whole {
        for (sum, x) in sums.iter_mut().zip(part) {
            *sum += of(*x);
        }
    }
    sums.iter().sum::<f32>() + rest.iter().map(|x| of(*x)).sum::<f32>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The error function by its series, in double precision.
    fn exact_erf(x: f64) -> f64 {
        let (mut term, mut sum) = (x, x);
        for n in 1..200 {
            let n = f64::from(n);
            term *= -x * x / n;
            sum += term / (2.0 * n + 1.0);
        }
        sum * 2.0 / std::f64::consts::PI.sqrt()
    }

    #[test]
    fn functions_are_near_their_exact_values() {
        for step in -4000..=4000 {
            let x = step as f32 / 1000.0;
            let wide = f64::from(x);
            assert!((f64::from(erf(x)) - exact_erf(wide)).abs() < 5e-7, "erf {x}");
            let power = 20.0 * x;
            let (found, exact) = (f64::from(exp(power)), f64::from(power).exp());
            assert!((found - exact).abs() < 1e-6 * exact, "exp {power}: {found} {exact}");
            let mut gelu = [x; 2];
            activate(Activation::Gelu, &mut gelu[..1]);
            activate(Activation::GeluTanh, &mut gelu[1..]);
            let exact = 0.5 * wide * (1.0 + exact_erf(wide / 2f64.sqrt()));
            assert!((f64::from(gelu[0]) - exact).abs() < 2e-6, "gelu {x}");
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (wide + 0.044715 * wide.powi(3));
            assert!((f64::from(gelu[1]) - 0.5 * wide * (1.0 + inner.tanh())).abs() < 2e-6, "gelu_new {x}");
        }
        assert!(exp(-1e30) < 1e-37 && exp(-1e30) >= 0.0);
    }

    #[test]
    fn shares_add_up_and_rows_are_even() {
        for length in [1, 7, 8, 9, 100] {
            let mut row: Vec<f32> = (0..length).map(|n| (n as f32 * 0.7).sin() * 30.0).collect();
            let mut shares = row.clone();
            softmax(&mut shares);
            assert!((shares.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            normalize(&mut row, &vec![2.0; length], &vec![1.0; length], 1e-12);
            assert!((row.iter().sum::<f32>() / length as f32 - 1.0).abs() < 1e-4, "{length}");
        }
        let mut far = [-1e9f32, 0.0, -1e9];
        softmax(&mut far);
        assert!(far[1] > 0.999);
    }
}
