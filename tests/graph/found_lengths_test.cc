// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Lengths that a network finds when it runs.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/codegen/host.h"
#include "bayloom/codegen/runtime/bayloom_package.h"
#include "bayloom/graph/executor.h"
#include "bayloom/graph/open/corner.h"
#include "bayloom/graph/package.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/survey.h"
#include "bayloom/sketch/default_schedule.h"
#include "tests/graph/text_models.h"
#include "tests/message_of.h"
#include "tests/temporary_folder.h"

namespace bayloom::graph {
namespace {

using HostTensors = std::vector<tensor::HostTensor>;

struct FindingModel {
  std::string name;
  std::string text;
  std::vector<Symbol> symbols = {};
  std::map<std::string, int64_t> bounds = {};
  int64_t largest_integer = 3;  ///< of integer inputs
  int opset = 18;

  ImportOptions Options() const {
    ImportOptions options;
    options.symbols = symbols;
    options.bounds = bounds;
    return options;
  }
};
void PrintTo(const FindingModel& model, std::ostream* out) { *out << model.name; }

/// Scales of 0.5 to 2.
std::string FoundScales(const std::string& attributes) {
  return "g (float[4, 7] x, int64[2] p) => (float[m, n] y) <float one = {1}, float half = {0.5}> "
         "{ f = Cast<to = 1>(p) g = Add(f, one) s = Mul(g, half) y = Resize<" +
         attributes + ">(x, , s) }";
}

std::vector<FindingModel> FindingModels() {
  return {
      {"nonzero", "g (float[3, 5] x) => (int64[2, k] y) { y = NonZero(x) }"},
      {"nonzero_of_open_rows",
       "g (float[n, 3] x) => (int64[2, k] y) { y = NonZero(x) }",
       {{"n", 1, 9}}},
      {"nonzero_of_open_columns",
       "g (float[2, n] x) => (int64[2, k] y) { y = NonZero(x) }",
       {{"n", 1, 9}}},
      {"masked_selection",
       "g (float[6, 4] x, bool[6, 4] m) => (float[k] y) "
       "{ n = NonZero(m) t = Transpose<perm = [1, 0]>(n) y = GatherND(x, t) }"},
      {"selection_of_rows",
       "g (float[7, 3] x, bool[7] m, float[3, 2] w) => (float[k, 2] y, float s) "
       "{ n = NonZero(m) t = Transpose<perm = [1, 0]>(n) r = GatherND(x, t) y = MatMul(r, w) "
       "s = ReduceSum<keepdims = 0>(r) }"},
      {"scattered_back",
       "g (float[5, 4] x) => (float[5, 4] y) <float zero = {0}, float two = {2}> "
       "{ m = Greater(x, zero) n = NonZero(m) t = Transpose<perm = [1, 0]>(n) "
       "v = GatherND(x, t) w = Mul(v, two) y = ScatterND(x, t, w) }"},
      {"added_back",
       "g (float[9] x, float[9] d) => (float[9] y) <float zero = {0}> "
       "{ m = Greater(x, zero) n = NonZero(m) t = Transpose<perm = [1, 0]>(n) "
       "v = GatherND(x, t) y = ScatterND<reduction = \"add\">(d, t, v) }"},
      {"compress",
       "g (float[4, 6] x, bool[6] c) => (float[4, k] y) { y = Compress<axis = 1>(x, c) }"},
      {"compress_elements", "g (float[4, 3] x, bool[9] c) => (float[k] y) { y = Compress(x, c) }"},
      {"unique",
       "g (int64[12] x) => (int64[k] y, int64[k] i, int64[12] j, int64[k] c) "
       "{ y, i, j, c = Unique(x) }"},
      {"unique_in_order",
       "g (int64[n] x) => (int64[k] y, int64[k] i, int64[n] j, int64[k] c) "
       "{ y, i, j, c = Unique<sorted = 0>(x) }",
       {{"n", 1, 12}}},
      {"unique_rows", "g (int64[8, 2] x) => (int64[k, 2] y) { y = Unique<axis = 0>(x) }"},
      {"topk",
       "g (float[3, 7] x, int64[1] k) => (float[3, m] y, int64[3, m] i) { y, i = TopK(x, k) }"},
      {"slice",
       "g (float[6, 5] x, int64[2] b, int64[2] e) => (float[m, n] y) { y = Slice(x, b, e) }"},
      {"range",
       "g (int64 b, int64 e) => (int64[n] y) <int64 one = {1}> { y = Range(b, e, one) }",
       {},
       {{"y", 9}}},
      {"range_twice",
       "g (int64 e) => (float[n] y) <int64 zero = {0}, int64 one = {1}, "
       "int64[1] a = {0}> { r = Range(zero, e, one) u = Unsqueeze(e, a) f = Cast<to = 1>(r) "
       "o = ConstantOfShape(u) y = Add(f, o) }",
       {},
       {{"r", 5}}},
      {"expand",
       "g (float[1, 3] x, int64[1] r) => (float[n, 3] y) <int64[1] three = {3}> "
       "{ s = Concat<axis = 0>(r, three) y = Expand(x, s) }",
       {},
       {{"y.0", 4}}},
      {"tile",
       "g (float[2, 3] x, int64[2] r) => (float[m, n] y) { y = Tile(x, r) }",
       {},
       {{"y", 12}}},
      {"two_counts",
       "g (float[6] x, float[6] z) => (float[n, m] y) "
       "{ a = NonZero(x) b = NonZero(z) f = Cast<to = 1>(a) h = Cast<to = 1>(b) "
       "t = Transpose<perm = [1, 0]>(f) y = MatMul(t, h) }"},
      {"shape_of_found",
       "g (float[8] x) => (float[n, n] y) <int64[1] one = {1}, int64[1] two = {2}> "
       "{ a = NonZero(x) s = Shape(a) n = Slice(s, one, two) d = Concat<axis = 0>(n, n) "
       "y = ConstantOfShape(d) }"},
      {"two_selections_by_one_mask",
       "g (float[n, 2] x, float[n, 2] z, float[n] p) => (float[k, 2] y) <float zero = {0}> "
       "{ m = Greater(p, zero) a = NonZero(m) b = NonZero(m) s = Transpose<perm = [1, 0]>(a) "
       "t = Transpose<perm = [1, 0]>(b) v = GatherND(x, s) w = GatherND(z, t) y = Add(v, w) }",
       {{"n", 1, 9}}},
      {"first_ones_of_a_signal",
       "g (float[1, 1, n] x, float[1, 1, 3] w) => (float[k] y) <int64[1] b = {0}, "
       "int64[1] e = {3}, float zero = {0}, int64[1] d = {-1}> "
       "{ c = Conv<strides = [2], pads = [1, 1]>(x, w) f = Reshape(c, d) m = Greater(f, zero) "
       "v = Compress<axis = 0>(f, m) y = Slice(v, b, e) }",
       {{"n", 5, 20}}},
      {"joined",
       "g (float[4] x, float[3] z) => (float[n] y) "
       "{ a = NonZero(x) t = Transpose<perm = [1, 0]>(a) v = GatherND(x, t) "
       "y = Concat<axis = 0>(v, z) }"},
      {"best_of_found",
       "g (float[30] x, bool[30] m) => (float[k] y, int64[k] i) <int64[1] one = {1}, "
       "int64[1] zero = {0}, int64[1] five = {5}> "
       "{ v = Compress<axis = 0>(x, m) s = Shape(v) k = Min(s, five) y, i = TopK(v, k) }"},
      {"softmax_and_maximum",
       "g (float[9] x, bool[9] m) => (float[k] y, int64[k] o) <int64[1] a = {0}, int64 zero = {0}> "
       "{ v = Compress<axis = 0>(x, m) y = Softmax<axis = 0>(v) o = CumSum(w, zero) "
       "w = Cast<to = 7>(v) }"},
      {"detector",
       "g (float[1, 12, 4] boxes, float[1, 3, 12] scores) => (float[k, 4] y, int64[k] c) "
       "<int64[1] most = {4}, float[1] overlap = {0.5}, float[1] least = {0.1}, int64 one = {1}, "
       "int64 two = {2}, int64[1] a = {0}> "
       "{ s = NonMaxSuppression(boxes, scores, most, overlap, least) "
       "c = Gather<axis = 1>(s, one) i = Gather<axis = 1>(s, two) "
       "b = Squeeze(boxes, a) y = Gather<axis = 0>(b, i) }"},
      {"detector_of_few_boxes",
       "g (float[1, n, 4] boxes, float[1, 2, n] scores) => (int64[k, 3] s) "
       "<int64[1] most = {6}, float[1] overlap = {0.5}> "
       "{ s = NonMaxSuppression(boxes, scores, most, overlap) }",
       {{"n", 2, 20}}},
      {"detector_of_any_size",
       "g (float[1, n, 4] boxes, float[1, 2, n] scores, int64[1] most) => (int64[k, 3] s) "
       "<float[1] overlap = {0.5}> { s = NonMaxSuppression(boxes, scores, most, overlap) }",
       {{"n", 2, 20}}},
      {"reduced_over_a_found_axis",
       "g (float[3, 4] x, int64[1] a) => (float[m, n] y) { y = ReduceSum(x, a) }",
       {},
       {},
       1},
      {"mean_over_a_found_axis",
       "g (float[n, 4] x, int64[1] a) => (float[m] y) { y = ReduceMean<keepdims = 0>(x, a) }",
       {{"n", 1, 7}},
       {},
       1},
      {"reduced_over_two_found_axes",
       "g (float[3, 4, 2] x, int64[1] a) => (float[m] y) <int64[1] one = {1}> "
       "{ b = Add(a, one) c = Concat<axis = 0>(a, b) y = ReduceLogSumExp<keepdims = 0>(x, c) }",
       {},
       {},
       1},
      {"summed_up_along_a_found_axis",
       "g (float[3, n, 2] x, int64 a, bool[3] m) => (float[k, n, 2] y) "
       "{ c = CumSum(x, a) y = Compress<axis = 0>(c, m) }",
       {{"n", 1, 5}},
       {},
       2},
      {"squeezed_axis",
       "g (float[1, 3, 1] x, int64[1] a) => (float[m, n] y) <int64[1] two = {2}> "
       "{ b = Mul(a, two) y = Squeeze(x, b) }",
       {},
       {},
       1},
      {"unsqueezed_axis",
       "g (float[2, 3] x, int64[1] a) => (float[k, m, n] y) { y = Unsqueeze(x, a) }",
       {},
       {},
       2},
      {"nearest_by_found_scales", FoundScales("mode = \"nearest\""), {}, {{"y", 20}}},
      {"linear_by_found_scales",
       FoundScales("mode = \"linear\", coordinate_transformation_mode = \"align_corners\""),
       {},
       {{"y", 20}}},
      {"cubic_by_found_scales",
       FoundScales("mode = \"cubic\", exclude_outside = 1"),
       {},
       {{"y", 20}}},
      {"repeated_as_often_as_found",
       "g (int64 trips, float[2] x) => (float[2] y, float[n, 2] s) <bool go = {1}> "
       "{ y, s = Loop(trips, go, x) <body = b (int64 i, bool c, float[2] v) "
       "=> (bool d, float[2] w, float[2] t) { d = Identity(c) f = Cast<to = 1>(i) "
       "w = Add(v, f) t = Mul(w, w) }> }",
       {},
       {{"s", 3}}},
      {"repeated_without_rows",
       "g (int64 trips, float[2] x) => (float[2] y) <bool go = {1}> "
       "{ y = Loop(trips, go, x) <body = b (int64 i, bool c, float[2] v) "
       "=> (bool d, float[2] w) { d = Identity(c) f = Cast<to = 1>(i) w = Add(v, f) }> }",
       {},
       {{"y.count", 3}}},
      {"rows_until_a_condition",
       "g (float x, float z) => (float y, float[n] s) <int64 most = {5}, float half = {0.5}> "
       "{ go = Less(x, half) y, s = Loop(most, go, x) <body = b (int64 i, bool c, float v) "
       "=> (bool d, float w, float t) { q = Abs(z) r = Add(v, q) w = Add(r, half) "
       "d = Less(w, half) t = Identity(w) }> }"},
      {"repeated_while_a_condition_holds",
       "g (float x) => (float y, float[n] s) <int64 most = {1099511627776}, "
       "float four = {4}, float one = {1}> "
       "{ go = Less(x, four) y, s = Loop(most, go, x) <body = b (int64 i, bool c, float v) "
       "=> (bool d, float w, float t) { w = Add(v, one) d = Less(w, four) t = Neg(w) }> }",
       {},
       {{"s", 5}}},
      {"frames_of_found_steps",
       "g (float[1, 32, 1] x, int64 p) => (float[1, f, b, 2] y) <int64 one = {1}, int64 size = "
       "{8}> "
       "{ s = Add(p, one) y = STFT(x, s, , size) }"},
      {"frames_of_found_sizes",
       "g (float[1, 16, 1] x, int64 p) => (float[1, f, b, 2] y) <int64 one = {1}, int64 two = {2}> "
       "{ s = Add(p, one) y = STFT(x, two, , s) }"},
      {"window_of_found_size",
       "g (int64 p) => (float[n] y) <int64 two = {2}> { s = Add(p, two) y = HannWindow(s) }",
       {},
       {{"y", 8}}},
  };
}

/// Few different values, zeros among them, in the shape for these lengths.
tensor::HostTensor RandomInput(const Graph& graph, ValueId id, const FindingModel& model,
                               std::span<const int64_t> lengths, base::RandomStream& random) {
  const Value& value = graph.values[id];
  tensor::HostTensor tensor = tensor::HostTensor::Zeros(value.dtype, ShapeAt(graph, id, lengths));
  const int64_t dense = random.UniformInt(4);  // of 3; 0: zeros only
  for (int64_t i = 0; i < tensor.ElementCount(); ++i) {
    const bool is_zero = random.UniformInt(3) >= dense;
    if (value.dtype == tensor::DType::kBool) {
      tensor.SetInt(i, is_zero ? 0 : 1);
    } else if (tensor::IsFloat(value.dtype)) {
      tensor.Set(i, is_zero ? 0 : random.Uniform() * 2 - 0.5);
    } else {
      tensor.SetInt(i, random.UniformInt(model.largest_integer + 1));
    }
  }
  return tensor;
}

/// What the model gives for inputs that are known when it is imported.
HostTensors Expected(const FindingModel& model, const Graph& graph, const HostTensors& inputs) {
  ImportOptions options;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string& name = graph.values[graph.inputs[i]].name;
    options.frozen_inputs[name] = std::make_shared<const tensor::HostTensor>(inputs[i]);
  }
  const Graph frozen = ImportText(model.text, model.opset, options);
  HostTensors outputs;
  for (const GraphOutput& output : frozen.outputs) {
    outputs.push_back(*frozen.values[output.value].constant);
  }
  return outputs;
}

void ExpectEqual(const HostTensors& actual, const HostTensors& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t k = 0; k < expected.size(); ++k) {
    ASSERT_EQ(actual[k].shape, expected[k].shape) << k;
    for (int64_t i = 0; i < expected[k].ElementCount(); ++i) {
      ASSERT_NEAR(actual[k].Get(i), expected[k].Get(i), 1e-5) << k << ", " << i;
    }
  }
}

/// A network with the default schedules of its tasks.
struct ScheduledFinding {
  explicit ScheduledFinding(const FindingModel& model, int cores = 1)
      : target(codegen::HostTarget(cores)) {
    Graph graph = ImportText(model.text, model.opset, model.Options());
    Optimize(graph);
    tasks = ExtractTasks(std::move(graph));
    for (const GraphTask& task : tasks.tasks) {
      programs.push_back(sketch::DefaultSchedule(task.workload, target));
    }
    for (const tensor::Program& program : programs) pointers.push_back(&program);
  }
  target::Target target;
  TaskGraph tasks;
  std::vector<tensor::Program> programs;
  std::vector<const tensor::Program*> pointers;
};

/// Memory for an output at its largest, and some behind it that no run may write.
struct GuardedOutput {
  static constexpr std::byte kGuard{0xa5};

  tensor::HostTensor largest;
  std::vector<std::byte> memory;

  GuardedOutput(const Graph& graph, ValueId value)
      : largest(tensor::HostTensor::Zeros(graph.values[value].dtype, graph.values[value].shape)),
        memory(largest.data.size() + 64, kGuard) {}

  tensor::HostTensor In(const std::vector<int64_t>& shape) const {
    tensor::HostTensor tensor = tensor::HostTensor::Zeros(largest.dtype, shape);
    std::copy_n(memory.begin(), tensor.data.size(), tensor.data.begin());
    return tensor;
  }
  void Check() const {
    EXPECT_TRUE(
        std::all_of(memory.end() - 64, memory.end(), [](std::byte b) { return b == kGuard; }));
  }
};

HostTensors RunExecutor(Executor& executor, const Graph& graph, const HostTensors& inputs,
                        std::span<const int64_t> lengths) {
  std::vector<GuardedOutput> outputs;
  for (const GraphOutput& output : graph.outputs) outputs.emplace_back(graph, output.value);
  std::vector<const void*> from;
  std::vector<void*> to;
  for (const tensor::HostTensor& input : inputs) from.push_back(input.data.data());
  for (GuardedOutput& output : outputs) to.push_back(output.memory.data());
  executor.SetLengths(lengths);
  executor.Run(from, to);
  HostTensors results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs[i].Check();
    results.push_back(outputs[i].In(ShapeAt(graph, graph.outputs[i].value, executor.Lengths())));
  }
  return results;
}

std::vector<int64_t> RandomLengths(const Graph& graph, base::RandomStream& random) {
  std::vector<int64_t> lengths;
  for (const Symbol& symbol : graph.symbols) {
    lengths.push_back(symbol.is_found ? symbol.largest
                                      : symbol.smallest + random.UniformInt(symbol.ValueCount()));
  }
  return lengths;
}

class FindingModelTest : public ::testing::TestWithParam<FindingModel> {
 protected:
  /// Calls `check` with inputs and what the model gives for them.
  template <typename Check>
  void ForRandomInputs(const Graph& graph, int count, const Check& check) {
    base::RandomStream random(7);
    for (int run = 0; run < count; ++run) {
      SCOPED_TRACE(run);
      const std::vector<int64_t> lengths = RandomLengths(graph, random);
      HostTensors inputs;
      for (ValueId input : graph.inputs) {
        inputs.push_back(RandomInput(graph, input, GetParam(), lengths, random));
      }
      check(inputs, lengths, Expected(GetParam(), graph, inputs));
    }
  }
};

TEST_P(FindingModelTest, InterpretedTasksComputeTheModel) {
  Graph graph = ImportText(GetParam().text, GetParam().opset, GetParam().Options());
  ASSERT_FALSE(graph.found.empty());
  Optimize(graph);
  const TaskGraph tasks = ExtractTasks(std::move(graph));
  ForRandomInputs(tasks.graph, 8,
                  [&](const HostTensors& inputs, const auto& lengths, const HostTensors& expected) {
                    HostTensors largest;
                    for (size_t i = 0; i < inputs.size(); ++i) {
                      const Value& value = tasks.graph.values[tasks.graph.inputs[i]];
                      if (inputs[i].shape == value.shape) {
                        largest.push_back(inputs[i]);
                        continue;
                      }
                      tensor::HostTensor whole =
                          tensor::HostTensor::Zeros(value.dtype, value.shape);
                      for (int64_t e = 0; e < inputs[i].ElementCount(); ++e) {
                        int64_t rest = e, at = 0, stride = 1;
                        for (size_t d = value.shape.size(); d-- > 0; stride *= value.shape[d]) {
                          at += rest % inputs[i].shape[d] * stride;
                          rest /= inputs[i].shape[d];
                        }
                        whole.Set(at, inputs[i].Get(e));
                      }
                      largest.push_back(std::move(whole));
                    }
                    const Interpreted result = InterpretNetwork(tasks, largest, lengths);
                    HostTensors outputs;
                    for (size_t i = 0; i < result.outputs.size(); ++i) {
                      outputs.push_back(CornerOf(
                          result.outputs[i],
                          ShapeAt(tasks.graph, tasks.graph.outputs[i].value, result.lengths)));
                    }
                    ExpectEqual(outputs, expected);
                  });
}

TEST_P(FindingModelTest, CompiledNetworksComputeTheModel) {
  const ScheduledFinding scheduled(GetParam(), 2);
  for (const Branches branches : {Branches::kInTurn, Branches::kSideBySide}) {
    Executor executor(scheduled.tasks, scheduled.pointers, scheduled.target, branches);
    ForRandomInputs(
        scheduled.tasks.graph, 24,
        [&](const HostTensors& inputs, const auto& lengths, const HostTensors& expected) {
          ExpectEqual(RunExecutor(executor, scheduled.tasks.graph, inputs, lengths), expected);
        });
  }
}

INSTANTIATE_TEST_SUITE_P(Some, FindingModelTest, ::testing::ValuesIn(FindingModels()),
                         [](const auto& model) { return model.param.name; });

/// Random graphs: rows are selected, computed with, joined, selected again and put back.
class RandomFinding {
 public:
  explicit RandomFinding(uint64_t seed) : random_(seed) {}

  FindingModel Make() {
    std::vector<std::string> rows = {FirstRows()};
    const int64_t steps = 2 + random_.UniformInt(5);
    for (int64_t step = 0; step < steps; ++step) rows.push_back(Step(rows));
    std::string outputs = "float[k, 4] " + rows.back();
    if (random_.UniformInt(2) == 0) {
      outputs += ", float[4] " + Node("ReduceSum<keepdims = 0>", rows.back() + ", first_axis");
    }
    if (random_.UniformInt(2) == 0) {
      const std::string places = PlacesIn("m");
      const std::string picked = Node("GatherND", "x, " + places);
      const std::string updates = Node("Cos", picked);
      outputs += ", float[9, 4] " + Node("ScatterND", "x, " + places + ", " + updates);
    }
    return {"random",
            "g (float[9, 4] x, bool[9] m, float[4, 4] w, int64[1] most) => (" + outputs +
                ") <int64[1] first_axis = {0}, int64[1] last_axis = {1}, int64 zero = {0}> "
                "{" +
                body_ + " }"};
  }

 private:
  std::string Node(const std::string& op, const std::string& operands) {
    const std::string name = "v" + std::to_string(count_++);
    body_ += " " + name + " = " + op + "(" + operands + ")";
    return name;
  }
  std::string PlacesIn(const std::string& mask) {
    return Node("Transpose<perm = [1, 0]>", Node("NonZero", mask));
  }

  std::string FirstRows() {
    switch (random_.UniformInt(3)) {
      case 0:
        return Node("Compress<axis = 0>", "x, m");
      case 1: {
        const std::string values = "t" + std::to_string(count_++);
        body_ += " " + values + ", " + values + "i = TopK<axis = 0>(x, most)";
        return values;
      }
      default:
        return Node("GatherND", "x, " + PlacesIn("m"));
    }
  }

  std::string Step(const std::vector<std::string>& rows) {
    const std::string& from = rows.back();
    switch (random_.UniformInt(7)) {
      case 0:
        return Node("MatMul", from + ", w");
      case 1:
        return Node("Softmax<axis = 1>", from);
      case 2:
        return Node("Concat<axis = 0>",
                    from + ", " + rows[static_cast<size_t>(random_.UniformInt(std::ssize(rows)))]);
      case 3: {  // the rows whose sum is above 0
        const std::string sums =
            Node("Relu", Node("ReduceSum<keepdims = 0>", from + ", last_axis"));
        return Node("GatherND", from + ", " + PlacesIn(sums));
      }
      case 4:
        return Node("Sub", from + ", " + Node("ReduceMin<keepdims = 1>", from + ", last_axis"));
      case 5: {
        const std::string columns = Node("Tanh", Node("Transpose<perm = [1, 0]>", from));
        return Node("Transpose<perm = [1, 0]>", columns);
      }
      default:
        return Node("Sigmoid", Node("CumSum", from + ", zero"));
    }
  }

  base::RandomStream random_;
  std::string body_;
  int count_ = 0;
};

TEST(FoundLengths, OfRandomGraphsAreThoseOfTheModel) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const FindingModel model = RandomFinding(seed).Make();
    SCOPED_TRACE(model.text);
    const ScheduledFinding scheduled(model);
    const Graph& graph = scheduled.tasks.graph;
    Executor executor(scheduled.tasks, scheduled.pointers, scheduled.target);
    base::RandomStream random(seed);
    for (int run = 0; run < 6; ++run) {
      HostTensors inputs;
      for (ValueId input : graph.inputs) {
        inputs.push_back(RandomInput(graph, input, model, {}, random));
      }
      const std::vector<int64_t> lengths = RandomLengths(graph, random);
      ExpectEqual(RunExecutor(executor, graph, inputs, lengths), Expected(model, graph, inputs));
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

/// Half of each of many tensors that a mask selects, at most three of each, side by side.
FindingModel ManySelections(int count) {
  std::string inputs, body, parts;
  for (int i = 0; i < count; ++i) {
    inputs += fmt::format(", bool[8] m{}", i);
    body += fmt::format(
        "v{0} = Compress<axis = 0>(x, m{0}) s{0} = Shape(v{0}) k{0} = Min(s{0}, three) "
        "t{0}, i{0} = TopK(v{0}, k{0}) ",
        i);
    parts += fmt::format("{}t{}", i == 0 ? "" : ", ", i);
  }
  return {"many_selections",
          fmt::format("g (float[8] x{}) => (float[n] y) <int64[1] three = {{3}}> "
                      "{{ {} y = Concat<axis = 0>({}) }}",
                      inputs, body, parts)};
}

/// A model may find more lengths than polynomials are sampled of, in about as many imports.
TEST(FoundLengths, MayBeMany) {
  const FindingModel model = ManySelections(60);
  const Graph graph = ImportText(model.text, model.opset);
  EXPECT_EQ(graph.found.size(), 60u);
  const std::vector<int64_t> all(60, 8), few(60, 2);
  EXPECT_EQ(ShapeAt(graph, graph.outputs[0].value, all), std::vector<int64_t>{180});
  EXPECT_EQ(ShapeAt(graph, graph.outputs[0].value, few), std::vector<int64_t>{120});
  std::vector<int64_t> mixed(60);
  for (size_t i = 0; i < mixed.size(); ++i) mixed[i] = static_cast<int64_t>(i % 5);
  EXPECT_EQ(ShapeAt(graph, graph.outputs[0].value, mixed), std::vector<int64_t>{12 * 9});
}

/// What an image is resized to by a ratio of rounded floats follows its size by no expression of
/// lengths: it is found.
TEST(FoundLengths, MayBeComputedFromOpenSizes) {
  FindingModel model = {
      "resized_by_a_ratio",
      "g (float[h, w] x) => (float[m, n] y) <float most = {24}, int64[1] zero = {0}> "
      "{ s = Shape(x) f = Cast<to = 1>(s) l = ReduceMax<keepdims = 0>(f) r = Reciprocal(l) "
      "q = Mul(most, r) g = Mul(f, q) o = Floor(g) d = Cast<to = 7>(o) "
      "y = Resize<mode = \"linear\">(x, , , d) }",
      {{"h", 8, 40}, {"w", 8, 40}}};
  const ScheduledFinding scheduled(model);
  const Graph& graph = scheduled.tasks.graph;
  ASSERT_EQ(graph.found.size(), 2u);
  EXPECT_EQ(graph.found[0].most, 24);
  Executor executor(scheduled.tasks, scheduled.pointers, scheduled.target);
  base::RandomStream random(5);
  for (int run = 0; run < 20; ++run) {
    const std::vector<int64_t> lengths = RandomLengths(graph, random);
    const HostTensors inputs = {RandomInput(graph, graph.inputs[0], model, lengths, random)};
    ExpectEqual(RunExecutor(executor, graph, inputs, lengths), Expected(model, graph, inputs));
  }
}

FindingModel ModelNamed(const std::string& name) {
  for (FindingModel& model : FindingModels()) {
    if (model.name == name) return model;
  }
  throw std::logic_error("no such model");
}

TEST(FoundLengths, HaveTheBoundsOfShapes) {
  const Graph graph = ImportText(ModelNamed("detector").text, 18);
  ASSERT_EQ(graph.found.size(), 1u);
  EXPECT_EQ(graph.found[0].most, 3 * 4);
  EXPECT_EQ(graph.symbols[0].largest, 3 * 4);
  EXPECT_TRUE(graph.symbols[0].is_found);
  EXPECT_EQ(TypeOf(graph, graph.outputs[0].value), "float32[s, 4]");
}

TEST(FoundLengths, TakeSmallerBoundsOfTheUser) {
  FindingModel model = ModelNamed("masked_selection");
  model.bounds = {{"n", 5}};
  const ScheduledFinding scheduled(model);
  EXPECT_EQ(scheduled.tasks.graph.found[0].most, 5);
  Executor executor(scheduled.tasks, scheduled.pointers, scheduled.target);
  const Graph& graph = scheduled.tasks.graph;
  HostTensors inputs = {tensor::HostTensor::Zeros(tensor::DType::kFloat32, {6, 4}),
                        tensor::HostTensor::Zeros(tensor::DType::kBool, {6, 4})};
  for (int64_t i = 0; i < 24; ++i) inputs[0].Set(i, static_cast<double>(i));
  const std::vector<int64_t> lengths = {5};
  for (int64_t count = 0; count < 8; ++count) {
    if (count > 0) inputs[1].SetInt(3 * count - 1, 1);
    if (count > 5) {
      EXPECT_EQ(
          MessageOf([&] { RunExecutor(executor, graph, inputs, lengths); }),
          "the network finds the length " + std::to_string(count) + " for 'n', which is at most 5");
      continue;
    }
    const HostTensors outputs = RunExecutor(executor, graph, inputs, lengths);
    ASSERT_EQ(outputs[0].shape, std::vector<int64_t>{count});
    for (int64_t i = 0; i < count; ++i) EXPECT_EQ(outputs[0].Get(i), 3 * i + 2);
  }
}

TEST(FoundLengths, NeedABoundWhereShapesGiveNone) {
  FindingModel model = ModelNamed("range");
  model.bounds = {};
  EXPECT_THAT(MessageOf([&] { ImportText(model.text, 18, model.Options()); }),
              ::testing::HasSubstr("the length of dimension 0 of 'y' is found when the network "
                                   "runs, and no shape bounds it: give a bound for 'n'"));
  model.bounds = {{"y", 9}, {"z", 3}};
  EXPECT_THAT(MessageOf([&] { ImportText(model.text, 18, model.Options()); }),
              ::testing::HasSubstr("no length that is found when the network runs is called 'z'; "
                                   "there are 'n'"));
}

TEST(FoundLengths, AreOneWhereTheirCountsAre) {
  for (const std::string name : {"range_twice", "two_selections_by_one_mask"}) {
    const FindingModel model = ModelNamed(name);
    EXPECT_EQ(ImportText(model.text, model.opset, model.Options()).found.size(), 1u) << name;
  }
}

/// What the model says of the result is taken for true, and checked in a run.
TEST(FoundLengths, MayBeFixedByTheModel) {
  FindingModel model = {"fixed",
                        "g (float[1, 3] x, int64[2] s) => (float[4, 3] y) "
                        "{ y = Expand(x, s) }"};
  const ScheduledFinding scheduled(model);
  const Graph& graph = scheduled.tasks.graph;
  EXPECT_TRUE(graph.symbols.empty());
  Executor executor(scheduled.tasks, scheduled.pointers, scheduled.target);
  HostTensors inputs = {tensor::HostTensor::Zeros(tensor::DType::kFloat32, {1, 3}),
                        tensor::HostTensor::Zeros(tensor::DType::kInt64, {2})};
  inputs[1].SetInt(0, 4);
  inputs[1].SetInt(1, 3);
  EXPECT_EQ(RunExecutor(executor, graph, inputs, {})[0].shape, (std::vector<int64_t>{4, 3}));
  inputs[1].SetInt(0, 2);
  EXPECT_EQ(MessageOf([&] { RunExecutor(executor, graph, inputs, {}); }),
            "the network finds the length 2 for 'y', which is 4");
}

/// A library of a detector, loaded.
class FindingLibrary : public ::testing::Test {
 protected:
  void SetUp() override {
    const PackageVariant variant{scheduled_.target, scheduled_.pointers};
    const Package package = WritePackage(scheduled_.tasks, {&variant, 1}, folder_ / "lib", "net");
    library_ = dlopen(package.library.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << dlerror();
    const auto create = Function<int (*)(int, void**)>("net_create");
    ASSERT_EQ(create(BAYLOOM_ABI_VERSION, &model_), BAYLOOM_OK);
  }
  void TearDown() override { Function<int (*)(void*)>("net_destroy")(model_); }

  template <typename F>
  F Function(const char* name) {
    return reinterpret_cast<F>(dlsym(library_, name));
  }
  int Run(const std::vector<bayloom_input>& inputs, const std::vector<bayloom_output>& outputs) {
    using RunFunction = int (*)(void*, const bayloom_input*, int, const bayloom_output*, int);
    return Function<RunFunction>("net_run")(model_, inputs.data(), static_cast<int>(inputs.size()),
                                            outputs.data(), static_cast<int>(outputs.size()));
  }

  FindingModel network_ = [] {
    FindingModel model = ModelNamed("detector");
    model.bounds = {{"s", 6}};
    return model;
  }();
  const ScheduledFinding scheduled_{network_};
  const TemporaryFolder folder_;
  void* library_ = nullptr;
  void* model_ = nullptr;
};

TEST_F(FindingLibrary, TellsHowManyRowsItHasFound) {
  const Graph& graph = scheduled_.tasks.graph;
  base::RandomStream random(3);
  int within = 0, beyond = 0;
  for (int run = 0; run < 40; ++run) {
    HostTensors inputs;
    for (ValueId input : graph.inputs) {
      inputs.push_back(RandomInput(graph, input, network_, {}, random));
    }
    FindingModel unbound = network_;
    unbound.bounds = {};
    const HostTensors expected = Expected(unbound, graph, inputs);
    std::vector<float> boxes(6 * 4, -1);
    std::vector<int64_t> classes(6, -1);
    size_t box_dims[2] = {}, class_dims[1] = {};
    const int code = Run({{inputs[0].data.data(), inputs[0].data.size(), nullptr},
                          {inputs[1].data.data(), inputs[1].data.size(), nullptr}},
                         {{boxes.data(), boxes.size() * sizeof(float), box_dims},
                          {classes.data(), classes.size() * sizeof(int64_t), class_dims}});
    const auto count = static_cast<size_t>(expected[1].ElementCount());
    if (count > 6) {
      EXPECT_EQ(code, BAYLOOM_ERROR_BOUND);
      ++beyond;
      continue;
    }
    ASSERT_EQ(code, BAYLOOM_OK);
    EXPECT_THAT(box_dims, ::testing::ElementsAre(count, 4));
    EXPECT_THAT(class_dims, ::testing::ElementsAre(count));
    for (size_t i = 0; i < count; ++i) {
      EXPECT_EQ(classes[i], expected[1].GetInt(static_cast<int64_t>(i)));
      for (size_t k = 0; k < 4; ++k) {
        EXPECT_EQ(boxes[4 * i + k], expected[0].Get(static_cast<int64_t>(4 * i + k)));
      }
    }
    ++within;
  }
  EXPECT_GT(within, 5);
  EXPECT_GT(beyond, 5);
  const auto text = Function<const char* (*)(int)>("net_error_text");
  EXPECT_STREQ(text(BAYLOOM_ERROR_BOUND),
               "the network finds another length than the library is for: s is at most 6");
}

TEST_F(FindingLibrary, WantsMemoryForItsBounds) {
  std::vector<float> boxes(12 * 4), scores(3 * 12), found(6 * 4);
  std::vector<int64_t> classes(6);
  const auto run = [&](size_t bytes) {
    return Run({{boxes.data(), 192, nullptr}, {scores.data(), 144, nullptr}},
               {{found.data(), bytes, nullptr}, {classes.data(), 48, nullptr}});
  };
  EXPECT_EQ(run(96), BAYLOOM_OK);
  EXPECT_EQ(run(95), BAYLOOM_ERROR_SIZE);
}

}  // namespace
}  // namespace bayloom::graph
