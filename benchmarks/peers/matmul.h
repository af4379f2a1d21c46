// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace bayloom {

/// OpenBLAS's c = a b over row-major matrices, a of m x k, b of k x n. The spans are kept, not
/// copied. Run is to be timed.
class PeerMatmul {
 public:
  PeerMatmul(int64_t m, int64_t n, int64_t k, std::span<const float> a, std::span<const float> b,
             std::span<float> c, int threads);

  void Run();
  /// The kernels OpenBLAS chose for this processor.
  static std::string Implementation();
  /// OpenBLAS's version, "0.3.21".
  static std::string Version();
  /// To be called first in main. OpenBLAS takes processors younger than itself for older ones
  /// without AVX-512; where that happens, or the environment asks for it, this starts the program
  /// again with the AVX-512 kernels.
  static void UseBestKernels(char** argv);

 private:
  int64_t m_, n_, k_;
  std::span<const float> a_, b_;
  std::span<float> c_;
  int threads_;
};

}  // namespace bayloom
