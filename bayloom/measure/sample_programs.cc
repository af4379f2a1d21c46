// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/sample_programs.h"

#include <time.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "bayloom/base/clock.h"
#include "bayloom/codegen/compile.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/tensor/operator_shorthand.h"
#include "bayloom/tensor/primitives.h"

namespace bayloom::measure {
namespace {

constexpr int64_t kElements = 2048;  ///< of arrays that fit into any first-level cache
constexpr int kTimings = 12, kRuns = 100;
constexpr int kCandidates = 6;
constexpr const char* kConvolution = "conv2d:28x28x64,64,3x3,pad=1,bias,relu";

/// value(x[i]), in full vectors.
Result<codegen::LoadedKernel> Elementwise(const target::Target& target,
                                          const std::function<tensor::Expr(tensor::Expr)>& value) {
  tensor::WorkloadBuilder builder("elementwise");
  const tensor::Tensor x = builder.Input("x", {kElements});
  const tensor::Tensor y =
      builder.Compute("y", {kElements}, [&](auto i) { return value(x(i[0])); });
  tensor::Program program = tensor::Lower(builder.Build({y}));
  const tensor::LoopId loop =
      program.LoopsAround(tensor::NodeRef::Block(program.FindBlock("y")))[0];
  const int64_t lanes = target.vector_bytes / static_cast<int64_t>(sizeof(float));
  Result<std::vector<tensor::LoopId>> parts =
      tensor::Split(program, loop, std::vector<int64_t>{kElements / lanes, lanes});
  if (!parts) return parts.error();
  if (Status vectorized = tensor::Vectorize(program, parts->back()); !vectorized)
    return vectorized.error();
  Result<codegen::KernelObject> object = codegen::CompileProgram(program, target, "elementwise");
  if (!object) return object.error();
  return codegen::LoadedKernel::Load(*object);
}

/// Processor time of the calling thread.
double ThreadSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

Result<double> TimeCompiling(const target::Target& target) {
  const sketch::SpaceGenerator generator(tensor::ParseOperator(kConvolution), target);
  base::RandomStream random(1);
  double seconds = 0;
  for (int drawn = 0; drawn < kCandidates;) {
    const auto space =
        static_cast<int>(random.UniformInt(static_cast<int64_t>(generator.spaces().size())));
    const Result<sketch::Candidate> candidate = generator.Sample(space, random.Fork());
    if (!candidate) continue;
    double best = std::numeric_limits<double>::infinity();
    for (int repeat = 0; repeat < 2; ++repeat) {
      const double start = ThreadSeconds();
      const Result<codegen::KernelObject> object =
          codegen::CompileProgram(candidate->program, target, "sample");
      if (!object) return object.error();
      best = std::min(best, ThreadSeconds() - start);
    }
    seconds += best;
    ++drawn;
  }
  return seconds / kCandidates;
}

double BestRun(const codegen::LoadedKernel& kernel) {
  alignas(64) static thread_local float x[kElements], y[kElements];
  std::fill_n(x, kElements, 0.5F);
  void* parameters[] = {x, y};
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTimings; ++i) {
    const double start = base::MonotonicSeconds();
    for (int run = 0; run < kRuns; ++run) kernel(parameters, nullptr);
    best = std::min(best, base::MonotonicSeconds() - start);
  }
  return best / kRuns;
}

}  // namespace

SamplePrograms::SamplePrograms(codegen::LoadedKernel exponential, codegen::LoadedKernel product,
                               double lanes, double compile_seconds)
    : exponential_(std::move(exponential)),
      product_(std::move(product)),
      lanes_(lanes),
      compile_seconds_(compile_seconds) {}

Result<SamplePrograms> SamplePrograms::Compile(const target::Target& target) {
  Result<codegen::LoadedKernel> exponential = Elementwise(
      target, [](tensor::Expr x) { return tensor::Unary(tensor::ExprOp::kExp, std::move(x)); });
  if (!exponential) return exponential.error();
  Result<codegen::LoadedKernel> product =
      Elementwise(target, [](tensor::Expr x) { return std::move(x) * tensor::FloatLiteral(1.5); });
  if (!product) return product.error();
  const Result<double> compile_seconds = TimeCompiling(target);
  if (!compile_seconds) return compile_seconds.error();
  return SamplePrograms(*std::move(exponential), *std::move(product),
                        static_cast<double>(target.vector_bytes) / sizeof(float), *compile_seconds);
}

double SamplePrograms::TranscendentalSeconds() {
  const double vectors = static_cast<double>(kElements) / lanes_;
  return std::max(0.0, BestRun(exponential_) - BestRun(product_)) / vectors;
}

}  // namespace bayloom::measure
