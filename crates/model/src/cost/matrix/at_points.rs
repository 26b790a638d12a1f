//! Costs at the operating points of the accelerators.

use std::borrow::Cow;
use std::sync::Arc;

use crate::hardware::device::Supplied;
use crate::ids::{AccelId, PointId, WorkId};
use crate::units::ClockRate;

use super::{AtPoints, CostTable, Timetable};

impl CostTable {
    /// The same table, with the costs at the operating points of the accelerators. The table itself is that of the
    /// nominal points, at which mappings were chosen.
    ///
    /// # Errors
    ///
    /// The first pair whose cost does not tell what scales with the clock, on an accelerator of several points.
    ///
    /// # Panics
    ///
    /// If there are not as many accelerators as columns.
    pub fn with_points(self, supplied: &[Supplied]) -> Result<Self, (WorkId, AccelId)> {
        assert_eq!(supplied.len(), self.n_accelerators, "every column has an accelerator");
        let n_points = supplied.iter().map(|it| it.points.all().len()).max().unwrap_or(1);
        if n_points == 1 {
            return Ok(self);
        }
        let (mut tables, mut clocks) = (Vec::with_capacity(n_points), Vec::new());
        for index in 0..n_points {
            let point = |it: &Supplied| PointId::new(index.min(it.points.highest().index()));
            clocks.extend(supplied.iter().map(|it| it.points.get(point(it)).clock));
            let mut unknown = None;
            let table = self.with_costs(|work, accelerator, cost| {
                let supplied = &supplied[accelerator.index()];
                let (point, nominal) = (point(supplied), supplied.nominal);
                if point == nominal {
                    return Arc::clone(cost);
                }
                let [to, from] = [point, nominal].map(|it| supplied.points.get(it));
                let at_point = cost.at_point(to, from);
                at_point.map(Arc::new).unwrap_or_else(|| {
                    unknown.get_or_insert((work, accelerator));
                    Arc::clone(cost)
                })
            });
            match unknown {
                Some(pair) => return Err(pair),
                None => tables.push(table),
            }
        }
        Ok(Self { points: Some(Arc::new(AtPoints { tables, clocks })), ..self })
    }

    /// The table with every accelerator at `point`, or at its highest point if it has fewer.
    #[inline]
    pub fn at(&self, point: PointId) -> &Self {
        self.points.as_ref().map_or(self, |points| points.tables.get(point.index()).unwrap_or(self))
    }

    /// Costs that no choice of points undercuts: of every layer the time at the highest point, and the energy at the lowest
    /// one. For bounds.
    pub fn least_over_points(&self) -> Cow<'_, Self> {
        let Some(points) = &self.points else { return Cow::Borrowed(self) };
        let [lowest, .., highest] = &points.tables[..] else { return Cow::Borrowed(self) };
        let clocks = &points.clocks[points.clocks.len() - self.n_accelerators..];
        Cow::Owned(self.with_own_costs(&mut |work, accelerator, _| {
            let [cheap, fast] = [lowest, highest].map(|it| it.on(work, accelerator).network());
            Arc::new(fast.with_energy_of(cheap, clocks[accelerator.index()]))
        }))
    }

    /// The tables at the operating points, each changed by `change`, which gets the clocks of the accelerators there.
    pub(super) fn points_with(
        &self,
        mut change: impl FnMut(&Self, &[ClockRate]) -> Self,
    ) -> Option<Arc<AtPoints>> {
        let AtPoints { tables, clocks } = &**self.points.as_ref()?;
        let at_points = tables.iter().zip(clocks.chunks(self.n_accelerators));
        let tables = at_points.map(|(table, clocks)| change(table, clocks)).collect();
        Some(Arc::new(AtPoints { tables, clocks: clocks.clone() }))
    }

    /// [`CostTable::with_non_overlapped`] at these clocks of the accelerators.
    pub(super) fn with_non_overlapped_at(&self, fraction: f64, clocks: &[ClockRate]) -> Self {
        let cells = self.cells.iter().zip(clocks.iter().cycle());
        let cell = |(index, (cell, &clock)): (usize, (&Timetable, _))| {
            if !self.is_offered(index) {
                return cell.clone();
            }
            Timetable::new(Arc::new(cell.network.with_non_overlapped(fraction, clock)))
        };
        self.replaced(cells.enumerate().map(cell).collect())
    }
}
