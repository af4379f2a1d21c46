// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "bayloom/tensor/interpreter.h"

namespace bayloom::graph {

/// Attention over [batch, heads, positions, size], written as its definition says.
struct NaiveAttention {
  const tensor::HostTensor& q;
  const tensor::HostTensor& k;
  const tensor::HostTensor& v;
  double scale;
  /// What is added to a score; minus infinity hides the key.
  std::function<double(int64_t b, int64_t h, int64_t i, int64_t j)> bias =
      [](int64_t, int64_t, int64_t, int64_t) { return 0.0; };

  static double At(const tensor::HostTensor& x, int64_t b, int64_t h, int64_t p, int64_t c) {
    return x.Get(((b * x.shape[1] + h) * x.shape[2] + p) * x.shape[3] + c);
  }

  /// A query that sees no key gives zeros.
  std::vector<double> Outputs() const {
    std::vector<double> y;
    for (int64_t b = 0; b < q.shape[0]; ++b) {
      for (int64_t h = 0; h < q.shape[1]; ++h) {
        for (int64_t i = 0; i < q.shape[2]; ++i) AppendRow(b, h, i, y);
      }
    }
    return y;
  }

 private:
  void AppendRow(int64_t b, int64_t h, int64_t i, std::vector<double>& y) const {
    const int64_t shared = h / (q.shape[1] / k.shape[1]), keys = k.shape[2];
    std::vector<double> scores(keys);
    for (int64_t j = 0; j < keys; ++j) {
      double product = 0;
      for (int64_t c = 0; c < q.shape[3]; ++c)
        product += At(q, b, h, i, c) * At(k, b, shared, j, c);
      scores[j] = product * scale + bias(b, h, i, j);
    }
    const double top = *std::max_element(scores.begin(), scores.end());
    const bool sees = top > -std::numeric_limits<double>::infinity();
    double sum = 0;
    for (double& score : scores) sum += score = sees ? std::exp(score - top) : 0;
    for (int64_t c = 0; c < v.shape[3]; ++c) {
      double total = 0;
      for (int64_t j = 0; j < keys; ++j) total += scores[j] * At(v, b, shared, j, c);
      y.push_back(sees ? total / sum : 0);
    }
  }
};

inline constexpr double kHidden = -std::numeric_limits<double>::infinity();

}  // namespace bayloom::graph
