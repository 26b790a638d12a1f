//! Attention, of `ai.onnx` 23 and of `com.microsoft`.

use super::{Call, Fault, Outputs, invalid, shape};
use crate::fact::Fact;

/// Extents of an attention: products of queries by keys, and of weights by values, for each head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Heads {
    /// Batch.
    pub batch: u64,
    /// Heads of queries.
    pub heads: u64,
    /// Heads of keys and values, a divisor of `heads`.
    pub key_heads: u64,
    /// Rows of queries.
    pub queries: u64,
    /// Rows of keys and values, with those of the past.
    pub keys: u64,
    /// Rows of keys and values that the node computes or is given, without those of the past.
    pub new_keys: u64,
    /// Features of a query or key of a head.
    pub depth: u64,
    /// Features of a value of a head.
    pub value_depth: u64,
    /// Features of the input, if the operator contains the product that makes queries, keys and values of it.
    pub projected: Option<u64>,
    /// Extent of the rows in the keys and values that leave, as some runtimes keep room for later ones.
    pub room: u64,
    /// Whether the output has an axis of heads of its own.
    pub splits_heads: bool,
}

/// Heads of `Attention`, `QAttention`, `MultiHeadAttention` and `GroupQueryAttention`.
///
/// # Errors
///
/// [`Fault::Invalid`], if the operands do not fit each other; [`Fault::Unsupported`] of other operators.
pub(crate) fn heads(call: &Call<'_>) -> Result<Heads, Fault> {
    let is_microsoft = &*call.node.domain == "com.microsoft";
    match call.operator() {
        "Attention" if !is_microsoft => standard(call),
        "Attention" => packed(call, 4),
        "QAttention" => packed(call, 8),
        "MultiHeadAttention" => multi_head(call),
        "GroupQueryAttention" => group_query(call),
        _ => Err(Fault::Unsupported),
    }
}

/// A number of heads.
fn count_of(call: &Call<'_>, name: &str) -> Result<u64, Fault> {
    let count = shape::extent(call.int(name, 0)?, name)?;
    ensure!(count > 0, "`{name}` is missing");
    Ok(count)
}

/// Features of one of so many heads.
fn share(features: u64, heads: u64) -> Result<u64, Fault> {
    ensure!(features.is_multiple_of(heads), "{features} features in {heads} heads");
    Ok(features / heads)
}

fn matches(fits: bool, a: &Fact, b: &Fact) -> Result<(), Fault> {
    ensure!(fits, "queries of {a} against keys or values of {b}");
    Ok(())
}

/// Batch, heads, rows and features of an operand with an axis of heads or without.
fn split(call: &Call<'_>, index: usize, heads: &str) -> Result<[u64; 4], Fault> {
    let fact = call.input(index)?;
    match fact.shape[..] {
        [batch, heads, rows, depth] => Ok([batch, heads, rows, depth]),
        [batch, rows, features] => {
            let heads = count_of(call, heads)?;
            Ok([batch, heads, rows, share(features, heads)?])
        }
        _ => invalid(format!("attention of {fact}")),
    }
}

/// `Attention` of `ai.onnx`: three or four axes each.
fn standard(call: &Call<'_>) -> Result<Heads, Fault> {
    let (q, k, v) = (call.input(0)?, call.input(1)?, call.input(2)?);
    let [batch, heads, queries, depth] = split(call, 0, "q_num_heads")?;
    let [key_batch, key_heads, new_keys, key_depth] = split(call, 1, "kv_num_heads")?;
    let [value_batch, value_heads, values, value_depth] = split(call, 2, "kv_num_heads")?;
    let divides = key_heads != 0 && heads % key_heads == 0;
    matches(divides && [key_batch, key_depth] == [batch, depth], q, k)?;
    matches([value_batch, value_heads, values] == [batch, key_heads, new_keys], q, v)?;
    let keys = new_keys.saturating_add(past(call, 4, 2)?);
    let splits_heads = q.shape.len() == 4;
    let of_head = Heads { batch, heads, key_heads, depth, value_depth, ..Heads::default() };
    Ok(Heads { queries, keys, new_keys, room: keys, splits_heads, ..of_head })
}

/// Rows that an operand of the past has.
fn past(call: &Call<'_>, index: usize, axis: usize) -> Result<u64, Fault> {
    let Some(past) = call.optional(index) else { return Ok(0) };
    let rows = past.shape.get(axis).copied();
    rows.ok_or_else(|| Fault::Invalid(format!("a past of {past}")))
}

/// `Attention` and `QAttention` of `com.microsoft`: they begin with the product by their weights.
fn packed(call: &Call<'_>, past_at: usize) -> Result<Heads, Fault> {
    let (data, weights) = (call.input(0)?, call.input(1)?);
    if call.flag("past_present_share_buffer")? {
        return Err(Fault::Unsupported);
    }
    let [batch, queries, features] = shape::of_rank(data, "the input")?;
    let [rows, columns] = shape::of_rank(weights, "the weights")?;
    ensure!(rows == features, "{features} columns against {rows} rows");
    let heads = count_of(call, "num_heads")?;
    let [q, k, v] = match call.ints("qkv_hidden_sizes")?.filter(|sizes| !sizes.is_empty()) {
        Some(&[q, k, v]) => {
            let size = |value| shape::extent(value, "`qkv_hidden_sizes`");
            [size(q)?, size(k)?, size(v)?]
        }
        Some(_) => return invalid("`qkv_hidden_sizes` has no three numbers"),
        None => [share(columns, 3)?; 3],
    };
    let fits = q == k && q.saturating_add(k).saturating_add(v) == columns;
    ensure!(fits, "{columns} columns for queries of {q}, keys of {k}, values of {v}");
    let keys = queries.saturating_add(past(call, past_at, 3)?);
    let (depth, value_depth) = (share(q, heads)?, share(v, heads)?);
    let of_head = Heads { batch, heads, key_heads: heads, depth, value_depth, ..Heads::default() };
    let projected = Some(features);
    Ok(Heads { queries, keys, new_keys: queries, room: keys, projected, ..of_head })
}

/// `MultiHeadAttention`: operands apart, or packed with axes for head and kind.
fn multi_head(call: &Call<'_>) -> Result<Heads, Fault> {
    let query = call.input(0)?;
    let heads = count_of(call, "num_heads")?;
    let (batch, queries, depth) = match query.shape[..] {
        [batch, queries, features] => (batch, queries, share(features, heads)?),
        [batch, queries, own, 3, depth] if own == heads => (batch, queries, depth),
        _ => return invalid(format!("queries of {query}")),
    };
    let (new_keys, value_depth) = match (call.optional(1), call.optional(2)) {
        (None, _) if query.shape.len() == 5 => (queries, depth),
        (Some(key), value) => keys_of(query, key, value, [batch, heads, depth])?,
        (None, _) => return invalid("keys are missing"),
    };
    let keys = new_keys.saturating_add(past(call, 6, 2)?);
    let of_head = Heads { batch, heads, key_heads: heads, depth, value_depth, ..Heads::default() };
    Ok(Heads { queries, keys, new_keys, room: keys, ..of_head })
}

/// Rows of keys, and features of values of a head.
fn keys_of(
    query: &Fact,
    key: &Fact,
    value: Option<&Fact>,
    of_query: [u64; 3],
) -> Result<(u64, u64), Fault> {
    let [batch, heads, depth] = of_query;
    let features = heads.saturating_mul(depth);
    let (fits, rows) = match key.shape[..] {
        [batch_of_keys, rows, own] => ([batch_of_keys, own] == [batch, features], rows),
        [batch, heads, rows, depth] => ([batch, heads, depth] == of_query, rows),
        [batch, rows, heads, 2, depth] => ([batch, heads, depth] == of_query, rows),
        _ => (false, 0),
    };
    matches(fits, query, key)?;
    if key.shape.len() == 5 {
        return Ok((rows, depth));
    }
    let Some(value) = value else { return invalid("values are missing") };
    match value.shape[..] {
        [own, own_rows, features] if [own, own_rows] == [batch, rows] => {
            Ok((rows, share(features, heads)?))
        }
        [own, own_heads, own_rows, depth] if [own, own_heads, own_rows] == [batch, heads, rows] => {
            Ok((rows, depth))
        }
        _ => matches(false, query, value).map(|()| (0, 0)),
    }
}

/// `GroupQueryAttention`: heads of queries share keys.
fn group_query(call: &Call<'_>) -> Result<Heads, Fault> {
    let query = call.input(0)?;
    let [batch, queries, features] = shape::of_rank(query, "the queries")?;
    let (heads, key_heads) = (count_of(call, "num_heads")?, count_of(call, "kv_num_heads")?);
    ensure!(heads % key_heads == 0, "{heads} heads of queries for {key_heads} of keys");
    let depth = match call.optional(1) {
        Some(key) => {
            let depth = share(features, heads)?;
            let wanted = [batch, queries, key_heads.saturating_mul(depth)];
            let value = call.input(2)?;
            matches(key.shape == wanted, query, key)?;
            matches(value.shape == wanted, query, value)?;
            depth
        }
        None => share(features, heads.saturating_add(key_heads.saturating_mul(2)))?,
    };
    let room = past(call, 3, 2)?;
    // Without known lengths, the past is taken as full.
    let keys = match call.scalar_if_known(6)? {
        Some(total) => shape::extent(total, "the length")?,
        None => room.saturating_add(queries),
    };
    let of_head = Heads { batch, heads, key_heads, depth, value_depth: depth, ..Heads::default() };
    Ok(Heads { queries, keys, new_keys: queries, room: keys.max(room), ..of_head })
}

/// The result, and keys and values for the next call.
pub(crate) fn attend(call: &Call<'_>) -> Outputs {
    let form = heads(call)?;
    let element = call.input(if call.operator() == "QAttention" { 3 } else { 0 })?.element;
    let result = match form.splits_heads {
        true => vec![form.batch, form.heads, form.queries, form.value_depth],
        false => vec![form.batch, form.queries, form.heads.saturating_mul(form.value_depth)],
    };
    let stored = |depth| vec![form.batch, form.key_heads, form.room, depth];
    let shapes = if form.projected.is_some() {
        vec![result, [vec![2], stored(form.depth)].concat()]
    } else {
        let scores = vec![form.batch, form.heads, form.queries, form.keys];
        vec![result, stored(form.depth), stored(form.value_depth), scores]
    };
    Ok(shapes.into_iter().map(|shape| call.output(element, shape)).collect())
}
