#include "bayloom/measure/builder.h"

#include <exception>

#include "bayloom/base/clock.h"

namespace bayloom {
namespace {

Build BuildOne(const Program& program, const Target& target) {
  Build build;
  const double start = MonotonicSeconds();
  try {
    Result<KernelObject> kernel = CompileProgram(program, target, "kernel");
    if (kernel) {
      build.kernel = *std::move(kernel);
    } else {
      build.error = kernel.error().message;
    }
  } catch (const std::exception& e) {
    build.error = e.what();
  }
  build.seconds = MonotonicSeconds() - start;
  return build;
}

}  // namespace

std::vector<Build> Builder::BuildAll(std::span<const Program* const> programs) {
  std::vector<Build> builds(programs.size());
  threads_.ParallelFor(static_cast<int64_t>(programs.size()),
                       [&](int64_t i) { builds[i] = BuildOne(*programs[i], target_); });
  return builds;
}

}  // namespace bayloom
