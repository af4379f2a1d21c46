// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bayloom/base/random.h"
#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/import.h"
#include "bayloom/graph/passes/passes.h"
#include "tests/graph/pass_checks.h"
#include "tests/graph/recurrent_reference.h"
#include "tests/graph/small_models.h"

namespace bayloom::graph {
namespace {

using models::Shape;

/// Which of a case's tensors are inputs of the model; the others are constants.
enum class Known : uint8_t { kWeights, kAllButX, kNothing };

class RecurrentModel {
 public:
  RecurrentModel(const RecurrentCase& c, Known known) : c_(c), known_(known) {}

  SmallModel Write() {
    const int64_t d = c_.Directions(), g = c_.Gates(), h = c_.hidden;
    const Shape state = c_.batch_first ? Shape{c_.batch, d, h} : Shape{d, c_.batch, h};
    std::vector<models::Value> inputs = {
        Tensor("X", c_.batch_first ? Shape{c_.batch, c_.steps, c_.inputs}
                                   : Shape{c_.steps, c_.batch, c_.inputs}),
        Tensor("W", {d, g * h, c_.inputs}),
        Tensor("R", {d, g * h, h}),
        Tensor("B", {d, 2 * g * h}),
        Lengths(),
        Tensor("initial_h", state)};
    if (c_.op == "LSTM") {
      inputs.push_back(Tensor("initial_c", state));
      inputs.push_back(Tensor("P", {d, 3 * h}));
    }
    const auto outputs = g_.Node(c_.op, inputs, Attributes(), c_.op == "LSTM" ? 3 : 2);
    g_.Output(outputs[0],
              c_.batch_first ? Shape{c_.batch, c_.steps, d, h} : Shape{c_.steps, d, c_.batch, h});
    for (size_t i = 1; i < outputs.size(); ++i) g_.Output(outputs[i], state);
    return SmallModel("recurrent", std::move(g_));
  }

 private:
  models::Value Tensor(const std::string& name, const Shape& shape) {
    if (!c_.data.contains(name)) return "";
    const bool weight = name == "W" || name == "R" || name == "B" || name == "P";
    const bool is_constant = known_ == Known::kWeights   ? weight
                             : known_ == Known::kAllButX ? name != "X"
                                                         : false;
    return is_constant ? g_.Constant(name, shape, c_.data.at(name)) : g_.Input(name, shape);
  }

  models::Value Lengths() {
    if (c_.lengths.empty()) return "";
    const models::Value lengths = known_ == Known::kNothing
                                      ? g_.IndexInput("lengths", {c_.batch})
                                      : g_.Constant("lengths", {c_.batch}, c_.lengths);
    return g_.Node("Cast", {lengths}, {{"to", int64_t{6}}});
  }

  std::vector<models::Attribute> Attributes() const {
    std::vector<models::Attribute> attributes = {{"direction", c_.direction},
                                                 {"hidden_size", c_.hidden}};
    if (c_.batch_first) attributes.push_back({"layout", int64_t{1}});
    if (c_.input_forget) attributes.push_back({"input_forget", int64_t{1}});
    if (c_.linear_before_reset) attributes.push_back({"linear_before_reset", int64_t{1}});
    if (c_.clip > 0) attributes.push_back({"clip", static_cast<float>(c_.clip)});
    if (!c_.activations.empty()) attributes.push_back({"activations", c_.activations});
    if (!c_.alpha.empty()) attributes.push_back({"activation_alpha", c_.alpha});
    if (!c_.beta.empty()) attributes.push_back({"activation_beta", c_.beta});
    return attributes;
  }

  const RecurrentCase& c_;
  const Known known_;
  models::GraphBuilder g_{"recurrent", 14, 1};
};

void Fill(RecurrentCase& c, const std::string& name, int64_t count, base::RandomStream& random,
          double scale) {
  std::vector<float>& data = c.data[name];
  for (int64_t i = 0; i < count; ++i) data.push_back(static_cast<float>(scale * random.Normal()));
}

void FillData(RecurrentCase& c, base::RandomStream& random) {
  const int64_t d = c.Directions(), rows = d * c.Gates() * c.hidden;
  Fill(c, "X", c.steps * c.batch * c.inputs, random, 1);
  Fill(c, "W", rows * c.inputs, random, 1 / std::sqrt(static_cast<double>(c.inputs)));
  Fill(c, "R", rows * c.hidden, random, 1 / std::sqrt(static_cast<double>(c.hidden)));
}

RecurrentCase RandomCase(uint64_t seed) {
  base::RandomStream random(seed);
  const auto coin = [&] { return random.UniformInt(2) == 1; };
  const auto one_of = [&](const std::vector<std::string>& names) {
    return names[random.UniformInt(std::ssize(names))];
  };
  RecurrentCase c;
  c.op = one_of({"LSTM", "GRU", "RNN"});
  c.direction = one_of({"forward", "reverse", "bidirectional"});
  c.steps = 1 + random.UniformInt(5);
  c.batch = 1 + random.UniformInt(3);
  c.inputs = 1 + random.UniformInt(5);
  c.hidden = std::vector<int64_t>{1, 5, 16, 32}[random.UniformInt(4)];
  c.batch_first = coin();
  c.input_forget = c.op == "LSTM" && coin();
  c.linear_before_reset = c.op == "GRU" && coin();
  c.clip = coin() ? 0.5 + random.Uniform() : 0;
  FillData(c, random);
  const int64_t d = c.Directions(), state = d * c.batch * c.hidden;
  if (coin()) Fill(c, "B", 2 * d * c.Gates() * c.hidden, random, 0.5);
  if (coin()) Fill(c, "initial_h", state, random, 1);
  if (c.op == "LSTM" && coin()) Fill(c, "initial_c", state, random, 1);
  if (c.op == "LSTM" && coin()) Fill(c, "P", d * 3 * c.hidden, random, 0.5);
  if (coin()) {
    for (int64_t b = 0; b < c.batch; ++b) c.lengths.push_back(1 + random.UniformInt(c.steps));
  }
  if (coin()) {
    const int64_t count = d * (c.op == "LSTM" ? 3 : c.op == "GRU" ? 2 : 1);
    for (int64_t i = 0; i < count; ++i) {
      c.activations.push_back(
          one_of({"Sigmoid", "Tanh", "Relu", "Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh",
                  "HardSigmoid", "Elu", "Softsign", "Softplus"}));
    }
    for (int64_t i = random.UniformInt(count); i > 0; --i) {
      c.alpha.push_back(static_cast<float>(0.2 + 0.5 * random.Uniform()));
      c.beta.push_back(static_cast<float>(0.2 + 0.5 * random.Uniform()));
    }
  }
  return c;
}

std::vector<tensor::HostTensor> InputsOf(const Graph& graph, const RecurrentCase& c) {
  std::vector<tensor::HostTensor> inputs;
  for (ValueId id : graph.inputs) {
    const Value& value = graph.values[id];
    tensor::HostTensor& input =
        inputs.emplace_back(tensor::HostTensor::Zeros(value.dtype, value.shape));
    for (int64_t i = 0; i < value.ElementCount(); ++i) {
      value.name == "lengths" ? input.SetInt(i, c.lengths[i])
                              : input.Set(i, c.data.at(value.name)[i]);
    }
  }
  return inputs;
}

void ExpectNear(const tensor::HostTensor& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.ElementCount(), std::ssize(expected));
  double largest = 0, scale = 1;
  for (int64_t i = 0; i < actual.ElementCount(); ++i) {
    largest = std::max(largest, std::abs(actual.Get(i) - expected[i]));
    scale = std::max(scale, std::abs(expected[i]));
  }
  EXPECT_LE(largest, 1e-5 * scale);
}

void ExpectOutputs(const std::vector<tensor::HostTensor>& outputs, const RecurrentResult& result) {
  ExpectNear(outputs[0], result.y);
  ExpectNear(outputs[1], result.y_h);
  if (outputs.size() > 2) ExpectNear(outputs[2], result.y_c);
}

Graph ImportCase(const RecurrentCase& c, Known known) {
  return ImportOnnx(RecurrentModel(c, known).Write().path());
}

TaskGraph Optimized(Graph graph) {
  Optimize(graph);
  return ExtractTasks(std::move(graph));
}

TEST(Recurrent, EveryCombinationOfOptionsComputesTheDefinition) {
  for (uint64_t seed = 0; seed < 120; ++seed) {
    const RecurrentCase c = RandomCase(seed);
    SCOPED_TRACE(fmt::format("seed {}: {} {}", seed, c.direction, c.op));
    const auto known = static_cast<Known>(seed % 3);
    const Graph graph = ImportCase(c, known);
    const std::vector<tensor::HostTensor> inputs = InputsOf(graph, c);
    const RecurrentResult expected = ReferenceOf(c);
    ExpectOutputs(EvaluateGraph(graph, inputs), expected);
    ExpectOutputs(InterpretTasks(Optimized(graph), inputs), expected);
  }
}

TEST(Recurrent, CompiledNetworksComputeTheDefinition) {
  for (uint64_t seed = 200; seed < 212; ++seed) {
    const RecurrentCase c = RandomCase(seed);
    SCOPED_TRACE(fmt::format("seed {}: {} {}", seed, c.direction, c.op));
    const TaskGraph network = Optimized(ImportCase(c, static_cast<Known>(seed % 3)));
    ExpectOutputs(RunCompiled(network, InputsOf(network.graph, c)), ReferenceOf(c));
  }
}

/// A network of this many steps, all of the same kind.
RecurrentCase Steps(const std::string& op, const std::string& direction, int64_t steps) {
  base::RandomStream random(3);
  RecurrentCase c;
  c.op = op;
  c.direction = direction;
  c.steps = steps;
  c.linear_before_reset = op == "GRU";
  FillData(c, random);
  Fill(c, "B", 2 * c.Directions() * c.Gates() * c.hidden, random, 0.5);
  return c;
}

TEST(Recurrent, StepsShareTheirTasks) {
  for (const char* op : {"LSTM", "GRU", "RNN"}) {
    for (const char* direction : {"forward", "reverse", "bidirectional"}) {
      SCOPED_TRACE(fmt::format("{} {}", direction, op));
      const auto tasks = [&](int64_t steps) {
        return Optimized(ImportCase(Steps(op, direction, steps), Known::kWeights));
      };
      const TaskGraph few = tasks(8), many = tasks(200);
      EXPECT_EQ(few.tasks.size(), many.tasks.size());
      EXPECT_LE(many.tasks.size(), 8u);
      EXPECT_LE(std::ssize(many.calls),
                (op == std::string("LSTM") ? 3 : 2) * 200 *
                        (direction == std::string("bidirectional") ? 2 : 1) +
                    8);
    }
  }
}

/// Nothing is copied to read a step's part of the input's product or to put the outputs together.
TEST(Recurrent, StepsReadAndWriteInPlace) {
  const TaskGraph network = Optimized(ImportCase(Steps("LSTM", "forward", 64), Known::kWeights));
  for (const GraphTask& task : network.tasks) {
    const bool in_every_step = task.weight > 8;
    EXPECT_FALSE(in_every_step && task.workload.name.find("copy") != std::string::npos);
    EXPECT_EQ(task.workload.name.find("slice"), std::string::npos);
    EXPECT_EQ(task.workload.name.find("concat"), std::string::npos);
  }
}

TEST(Recurrent, ThousandsOfStepsComputeTheDefinition) {
  const RecurrentCase c = Steps("GRU", "bidirectional", 1000);
  const TaskGraph network = Optimized(ImportCase(c, Known::kWeights));
  ExpectOutputs(RunCompiled(network, InputsOf(network.graph, c)), ReferenceOf(c));
}

TEST(Recurrent, RefusesWhatDoesNotFit) {
  const auto message = [](const RecurrentCase& c) -> std::string {
    try {
      ImportCase(c, Known::kWeights);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  RecurrentCase c = Steps("LSTM", "forward", 3);
  c.direction = "sideways";
  EXPECT_NE(message(c).find("attribute direction = sideways"), std::string::npos);
  c = Steps("RNN", "forward", 3);
  c.activations = {"Sinh"};
  EXPECT_NE(message(c).find("attribute activations = Sinh"), std::string::npos);
  c.activations = {"Tanh", "Tanh"};
  EXPECT_NE(message(c).find("attribute activations has 2 names; 1 are needed"), std::string::npos);
  c = Steps("RNN", "forward", 3);
  c.lengths = {4};
  RecurrentModel model(c, Known::kWeights);
  EXPECT_NE(message(c).find("a length of 4 in sequences of 3"), std::string::npos);
}

}  // namespace
}  // namespace bayloom::graph
