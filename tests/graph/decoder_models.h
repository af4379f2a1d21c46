// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cmath>
#include <string>

#include "tests/graph/open_models.h"

namespace bayloom::graph {

/// That the models here know.
inline constexpr int64_t kDecoderWords = 12;

/// Numbers that are neither equal nor regular, as ONNX's text format has them.
inline std::string SomeNumbers(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ",") + std::to_string(std::sin(1.7 * i + 0.3 * (i % 7)));
  }
  return text;
}

/// A layer of causal attention over 2 heads of so many columns, between a table of 12 words and
/// logits for them, with its keys and values as past and present.
inline OpenModel DecoderModel(std::vector<Symbol> symbols, int head = 32) {
  const std::string columns = std::to_string(head), width = std::to_string(2 * head);
  return {"decoder",
          std::move(symbols),
          "g (int64[1, s] input_ids, int64[1, t] attention_mask, int64[1, s] position_ids, "
          "float[1, 2, p, " +
              columns + "] past_key, float[1, 2, p, " + columns +
              "] past_value) => "
              "(float[1, s, 12] logits, float[1, 2, t, " +
              columns +
              "] present_key, "
              "float[1, 2, t, " +
              columns + "] present_value) <float[12, " + width + "] table = {" +
              SomeNumbers(12 * 2 * head) + "}, float[" + width + ", 12] head = {" +
              SomeNumbers(2 * head * 12) + "}, int64[4] heads = {0, 0, 2, " + columns +
              "}, int64[3] rows = {0, 0, " + width +
              "}, int64[1] last = {2}, "
              "int64[2] outer = {1, 3}, int64[2] given = {1, 2}, int64 zero = {0}, "
              "int64 one = {1}, float small = {0.1}, float low = {-1e30}> { "
              "x = Gather(table, input_ids) f = Cast<to = 1>(position_ids) "
              "u = Unsqueeze(f, last) w = Mul(u, small) y = Add(x, w) h = Reshape(y, heads) "
              "k = Transpose<perm = [0, 2, 1, 3]>(h) v = Tanh(k) "
              "present_key = Concat<axis = 2>(past_key, k) "
              "present_value = Concat<axis = 2>(past_value, v) "
              "r = Transpose<perm = [0, 1, 3, 2]>(present_key) a = MatMul(k, r) "
              "c = Shape(attention_mask) n = Gather(c, one) e = Range(zero, n, one) "
              "q = Unsqueeze(position_ids, outer) l = LessOrEqual(e, q) "
              "m = Unsqueeze(attention_mask, given) o = Cast<to = 9>(m) d = And(l, o) "
              "i = Where(d, a, low) j = Softmax<axis = -1>(i) z = MatMul(j, present_value) "
              "b = Transpose<perm = [0, 2, 1, 3]>(z) g1 = Reshape(b, rows) "
              "logits = MatMul(g1, head) }",
          {{"t", "p+s"}}};
}

/// The same with keys and values of a narrow type, by ONNX's name and number of it.
inline OpenModel NarrowDecoderModel(std::vector<Symbol> symbols, const std::string& type,
                                    const std::string& number) {
  OpenModel model = DecoderModel(std::move(symbols));
  const auto replace = [&](const std::string& from, const std::string& to) {
    model.text.replace(model.text.find(from), from.size(), to);
  };
  for (const std::string name : {"key", "value"}) {
    for (const std::string side : {"past_", "present_"}) {
      const std::string open = side == "past_" ? "p" : "t";
      replace("float[1, 2, " + open + ", 32] " + side + name,
              type + "[1, 2, " + open + ", 32] " + side + name);
    }
    const std::string fresh = name == "key" ? "k" : "v";
    replace("present_" + name + " = Concat<axis = 2>(past_" + name + ", " + fresh + ")",
            fresh + "_narrow = Cast<to = " + number + ">(" + fresh + ") present_" + name +
                " = Concat<axis = 2>(past_" + name + ", " + fresh + "_narrow) wide_" + name +
                " = Cast<to = 1>(present_" + name + ")");
  }
  replace("(present_key) a", "(wide_key) a");
  replace("MatMul(j, present_value)", "MatMul(j, wide_value)");
  return model;
}

}  // namespace bayloom::graph
