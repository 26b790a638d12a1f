//! The page that a figure is drawn on: its width, and whether its texts are drawn in.

use super::FigureError;

/// Size of labels \[px\].
pub(super) const LABEL_PX: f64 = 11.0;

/// Size of labels on a printed page \[pt\]. Journals ask for 7 pt at least.
const PRINTED_LABEL_PT: f64 = 7.2;

/// Points of a pixel of a screen: 96 pixels are 72 points.
const SCREEN_UNIT_PT: f64 = 0.75;

/// Width of the page of a screen \[px\].
const SCREEN_WIDTH_PX: f64 = 720.0;

/// The page that a figure is drawn on.
///
/// The default is a page for screens: 720 px wide, with title, subtitle and note. [`Sheet::printed`] is a page
/// for print, without these texts, as the caption of a paper has them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sheet {
    pub(super) width_px: f64,
    /// Size of a pixel of the layout in print \[pt\].
    pub(super) unit_pt: f64,
    /// Pixels of a PNG for a pixel of the layout.
    pub(super) resolution: f64,
    /// Margin on every side \[px\].
    pub(super) side_px: f64,
    pub(super) titled: bool,
}

impl Default for Sheet {
    fn default() -> Self {
        Self {
            width_px: SCREEN_WIDTH_PX,
            unit_pt: SCREEN_UNIT_PT,
            resolution: 2.0,
            side_px: 12.0,
            titled: true,
        }
    }
}

impl Sheet {
    /// Widths of printed pages \[pt\]: 2 in to 10 in.
    pub const WIDTHS_PT: (f64, f64) = (144.0, 720.0);

    /// Dots per inch of the PNG of a printed page.
    pub const DOTS_PER_INCH: f64 = 300.0;

    /// A page `width_pt` wide, with labels of 7.2 pt and without title, subtitle and note; its PNG has 300 dots
    /// per inch. `None` unless the width is within [`Sheet::WIDTHS_PT`].
    pub fn printed(width_pt: f64) -> Option<Self> {
        let (least, most) = Self::WIDTHS_PT;
        let unit_pt = PRINTED_LABEL_PT / LABEL_PX;
        (least..=most).contains(&width_pt).then_some(Self {
            width_px: width_pt / unit_pt,
            unit_pt,
            resolution: Self::DOTS_PER_INCH / 72.0 * unit_pt,
            side_px: 7.0,
            titled: false,
        })
    }

    /// The same page without title, subtitle and note.
    #[must_use]
    pub fn untitled(self) -> Self {
        Self { titled: false, ..self }
    }

    /// Whether title, subtitle and note are drawn.
    pub fn is_titled(&self) -> bool {
        self.titled
    }

    /// Width of the page \[pt\].
    pub fn width_pt(&self) -> f64 {
        self.width_px * self.unit_pt
    }

    /// `full_px`, the height of data on a page for screens, on this page: narrower pages have lower data, but no
    /// less than 0.6 of the height.
    pub(super) fn height_px(&self, full_px: f64) -> f64 {
        (full_px * (self.width_px / SCREEN_WIDTH_PX).clamp(0.6, 1.0)).round()
    }

    /// Width of the page \[px\].
    pub(super) fn width_px(&self) -> f64 {
        self.width_px
    }

    /// Refuses a figure that can be read from `least_px` on only, if the page is narrower.
    pub(super) fn refuse_below(&self, least_px: f64) -> Result<(), FigureError> {
        // A hundredth of an inch, upwards, so that the width of the message is accepted.
        let inches = |px: f64| px * self.unit_pt / 72.0;
        let least_in = (inches(least_px) * 100.0).ceil() / 100.0;
        match self.width_px < least_px {
            true => Err(FigureError::Narrow { found_in: inches(self.width_px), least_in }),
            false => Ok(()),
        }
    }

    /// Number of panels side by side, at most `wanted`, which leaves each of them a width that can be read.
    pub(super) fn columns(&self, wanted: usize) -> usize {
        let most = (self.width_px / MIN_PANEL_PX) as usize;
        wanted.min(most).max(1)
    }
}

/// Least width of a panel with its axis \[px\].
const MIN_PANEL_PX: f64 = 150.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_page_has_its_width_and_labels_of_more_than_seven_points() {
        let sheet = Sheet::printed(3.35 * 72.0).expect("a column of a paper");
        assert!((sheet.width_pt() - 241.2).abs() < 1e-9);
        assert!((LABEL_PX * sheet.unit_pt - PRINTED_LABEL_PT).abs() < 1e-12);
        // 3.35 in of 300 dots.
        assert_eq!((sheet.width_px * sheet.resolution).round(), 1005.0);
        assert_eq!((sheet.columns(4), sheet.columns(1)), (2, 1));
        assert!(!sheet.is_titled());
    }

    #[test]
    fn a_page_too_narrow_or_too_wide_is_refused() {
        for width in [0.0, -1.0, 143.9, 720.1, f64::NAN, f64::INFINITY] {
            assert_eq!(Sheet::printed(width), None, "{width}");
        }
    }
}
