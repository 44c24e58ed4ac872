//! Lanes: a number of each of four contacts in one register of an x86-64 processor with AVX.
//!
//! Every operation rounds as its scalar twin does, and none is fused, so that results have the same bits on all processors. Only functions
//! that require AVX may call any of these.

use std::arch::x86_64::{
    __m256d, _CMP_EQ_OQ, _CMP_GT_OQ, _mm256_add_pd, _mm256_and_pd, _mm256_andnot_pd, _mm256_blendv_pd,
    _mm256_cmp_pd, _mm256_div_pd, _mm256_loadu_pd, _mm256_max_pd, _mm256_min_pd, _mm256_movemask_pd,
    _mm256_mul_pd, _mm256_or_pd, _mm256_permute2f128_pd, _mm256_set1_pd, _mm256_sqrt_pd, _mm256_storeu_pd,
    _mm256_sub_pd, _mm256_unpackhi_pd, _mm256_unpacklo_pd,
};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Contacts that are solved at once.
pub(super) const WIDTH: usize = 4;

/// A number of each contact; or a truth of each, which is all bits or none.
#[derive(Clone, Copy)]
pub(super) struct Lanes(__m256d);

/// A vector of each contact.
#[derive(Clone, Copy)]
pub(super) struct Vectors {
    pub x: Lanes,
    pub y: Lanes,
    pub z: Lanes,
}

// All functions are inlined into one that requires AVX: by themselves they would pass registers through memory. For the same reason no
// loop, closure or `map` is around them, which may not be inlined.
//
// SAFETY of the blocks without a comment: the processor has AVX, see the module.
impl Lanes {
    #[inline(always)]
    pub(super) fn all(value: f64) -> Lanes {
        Lanes(unsafe { _mm256_set1_pd(value) })
    }

    /// The larger of two numbers; `other` if this is not a number.
    #[inline(always)]
    pub(super) fn max(self, other: Lanes) -> Lanes {
        Lanes(unsafe { _mm256_max_pd(self.0, other.0) })
    }

    /// The smaller of two numbers; `other` if this is not a number.
    #[inline(always)]
    pub(super) fn min(self, other: Lanes) -> Lanes {
        Lanes(unsafe { _mm256_min_pd(self.0, other.0) })
    }

    #[inline(always)]
    pub(super) fn abs(self) -> Lanes {
        Lanes(unsafe { _mm256_andnot_pd(_mm256_set1_pd(-0.0), self.0) })
    }

    #[inline(always)]
    pub(super) fn sqrt(self) -> Lanes {
        Lanes(unsafe { _mm256_sqrt_pd(self.0) })
    }

    #[inline(always)]
    pub(super) fn equals(self, other: Lanes) -> Lanes {
        Lanes(unsafe { _mm256_cmp_pd::<_CMP_EQ_OQ>(self.0, other.0) })
    }

    #[inline(always)]
    pub(super) fn is_zero(self) -> Lanes {
        self.equals(Lanes::all(0.0))
    }

    #[inline(always)]
    pub(super) fn is_positive(self) -> Lanes {
        Lanes(unsafe { _mm256_cmp_pd::<_CMP_GT_OQ>(self.0, Lanes::all(0.0).0) })
    }

    /// The bits that both have; a number where a truth holds, otherwise 0.
    #[inline(always)]
    pub(super) fn and(self, other: Lanes) -> Lanes {
        Lanes(unsafe { _mm256_and_pd(self.0, other.0) })
    }

    /// The bits that either has.
    #[inline(always)]
    pub(super) fn or(self, other: Lanes) -> Lanes {
        Lanes(unsafe { _mm256_or_pd(self.0, other.0) })
    }

    /// This number where a truth holds, otherwise `other`.
    #[inline(always)]
    pub(super) fn only_if(self, holds: Lanes, other: Lanes) -> Lanes {
        Lanes(unsafe { _mm256_blendv_pd(other.0, self.0, holds.0) })
    }

    /// The truths as bits, the first lane as bit 0.
    #[inline(always)]
    pub(super) fn bits(self) -> u32 {
        unsafe { _mm256_movemask_pd(self.0) as u32 }
    }

    /// Largest of the numbers.
    #[inline(always)]
    pub(super) fn largest(self) -> f64 {
        // SAFETY: both are four numbers in double precision.
        let values = unsafe { std::mem::transmute::<__m256d, [f64; WIDTH]>(self.0) };
        values.into_iter().fold(f64::NEG_INFINITY, f64::max)
    }

    /// Reads four numbers of each lane: the lists of the first, second, third and fourth numbers.
    ///
    /// # Safety
    /// The pointers are to four numbers each that may be read.
    #[inline(always)]
    pub(super) unsafe fn read(rows: [*const f64; WIDTH]) -> [Lanes; 4] {
        // SAFETY: by the caller's promise.
        unsafe {
            transposed([
                Lanes(_mm256_loadu_pd(rows[0])),
                Lanes(_mm256_loadu_pd(rows[1])),
                Lanes(_mm256_loadu_pd(rows[2])),
                Lanes(_mm256_loadu_pd(rows[3])),
            ])
        }
    }

    /// Writes four numbers of each lane whose bit is set.
    ///
    /// # Safety
    /// The pointers of these lanes are to four numbers each that may be written.
    #[inline(always)]
    pub(super) unsafe fn write(columns: [Lanes; 4], rows: [*mut f64; WIDTH], lanes: u32) {
        let values = transposed(columns);
        // SAFETY: by the caller's promise.
        unsafe {
            values[0].put(rows[0], lanes & 1);
            values[1].put(rows[1], lanes & 2);
            values[2].put(rows[2], lanes & 4);
            values[3].put(rows[3], lanes & 8);
        }
    }

    /// Writes the four numbers unless `wanted` is 0.
    ///
    /// # Safety
    /// The pointer is to four numbers that may be written, if they are wanted.
    #[inline(always)]
    unsafe fn put(self, to: *mut f64, wanted: u32) {
        if wanted != 0 {
            // SAFETY: by the caller's promise.
            unsafe { _mm256_storeu_pd(to, self.0) };
        }
    }
}

/// Number `j` of row `i` as number `i` of row `j`.
#[inline(always)]
fn transposed(rows: [Lanes; 4]) -> [Lanes; 4] {
    // SAFETY: the processor has AVX, see the module.
    unsafe {
        let (even, odd) =
            (_mm256_unpacklo_pd(rows[0].0, rows[1].0), _mm256_unpackhi_pd(rows[0].0, rows[1].0));
        let (even_below, odd_below) =
            (_mm256_unpacklo_pd(rows[2].0, rows[3].0), _mm256_unpackhi_pd(rows[2].0, rows[3].0));
        [
            Lanes(_mm256_permute2f128_pd::<0x20>(even, even_below)),
            Lanes(_mm256_permute2f128_pd::<0x20>(odd, odd_below)),
            Lanes(_mm256_permute2f128_pd::<0x31>(even, even_below)),
            Lanes(_mm256_permute2f128_pd::<0x31>(odd, odd_below)),
        ]
    }
}

macro_rules! operation {
    ($name:ident, $function:ident, $intrinsic:ident) => {
        impl $name for Lanes {
            type Output = Lanes;

            #[inline(always)]
            fn $function(self, other: Lanes) -> Lanes {
                Lanes(unsafe { $intrinsic(self.0, other.0) })
            }
        }
    };
}

operation!(Add, add, _mm256_add_pd);
operation!(Sub, sub, _mm256_sub_pd);
operation!(Mul, mul, _mm256_mul_pd);
operation!(Div, div, _mm256_div_pd);

impl Vectors {
    #[inline(always)]
    pub(super) fn new([x, y, z]: [Lanes; 3]) -> Vectors {
        Vectors { x, y, z }
    }

    #[inline(always)]
    pub(super) fn dot(self, other: Vectors) -> Lanes {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    #[inline(always)]
    pub(super) fn length(self) -> Lanes {
        self.dot(self).sqrt()
    }

    #[inline(always)]
    pub(super) fn cross(self, other: Vectors) -> Vectors {
        Vectors {
            x: self.y * other.z - other.y * self.z,
            y: self.z * other.x - other.z * self.x,
            z: self.x * other.y - other.x * self.y,
        }
    }

    #[inline(always)]
    pub(super) fn equals(self, other: Vectors) -> Lanes {
        self.x.equals(other.x).and(self.y.equals(other.y)).and(self.z.equals(other.z))
    }

    /// This vector where a truth holds, otherwise `other`.
    #[inline(always)]
    pub(super) fn only_if(self, holds: Lanes, other: Vectors) -> Vectors {
        Vectors {
            x: self.x.only_if(holds, other.x),
            y: self.y.only_if(holds, other.y),
            z: self.z.only_if(holds, other.z),
        }
    }
}

impl Add for Vectors {
    type Output = Vectors;

    #[inline(always)]
    fn add(self, other: Vectors) -> Vectors {
        Vectors { x: self.x + other.x, y: self.y + other.y, z: self.z + other.z }
    }
}

impl Sub for Vectors {
    type Output = Vectors;

    #[inline(always)]
    fn sub(self, other: Vectors) -> Vectors {
        Vectors { x: self.x - other.x, y: self.y - other.y, z: self.z - other.z }
    }
}

impl Mul<Lanes> for Vectors {
    type Output = Vectors;

    #[inline(always)]
    fn mul(self, factor: Lanes) -> Vectors {
        Vectors { x: self.x * factor, y: self.y * factor, z: self.z * factor }
    }
}

impl Neg for Vectors {
    type Output = Vectors;

    #[inline(always)]
    fn neg(self) -> Vectors {
        self * Lanes::all(-1.0)
    }
}
