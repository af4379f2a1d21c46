// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#ifndef BAYLOOM_CPU_FEATURES_H_
#define BAYLOOM_CPU_FEATURES_H_

/* The instruction sets that processors can be asked for, by LLVM's names: those that compilers
 * generate code for. */

/* X(name, leaf and subleaf of the instruction cpuid, register, bit, what the system has to save).
 * Every x86-64 has the first seven; the bit of xsave is the one that the system sets when it uses
 * it. */
#define BAYLOOM_X86_64_FEATURES(X)                   \
  X("64bit", 0x80000001, 0, kEdx, 29, kNoState)      \
  X("cmov", 1, 0, kEdx, 15, kNoState)                \
  X("cx8", 1, 0, kEdx, 8, kNoState)                  \
  X("fxsr", 1, 0, kEdx, 24, kNoState)                \
  X("mmx", 1, 0, kEdx, 23, kNoState)                 \
  X("sse", 1, 0, kEdx, 25, kNoState)                 \
  X("sse2", 1, 0, kEdx, 26, kNoState)                \
  X("adx", 7, 0, kEbx, 19, kNoState)                 \
  X("aes", 1, 0, kEcx, 25, kNoState)                 \
  X("amx-bf16", 7, 0, kEdx, 22, kTileState)          \
  X("amx-int8", 7, 0, kEdx, 25, kTileState)          \
  X("amx-tile", 7, 0, kEdx, 24, kTileState)          \
  X("avx", 1, 0, kEcx, 28, kAvxState)                \
  X("avx2", 7, 0, kEbx, 5, kAvxState)                \
  X("avx512bf16", 7, 1, kEax, 5, kAvx512State)       \
  X("avx512bitalg", 7, 0, kEcx, 12, kAvx512State)    \
  X("avx512bw", 7, 0, kEbx, 30, kAvx512State)        \
  X("avx512cd", 7, 0, kEbx, 28, kAvx512State)        \
  X("avx512dq", 7, 0, kEbx, 17, kAvx512State)        \
  X("avx512f", 7, 0, kEbx, 16, kAvx512State)         \
  X("avx512fp16", 7, 0, kEdx, 23, kAvx512State)      \
  X("avx512ifma", 7, 0, kEbx, 21, kAvx512State)      \
  X("avx512vbmi", 7, 0, kEcx, 1, kAvx512State)       \
  X("avx512vbmi2", 7, 0, kEcx, 6, kAvx512State)      \
  X("avx512vl", 7, 0, kEbx, 31, kAvx512State)        \
  X("avx512vnni", 7, 0, kEcx, 11, kAvx512State)      \
  X("avx512vpopcntdq", 7, 0, kEcx, 14, kAvx512State) \
  X("avxifma", 7, 1, kEax, 23, kAvxState)            \
  X("avxneconvert", 7, 1, kEdx, 5, kAvxState)        \
  X("avxvnni", 7, 1, kEax, 4, kAvxState)             \
  X("avxvnniint16", 7, 1, kEdx, 10, kAvxState)       \
  X("avxvnniint8", 7, 1, kEdx, 4, kAvxState)         \
  X("bmi", 7, 0, kEbx, 3, kNoState)                  \
  X("bmi2", 7, 0, kEbx, 8, kNoState)                 \
  X("crc32", 1, 0, kEcx, 20, kNoState)               \
  X("cx16", 1, 0, kEcx, 13, kNoState)                \
  X("evex512", 7, 0, kEbx, 16, kAvx512State)         \
  X("f16c", 1, 0, kEcx, 29, kAvxState)               \
  X("fma", 1, 0, kEcx, 12, kAvxState)                \
  X("gfni", 7, 0, kEcx, 8, kNoState)                 \
  X("lzcnt", 0x80000001, 0, kEcx, 5, kNoState)       \
  X("movbe", 1, 0, kEcx, 22, kNoState)               \
  X("pclmul", 1, 0, kEcx, 1, kNoState)               \
  X("popcnt", 1, 0, kEcx, 23, kNoState)              \
  X("sahf", 0x80000001, 0, kEcx, 0, kNoState)        \
  X("sha", 7, 0, kEbx, 29, kNoState)                 \
  X("sse3", 1, 0, kEcx, 0, kNoState)                 \
  X("sse4.1", 1, 0, kEcx, 19, kNoState)              \
  X("sse4.2", 1, 0, kEcx, 20, kNoState)              \
  X("sse4a", 0x80000001, 0, kEcx, 6, kNoState)       \
  X("ssse3", 1, 0, kEcx, 9, kNoState)                \
  X("vaes", 7, 0, kEcx, 9, kAvxState)                \
  X("vpclmulqdq", 7, 0, kEcx, 10, kAvxState)         \
  X("xsave", 1, 0, kEcx, 27, kNoState)

/* X(name, word of getauxval, lowest and highest bit, both needed). Every AArch64 processor that
 * runs Linux has the first two. Kernels have no atomic operations, so that those are not here. */
#define BAYLOOM_AARCH64_FEATURES(X) \
  X("fp-armv8", AT_HWCAP, 0, 0)     \
  X("neon", AT_HWCAP, 1, 1)         \
  X("bf16", AT_HWCAP2, 14, 14)      \
  X("complxnum", AT_HWCAP, 14, 14)  \
  X("cssc", AT_HWCAP2, 34, 34)      \
  X("dotprod", AT_HWCAP, 20, 20)    \
  X("fp16fml", AT_HWCAP, 23, 23)    \
  X("fullfp16", AT_HWCAP, 9, 10)    \
  X("i8mm", AT_HWCAP2, 13, 13)      \
  X("mops", AT_HWCAP2, 43, 43)      \
  X("rdm", AT_HWCAP, 12, 12)        \
  X("sha3", AT_HWCAP, 17, 21)       \
  X("sve", AT_HWCAP, 22, 22)        \
  X("sve2", AT_HWCAP2, 1, 1)

#endif /* BAYLOOM_CPU_FEATURES_H_ */
