// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bayloom::graph {

/// One LSTM, GRU or RNN with its options and data, and what it computes, element by element and
/// in double, straight from ONNX's definition.
struct RecurrentCase {
  std::string op = "LSTM";
  std::string direction = "forward";
  int64_t steps = 3, batch = 1, inputs = 4, hidden = 16;
  bool batch_first = false;
  bool input_forget = false, linear_before_reset = false;
  double clip = 0;                       ///< 0: none
  std::vector<std::string> activations;  ///< empty: the default ones
  std::vector<float> alpha, beta;
  std::vector<int64_t> lengths;  ///< empty: all whole

  /// By the names of ONNX's documentation: X, W, R, B, initial_h, initial_c, P. What is missing
  /// is left out.
  std::map<std::string, std::vector<float>> data;

  int64_t Gates() const { return op == "LSTM" ? 4 : op == "GRU" ? 3 : 1; }
  int64_t Directions() const { return direction == "bidirectional" ? 2 : 1; }
};

struct RecurrentResult {
  std::vector<double> y, y_h, y_c;
};

RecurrentResult ReferenceOf(const RecurrentCase& c);

}  // namespace bayloom::graph
