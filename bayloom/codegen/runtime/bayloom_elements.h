// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#ifndef BAYLOOM_ELEMENTS_H_
#define BAYLOOM_ELEMENTS_H_

/* What the kernels know about element types and vector registers. */

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "bayloom_kernels.h"

/* X(name, code, type in memory, type to compute in, kind, how it is read and written) */
#define BAYLOOM_FOR_EACH_NUMBER(X)                                \
  X(Int8, BAYLOOM_INT8, int8_t, int64_t, Integer, Plain)          \
  X(Int16, BAYLOOM_INT16, int16_t, int64_t, Integer, Plain)       \
  X(Int32, BAYLOOM_INT32, int32_t, int64_t, Integer, Plain)       \
  X(Int64, BAYLOOM_INT64, int64_t, int64_t, Integer, Plain)       \
  X(UInt8, BAYLOOM_UINT8, uint8_t, uint64_t, Integer, Plain)      \
  X(UInt16, BAYLOOM_UINT16, uint16_t, uint64_t, Integer, Plain)   \
  X(UInt32, BAYLOOM_UINT32, uint32_t, uint64_t, Integer, Plain)   \
  X(UInt64, BAYLOOM_UINT64, uint64_t, uint64_t, Integer, Plain)   \
  X(Float16, BAYLOOM_FLOAT16, uint16_t, double, Real, Float16)    \
  X(BFloat16, BAYLOOM_BFLOAT16, uint16_t, double, Real, BFloat16) \
  X(Float32, BAYLOOM_FLOAT32, float, double, Real, Plain)         \
  X(Float64, BAYLOOM_FLOAT64, double, double, Real, Plain)

/* A function is compiled twice: for every processor of the kind, and with BAYLOOM_WIDE for those
 * that have registers of 32 bytes, which BayloomHasWide asks for. What is always inlined becomes
 * part of both. */
#if defined(__x86_64__) && defined(__GNUC__)
#define BAYLOOM_WIDE __attribute__((target("avx2")))
static inline int BayloomHasWide(void) { return __builtin_cpu_supports("avx2"); }
#else
#define BAYLOOM_WIDE
static inline int BayloomHasWide(void) { return 0; }
#endif
#if defined(__GNUC__)
#define BAYLOOM_INLINED static inline __attribute__((always_inline))
#else
#define BAYLOOM_INLINED static inline
#endif

static inline int64_t BayloomElementBytes(int64_t type) {
  static const int8_t kBytes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};
  return kBytes[type];
}

/* A float of few bits as a double: its exponent begins behind `mantissa` bits, the least normal one
 * is `least`. */
static inline double BayloomWiden(uint16_t bits, int mantissa, int least) {
  const int code = (bits & 0x7fff) >> mantissa;
  const int part = bits & ((1 << mantissa) - 1);
  double value;
  if (code == 0x7fff >> mantissa) {
    value = part != 0 ? (double)NAN : (double)INFINITY;
  } else if (code == 0) {
    value = ldexp(part, least - mantissa);
  } else {
    value = ldexp((1 << mantissa) + part, least + code - 1 - mantissa);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

/* The nearest such float, half to even. */
static inline uint16_t BayloomNarrow(double value, int mantissa, int least) {
  const uint16_t sign = signbit(value) ? 0x8000 : 0;
  const uint16_t infinity = (uint16_t)(0x7fff >> mantissa << mantissa);
  const double size = fabs(value);
  if (size != size) return (uint16_t)(infinity | 1 << (mantissa - 1));
  if (size == 0) return sign;
  if (isinf(size)) return (uint16_t)(sign | infinity);
  int exponent = ilogb(size);
  if (exponent < least) exponent = least;
  const double units = nearbyint(ldexp(size, mantissa - exponent));
  /* Above the largest: units has at most mantissa + 2 bits, the exponent may be of any size. */
  const double code = ldexp(exponent - least, mantissa) + units;
  return (uint16_t)(sign | (code >= infinity ? infinity : (uint16_t)code));
}

#define BAYLOOM_READ_Plain(value) (value)
#define BAYLOOM_READ_Float16(bits) BayloomWiden(bits, 10, -14)
#define BAYLOOM_READ_BFloat16(bits) BayloomWiden(bits, 7, -126)
#define BAYLOOM_WRITE_Plain(type, value) ((type)(value))
#define BAYLOOM_WRITE_Float16(type, value) BayloomNarrow(value, 10, -14)
#define BAYLOOM_WRITE_BFloat16(type, value) BayloomNarrow(value, 7, -126)

/* Integers wrap. */
#define BAYLOOM_ADD_Integer(type, a, b) ((type)((uint64_t)(a) + (uint64_t)(b)))
#define BAYLOOM_MULTIPLY_Integer(type, a, b) ((type)((uint64_t)(a) * (uint64_t)(b)))
#define BAYLOOM_MINIMUM_Integer(type, a, b) ((a) < (b) ? (a) : (b))
#define BAYLOOM_MAXIMUM_Integer(type, a, b) ((a) < (b) ? (b) : (a))
#define BAYLOOM_ADD_Real(type, a, b) ((a) + (b))
#define BAYLOOM_MULTIPLY_Real(type, a, b) ((a) * (b))
/* NaN wins. */
#define BAYLOOM_MINIMUM_Real(type, a, b) ((a) != (a) || (a) < (b) ? (a) : (b))
#define BAYLOOM_MAXIMUM_Real(type, a, b) ((a) != (a) || (a) > (b) ? (a) : (b))

/* Extents below this are not worth waking threads for. */
enum { kBayloomSerialElements = 1 << 15 };

/* An index that may be negative or out of range. */
static inline int64_t BayloomWrap(int64_t index, int64_t extent) {
  if (index < 0) index += extent;
  return index < 0 ? 0 : index >= extent ? extent - 1 : index;
}

#endif /* BAYLOOM_ELEMENTS_H_ */
