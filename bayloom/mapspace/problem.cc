// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/problem.h"

#include <algorithm>
#include <functional>
#include <set>

#include "bayloom/base/result.h"

namespace bayloom::mapspace {

DimensionSet DataSpace::Indexed() const {
  DimensionSet set = 0;
  for (const std::vector<AxisTerm>& axis : axes) {
    for (const AxisTerm& term : axis) set |= DimensionSet{1} << term.dimension;
  }
  return set;
}

int64_t DataSpace::BoxWords(const Extents& tile) const {
  int64_t words = 1;
  for (const std::vector<AxisTerm>& axis : axes) {
    int64_t width = 1;
    for (const AxisTerm& term : axis) width += term.coefficient * (tile[term.dimension] - 1);
    words *= width;
  }
  return words;
}

std::vector<int64_t> DataSpace::AxisLengths(const Extents& tile) const {
  std::vector<int64_t> lengths;
  for (const std::vector<AxisTerm>& axis : axes) {
    int64_t& length = lengths.emplace_back(1);
    for (const AxisTerm& term : axis) length += term.coefficient * (tile[term.dimension] - 1);
  }
  return lengths;
}

Extents Problem::Whole() const {
  Extents whole = kUnitExtents;
  std::ranges::copy(bounds, whole.begin());
  return whole;
}

int64_t Problem::Macs() const {
  int64_t macs = 1;
  for (int64_t bound : bounds) macs *= bound;
  return macs;
}

int Problem::DimensionNamed(std::string_view wanted) const {
  const auto found = std::find(dimensions.begin(), dimensions.end(), wanted);
  return found == dimensions.end() ? -1 : static_cast<int>(found - dimensions.begin());
}

int Problem::TensorNamed(std::string_view wanted) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const DataSpace& tensor) { return tensor.name == wanted; });
  return found == tensors.end() ? -1 : static_cast<int>(found - tensors.begin());
}

namespace {

/// "2P+R": the window after what it slides over.
std::string AxisText(std::vector<AxisTerm> axis, const std::vector<std::string>& dimensions) {
  std::ranges::sort(axis, std::greater<>(), &AxisTerm::dimension);
  std::string text;
  for (const AxisTerm& term : axis) {
    if (!text.empty()) text += "+";
    if (term.coefficient != 1) text += std::to_string(term.coefficient);
    text += dimensions[term.dimension];
  }
  return text;
}

}  // namespace

std::string Problem::Describe() const {
  std::string text = name;
  for (int d = 0; d < DimensionCount(); ++d) {
    text += " " + dimensions[d] + "=" + std::to_string(bounds[d]);
  }
  std::string stepped;
  for (const DataSpace& tensor : tensors) {
    for (const std::vector<AxisTerm>& axis : tensor.axes) {
      if (std::ranges::all_of(axis, [](const AxisTerm& term) { return term.coefficient == 1; })) {
        continue;
      }
      stepped += (stepped.empty() ? "" : ", ") + AxisText(axis, dimensions);
    }
  }
  if (!stepped.empty()) text += " (" + stepped + ")";
  for (const DataSpace& tensor : tensors) {
    if (tensor.density != Density{}) text += ", " + tensor.name + " " + tensor.density.Describe();
    if (tensor.word_bits != 0) {
      text += ", " + tensor.name + " of " + std::to_string(tensor.word_bits) + " bits";
    }
  }
  return text;
}

namespace {

void CheckNames(const std::vector<std::string>& names, const std::string& what, size_t most) {
  if (names.empty()) throw InputError("a problem needs at least one " + what);
  if (names.size() > most) {
    throw InputError("a problem can have " + std::to_string(most) + " " + what + "s, not " +
                     std::to_string(names.size()));
  }
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) throw InputError("two " + what + "s are called '" + name + "'");
  }
}

void CheckTensor(const DataSpace& tensor, const Problem& problem) {
  if (tensor.axes.empty() || tensor.axes.size() > kMaxAxes) {
    throw InputError("tensor '" + tensor.name + "' must have 1 to " + std::to_string(kMaxAxes) +
                     " axes");
  }
  double words = 1;
  for (const std::vector<AxisTerm>& axis : tensor.axes) {
    double width = 1;
    for (const AxisTerm& term : axis) {
      if (term.dimension < 0 || term.dimension >= problem.DimensionCount()) {
        throw InputError("tensor '" + tensor.name + "' is indexed by an unknown dimension");
      }
      if (term.coefficient < 1) {
        throw InputError("tensor '" + tensor.name +
                         "' is indexed with a coefficient that is not positive");
      }
      width += static_cast<double>(term.coefficient) *
               static_cast<double>(problem.bounds[term.dimension] - 1);
    }
    words *= width;
  }
  if (words >= 0x1p62) throw InputError("tensor '" + tensor.name + "' is too large to count");
}

}  // namespace

void CheckProblem(const Problem& problem) {
  CheckNames(problem.dimensions, "dimension", kMaxDimensions);
  std::vector<std::string> tensors;
  for (const DataSpace& tensor : problem.tensors) tensors.push_back(tensor.name);
  CheckNames(tensors, "tensor", kMaxTensors);
  if (problem.bounds.size() != problem.dimensions.size()) {
    throw InputError("a problem needs one bound for each of its dimensions");
  }
  double macs = 1;
  for (int d = 0; d < problem.DimensionCount(); ++d) {
    if (problem.bounds[d] < 1) {
      throw InputError("dimension '" + problem.dimensions[d] + "' must be at least 1, not " +
                       std::to_string(problem.bounds[d]));
    }
    macs *= static_cast<double>(problem.bounds[d]);
  }
  if (macs >= 0x1p62) throw InputError("problem '" + problem.name + "' is too large to count");
  for (const DataSpace& tensor : problem.tensors) CheckTensor(tensor, problem);
}

namespace {

/// A tensor each of whose axes is one dimension.
DataSpace Plain(std::string name, const std::vector<int>& dimensions, bool read_write = false) {
  DataSpace tensor{.name = std::move(name), .axes = {}, .read_write = read_write};
  for (int dimension : dimensions) tensor.axes.push_back({{dimension}});
  return tensor;
}

}  // namespace

Problem MatmulProblem(int64_t i, int64_t j, int64_t k) {
  enum { kI, kJ, kK };
  return {
      "matmul",
      {"I", "J", "K"},
      {i, j, k},
      {Plain("Weights", {kK, kJ}), Plain("Inputs", {kI, kK}), Plain("Outputs", {kI, kJ}, true)}};
}

Problem BatchMatmulProblem(int64_t b, int64_t i, int64_t j, int64_t k) {
  enum { kB, kI, kJ, kK };
  return {"batch-matmul",
          {"B", "I", "J", "K"},
          {b, i, j, k},
          {Plain("Weights", {kB, kK, kJ}), Plain("Inputs", {kB, kI, kK}),
           Plain("Outputs", {kB, kI, kJ}, true)}};
}

Problem Conv2dProblem(const ConvolutionShape& shape) {
  enum { kR, kS, kP, kQ, kC, kM, kN };
  return {"conv2d",
          {"R", "S", "P", "Q", "C", "M", "N"},
          {shape.r, shape.s, shape.p, shape.q, shape.c, shape.m, shape.n},
          {Plain("Weights", {kC, kM, kR, kS}),
           {"Inputs",
            {{{kN}},
             {{kC}},
             {{kR, shape.r_dilation}, {kP, shape.p_stride}},
             {{kS, shape.s_dilation}, {kQ, shape.q_stride}}}},
           Plain("Outputs", {kN, kM, kQ, kP}, true)}};
}

Problem DepthwiseProblem(const ConvolutionShape& shape) {
  enum { kR, kS, kP, kQ, kC, kN };
  return {"depthwise",
          {"R", "S", "P", "Q", "C", "N"},
          {shape.r, shape.s, shape.p, shape.q, shape.c, shape.n},
          {Plain("Weights", {kC, kR, kS}),
           {"Inputs",
            {{{kN}},
             {{kC}},
             {{kR, shape.r_dilation}, {kP, shape.p_stride}},
             {{kS, shape.s_dilation}, {kQ, shape.q_stride}}}},
           Plain("Outputs", {kN, kC, kQ, kP}, true)}};
}

}  // namespace bayloom::mapspace
