// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// What activations in blocks of channels would save: convolutions that are tuned with channels last
// and in blocks of as many channels as a vector has lanes, with equal trials, and the best programs
// timed in turns.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "bayloom/base/random.h"
#include "bayloom/codegen/host.h"
#include "bayloom/codegen/jit.h"
#include "bayloom/codegen/runtime/bayloom_runtime.h"
#include "bayloom/cost/xgboost_model.h"
#include "bayloom/measure/measurer.h"
#include "bayloom/measure/runner_main.h"
#include "bayloom/record/store.h"
#include "bayloom/tensor/interpreter.h"
#include "bayloom/tuning/measure_evaluator.h"
#include "bayloom/tuning/measured_target.h"
#include "bayloom/tuning/session.h"
#include "benchmarks/alternate.h"
#include "benchmarks/layouts/blocked_convolution.h"
#include "benchmarks/must.h"
#include "benchmarks/run_tool.h"

namespace bayloom {
namespace {

struct Options {
  int64_t trials = 300;
  int threads = 1;
  uint64_t seeds = 2;
  int turns = 15;
  double seconds = 1;
};

struct Layer {
  const char* name;
  tensor::Conv2dShape shape;
};

Layer MakeLayer(const char* name, int64_t size, int64_t channels, int64_t kernel, int64_t groups) {
  tensor::Conv2dShape shape;
  shape.height = shape.width = size;
  shape.in_channels = shape.out_channels = channels;
  shape.kernel = {kernel, kernel};
  shape.groups = groups;
  shape.options.pad_before = shape.options.pad_after = {kernel / 2, kernel / 2};
  shape.epilogue = {.bias = true, .relu = true};
  return {name, shape};
}

std::vector<Layer> Layers() {
  return {MakeLayer("56x56x64 3x3", 56, 64, 3, 1), MakeLayer("28x28x128 3x3", 28, 128, 3, 1),
          MakeLayer("14x14x256 3x3", 14, 256, 3, 1), MakeLayer("28x28x256 1x1", 28, 256, 1, 1),
          MakeLayer("56x56x144 3x3 depthwise", 56, 144, 3, 144)};
}

/// The best program of a tuning, by direct sums.
tensor::Program Tune(const tensor::Workload& workload, const target::Target& target,
                     const Options& options, uint64_t seed) {
  record::Store store(":memory:");
  measure::Measurer measurer(target, {});
  tuning::MeasureEvaluator evaluator(measurer);
  cost::XgboostModel model;
  tuning::SessionOptions session_options;
  session_options.model = "layouts";
  session_options.run.budget.trials = options.trials;
  session_options.run.seed = seed;
  session_options.derivations = Must(sketch::DerivationChoice::Parse("none"));
  tuning::Session session(target, {{workload.name, workload, 1}}, store, &model, evaluator,
                          session_options);
  session.Run();
  if (!session.tasks()[0]->best()) throw InputError("no program of " + workload.name + " ran");
  return session.tasks()[0]->best()->candidate.program;
}

/// A program in this process with random arguments.
class Runner {
 public:
  Runner(const tensor::Program& program, const target::Target& target)
      : object_(Must(codegen::CompileProgram(program, target, "kernel"))),
        kernel_(Must(codegen::LoadedKernel::Load(object_))),
        workspace_(codegen::AllocateAligned(object_.WorkspaceBytes(target.cores))) {
    base::RandomStream random(1);
    for (tensor::BufferId id : program.Parameters()) {
      const int64_t count = program.buffers[id].ElementCount();
      buffers_.push_back(codegen::AllocateAligned(count * 4));
      parameters_.push_back(buffers_.back().get());
      auto* const values = static_cast<float*>(parameters_.back());
      for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(random.Normal());
    }
  }

  void Run() { kernel_(parameters_.data(), workspace_.get()); }

 private:
  codegen::KernelObject object_;
  codegen::LoadedKernel kernel_;
  codegen::AlignedMemory workspace_;
  std::vector<codegen::AlignedMemory> buffers_;
  std::vector<void*> parameters_;
};

void Compare(const Layer& layer, const target::Target& target, const Options& options,
             uint64_t seed) {
  const tensor::Workload last = tensor::Conv2dWorkload(layer.shape);
  const tensor::Workload blocked = BlockedConvolution(layer.shape, target.vector_bytes / 4);
  if (last.Flops() != blocked.Flops()) throw InputError("the two layouts compute something else");
  Runner last_runner(Tune(last, target, options, seed), target);
  Runner blocked_runner(Tune(blocked, target, options, seed), target);
  std::vector<double> last_times, blocked_times, ratios;
  for (int turn = 0; turn < options.turns; ++turn) {
    const std::vector<RunTime> times =
        Alternate({[&] { last_runner.Run(); }, [&] { blocked_runner.Run(); }},
                  {.rounds = 1, .seconds_a_turn = options.seconds});
    last_times.push_back(times[0].median);
    blocked_times.push_back(times[1].median);
    ratios.push_back(times[0].median / times[1].median);
  }
  std::ranges::sort(last_times);
  std::ranges::sort(blocked_times);
  std::ranges::sort(ratios);
  const size_t middle = ratios.size() / 2;
  fmt::print("{:<26}{:>5}{:>12.1f}{:>12.1f}{:>8.3f}{:>16}\n", layer.name, seed,
             1e6 * last_times[middle], 1e6 * blocked_times[middle], ratios[middle],
             fmt::format("{:.3f}-{:.3f}", ratios.front(), ratios.back()));
  std::fflush(stdout);
}

void Study(const Options& options) {
  record::Store store(":memory:");
  tuning::UserStore no_store(std::nullopt, tuning::UserStore::Mode::kRead, {});
  const target::Target target = tuning::MeasuredTarget(
      store, no_store, codegen::HostTarget(options.threads),
      {[] {}, [](const std::string& warning) { fmt::print(stderr, "{}\n", warning); }});
  bayloom_set_threads(options.threads);
  fmt::print("{:<26}{:>5}{:>12}{:>12}{:>8}{:>16}\n", "layer", "seed", "last, us", "blocks, us",
             "ratio", "range");
  for (const Layer& layer : Layers()) {
    for (uint64_t seed = 1; seed <= options.seeds; ++seed) Compare(layer, target, options, seed);
  }
}

}  // namespace
}  // namespace bayloom

int main(int argc, char** argv) {
  using namespace bayloom;
  if (std::optional<int> code = measure::RunAsRunner(argc, argv)) return *code;
  CLI::App app("What activations in blocks of channels would save", "bayloom-layouts");
  Options options;
  app.add_option("--trials", options.trials, "Trials of each tuning")->capture_default_str();
  app.add_option("--threads", options.threads, "Threads")->capture_default_str();
  app.add_option("--seeds", options.seeds, "Tunings of each layer")->capture_default_str();
  app.add_option("--turns", options.turns, "Turns")->capture_default_str();
  app.add_option("--time", options.seconds, "Seconds a turn")->capture_default_str();
  return RunTool(app, argc, argv, [&] { Study(options); });
}
