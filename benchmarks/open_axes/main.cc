// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// What code for all lengths of an open axis loses against code for each length alone: programs that
// the time estimate chooses for both, timed in turns.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bayloom/base/thread_pool.h"
#include "bayloom/codegen/host.h"
#include "bayloom/codegen/jit.h"
#include "bayloom/codegen/runtime/bayloom_runtime.h"
#include "bayloom/tensor/interpreter.h"
#include "bayloom/tensor/operators.h"
#include "bayloom/tuning/zero_trial_program.h"
#include "benchmarks/alternate.h"
#include "benchmarks/run_tool.h"

namespace bayloom {
namespace {

using tensor::Expr;
using tensor::Reduction;
using tensor::Tensor;
using tensor::WorkloadBuilder;

/// An axis of a workload: open, or as long as it is.
struct Axis {
  int64_t extent;
  tensor::BufferId size = -1;
};

/// `length`: 0 for the open axis up to `largest`.
Axis RowsOf(WorkloadBuilder& b, int64_t length, int64_t largest) {
  if (length > 0) return {length};
  return {largest, b.Size("n", {1, largest})};
}

Tensor Bounded(WorkloadBuilder& b, Tensor x, int dimension, const Axis& axis) {
  if (axis.size >= 0) b.Bound(x, dimension, axis.size);
  return x;
}

using Writer = std::function<tensor::Workload(int64_t length, int64_t largest)>;

tensor::Workload Product(int64_t length, int64_t largest, int64_t out, int64_t in, bool gelu) {
  WorkloadBuilder b("product");
  const Axis n = RowsOf(b, length, largest);
  const Tensor x = Bounded(b, b.Input("x", {n.extent, in}), 0, n);
  const Tensor w = b.Constant("w", {in, out}), bias = b.Constant("bias", {out});
  Tensor y = Bounded(b, tensor::Matmul(b, "matmul", x, w), 0, n);
  y = tensor::Zip(b, "biased", y, bias, [](Expr a, Expr c) { return a + c; });
  if (gelu) y = tensor::Map(b, "gelu", Bounded(b, y, 0, n), tensor::Gelu);
  return b.Build({Bounded(b, y, 0, n)});
}

/// softmax(q k') v of several heads, in the four stages of a softmax.
tensor::Workload Attention(int64_t length, int64_t largest, int64_t heads, int64_t depth) {
  WorkloadBuilder b("attention");
  const Axis n = RowsOf(b, length, largest);
  const auto input = [&](const char* name) {
    return Bounded(b, b.Input(name, {heads, n.extent, depth}), 1, n);
  };
  const Tensor q = input("q"), k = input("k"), v = input("v");
  const std::vector<WorkloadBuilder::Axis> keys = {{"k", n.extent, n.size}};
  const auto square = [&](Tensor x) { return Bounded(b, Bounded(b, x, 1, n), 2, n); };
  const Tensor scores = square(b.Reduce(
      "scores", {heads, n.extent, n.extent}, {{"d", depth}}, Reduction::kSum,
      [&](const auto& s, const auto& r) { return q(s[0], s[1], r[0]) * k(s[0], s[2], r[0]); }));
  const Tensor most =
      Bounded(b,
              b.Reduce("most", {heads, n.extent}, keys, Reduction::kMax,
                       [&](const auto& s, const auto& r) { return scores(s[0], s[1], r[0]); }),
              1, n);
  const Tensor power = square(b.Compute("exp", {heads, n.extent, n.extent}, [&](const auto& i) {
    return tensor::Unary(tensor::ExprOp::kExp, scores(i[0], i[1], i[2]) - most(i[0], i[1]));
  }));
  const Tensor total =
      Bounded(b,
              b.Reduce("total", {heads, n.extent}, keys, Reduction::kSum,
                       [&](const auto& s, const auto& r) { return power(s[0], s[1], r[0]); }),
              1, n);
  const Tensor p = square(b.Compute("softmax", {heads, n.extent, n.extent}, [&](const auto& i) {
    return power(i[0], i[1], i[2]) / total(i[0], i[1]);
  }));
  return b.Build({Bounded(b,
                          b.Reduce("mix", {heads, n.extent, depth}, keys, Reduction::kSum,
                                   [&](const auto& s, const auto& r) {
                                     return p(s[0], s[1], r[0]) * v(s[0], r[0], s[2]);
                                   }),
                          1, n)});
}

tensor::Workload Normalization(int64_t length, int64_t largest, int64_t channels) {
  WorkloadBuilder b("norm");
  const Axis n = RowsOf(b, length, largest);
  const Tensor x = Bounded(b, b.Input("x", {n.extent, channels}), 0, n);
  const auto mean_of = [&](const char* name, auto value) {
    const Tensor sum =
        Bounded(b,
                b.Reduce(name, {n.extent}, {{"c", channels}}, Reduction::kSum,
                         [&](const auto& s, const auto& r) { return value(s[0], r[0]); }),
                0, n);
    return Bounded(b,
                   b.Compute(name, {n.extent},
                             [&](const auto& i) {
                               return sum(i[0]) *
                                      tensor::FloatLiteral(1.0 / static_cast<double>(channels));
                             }),
                   0, n);
  };
  const Tensor mean = mean_of("mean", [&](Expr i, Expr c) { return x(i, c); });
  const Tensor variance = mean_of("variance", [&](Expr i, Expr c) {
    const Expr d = x(i, c) - mean(i);
    return d * d;
  });
  return b.Build({Bounded(b,
                          b.Compute("norm", {n.extent, channels},
                                    [&](const auto& i) {
                                      return (x(i[0], i[1]) - mean(i[0])) /
                                             tensor::Unary(
                                                 tensor::ExprOp::kSqrt,
                                                 variance(i[0]) + tensor::FloatLiteral(1e-5));
                                    }),
                          0, n)});
}

/// 3x3 over a square image, rows and columns of one length.
tensor::Workload Convolution(int64_t length, int64_t largest, int64_t channels) {
  WorkloadBuilder b("conv");
  const Axis n = RowsOf(b, length, largest);
  Axis wider = {n.extent + 2};
  if (length == 0) wider.size = b.Size("wider", {3, largest + 2});
  const Tensor x = Bounded(b, Bounded(b, b.Input("x", {n.extent, n.extent, channels}), 0, n), 1, n);
  const Tensor f = b.Constant("f", {3, 3, channels, channels});
  const Expr end = n.size >= 0 ? tensor::SizeOf(n.size) : tensor::IntLiteral(n.extent);
  Tensor padded = b.Compute("padded", {wider.extent, wider.extent, channels}, [&](const auto& i) {
    const auto inside = [&](const Expr& at) { return Expr(0) < at && at < end + 1; };
    return tensor::Select(inside(i[0]) && inside(i[1]), x(i[0] - 1, i[1] - 1, i[2]),
                          tensor::FloatLiteral(0));
  });
  padded = Bounded(b, Bounded(b, padded, 0, wider), 1, wider);
  const Tensor y =
      b.Reduce("conv", {n.extent, n.extent, channels}, {{"y", 3}, {"x", 3}, {"c", channels}},
               Reduction::kSum, [&](const auto& s, const auto& r) {
                 return padded(s[0] + r[0], s[1] + r[1], r[2]) * f(r[0], r[1], r[2], s[2]);
               });
  return b.Build({Bounded(b, Bounded(b, y, 0, n), 1, n)});
}

/// A compiled program with its arguments.
class Kernel {
 public:
  explicit Kernel(const tensor::Program& program) : program_(program) {
    const auto object = codegen::CompileProgram(program, codegen::HostTarget(), "kernel");
    if (!object) throw InputError(object.error().message);
    auto loaded = codegen::LoadedKernel::Load(*object);
    if (!loaded) throw InputError(loaded.error().message);
    kernel_ = std::make_unique<codegen::LoadedKernel>(std::move(*loaded));
    for (tensor::BufferId id : program.Parameters()) {
      const tensor::Buffer& buffer = program.buffers[id];
      const auto bytes =
          static_cast<size_t>(buffer.ElementCount() * tensor::ByteSize(buffer.dtype));
      memory_.push_back(Allocate(bytes));
      std::vector<float> values(bytes / 4);
      for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 17) / 17;
      std::memcpy(memory_.back().get(), values.data(), values.size() * 4);
      pointers_.push_back(memory_.back().get());
    }
    workspace_ = Allocate(static_cast<size_t>(object->WorkspaceBytes(bayloom_threads())));
  }
  /// The first size is the value, a second one what padding makes of it.
  void SetSize(int64_t value) {
    for (int size = 0; size < program_.SizeCount(); ++size, value += 2) {
      std::memcpy(pointers_[static_cast<size_t>(size)], &value, sizeof(value));
    }
  }
  void Run() { (*kernel_)(pointers_.data(), workspace_.get()); }

 private:
  static codegen::AlignedMemory Allocate(size_t bytes) {
    void* memory = nullptr;
    if (posix_memalign(&memory, 64, bytes > 0 ? bytes : 1) != 0) throw std::bad_alloc();
    return codegen::AlignedMemory(memory);
  }

  tensor::Program program_;
  std::unique_ptr<codegen::LoadedKernel> kernel_;
  std::vector<codegen::AlignedMemory> memory_;
  std::vector<void*> pointers_;
  codegen::AlignedMemory workspace_;
};

tensor::Program Chosen(const tensor::Workload& workload, bool print) {
  const sketch::SpaceGenerator space(workload, codegen::HostTarget());
  base::ThreadPool pool(1);
  const tensor::Program program =
      tuning::FastestByEstimate(space, {}, tuning::ZeroTrialOptions(), pool).program;
  if (print) fmt::print("{}\n", tensor::Print(program));
  return program;
}

struct Options {
  std::vector<std::string> only;
  int64_t largest = 512;
  int threads = 1;
  bool print = false;
};

void Compare(const std::string& name, const Writer& write, int64_t largest, bool print) {
  const tensor::Program open_program = Chosen(write(0, largest), print);
  Kernel open(open_program);
  double log_sum = 0;
  int count = 0;
  for (const int64_t parts : {1, 7, 16, 33, 64, 100, 128, 200, 256, 300, 384, 500, 512}) {
    const int64_t length = parts * largest / 512;
    if (length < 1) continue;
    Kernel fixed(Chosen(write(length, largest), print && length == largest));
    open.SetSize(length);
    const std::vector<RunTime> times = Alternate({[&] { open.Run(); }, [&] { fixed.Run(); }},
                                                 {.rounds = 5, .seconds_a_turn = 0.02});
    const double ratio = times[0].median / times[1].median;
    log_sum += std::log(ratio);
    ++count;
    fmt::print("{:<24} {:>4}  open {:9.2f} us  fixed {:9.2f} us  open/fixed {:5.2f}\n", name,
               length, times[0].median * 1e6, times[1].median * 1e6, ratio);
  }
  fmt::print("{:<24} geometric mean {:5.2f}\n", name, std::exp(log_sum / count));
}

void Study(const Options& options) {
  bayloom_set_threads(options.threads);
  const std::vector<std::pair<std::string, Writer>> cases = {
      {"product 768x768",
       [](int64_t n, int64_t most) { return Product(n, most, 768, 768, false); }},
      {"product 3072x768 gelu",
       [](int64_t n, int64_t most) { return Product(n, most, 3072, 768, true); }},
      {"attention 12x64", [](int64_t n, int64_t most) { return Attention(n, most, 12, 64); }},
      {"normalization 768", [](int64_t n, int64_t most) { return Normalization(n, most, 768); }},
      {"convolution 3x3x64", [](int64_t n, int64_t most) { return Convolution(n, most, 64); }},
  };
  for (const auto& [name, write] : cases) {
    const bool wanted =
        options.only.empty() || std::ranges::any_of(options.only, [&](const std::string& part) {
          return name.find(part) != std::string::npos;
        });
    if (!wanted) continue;
    const bool is_image = name.starts_with("conv");
    Compare(name, write, is_image ? options.largest / 4 : options.largest, options.print);
  }
}

int Main(int argc, char** argv) {
  CLI::App app("Times code for open axes beside code for each length", "bayloom-open-axes");
  Options options;
  app.add_option("--only", options.only, "Cases whose names contain this");
  app.add_option("--largest", options.largest, "The largest length");
  app.add_option("--threads", options.threads, "Threads of a run");
  app.add_flag("--print", options.print, "Print the programs");
  return RunTool(app, argc, argv, [&] { Study(options); });
}

}  // namespace
}  // namespace bayloom

int main(int argc, char** argv) { return bayloom::Main(argc, argv); }
