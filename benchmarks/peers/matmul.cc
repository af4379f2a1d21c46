// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/peers/matmul.h"

#include <cblas.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

namespace bayloom {

PeerMatmul::PeerMatmul(int64_t m, int64_t n, int64_t k, std::span<const float> a,
                       std::span<const float> b, std::span<float> c, int threads)
    : m_(m), n_(n), k_(k), a_(a), b_(b), c_(c), threads_(threads) {}

void PeerMatmul::Run() {
  openblas_set_num_threads(threads_);
  const auto m = static_cast<blasint>(m_);
  const auto n = static_cast<blasint>(n_);
  const auto k = static_cast<blasint>(k_);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0F, a_.data(), k, b_.data(), n,
              0.0F, c_.data(), n);
}

std::string PeerMatmul::Implementation() { return openblas_get_corename(); }

std::string PeerMatmul::Version() {
  std::istringstream config(openblas_get_config());  // "OpenBLAS 0.3.21 NO_LAPACKE ..."
  std::string name, version;
  config >> name >> version;
  return version;
}

void PeerMatmul::UseBestKernels(char** argv) {
  const std::string chosen = Implementation();
  const bool left_behind = chosen == "Haswell" || chosen == "Zen";
  const bool avx512 = __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq");
  if (!left_behind || !avx512) return;
  setenv("OPENBLAS_CORETYPE", "SkylakeX", 1);
  execv("/proc/self/exe", argv);
}

}  // namespace bayloom
