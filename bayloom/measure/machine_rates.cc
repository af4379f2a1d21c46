#include "bayloom/measure/machine_rates.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <thread>
#include <vector>

#include "bayloom/base/clock.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bayloom {
namespace {

constexpr int kSteps = 1 << 16;
constexpr int64_t kBytesPerThread = int64_t{128} << 20;  ///< more than any cache holds

/// Enough independent sums to hide the latency of a multiply-add on two units.
constexpr int kSums = 16;

#if defined(__x86_64__)

__attribute__((target("avx512f"))) float MultiplyAdd512(int steps) {
  __m512 sums[kSums];
  for (__m512& sum : sums) sum = _mm512_set1_ps(1);
  const __m512 a = _mm512_set1_ps(0.999F);
  const __m512 b = _mm512_set1_ps(1e-3F);
  for (int step = 0; step < steps; ++step) {
#pragma GCC unroll 16
    for (__m512& sum : sums) sum = _mm512_fmadd_ps(sum, a, b);
  }
  float total = 0;
  for (const __m512& sum : sums) total += _mm512_cvtss_f32(sum);
  return total;
}

__attribute__((target("avx2,fma"))) float MultiplyAdd256(int steps) {
  __m256 sums[kSums];
  for (__m256& sum : sums) sum = _mm256_set1_ps(1);
  const __m256 a = _mm256_set1_ps(0.999F);
  const __m256 b = _mm256_set1_ps(1e-3F);
  for (int step = 0; step < steps; ++step) {
#pragma GCC unroll 16
    for (__m256& sum : sums) sum = _mm256_fmadd_ps(sum, a, b);
  }
  float total = 0;
  for (const __m256& sum : sums) total += _mm256_cvtss_f32(sum);
  return total;
}

#endif

/// The compiler's own vectors of four, for processors without anything wider.
float MultiplyAdd128(int steps) {
  using Vector = float __attribute__((vector_size(16)));
  Vector sums[kSums];
  for (Vector& sum : sums) sum = Vector{1, 1, 1, 1};
  for (int step = 0; step < steps; ++step) {
#pragma GCC unroll 16
    for (Vector& sum : sums) sum = sum * 0.999F + 1e-3F;
  }
  float total = 0;
  for (const Vector& sum : sums) total += sum[0];
  return total;
}

struct Arithmetic {
  float (*run)(int steps);
  int lanes;
};

Arithmetic WidestArithmetic() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {MultiplyAdd512, 16};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {MultiplyAdd256, 8};
#endif
  return {MultiplyAdd128, 4};
}

/// Keeps the compiler from leaving out the work behind a value.
void Consume(float value) { asm volatile("" : : "g"(value) : "memory"); }

/// Shortest of several times in which all threads do their work once, side by side.
double BestTime(int threads, int repetitions, const std::function<void(int)>& work) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repetitions; ++i) {
    const double start = MonotonicSeconds();
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t) others.emplace_back(work, t);
    work(0);
    for (std::thread& other : others) other.join();
    best = std::min(best, MonotonicSeconds() - start);
  }
  return best;
}

double MeasureFlops(int threads) {
  const Arithmetic arithmetic = WidestArithmetic();
  constexpr int kRounds = 32;
  const double seconds =
      BestTime(threads, 40, [&](int) { Consume(arithmetic.run(kRounds * kSteps)); });
  return 2.0 * threads * arithmetic.lanes * kSums * kRounds * kSteps / seconds;
}

uint64_t Sum(const std::vector<uint64_t>& words) {
  uint64_t sums[8] = {};
  for (size_t i = 0; i + 8 <= words.size(); i += 8) {
    for (int lane = 0; lane < 8; ++lane) sums[lane] += words[i + lane];
  }
  uint64_t total = 0;
  for (uint64_t sum : sums) total += sum;
  return total;
}

double MeasureReading(int threads) {
  const std::vector<std::vector<uint64_t>> memory(
      threads, std::vector<uint64_t>(kBytesPerThread / sizeof(uint64_t), 1));
  const double seconds =
      BestTime(threads, 8, [&](int thread) { Consume(static_cast<float>(Sum(memory[thread]))); });
  return static_cast<double>(threads * kBytesPerThread) / seconds;
}

}  // namespace

MachineRates MeasureMachineRates(int threads) {
  return {MeasureFlops(threads), MeasureReading(threads)};
}

double RooflineSeconds(const MachineRates& rates, double flops, double bytes) {
  return std::max(flops / rates.flops_per_second, bytes / rates.bytes_per_second);
}

double RooflineSeconds(const MachineRates& rates, const Workload& workload) {
  double bytes = 0;
  for (BufferId id : workload.Parameters()) {
    const Buffer& buffer = workload.buffers[id];
    bytes += static_cast<double>(buffer.ElementCount() * ByteSize(buffer.dtype));
  }
  return RooflineSeconds(rates, workload.Flops(), bytes);
}

}  // namespace bayloom
