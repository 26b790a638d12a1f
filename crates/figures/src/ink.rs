//! Colours.

/// A colour with its opacity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ink {
    /// Red, green and blue, 0 to 255.
    pub rgb: (u8, u8, u8),
    /// 0 (nothing) to 1 (opaque).
    pub opacity: f64,
}

impl Ink {
    pub(super) const BLACK: Self = Self::new(0x00, 0x00, 0x00);
    pub(super) const WHITE: Self = Self::new(0xFF, 0xFF, 0xFF);
    /// Text of the page.
    pub(super) const TEXT: Self = Self::new(0x22, 0x22, 0x22);
    /// Subtitles and notes: contrast 7:1 on white.
    pub(super) const QUIET: Self = Self::new(0x59, 0x59, 0x59);
    /// Axis lines and ticks.
    pub(super) const AXIS: Self = Self::new(0x66, 0x66, 0x66);
    /// Grid lines, which must not compete with data.
    pub(super) const GRID: Self = Self::new(0xEA, 0xEA, 0xEA);

    const fn new(red: u8, green: u8, blue: u8) -> Self {
        Self { rgb: (red, green, blue), opacity: 1.0 }
    }

    /// The colour of the series at `index`.
    ///
    /// The palette of Okabe and Ito (2008, "Color Universal Design") and a grey, in an order that
    /// keeps yellow, faint on white, for later. Further series take the same hues darker, then
    /// lighter.
    pub(super) fn series(index: usize) -> Self {
        let hue = PALETTE[index % PALETTE.len()];
        match index / PALETTE.len() % 3 {
            0 => hue,
            1 => hue.mixed(Self::BLACK, 0.45),
            _ => hue.mixed(Self::WHITE, 0.5),
        }
    }

    /// A colour of the sequential scale at `position`, 0 (least) to 1 (most).
    ///
    /// Cividis (Nuñez et al., PLOS ONE 2018), by linear interpolation between nine of its colours:
    /// even in lightness, and the same to readers with and without colour blindness.
    pub(super) fn sequential(position: f64) -> Self {
        let place = position.clamp(0.0, 1.0) * (CIVIDIS.len() - 1) as f64;
        let low = (place as usize).min(CIVIDIS.len() - 2);
        CIVIDIS[low].mixed(CIVIDIS[low + 1], place - low as f64)
    }

    /// The colours between which [`Ink::sequential`] is linear, each with its position.
    pub(super) fn ramp() -> impl Iterator<Item = (f64, Self)> {
        (0..).map(|at| f64::from(at) / (CIVIDIS.len() - 1) as f64).zip(CIVIDIS)
    }

    /// This colour with `share` (0 to 1) of another in it.
    pub(super) fn mixed(self, other: Self, share: f64) -> Self {
        let mix =
            |a: u8, b: u8| (f64::from(a) * (1.0 - share) + f64::from(b) * share).round() as u8;
        let ((r, g, b), (red, green, blue)) = (self.rgb, other.rgb);
        Self { rgb: (mix(r, red), mix(g, green), mix(b, blue)), opacity: self.opacity }
    }

    /// This colour at another opacity.
    pub(super) fn faded(self, opacity: f64) -> Self {
        Self { opacity, ..self }
    }

    /// Black or white, whichever reads better on this colour.
    pub(super) fn text_on(self) -> Self {
        if self.luminance() > 0.179 { Self::BLACK } else { Self::WHITE }
    }

    /// Relative luminance, 0 to 1 (WCAG 2.1); above 0.179 black has the higher contrast.
    fn luminance(self) -> f64 {
        let linear = |channel: u8| {
            let level = f64::from(channel) / 255.0;
            if level <= 0.04045 { level / 12.92 } else { ((level + 0.055) / 1.055).powf(2.4) }
        };
        let (red, green, blue) = self.rgb;
        0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }
}

/// Networks of the suite, in the order of their colours: the one table of the colours of networks, for figures
/// and pages.
const NETWORKS: [&str; 11] = ["HT", "ES", "GE", "KD", "SR", "SS", "OD", "AS", "DE", "DR", "PD"];

/// Place in the palette (`Ink::series`) of every one of these models. A network of the suite has the same one in
/// every figure and page; others have the first ones that are free, in order.
pub fn model_places<S: AsRef<str>>(names: &[S]) -> Vec<usize> {
    let known = |name: &S| NETWORKS.iter().position(|network| *network == name.as_ref());
    let taken: Vec<usize> = names.iter().filter_map(known).collect();
    let mut free = (0..).filter(|place| !taken.contains(place));
    names.iter().map(|name| known(name).or_else(|| free.next()).unwrap_or_default()).collect()
}

const PALETTE: [Ink; 9] = [
    Ink::new(0x00, 0x72, 0xB2), // blue
    Ink::new(0xE6, 0x9F, 0x00), // orange
    Ink::new(0x00, 0x9E, 0x73), // bluish green
    Ink::new(0xD5, 0x5E, 0x00), // vermilion
    Ink::new(0xCC, 0x79, 0xA7), // reddish purple
    Ink::new(0x56, 0xB4, 0xE9), // sky blue
    Ink::new(0xF0, 0xE4, 0x42), // yellow
    Ink::new(0x99, 0x99, 0x99), // grey
    Ink::new(0x40, 0x40, 0x40), // black, lifted so that it is no axis
];

const CIVIDIS: [Ink; 9] = [
    Ink::new(0x00, 0x22, 0x4E),
    Ink::new(0x12, 0x35, 0x70),
    Ink::new(0x3B, 0x49, 0x6C),
    Ink::new(0x57, 0x5D, 0x6D),
    Ink::new(0x70, 0x71, 0x73),
    Ink::new(0x8A, 0x86, 0x78),
    Ink::new(0xA5, 0x9C, 0x74),
    Ink::new(0xC3, 0xB3, 0x69),
    Ink::new(0xFE, 0xE8, 0x38),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_27_series_have_27_colours() {
        let colours: std::collections::BTreeSet<_> = (0..27).map(|i| Ink::series(i).rgb).collect();
        assert_eq!(colours.len(), 27);
    }

    #[test]
    fn a_network_of_the_suite_has_one_colour_whatever_it_runs_with() {
        assert_eq!(model_places(&["HT", "DE"]), [0, 8]);
        assert_eq!(model_places(&["DE", "PD", "HT"]), [8, 10, 0]);
        // Others take what is free, in their order.
        assert_eq!(model_places(&["mine", "HT", "ES", "yours"]), [2, 0, 1, 3]);
        assert_eq!(model_places(&["hands", "eyes"]), [0, 1]);
    }

    #[test]
    fn the_sequential_scale_grows_lighter() {
        let luminance: Vec<f64> =
            (0..=100).map(|i| Ink::sequential(f64::from(i) / 100.0).luminance()).collect();
        assert!(luminance.windows(2).all(|pair| pair[0] < pair[1]), "{luminance:?}");
    }

    #[test]
    fn text_is_black_on_yellow_and_white_on_blue() {
        assert_eq!(Ink::series(6).text_on(), Ink::BLACK);
        assert_eq!(Ink::sequential(0.0).text_on(), Ink::WHITE);
    }
}
