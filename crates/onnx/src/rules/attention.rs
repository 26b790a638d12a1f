//! Attention, of `ai.onnx` 23 and of `com.microsoft`.

use super::super::fact::Fact;
use super::{Call, Fault, Outputs, invalid, shape};

/// Extents of an attention: products of queries by keys, and of weights by values, for each head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

fn count_of(call: &Call<'_>, name: &str) -> Result<u64, Fault> {
    match shape::extent(call.int(name, 0)?, name)? {
        0 => invalid(format!("`{name}` is missing")),
        count => Ok(count),
    }
}

/// Features of one of so many heads.
fn share(features: u64, heads: u64) -> Result<u64, Fault> {
    match features.is_multiple_of(heads) {
        true => Ok(features / heads),
        false => invalid(format!("{features} features in {heads} heads")),
    }
}

fn mismatch<T>(a: &Fact, b: &Fact) -> Result<T, Fault> {
    let (a, b) = (shape::text(&a.shape), shape::text(&b.shape));
    invalid(format!("queries of {a} against keys or values of {b}"))
}

/// Batch, heads, rows and features of an operand with an axis of heads or without.
fn split(fact: &Fact, heads: impl Fn() -> Result<u64, Fault>) -> Result<[u64; 4], Fault> {
    match fact.shape[..] {
        [batch, heads, rows, depth] => Ok([batch, heads, rows, depth]),
        [batch, rows, features] => {
            let heads = heads()?;
            Ok([batch, heads, rows, share(features, heads)?])
        }
        _ => invalid(format!("attention of {}", shape::text(&fact.shape))),
    }
}

/// `Attention` of `ai.onnx`: three or four axes each.
fn standard(call: &Call<'_>) -> Result<Heads, Fault> {
    let (q, k, v) = (call.input(0)?, call.input(1)?, call.input(2)?);
    let [batch, heads, queries, depth] = split(q, || count_of(call, "q_num_heads"))?;
    let [key_batch, key_heads, new_keys, key_depth] = split(k, || count_of(call, "kv_num_heads"))?;
    let [value_batch, value_heads, values, value_depth] =
        split(v, || count_of(call, "kv_num_heads"))?;
    if key_batch != batch || key_depth != depth || key_heads == 0 || heads % key_heads != 0 {
        return mismatch(q, k);
    }
    if [value_batch, value_heads, values] != [batch, key_heads, new_keys] {
        return mismatch(q, v);
    }
    let keys = new_keys.saturating_add(past(call, 4, 2)?);
    Ok(Heads {
        batch,
        heads,
        key_heads,
        queries,
        keys,
        new_keys,
        depth,
        value_depth,
        projected: None,
        room: keys,
        splits_heads: q.shape.len() == 4,
    })
}

/// Rows that an operand of the past has.
fn past(call: &Call<'_>, index: usize, axis: usize) -> Result<u64, Fault> {
    let Some(past) = call.optional(index) else { return Ok(0) };
    match past.shape.get(axis) {
        Some(&rows) => Ok(rows),
        None => invalid(format!("a past of {}", shape::text(&past.shape))),
    }
}

/// `Attention` and `QAttention` of `com.microsoft`: they begin with the product by their weights.
fn packed(call: &Call<'_>, past_at: usize) -> Result<Heads, Fault> {
    let (data, weights) = (call.input(0)?, call.input(1)?);
    if call.flag("past_present_share_buffer")? {
        return Err(Fault::Unsupported);
    }
    shape::has_rank(data, 3, "the input")?;
    shape::has_rank(weights, 2, "the weights")?;
    let [batch, queries, features] = data.shape[..] else { return Err(Fault::Unsupported) };
    let [rows, columns] = weights.shape[..] else { return Err(Fault::Unsupported) };
    if rows != features {
        return invalid(format!("{features} columns against {rows} rows"));
    }
    let heads = count_of(call, "num_heads")?;
    let [q, k, v] = match call.ints("qkv_hidden_sizes")?.filter(|sizes| !sizes.is_empty()) {
        Some(&[q, k, v]) => {
            let size = |value| shape::extent(value, "`qkv_hidden_sizes`");
            [size(q)?, size(k)?, size(v)?]
        }
        Some(_) => return invalid("`qkv_hidden_sizes` has no three numbers"),
        None => [share(columns, 3)?; 3],
    };
    if q != k || q.saturating_add(k).saturating_add(v) != columns {
        return invalid(format!(
            "{columns} columns for queries of {q}, keys of {k}, values of {v}"
        ));
    }
    let keys = queries.saturating_add(past(call, past_at, 3)?);
    Ok(Heads {
        batch,
        heads,
        key_heads: heads,
        queries,
        keys,
        new_keys: queries,
        depth: share(q, heads)?,
        value_depth: share(v, heads)?,
        projected: Some(features),
        room: keys,
        splits_heads: false,
    })
}

/// `MultiHeadAttention`: operands apart, or packed with axes for head and kind.
fn multi_head(call: &Call<'_>) -> Result<Heads, Fault> {
    let query = call.input(0)?;
    let heads = count_of(call, "num_heads")?;
    let (batch, queries, depth) = match query.shape[..] {
        [batch, queries, features] => (batch, queries, share(features, heads)?),
        [batch, queries, own, 3, depth] if own == heads => (batch, queries, depth),
        _ => return invalid(format!("queries of {}", shape::text(&query.shape))),
    };
    let (new_keys, value_depth) = match (call.optional(1), call.optional(2)) {
        (None, _) if query.shape.len() == 5 => (queries, depth),
        (Some(key), value) => keys_of(query, key, value, [batch, heads, depth])?,
        (None, _) => return invalid("keys are missing"),
    };
    let keys = new_keys.saturating_add(past(call, 6, 2)?);
    Ok(Heads {
        batch,
        heads,
        key_heads: heads,
        queries,
        keys,
        new_keys,
        depth,
        value_depth,
        projected: None,
        room: keys,
        splits_heads: false,
    })
}

/// Rows of keys, and features of values of a head.
fn keys_of(
    query: &Fact,
    key: &Fact,
    value: Option<&Fact>,
    [batch, heads, depth]: [u64; 3],
) -> Result<(u64, u64), Fault> {
    let rows = match key.shape[..] {
        [own, rows, features] if own == batch && features == heads.saturating_mul(depth) => rows,
        [own, own_heads, rows, own_depth]
            if [own, own_heads, own_depth] == [batch, heads, depth] =>
        {
            rows
        }
        [own, rows, own_heads, 2, own_depth]
            if [own, own_heads, own_depth] == [batch, heads, depth] =>
        {
            return Ok((rows, depth));
        }
        _ => return mismatch(query, key),
    };
    let Some(value) = value else { return invalid("values are missing") };
    match value.shape[..] {
        [own, own_rows, features] if [own, own_rows] == [batch, rows] => {
            Ok((rows, share(features, heads)?))
        }
        [own, own_heads, own_rows, depth] if [own, own_heads, own_rows] == [batch, heads, rows] => {
            Ok((rows, depth))
        }
        _ => mismatch(query, value),
    }
}

/// `GroupQueryAttention`: heads of queries share keys.
fn group_query(call: &Call<'_>) -> Result<Heads, Fault> {
    let query = call.input(0)?;
    shape::has_rank(query, 3, "the queries")?;
    let (heads, key_heads) = (count_of(call, "num_heads")?, count_of(call, "kv_num_heads")?);
    if heads % key_heads != 0 {
        return invalid(format!("{heads} heads of queries for {key_heads} of keys"));
    }
    let [batch, queries, features] = query.shape[..] else { return Err(Fault::Unsupported) };
    let depth = match call.optional(1) {
        Some(key) => {
            let depth = share(features, heads)?;
            let wanted = [batch, queries, key_heads.saturating_mul(depth)];
            let value = call.input(2)?;
            if key.shape != wanted || value.shape != wanted {
                return mismatch(query, if key.shape == wanted { value } else { key });
            }
            depth
        }
        None => share(features, heads.saturating_add(key_heads.saturating_mul(2)))?,
    };
    let room = past(call, 3, 2)?;
    // Without known lengths, the past is taken as full.
    let keys = match call.scalar(6) {
        Ok(total) => shape::extent(total, "the length")?,
        Err(Fault::Elements(_)) => room.saturating_add(queries),
        Err(fault) => return Err(fault),
    };
    Ok(Heads {
        batch,
        heads,
        key_heads,
        queries,
        keys,
        new_keys: queries,
        depth,
        value_depth: depth,
        projected: None,
        room: keys.max(room),
        splits_heads: false,
    })
}

/// The result, and keys and values for the next call.
pub(super) fn attend(call: &Call<'_>) -> Outputs {
    let heads = heads(call)?;
    let element = match call.operator() {
        "QAttention" => call.input(3)?.element,
        _ => call.input(0)?.element,
    };
    let features = heads.heads.saturating_mul(heads.value_depth);
    let result = match heads.splits_heads {
        true => vec![heads.batch, heads.heads, heads.queries, heads.value_depth],
        false => vec![heads.batch, heads.queries, features],
    };
    let mut outputs = vec![call.output(element, result)];
    let stored = |depth| vec![heads.batch, heads.key_heads, heads.room, depth];
    if heads.projected.is_some() {
        let mut both = stored(heads.depth);
        both.insert(0, 2);
        outputs.push(call.output(element, both));
        return Ok(outputs);
    }
    let scores = vec![heads.batch, heads.heads, heads.queries, heads.keys];
    for shape in [stored(heads.depth), stored(heads.value_depth), scores] {
        outputs.push(call.output(element, shape));
    }
    Ok(outputs)
}
