//! The network: embeddings, layers of attention and feed-forward, pooling.
//!
//! The texts of a pass stand one below the other without padding, so that every matrix
//! product serves all of them; only attention looks at each text by itself.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayViewMut1, Axis, s};
use xxhash_rust::xxh3::Xxh3;

use super::arithmetic::{activate, normalize, softmax};
use super::folder::{Architecture, Pooling};
use super::weights::Weights;
use crate::Result;

/// `x · weight + bias`, with one column per output.
struct Linear {
    weight: Array2<f32>,
    bias: Array1<f32>,
}

impl Linear {
    /// Reads matrices of one row per output side by side.
    fn read(weights: &Weights, names: &[String], shape: [usize; 2], hash: &mut Xxh3) -> Result<Self> {
        let [outputs, inputs] = shape;
        let mut weight = Array2::zeros((inputs, outputs * names.len()));
        let mut bias = Array1::zeros(outputs * names.len());
        for (number, name) in names.iter().enumerate() {
            let columns = number * outputs..(number + 1) * outputs;
            let part = weights.matrix(&format!("{name}.weight"), shape, hash)?;
            weight.slice_mut(s![.., columns.clone()]).assign(&part.t());
            bias.slice_mut(s![columns]).assign(&weights.vector(&format!("{name}.bias"), outputs, hash)?);
        }
        Ok(Self { weight, bias })
    }

    fn apply(&self, x: &Array2<f32>) -> Array2<f32> {
        let mut y = Array2::zeros((x.nrows(), self.weight.ncols()));
        y.rows_mut().into_iter().for_each(|mut row| row.assign(&self.bias));
        general_mat_mul(1.0, x, &self.weight, 1.0, &mut y);
        y
    }

    /// The same, added to what is there.
    fn add(&self, x: &Array2<f32>, y: &mut Array2<f32>) {
        y.rows_mut().into_iter().for_each(|mut row| row += &self.bias);
        general_mat_mul(1.0, x, &self.weight, 1.0, y);
    }
}

struct Norm {
    weight: Array1<f32>,
    bias: Array1<f32>,
    epsilon: f32,
}

impl Norm {
    fn read(weights: &Weights, name: &str, shape: &Architecture, hash: &mut Xxh3) -> Result<Self> {
        Ok(Self {
            weight: weights.vector(&format!("{name}.weight"), shape.hidden, hash)?,
            bias: weights.vector(&format!("{name}.bias"), shape.hidden, hash)?,
            epsilon: shape.epsilon,
        })
    }

    fn apply(&self, x: &mut Array2<f32>) {
        let (Some(weight), Some(bias)) = (self.weight.as_slice(), self.bias.as_slice()) else { return };
        for mut row in x.rows_mut() {
            if let Some(row) = row.as_slice_mut() {
                normalize(row, weight, bias, self.epsilon);
            }
        }
    }
}

struct Layer {
    /// Query, key and value.
    projections: Linear,
    attention_output: Linear,
    attention_norm: Norm,
    intermediate: Linear,
    output: Linear,
    output_norm: Norm,
}

/// The weights, ready to be run.
pub(super) struct Network {
    shape: Architecture,
    words: Array2<f32>,
    /// By place in the text, the type of the first sentence included.
    positions: Array2<f32>,
    embedding_norm: Norm,
    layers: Vec<Layer>,
}

impl Network {
    /// Reads the tensors of an architecture.
    pub(super) fn read(shape: &Architecture, weights: &Weights, hash: &mut Xxh3) -> Result<Self> {
        let hidden = shape.hidden;
        let words = "embeddings.word_embeddings.weight";
        let words = weights.matrix(words, [shape.vocabulary, hidden], hash)?;
        let positions = "embeddings.position_embeddings.weight";
        let positions = weights.matrix(positions, [shape.positions, hidden], hash)?;
        let types = "embeddings.token_type_embeddings.weight";
        let types = weights.matrix(types, [shape.token_types, hidden], hash)?;
        let mut positions = positions.slice_move(s![shape.first_position.., ..]);
        positions += &types.row(0);
        let embedding_norm = Norm::read(weights, "embeddings.LayerNorm", shape, hash)?;
        let mut layers = Vec::with_capacity(shape.layers);
        for number in 0..shape.layers {
            let name = |part: &str| format!("encoder.layer.{number}.{part}");
            let mut linear = |parts: &[&str], outputs: usize, inputs: usize| {
                let names: Vec<String> = parts.iter().map(|part| name(part)).collect();
                Linear::read(weights, &names, [outputs, inputs], hash)
            };
            let projections = ["attention.self.query", "attention.self.key", "attention.self.value"];
            let projections = linear(&projections, hidden, hidden)?;
            let attention_output = linear(&["attention.output.dense"], hidden, hidden)?;
            let intermediate = linear(&["intermediate.dense"], shape.intermediate, hidden)?;
            let output = linear(&["output.dense"], hidden, shape.intermediate)?;
            layers.push(Layer {
                projections,
                attention_output,
                attention_norm: Norm::read(weights, &name("attention.output.LayerNorm"), shape, hash)?,
                intermediate,
                output,
                output_norm: Norm::read(weights, &name("output.LayerNorm"), shape, hash)?,
            });
        }
        Ok(Self { shape: shape.clone(), words, positions, embedding_norm, layers })
    }

    /// Numbers per vector.
    pub(super) fn dimension(&self) -> usize {
        self.shape.hidden
    }

    /// Tokens that it knows.
    pub(super) fn vocabulary(&self) -> usize {
        self.words.nrows()
    }

    /// The unit vectors of texts, whose tokens must be known and no more than there are
    /// positions; `None` for one without a direction.
    pub(super) fn run(&self, texts: &[Vec<u32>], pooling: Pooling) -> Vec<Option<Vec<f32>>> {
        let mut x = self.embed(texts);
        self.embedding_norm.apply(&mut x);
        for layer in &self.layers {
            let context = self.attend(&layer.projections.apply(&x), texts);
            layer.attention_output.add(&context, &mut x);
            layer.attention_norm.apply(&mut x);
            let mut inner = layer.intermediate.apply(&x);
            if let Some(numbers) = inner.as_slice_mut() {
                activate(self.shape.activation, numbers);
            }
            layer.output.add(&inner, &mut x);
            layer.output_norm.apply(&mut x);
        }
        let mut start = 0;
        texts
            .iter()
            .map(|tokens| {
                let rows = x.slice(s![start..start + tokens.len(), ..]);
                start += tokens.len();
                let vector = match pooling {
                    Pooling::Mean => rows.mean_axis(Axis(0))?,
                    Pooling::First => rows.row(0).to_owned(),
                };
                unit(vector)
            })
            .collect()
    }

    fn embed(&self, texts: &[Vec<u32>]) -> Array2<f32> {
        let count = texts.iter().map(Vec::len).sum();
        let mut x = Array2::zeros((count, self.shape.hidden));
        let places = texts.iter().flat_map(|tokens| tokens.iter().zip(self.positions.rows()));
        for (mut row, (token, position)) in x.rows_mut().into_iter().zip(places) {
            row.assign(&self.words.row(*token as usize));
            row += &position;
        }
        x
    }

    /// What each token takes over from the others of its text, by head.
    fn attend(&self, projected: &Array2<f32>, texts: &[Vec<u32>]) -> Array2<f32> {
        let (hidden, size) = (self.shape.hidden, self.shape.hidden / self.shape.heads);
        let scale = 1.0 / (size as f32).sqrt();
        let mut context = Array2::zeros((projected.nrows(), hidden));
        let longest = texts.iter().map(Vec::len).max().unwrap_or(0);
        let mut room = Array2::zeros((longest, longest));
        let mut start = 0;
        for tokens in texts {
            let end = start + tokens.len();
            for head in 0..self.shape.heads {
                let part = |kind: usize| {
                    let column = kind * hidden + head * size;
                    projected.slice(s![start..end, column..column + size])
                };
                let mut shares = room.slice_mut(s![..tokens.len(), ..tokens.len()]);
                general_mat_mul(scale, &part(0), &part(1).t(), 0.0, &mut shares);
                shares.rows_mut().into_iter().for_each(share);
                let mut out = context.slice_mut(s![start..end, head * size..(head + 1) * size]);
                general_mat_mul(1.0, &shares, &part(2), 0.0, &mut out);
            }
            start = end;
        }
        context
    }
}

fn share(mut row: ArrayViewMut1<'_, f32>) {
    if let Some(row) = row.as_slice_mut() {
        softmax(row);
    }
}

/// A vector at unit length.
fn unit(vector: Array1<f32>) -> Option<Vec<f32>> {
    let length = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    (length.is_finite() && length > 0.0)
        .then(|| vector.iter().map(|x| (f64::from(*x) / length) as f32).collect())
}
