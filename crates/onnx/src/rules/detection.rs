//! Operators of detectors.

use super::super::fact::Element;
use super::{Call, Fault, Outputs, invalid, shape};

/// `RoiAlign`.
pub(super) fn align(call: &Call<'_>) -> Outputs {
    let (map, regions, batch) = (call.input(0)?, call.input(1)?, call.input(2)?);
    shape::has_rank(map, 4, "the map")?;
    shape::has_rank(regions, 2, "the regions")?;
    shape::has_rank(batch, 1, "the indices of the batch")?;
    if regions.shape[1] != 4 || batch.shape[0] != regions.shape[0] {
        let regions = shape::text(&regions.shape);
        return invalid(format!("regions of {regions} with {} of a batch", batch.shape[0]));
    }
    let y = shape::extent(call.int("output_height", 1)?, "`output_height`")?;
    let x = shape::extent(call.int("output_width", 1)?, "`output_width`")?;
    Ok(vec![call.output(map.element, vec![regions.shape[0], map.shape[1], y, x])])
}

/// `NonMaxSuppression`: batch, class and box of each selected one.
pub(super) fn suppression(call: &Call<'_>) -> Outputs {
    let (boxes, scores) = (call.input(0)?, call.input(1)?);
    shape::has_rank(boxes, 3, "the boxes")?;
    shape::has_rank(scores, 3, "the scores")?;
    let [batch, count, corners] = boxes.shape[..] else { return Err(Fault::Unsupported) };
    let [own_batch, classes, own_count] = scores.shape[..] else {
        return Err(Fault::Unsupported);
    };
    if corners != 4 || batch != own_batch || count != own_count {
        let (boxes, scores) = (shape::text(&boxes.shape), shape::text(&scores.shape));
        return invalid(format!("boxes of {boxes} against scores of {scores}"));
    }
    let all = batch.saturating_mul(classes).saturating_mul(count);
    let selected = match most(call)? {
        _ if call.bound.is_some() => call.bounded("selected boxes", all)?,
        Some(most) => most.min(count).saturating_mul(classes).saturating_mul(batch),
        None => call.bounded("selected boxes", all)?,
    };
    Ok(vec![call.output(Element::INT64, vec![selected, 3])])
}

/// Most boxes of a class, if it is constant; none are selected if it is left out.
fn most(call: &Call<'_>) -> Result<Option<u64>, Fault> {
    if call.optional(2).is_none() {
        return Ok(Some(0));
    }
    match call.scalar(2) {
        Ok(most) => Ok(Some(u64::try_from(most).unwrap_or(0))),
        Err(Fault::Elements(_)) => Ok(None),
        Err(fault) => Err(fault),
    }
}
