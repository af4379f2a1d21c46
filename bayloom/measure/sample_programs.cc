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

namespace bayloom {
namespace {

constexpr int64_t kElements = 2048;  ///< of arrays that fit into any first-level cache
constexpr int kTimings = 12, kRuns = 100;
constexpr int kCandidates = 6;
constexpr const char* kConvolution = "conv2d:28x28x64,64,3x3,pad=1,bias,relu";

/// value(x[i]), in full vectors.
Result<LoadedKernel> Elementwise(const Target& target, const std::function<Expr(Expr)>& value) {
  WorkloadBuilder builder("elementwise");
  const Tensor x = builder.Input("x", {kElements});
  const Tensor y = builder.Compute("y", {kElements}, [&](auto i) { return value(x(i[0])); });
  Program program = Lower(builder.Build({y}));
  const LoopId loop = program.LoopsAround(NodeRef::Block(program.FindBlock("y")))[0];
  const int64_t lanes = target.vector_bytes / static_cast<int64_t>(sizeof(float));
  Result<std::vector<LoopId>> parts =
      Split(program, loop, std::vector<int64_t>{kElements / lanes, lanes});
  if (!parts) return parts.error();
  if (Status vectorized = Vectorize(program, parts->back()); !vectorized) return vectorized.error();
  Result<KernelObject> object = CompileProgram(program, target, "elementwise");
  if (!object) return object.error();
  return LoadedKernel::Load(*object);
}

/// Processor time of the calling thread.
double ThreadSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

Result<double> TimeCompiling(const Target& target) {
  const SpaceGenerator generator(ParseOperator(kConvolution), target);
  RandomStream random(1);
  double seconds = 0;
  for (int drawn = 0; drawn < kCandidates;) {
    const auto space =
        static_cast<int>(random.UniformInt(static_cast<int64_t>(generator.spaces().size())));
    const Result<Candidate> candidate = generator.Sample(space, random.Fork());
    if (!candidate) continue;
    double best = std::numeric_limits<double>::infinity();
    for (int repeat = 0; repeat < 2; ++repeat) {
      const double start = ThreadSeconds();
      const Result<KernelObject> object = CompileProgram(candidate->program, target, "sample");
      if (!object) return object.error();
      best = std::min(best, ThreadSeconds() - start);
    }
    seconds += best;
    ++drawn;
  }
  return seconds / kCandidates;
}

double BestRun(const LoadedKernel& kernel) {
  alignas(64) static thread_local float x[kElements], y[kElements];
  std::fill_n(x, kElements, 0.5F);
  void* parameters[] = {x, y};
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTimings; ++i) {
    const double start = MonotonicSeconds();
    for (int run = 0; run < kRuns; ++run) kernel(parameters, nullptr);
    best = std::min(best, MonotonicSeconds() - start);
  }
  return best / kRuns;
}

}  // namespace

SamplePrograms::SamplePrograms(LoadedKernel exponential, LoadedKernel product, double lanes,
                               double compile_seconds)
    : exponential_(std::move(exponential)),
      product_(std::move(product)),
      lanes_(lanes),
      compile_seconds_(compile_seconds) {}

Result<SamplePrograms> SamplePrograms::Compile(const Target& target) {
  Result<LoadedKernel> exponential =
      Elementwise(target, [](Expr x) { return Unary(ExprOp::kExp, std::move(x)); });
  if (!exponential) return exponential.error();
  Result<LoadedKernel> product =
      Elementwise(target, [](Expr x) { return std::move(x) * FloatLiteral(1.5); });
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

}  // namespace bayloom
