// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/graph/recurrent_reference.h"

#include <algorithm>
#include <cmath>

namespace bayloom::graph {
namespace {

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

class Reference {
 public:
  explicit Reference(const RecurrentCase& c) : c_(c) {
    const int64_t states = c.Directions() * c.batch * c.hidden;
    result_.y.assign(c.steps * states, 0);
    result_.y_h.assign(states, 0);
    result_.y_c.assign(states, 0);
  }

  RecurrentResult Run() {
    for (d_ = 0; d_ < c_.Directions(); ++d_) {
      const bool reverse = d_ == 1 || c_.direction == "reverse";
      for (b_ = 0; b_ < c_.batch; ++b_) RunSequence(reverse);
    }
    return result_;
  }

 private:
  double At(const std::string& name, int64_t i) const {
    const auto found = c_.data.find(name);
    return found == c_.data.end() ? 0 : found->second.at(i);
  }

  int64_t StateAt(int64_t j) const {
    const int64_t row = c_.batch_first ? b_ * c_.Directions() + d_ : d_ * c_.batch + b_;
    return row * c_.hidden + j;
  }

  int64_t OutputAt(int64_t t, int64_t j) const {
    const int64_t row = c_.batch_first ? (b_ * c_.steps + t) * c_.Directions() + d_
                                       : (t * c_.Directions() + d_) * c_.batch + b_;
    return row * c_.hidden + j;
  }

  void RunSequence(bool reverse) {
    std::vector<double> h(c_.hidden), cell(c_.hidden);
    for (int64_t j = 0; j < c_.hidden; ++j) {
      h[j] = At("initial_h", StateAt(j));
      cell[j] = At("initial_c", StateAt(j));
    }
    const int64_t length = c_.lengths.empty() ? c_.steps : c_.lengths[b_];
    for (int64_t s = 0; s < length; ++s) {
      const int64_t t = reverse ? length - 1 - s : s;
      if (c_.op == "LSTM") LstmStep(t, h, cell);
      if (c_.op == "GRU") GruStep(t, h);
      if (c_.op == "RNN") RnnStep(t, h);
      for (int64_t j = 0; j < c_.hidden; ++j) result_.y[OutputAt(t, j)] = h[j];
    }
    for (int64_t j = 0; j < c_.hidden; ++j) {
      result_.y_h[StateAt(j)] = h[j];
      result_.y_c[StateAt(j)] = cell[j];
    }
  }

  /// The input's part of a gate.
  double Input(int64_t t, int64_t gate, int64_t j) const {
    const int64_t row = c_.batch_first ? b_ * c_.steps + t : t * c_.batch + b_;
    double sum = 0;
    for (int64_t i = 0; i < c_.inputs; ++i) {
      sum += At("X", row * c_.inputs + i) * At("W", Row(gate, j) * c_.inputs + i);
    }
    return sum + At("B", BiasAt(gate, j));
  }

  /// The recurrence's part, without a bias.
  double Recurrent(const std::vector<double>& h, int64_t gate, int64_t j) const {
    double sum = 0;
    for (int64_t k = 0; k < c_.hidden; ++k) sum += h[k] * At("R", Row(gate, j) * c_.hidden + k);
    return sum;
  }

  double RecurrentBias(int64_t gate, int64_t j) const {
    return At("B", BiasAt(c_.Gates() + gate, j));
  }

  int64_t Row(int64_t gate, int64_t j) const { return (d_ * c_.Gates() + gate) * c_.hidden + j; }
  int64_t BiasAt(int64_t gate, int64_t j) const {
    return (d_ * 2 * c_.Gates() + gate) * c_.hidden + j;
  }

  void LstmStep(int64_t t, std::vector<double>& h, std::vector<double>& cell) const {
    const std::vector<double> before = h;
    const auto gate = [&](int64_t k, int64_t j) {
      return Input(t, k, j) + Recurrent(before, k, j) + RecurrentBias(k, j);
    };
    const auto peephole = [&](int64_t k, int64_t j) {
      return At("P", (d_ * 3 + k) * c_.hidden + j) * cell[j];
    };
    for (int64_t j = 0; j < c_.hidden; ++j) {
      const double input = Activate(0, gate(0, j) + peephole(0, j));
      const double forget = c_.input_forget ? 1 - input : Activate(0, gate(2, j) + peephole(2, j));
      cell[j] = forget * cell[j] + input * Activate(1, gate(3, j));
      h[j] = Activate(0, gate(1, j) + peephole(1, j)) * Function(2, cell[j]);
    }
  }

  void GruStep(int64_t t, std::vector<double>& h) const {
    std::vector<double> reset(c_.hidden), scaled(c_.hidden), next(c_.hidden);
    for (int64_t j = 0; j < c_.hidden; ++j) {
      reset[j] = Activate(0, Input(t, 1, j) + Recurrent(h, 1, j) + RecurrentBias(1, j));
      scaled[j] = reset[j] * h[j];
    }
    for (int64_t j = 0; j < c_.hidden; ++j) {
      const double update = Activate(0, Input(t, 0, j) + Recurrent(h, 0, j) + RecurrentBias(0, j));
      const double recurrent = c_.linear_before_reset
                                   ? reset[j] * (Recurrent(h, 2, j) + RecurrentBias(2, j))
                                   : Recurrent(scaled, 2, j) + RecurrentBias(2, j);
      next[j] = (1 - update) * Activate(1, Input(t, 2, j) + recurrent) + update * h[j];
    }
    h = next;
  }

  void RnnStep(int64_t t, std::vector<double>& h) const {
    const std::vector<double> before = h;
    for (int64_t j = 0; j < c_.hidden; ++j) {
      h[j] = Activate(0, Input(t, 0, j) + Recurrent(before, 0, j) + RecurrentBias(0, j));
    }
  }

  double Activate(int64_t k, double x) const {
    return Function(k, c_.clip > 0 ? std::clamp(x, -c_.clip, c_.clip) : x);
  }

  /// Function `k` of the direction.
  double Function(int64_t k, double x) const {
    const std::vector<std::string> defaults =
        c_.op == "LSTM"  ? std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"}
        : c_.op == "GRU" ? std::vector<std::string>{"Sigmoid", "Tanh"}
                         : std::vector<std::string>{"Tanh"};
    if (c_.activations.empty()) return Named(defaults[k], x, 0, 0);
    const size_t wanted = d_ * defaults.size() + k;
    size_t alphas = 0, betas = 0;
    for (size_t i = 0; i < wanted; ++i) {
      alphas += ParameterCount(c_.activations[i]) > 0;
      betas += ParameterCount(c_.activations[i]) > 1;
    }
    const std::string& name = c_.activations[wanted];
    const double alpha = alphas < c_.alpha.size() ? c_.alpha[alphas] : DefaultAlpha(name);
    const double beta = betas < c_.beta.size() ? c_.beta[betas] : DefaultBeta(name);
    return Named(name, x, alpha, beta);
  }

  static int ParameterCount(const std::string& name) {
    if (name == "Affine" || name == "ScaledTanh" || name == "HardSigmoid") return 2;
    return name == "LeakyRelu" || name == "ThresholdedRelu" || name == "Elu";
  }
  static double DefaultAlpha(const std::string& name) {
    return name == "LeakyRelu" ? 0.01 : name == "HardSigmoid" ? 0.2 : 1;
  }
  static double DefaultBeta(const std::string& name) {
    return name == "HardSigmoid" ? 0.5 : name == "ScaledTanh" ? 1 : 0;
  }

  static double Named(const std::string& name, double x, double alpha, double beta) {
    if (name == "Sigmoid") return Sigmoid(x);
    if (name == "Tanh") return std::tanh(x);
    if (name == "Relu") return std::max(x, 0.0);
    if (name == "Affine") return alpha * x + beta;
    if (name == "LeakyRelu") return x < 0 ? alpha * x : x;
    if (name == "ThresholdedRelu") return x > alpha ? x : 0;
    if (name == "ScaledTanh") return alpha * std::tanh(beta * x);
    if (name == "HardSigmoid") return std::clamp(alpha * x + beta, 0.0, 1.0);
    if (name == "Elu") return x < 0 ? alpha * (std::exp(x) - 1) : x;
    if (name == "Softsign") return x / (1 + std::abs(x));
    return std::log1p(std::exp(x));  // Softplus
  }

  const RecurrentCase& c_;
  int64_t d_ = 0, b_ = 0;
  RecurrentResult result_;
};

}  // namespace

RecurrentResult ReferenceOf(const RecurrentCase& c) { return Reference(c).Run(); }

}  // namespace bayloom::graph
