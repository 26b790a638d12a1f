//! The accelerators of a whole sweep, which compare their choices of mappings whatever part of it is made
//! (docs/explanation/mapper.md, section 6.3).

use xrsim_model::cancel;
use xrsim_model::cost::loop_nest::Family;
use xrsim_model::hardware::Accelerator;
use xrsim_sim::sweep::grid::{Factor, Grid};

use super::super::{ExperimentError, Settings};
use super::inputs::Inputs;
use super::points;

/// Most combinations of keys of the hardware whose accelerators are compared.
const MOST_COMBINATIONS: u64 = 1 << 16;

/// Keys of which accelerators do not depend.
const OTHERS: [&str; 8] =
    ["scenario", "profile", "scheduler", "device", "without", "duration_ms", "seed", "replication"];

/// Groups of such keys.
const OTHER_GROUPS: [&str; 4] = ["load.", "engine.", "score.", "effects."];

/// Lets all accelerators of a sweep compare their choices of mappings, those of each cost model for themselves.
/// Returns a note if there are too many.
///
/// # Errors
///
/// Returns no error for a grid that `inputs` were read for.
pub fn relate(grid: &Grid, inputs: &mut Inputs) -> Result<Option<String>, ExperimentError> {
    let Some(families) = families(grid, inputs)? else {
        let notes = inputs.cost_models();
        return Ok(notes.iter().find_map(|it| it.note_alone()));
    };
    inputs.relate(|index, cost_model| cost_model.among(families[index].clone()));
    Ok(None)
}

/// Why rows of the sweep of `earlier` may be others in that of `grid`, which has all of its points, in words; `None` if they
/// are the same.
///
/// # Errors
///
/// Returns no error for a grid that `inputs` were read for.
pub fn change_of_rows(
    earlier: &Grid,
    grid: &Grid,
    inputs: &mut Inputs,
) -> Result<Option<String>, ExperimentError> {
    let Some(before) = families(earlier, inputs)? else { return Ok(None) };
    let name = |it: &Accelerator| format!("{} with {} PEs", it.dataflow.name(), it.pes);
    Ok(match families(grid, inputs)? {
        None if before.iter().any(Family::is_related) => {
            Some("accelerators compare their mappings, and there are too many for it now".into())
        }
        None => None,
        Some(now) => before.iter().zip(&now).find_map(|(before, now)| {
            let [member, new] = before.changed_in(now)?.map(name);
            let new = match member == new {
                true => "another one with as many PEs and less memory or bandwidth,".into(),
                false => format!("{new}, an accelerator with less"),
            };
            Some(format!(
                "{member} may take mappings of {new} of which it has no rows \
                 (docs/explanation/mapper.md, section 6.3)"
            ))
        }),
    })
}

/// The accelerators of a sweep, by cost model; `None` if there are too many.
fn families(grid: &Grid, inputs: &mut Inputs) -> Result<Option<Vec<Family>>, ExperimentError> {
    let hardware = hardware_of(grid);
    let mut families = vec![Family::default(); inputs.cost_models().len()];
    if hardware.n_points() > MOST_COMBINATIONS {
        return Ok(None);
    }
    for index in 0..hardware.n_points() {
        cancel::check();
        add(&mut families, &hardware, index, inputs)?;
        if families.iter().any(Family::is_too_large) {
            return Ok(None);
        }
    }
    Ok(Some(families))
}

/// The grid of the keys that accelerators depend on.
fn hardware_of(grid: &Grid) -> Grid {
    let factors = grid.factors().iter().map(of_hardware);
    let factors = factors.filter(|it| !it.keys.is_empty()).collect();
    Grid::new(factors).expect("a part of the keys of a grid makes a smaller grid")
}

/// The columns of a factor that accelerators depend on, each row once.
fn of_hardware(factor: &Factor) -> Factor {
    let counts = |key: &str| {
        !OTHERS.contains(&key) && !OTHER_GROUPS.iter().any(|group| key.starts_with(group))
    };
    let columns: Vec<_> = (0..factor.keys.len()).filter(|&it| counts(&factor.keys[it])).collect();
    let mut rows: Vec<Vec<_>> = Vec::new();
    for row in &factor.rows {
        let row: Vec<_> = columns.iter().map(|&it| row[it].clone()).collect();
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    Factor { keys: columns.iter().map(|&it| factor.keys[it].clone()).collect(), rows }
}

/// Adds the accelerators of a point to the family of its cost model. A point that has no run has none.
fn add(
    families: &mut [Family],
    grid: &Grid,
    index: u64,
    inputs: &mut Inputs,
) -> Result<(), ExperimentError> {
    let mut settings = Settings::default();
    for (key, value) in grid.point(index).settings() {
        settings.set(key, value)?;
    }
    let cost_model = inputs.cost_model(settings.cost_model(), settings.effort);
    let Some((cost_model, _)) = cost_model else { return Ok(()) };
    let name = settings.system.clone().unwrap_or_default();
    let hardware = inputs.catalog().hardware(&name)?;
    if let Ok(system) = points::system(&settings, hardware, inputs) {
        for accelerator in system.accelerators() {
            families[cost_model].add(accelerator);
        }
    }
    Ok(())
}
