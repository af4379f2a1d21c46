// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "examples/models/layers.h"
#include "examples/models/models.h"

namespace bayloom::models {
namespace {

/// The blocks as Szegedy et al. draw them, in the order in which the network has them.
class Inception {
 public:
  explicit Inception(uint64_t seed) : g_("inception_v3", 13, seed) {}

  GraphBuilder Build() && {
    x_ = g_.Input("input", {1, 3, 299, 299});
    in_ = 3;
    Stem();
    for (int64_t pooled : {32, 64, 64}) Small(pooled);
    ReduceSmall();
    for (int64_t narrow : {128, 160, 160, 192}) Factorized(narrow);
    ReduceFactorized();
    for (int i = 0; i < 2; ++i) Expanded();
    Classify(g_, "fc", x_, in_);
    return std::move(g_);
  }

 private:
  /// What a branch has computed so far.
  struct Branch {
    Value value;
    int64_t channels;
  };

  Branch Conv(const Branch& from, int64_t out, Window window) {
    const std::string name = "conv" + std::to_string(++convolutions_);
    const double gain = convolutions_ == 1 ? kAfterLinear : kAfterRelu;
    const Value y = WindowConvBn(g_, name, from.value, from.channels, out, window, gain);
    return {g_.Node("Relu", {y}), out};
  }
  Branch Start() const { return {x_, in_}; }
  Branch Pointwise(int64_t out) { return Conv(Start(), out, {1, 1}); }
  Branch MeanThenPointwise(int64_t out) {
    return Conv({AveragePool(g_, x_, 3, 1, 1), in_}, out, {1, 1});
  }
  Branch Shrunk() { return {MaxPool(g_, x_, 3, 2), in_}; }
  Branch Square(const Branch& from, int64_t out) { return Conv(from, out, {3, 3, 1, 1, 1}); }
  Branch Halve(const Branch& from, int64_t out) { return Conv(from, out, {3, 3, 2, 0, 0}); }

  void Join(const std::vector<Branch>& branches) {
    std::vector<Value> values;
    in_ = 0;
    for (const Branch& branch : branches) {
      values.push_back(branch.value);
      in_ += branch.channels;
    }
    x_ = g_.Node("Concat", values, {{"axis", int64_t{1}}});
  }

  void Stem() {
    Branch y = Halve(Start(), 32);
    y = Square(Conv(y, 32, {3, 3}), 64);
    y = Conv({MaxPool(g_, y.value, 3, 2), 64}, 80, {1, 1});
    y = Conv(y, 192, {3, 3});
    x_ = MaxPool(g_, y.value, 3, 2);
    in_ = 192;
  }

  void Small(int64_t pooled) {
    const Branch five = Conv(Pointwise(48), 64, {5, 5, 1, 2, 2});
    const Branch twice = Square(Square(Pointwise(64), 96), 96);
    Join({Pointwise(64), five, twice, MeanThenPointwise(pooled)});
  }

  void ReduceSmall() {
    const Branch once = Halve(Start(), 384);
    const Branch twice = Halve(Square(Pointwise(64), 96), 96);
    Join({once, twice, Shrunk()});
  }

  Branch Row(const Branch& from, int64_t out) { return Conv(from, out, {1, 7, 1, 0, 3}); }
  Branch Column(const Branch& from, int64_t out) { return Conv(from, out, {7, 1, 1, 3, 0}); }

  void Factorized(int64_t narrow) {
    const Branch once = Column(Row(Pointwise(narrow), narrow), 192);
    Branch twice = Row(Column(Pointwise(narrow), narrow), narrow);
    twice = Row(Column(twice, narrow), 192);
    Join({Pointwise(192), once, twice, MeanThenPointwise(192)});
  }

  void ReduceFactorized() {
    const Branch once = Halve(Pointwise(192), 320);
    const Branch twice = Halve(Column(Row(Pointwise(192), 192), 192), 192);
    Join({once, twice, Shrunk()});
  }

  /// A row and a column beside each other, joined.
  std::vector<Branch> Cross(const Branch& from) {
    return {Conv(from, 384, {1, 3, 1, 0, 1}), Conv(from, 384, {3, 1, 1, 1, 0})};
  }

  void Expanded() {
    std::vector<Branch> branches = {Pointwise(320)};
    for (const Branch& b : Cross(Pointwise(384))) branches.push_back(b);
    for (const Branch& b : Cross(Square(Pointwise(448), 384))) branches.push_back(b);
    branches.push_back(MeanThenPointwise(192));
    Join(branches);
  }

  GraphBuilder g_;
  Value x_;
  int64_t in_ = 0;
  int convolutions_ = 0;
};

}  // namespace

GraphBuilder InceptionV3(uint64_t seed) { return Inception(seed).Build(); }

}  // namespace bayloom::models
