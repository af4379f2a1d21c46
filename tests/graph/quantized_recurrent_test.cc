// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bayloom/base/random.h"
#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/passes/passes.h"
#include "tests/graph/pass_checks.h"
#include "tests/graph/text_models.h"

namespace bayloom::graph {
namespace {

constexpr int64_t kLstmSteps = 4, kLstmInputs = 5, kLstmHidden = 6, kLstmColumns = 4 * kLstmHidden;

using Doubles = std::vector<double>;

/// DynamicQuantizeLSTM with integers as onnxruntime computes it: both operands of a product are
/// levels, multiplied without their zero points; the scales come last.
class QuantizedLstm {
 public:
  /// `per_column`: a scale and a zero point for every column of the weights.
  explicit QuantizedLstm(bool per_column) : parameters_(per_column ? kLstmColumns : 1) {
    base::RandomStream random(11);
    for (int64_t i = 0; i < kLstmSteps * kLstmInputs; ++i) x_.push_back(random.Normal());
    w_ = Levels(random, kLstmInputs * kLstmColumns, 100);
    r_ = Levels(random, kLstmHidden * kLstmColumns, 100);
    for (int64_t i = 0; i < 2 * kLstmColumns; ++i) b_.push_back(0.3 * random.Normal());
    for (int64_t i = 0; i < parameters_; ++i) {
      w_scale_.push_back(0.005 + 0.005 * random.Uniform());
      r_scale_.push_back(0.005 + 0.005 * random.Uniform());
    }
    w_zero_ = Levels(random, parameters_, 5);
    r_zero_ = Levels(random, parameters_, 5);
  }

  std::string Text() const {
    const std::string shape = parameters_ == 1 ? "[1]" : fmt::format("[1, {}]", parameters_);
    const auto constant = [](const char* name, const std::string& type, const auto& values) {
      return fmt::format("  {} = Constant <value = {} {{{}}}> ()\n", name, type,
                         fmt::join(values, ", "));
    };
    return fmt::format("g (float[{}, 1, {}] x) => (float[{}, 1, 1, {}] y) {{\n", kLstmSteps,
                       kLstmInputs, kLstmSteps, kLstmHidden) +
           constant("w", fmt::format("int8[1, {}, {}]", kLstmInputs, kLstmColumns), w_) +
           constant("r", fmt::format("int8[1, {}, {}]", kLstmHidden, kLstmColumns), r_) +
           constant("b", fmt::format("float[1, {}]", 2 * kLstmColumns), b_) +
           constant("ws", "float" + shape, w_scale_) + constant("wz", "int8" + shape, w_zero_) +
           constant("rs", "float" + shape, r_scale_) + constant("rz", "int8" + shape, r_zero_) +
           fmt::format(
               "  y = com.microsoft.DynamicQuantizeLSTM <hidden_size = {}> "
               "(x, w, r, b, , , , , ws, wz, rs, rz)\n}}",
               kLstmHidden);
  }

  Doubles Input() const { return x_; }

  Doubles Run() const {
    const Doubles input = Product(x_, kLstmSteps, w_, w_scale_, w_zero_);
    Doubles h(kLstmHidden, 0), c(kLstmHidden, 0), y;
    for (int64_t t = 0; t < kLstmSteps; ++t) {
      const Doubles recurrent = Product(h, 1, r_, r_scale_, r_zero_);
      const auto gate = [&](int64_t k, int64_t j) {
        const int64_t n = k * kLstmHidden + j;
        return input[t * kLstmColumns + n] + recurrent[n] + b_[n] + b_[kLstmColumns + n];
      };
      const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
      for (int64_t j = 0; j < kLstmHidden; ++j) {
        c[j] = sigmoid(gate(2, j)) * c[j] + sigmoid(gate(0, j)) * std::tanh(gate(3, j));
        h[j] = sigmoid(gate(1, j)) * std::tanh(c[j]);
      }
      y.insert(y.end(), h.begin(), h.end());
    }
    return y;
  }

 private:
  static std::vector<int> Levels(base::RandomStream& random, int64_t count, int64_t bound) {
    std::vector<int> levels;
    for (int64_t i = 0; i < count; ++i) {
      levels.push_back(static_cast<int>(random.UniformInt(2 * bound) - bound));
    }
    return levels;
  }

  Doubles Product(const Doubles& a, int64_t rows, const std::vector<int>& weights,
                  const Doubles& scales, const std::vector<int>& zeros) const {
    const double low = std::min(0.0, *std::min_element(a.begin(), a.end()));
    const double high = std::max(0.0, *std::max_element(a.begin(), a.end()));
    const double scale = high > low ? (high - low) / 255 : 1;
    const double zero = std::nearbyint(-low / scale);
    const int64_t inner = std::ssize(a) / rows;
    Doubles result;
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t n = 0; n < kLstmColumns; ++n) {
        const int64_t parameter = parameters_ == 1 ? 0 : n;
        int64_t sum = 0;
        for (int64_t k = 0; k < inner; ++k) {
          const double level = std::nearbyint(a[row * inner + k] / scale) + zero;
          sum += static_cast<int64_t>(std::clamp(level, 0.0, 255.0) - zero) *
                 (weights[k * kLstmColumns + n] - zeros[parameter]);
        }
        result.push_back(static_cast<double>(sum) * scale * scales[parameter]);
      }
    }
    return result;
  }

  const int64_t parameters_;
  Doubles x_, b_, w_scale_, r_scale_;
  std::vector<int> w_, r_, w_zero_, r_zero_;
};

TEST(DynamicQuantizeLstm, ComputesWhatIntegersCompute) {
  for (const bool per_column : {false, true}) {
    const QuantizedLstm lstm(per_column);
    const Graph graph = ImportText(lstm.Text());
    tensor::HostTensor x =
        tensor::HostTensor::Zeros(tensor::DType::kFloat32, {kLstmSteps, 1, kLstmInputs});
    for (int64_t i = 0; i < x.ElementCount(); ++i) x.Set(i, lstm.Input()[i]);
    const Doubles expected = lstm.Run();
    const tensor::HostTensor evaluated = EvaluateGraph(graph, {x})[0];
    Graph optimized = graph;
    Optimize(optimized);
    const tensor::HostTensor compiled = RunCompiled(ExtractTasks(std::move(optimized)), {x})[0];
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(evaluated.Get(static_cast<int64_t>(i)), expected[i], 1e-5);
      EXPECT_NEAR(compiled.Get(static_cast<int64_t>(i)), expected[i], 1e-5);
    }
  }
}

TEST(DynamicQuantizeLstm, ItsWeightsStayBytes) {
  Graph graph = ImportText(QuantizedLstm(/*per_column=*/true).Text());
  Optimize(graph);
  for (const Node& node : graph.nodes) {
    for (ValueId operand : OperandsOf(node)) {
      const Value& value = graph.values[operand];
      const bool is_matrix = value.constant && value.ElementCount() >= kLstmHidden * kLstmColumns;
      EXPECT_FALSE(is_matrix && tensor::IsFloat(value.dtype)) << value.name;
    }
  }
}

}  // namespace
}  // namespace bayloom::graph
