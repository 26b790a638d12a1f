//! `expf` of the C library, as glibc has computed it since version 2.27. It uses only additions and
//! multiplications, so replayed scores have the same digits on every platform.
//!
//! Rust's `f32::exp` calls the function of the platform. A correctly rounded exponential is not the same
//! either: it differs from that of glibc for 170,648 arguments. Of all 2^32 arguments, two have another
//! result here than with glibc 2.36 on an x86-64 with fused multiply-add (32.564632 and -63.09946, by one
//! unit in the last place; there the result depends on the processor).

/// Bits of 2^(i/32), i = 0..31, correctly rounded.
const POWERS: [u64; 32] = [
    0x3ff0_0000_0000_0000,
    0x3ff0_59b0_d315_8574,
    0x3ff0_b558_6cf9_890f,
    0x3ff1_1301_d012_5b51,
    0x3ff1_72b8_3c7d_517b,
    0x3ff1_d487_3168_b9aa,
    0x3ff2_387a_6e75_6238,
    0x3ff2_9e9d_f51f_dee1,
    0x3ff3_06fe_0a31_b715,
    0x3ff3_71a7_373a_a9cb,
    0x3ff3_dea6_4c12_3422,
    0x3ff4_4e08_6061_892d,
    0x3ff4_bfda_d536_2a27,
    0x3ff5_342b_569d_4f82,
    0x3ff5_ab07_dd48_5429,
    0x3ff6_247e_b03a_5585,
    0x3ff6_a09e_667f_3bcd,
    0x3ff7_1f75_e8ec_5f74,
    0x3ff7_a114_73eb_0187,
    0x3ff8_2589_994c_ce13,
    0x3ff8_ace5_422a_a0db,
    0x3ff9_3737_b0cd_c5e5,
    0x3ff9_c491_82a3_f090,
    0x3ffa_5503_b23e_255d,
    0x3ffa_e89f_995a_d3ad,
    0x3ffb_7f76_f2fb_5e47,
    0x3ffc_199b_dd85_529c,
    0x3ffc_b720_dcef_9069,
    0x3ffd_5818_dcfb_a487,
    0x3ffd_fc97_337b_9b5f,
    0x3ffe_a4af_a2a4_90da,
    0x3fff_5076_5b6e_4540,
];
/// Coefficients of r, r^2 and r^3 in 2^(r/32) - 1 for |r| <= 1/2, before division by 32, 32^2, 32^3:
/// close to ln 2, (ln 2)^2 / 2 and (ln 2)^3 / 6, but fitted.
const POLYNOMIAL: [f64; 3] =
    [0.693_147_180_691_620_3, 0.240_228_452_244_572_2, 0.055_503_615_593_415_35];
/// Largest argument whose exponential is finite in single precision.
const OVERFLOW: f32 = 88.722_84;
/// Smallest argument whose exponential does not round to zero, i.e. is at least half of the least
/// subnormal number.
const UNDERFLOW: f32 = -103.972_084;

/// e^x in single precision.
pub(super) fn expf(x: f32) -> f32 {
    if x > OVERFLOW {
        return f32::INFINITY;
    }
    if x < UNDERFLOW {
        return 0.0;
    }
    // e^x = 2^(k/32) 2^(r/32) with whole k and |r| <= 1/2.
    let scaled = f64::from(x) * (std::f64::consts::LOG2_E * 32.0);
    let k = scaled.round_ties_even();
    let r = scaled - k;
    let [c1, c2, c3] = POLYNOMIAL;
    let high = c3 / 32_768.0 * r + c2 / 1024.0;
    let low = c1 / 32.0 * r + 1.0;
    ((high * (r * r) + low) * power(k as i64)) as f32
}

/// 2^(k/32), for results in the normal range of double precision.
fn power(k: i64) -> f64 {
    let exponent = k.div_euclid(32);
    let bits = POWERS[k.rem_euclid(32) as usize];
    f64::from_bits(bits.wrapping_add_signed(exponent << 52))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_at_zero_and_monotone_at_the_ends() {
        assert_eq!(expf(0.0), 1.0);
        assert_eq!(expf(f32::INFINITY), f32::INFINITY);
        assert_eq!(expf(f32::NEG_INFINITY), 0.0);
        assert_eq!(expf(89.0), f32::INFINITY);
        assert!(expf(88.722_83).is_finite());
        assert_eq!(expf(-103.98), 0.0);
        assert_eq!(expf(-103.97), f32::from_bits(1));
        assert!(expf(f32::NAN).is_nan());
    }

    #[test]
    fn results_are_glibc_s_where_correct_rounding_gives_its_neighbour() {
        // Argument and result of expf in glibc 2.36. The exact results are closer to the number one unit in
        // the last place below.
        for (argument, expected) in
            [(0x3bb2_333b, 0x3f80_b2b0), (0x3d64_d875, 0x3f87_5ae0), (0x3e8c_c8c3, 0x3fa8_82c0)]
        {
            assert_eq!(expf(f32::from_bits(argument)).to_bits(), expected);
        }
    }
}
