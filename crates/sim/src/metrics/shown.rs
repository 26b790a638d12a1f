//! Age of what a display shows (docs/explanation/freshness.md, section 4).

use xrsim_model::column::Column;
use xrsim_model::hardware::device::Display;
use xrsim_model::units::{SimSpan, SimTime};

use super::age::{Update, fresh};
use super::{NS_PER_MS, per};

/// Age of the newest result at the instants at which a display begins to show a picture. The window is that of
/// [`Age`](super::Age), from the first instant on at which a result is shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shown {
    /// Pictures in the window, above 0.
    pub pictures: u64,
    /// Sum of their ages \[ns\].
    pub sum_ns: u128,
    /// Mean age \[ms\].
    pub mean_ms: f64,
    /// Least age that 99 % of the pictures do not exceed \[ms\].
    pub p99_ms: f64,
    /// Largest age \[ms\].
    pub max_ms: f64,
    /// Mean age in the middle of the time in which a picture is shown line by line \[ms\].
    pub motion_to_photon_ms: f64,
}

/// Pictures that show one result.
struct Piece {
    /// Numbers of the pictures.
    pictures: (u64, u64),
    /// Generation of the data of the result, as late as [`Update`] has it.
    generated: SimTime,
}

impl Shown {
    /// Ages as columns.
    pub const COLUMNS: &[Column<Self>] = &[
        Column::quantity("vsync_age_mean_ms", "ms", "Mean age at vsync", |it: &Self| {
            Some(it.mean_ms)
        })
        .lower(
            "age of the newest result where the display begins a picture, mean over the pictures",
        ),
        Column::quantity(
            "vsync_age_p99_ms",
            "ms",
            "99th percentile of the age at vsync",
            |it: &Self| Some(it.p99_ms),
        )
        .lower("age that 99 % of the pictures do not exceed"),
        Column::quantity("vsync_age_max_ms", "ms", "Largest age at vsync", |it: &Self| {
            Some(it.max_ms)
        })
        .lower("largest age where the display begins a picture"),
        Column::quantity("motion_to_photon_ms", "ms", "Motion to photon", |it: &Self| {
            Some(it.motion_to_photon_ms)
        })
        .lower("mean age at vsync and half of the time in which the picture is shown"),
    ];

    /// Ages of pictures from `begin` on up to `until`; `None` if none of them shows a result. Generations are `lead` later
    /// than they were.
    pub(super) fn of(
        updates: Vec<Update>,
        (begin, until): (SimTime, SimTime),
        lead: SimSpan,
        display: &Display,
    ) -> Option<Self> {
        let (updates, _) = fresh(updates, begin, until);
        let first = |from: SimTime| {
            display.rate.frames_before(from.saturating_since(SimTime::ZERO + display.phase))
        };
        let end = first(until + SimSpan::from_ns(1));
        let pieces = updates.iter().enumerate().map(|(at, it)| {
            let from = (it.end + display.compose).max(begin);
            let next = updates.get(at + 1).map_or(end, |it| first(it.end + display.compose));
            Piece { pictures: (first(from), next.min(end)), generated: it.generated }
        });
        let pieces: Vec<Piece> = pieces.filter(|it| it.pictures.0 < it.pictures.1).collect();
        let pictures: u64 = pieces.iter().map(|it| it.pictures.1 - it.pictures.0).sum();
        // Pictures after the first one begin `phase` later than frames of their rate.
        let later = display.phase.saturating_add(lead);
        let age = |picture: u64, it: &Piece| {
            (display.rate.frame_start(picture) + later).saturating_since(it.generated).ns()
        };
        let sum_of = |it: &Piece| {
            let (from, to) = it.pictures;
            let starts = display.rate.sum_of_starts(to) - display.rate.sum_of_starts(from);
            let n = u128::from(to - from);
            starts + n * u128::from(later.ns()) - n * u128::from(it.generated.ns())
        };
        let sum_ns: u128 = pieces.iter().map(sum_of).sum();
        let max = pieces.iter().map(|it| age(it.pictures.1 - 1, it)).max()?;
        let upto = |most: u64| -> u64 {
            let of_piece = |it: &Piece| {
                let (from, to) = it.pictures;
                let until = it.generated + SimSpan::from_ns(most);
                let upto = until.ns().checked_sub(later.ns()).map_or(0, |it| {
                    display.rate.frames_before(SimSpan::from_ns(it.saturating_add(1)))
                });
                upto.clamp(from, to) - from
            };
            pieces.iter().map(of_piece).sum()
        };
        // The least age with at least 99 % of the pictures.
        let (mut below, mut p99) = (0, max);
        while below < p99 {
            let middle = below + (p99 - below) / 2;
            match u128::from(upto(middle)) * 100 >= u128::from(pictures) * 99 {
                true => p99 = middle,
                false => below = middle + 1,
            }
        }
        let ms = |ns: f64| ns / NS_PER_MS;
        let mean_ms = per(ms(sum_ns as f64), pictures as f64)?;
        Some(Self {
            pictures,
            sum_ns,
            mean_ms,
            p99_ms: ms(p99 as f64),
            max_ms: ms(max as f64),
            motion_to_photon_ms: mean_ms + display.scanout.as_ms() / 2.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use xrsim_model::units::FrameRate;

    use super::*;

    const MS: u64 = 1_000_000;

    fn update(generated_ns: u64, end_ns: u64) -> Update {
        Update { generated: SimTime::from_ns(generated_ns), end: SimTime::from_ns(end_ns) }
    }

    fn display(fps: f64, phase_ns: u64, compose_ns: u64) -> Display {
        let [phase, compose, scanout] = [phase_ns, compose_ns, 11 * MS].map(SimSpan::from_ns);
        Display { rate: FrameRate::from_fps(fps).expect("a rate"), phase, compose, scanout }
    }

    fn shown(updates: &[Update], until_ns: u64, display: &Display) -> Option<Shown> {
        let window = (SimTime::ZERO, SimTime::from_ns(until_ns));
        Shown::of(updates.to_vec(), window, SimSpan::ZERO, display)
    }

    /// Frames of a camera at 30 FPS with a latency of 8 ms; frame 2 is dropped, frame 4 takes 53.333333 ms. At 72 Hz, pictures
    /// 1 to 14 from 13.889 to 194.444 ms show them. Mean and largest age by exact fractions outside of this program.
    #[test]
    fn a_display_shows_results_of_a_camera_at_their_ages_by_hand() {
        let latencies = [(0, 8 * MS), (1, 8 * MS), (3, 8 * MS), (4, 53_333_333), (5, 8 * MS)];
        let frame = |(at, latency): (u64, u64)| (at * 1_000_000_000 / 30, latency);
        let updates = latencies.map(frame).map(|(at, latency)| update(at, at + latency));
        let found = shown(&updates, 200 * MS, &display(72.0, 0, 0)).expect("it shows some");
        assert_eq!(found.pictures, 14);
        assert!((found.mean_ms - 32.738_095).abs() < 5e-7, "{}", found.mean_ms);
        assert_eq!((found.max_ms, found.p99_ms), (66.666_666, 66.666_666));
        assert_eq!(found.motion_to_photon_ms, found.mean_ms + 5.5);
    }

    /// 100 Hz, so pictures at 0, 10, .. 50 ms. The first result is of 0 ms and ends at 5, the second one of 20 and ends at 25:
    /// pictures from 10 ms on have ages of 10, 20, 10, 20, 30. Those before `begin` do not count, and `lead` is in each age.
    #[test]
    fn a_window_begins_with_its_first_picture_and_ages_have_the_lead_by_hand() {
        let updates = [update(0, 5 * MS), update(20 * MS, 25 * MS)];
        let of = |begin_ms: u64, lead_ms: u64, phase_ms: u64| {
            let window = (SimTime::from_ns(begin_ms * MS), SimTime::from_ns(50 * MS));
            let display = display(100.0, phase_ms * MS, 0);
            let lead = SimSpan::from_ns(lead_ms * MS);
            let found = Shown::of(updates.to_vec(), window, lead, &display)?;
            assert_eq!(found.p99_ms, found.max_ms);
            Some((found.pictures, found.sum_ns / u128::from(MS), found.max_ms))
        };
        assert_eq!(of(0, 0, 0), Some((5, 90, 30.0)));
        // A picture at `begin` counts: 20 + 10 + 20 + 30.
        assert_eq!(of(20, 0, 0), Some((4, 80, 30.0)));
        assert_eq!(of(20, 3, 0), Some((4, 92, 33.0)));
        // Only the second result is shown: 10 + 20 + 30.
        assert_eq!(of(21, 0, 0), Some((3, 60, 30.0)));
        assert_eq!(of(30, 1, 0), Some((3, 63, 31.0)));
        // Pictures at 4, 14, .. 44 ms: 24 of the first result; 14 and 24 of the second one.
        assert_eq!(of(20, 0, 4), Some((3, 62, 24.0)));
        assert_eq!(of(20, 3, 4), Some((3, 71, 27.0)));
        assert_eq!(of(25, 0, 4), Some((2, 38, 24.0)));
        // No picture between the last one at 50 ms and the end.
        assert_eq!(of(50, 0, 0), Some((1, 30, 30.0)));
        assert_eq!(of(45, 0, 4), None);
    }

    /// Results of every picture, one by one, at many rates, phases and times to compose.
    #[test]
    fn ages_of_pictures_are_those_of_one_after_the_other() {
        let mut state = 7u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        for _ in 0..300 {
            let updates: Vec<_> =
                (0..30).map(|at| update(at * 7 * MS, at * 7 * MS + 1 + random(40 * MS))).collect();
            let display =
                display(1.0 + random(100_000) as f64 / 1e3, random(30 * MS), random(20 * MS));
            let until = 150 * MS + random(60 * MS);
            let mut ages = Vec::new();
            for picture in 0.. {
                let at = (display.rate.frame_start(picture) + display.phase).ns();
                if at > until {
                    break;
                }
                let ended = updates.iter().filter(|it| (it.end + display.compose).ns() <= at);
                ages.extend(ended.map(|it| it.generated.ns()).max().map(|it| at - it));
            }
            ages.sort_unstable();
            let found = shown(&updates, until, &display);
            let Some(found) = found else {
                assert!(ages.is_empty());
                continue;
            };
            let ms = |ns: u64| ns as f64 / NS_PER_MS;
            assert_eq!(found.pictures, ages.len() as u64);
            assert_eq!(found.sum_ns, ages.iter().map(|it| u128::from(*it)).sum::<u128>());
            assert_eq!(found.max_ms, ms(ages[ages.len() - 1]));
            assert_eq!(found.p99_ms, ms(ages[(ages.len() * 99).div_ceil(100) - 1]));
        }
    }
}
