// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/mapspace/tiny_network.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

namespace bayloom::mapspace {

int TinyNetwork::Input(int64_t channels, int64_t rows, int64_t columns) {
  shapes_.push_back({1, channels, rows, columns});
  return static_cast<int>(shapes_.size()) - 1;
}

int TinyNetwork::AddLayer(Layer layer, std::vector<int64_t> shape) {
  shapes_.push_back(std::move(shape));
  layer.output = static_cast<int>(shapes_.size()) - 1;
  layers_.push_back(std::move(layer));
  return layers_.back().output;
}

int TinyNetwork::AddWindow(Kind kind, int input, int64_t channels, int64_t kernel, int64_t stride,
                           int64_t pad) {
  const std::vector<int64_t>& of = shapes_[input];
  const auto positions = [&](int64_t extent) { return (extent + 2 * pad - kernel) / stride + 1; };
  return AddLayer({.kind = kind, .inputs = {input}, .kernel = kernel, .stride = stride, .pad = pad},
                  {1, channels, positions(of[2]), positions(of[3])});
}

int TinyNetwork::Convolution(int input, int64_t channels, int64_t kernel, int64_t stride,
                             int64_t pad) {
  return AddWindow(Kind::kConvolution, input, channels, kernel, stride, pad);
}

int TinyNetwork::Depthwise(int input, int64_t kernel, int64_t stride, int64_t pad) {
  return AddWindow(Kind::kDepthwise, input, shapes_[input][1], kernel, stride, pad);
}

int TinyNetwork::Pool(int input, int64_t kernel, int64_t stride, int64_t pad) {
  return AddWindow(Kind::kPool, input, shapes_[input][1], kernel, stride, pad);
}

int TinyNetwork::Add(int a, int b) {
  return AddLayer({.kind = Kind::kAdd, .inputs = {a, b}}, shapes_[a]);
}

int TinyNetwork::Concatenate(int a, int b) {
  std::vector<int64_t> shape = shapes_[a];
  shape[1] += shapes_[b][1];
  return AddLayer({.kind = Kind::kConcatenate, .inputs = {a, b}}, shape);
}

int TinyNetwork::Mean(int input) { return AddLayer({.kind = Kind::kMean, .inputs = {input}}, {}); }

int TinyNetwork::Scale(int input, int scalar) {
  return AddLayer({.kind = Kind::kScale, .inputs = {input, scalar}}, shapes_[input]);
}

TinyNetwork TinyNetwork::Random(base::RandomStream& random, bool has_scalar) {
  TinyNetwork network;
  const int64_t side = 6 + random.UniformInt(8);
  int last = network.Input(1 + random.UniformInt(2), side, side + random.UniformInt(4));
  const int64_t blocks = 1 + random.UniformInt(3);
  for (int64_t i = 0; i < blocks; ++i) {
    const int64_t channels = network.shapes_[last][1];
    const int64_t kernel = 1 + 2 * random.UniformInt(2);
    switch (random.UniformInt(5)) {
      case 0: {
        const bool is_small = network.shapes_[last][2] < 5;
        last = network.Convolution(last, 1 + random.UniformInt(3), 3, is_small ? 1 : 2, 1);
        break;
      }
      case 1: {  // a residual block
        int branch = network.Convolution(last, 1 + random.UniformInt(2), 3, 1, 1);
        branch = network.Convolution(branch, channels, kernel, 1, kernel / 2);
        last = network.Add(branch, last);
        break;
      }
      case 2: {
        const int other = network.Depthwise(last, 3, 1, 1);
        last = network.Concatenate(last, other);
        break;
      }
      case 3:
        last = network.Pool(last, 2, network.shapes_[last][2] < 5 ? 1 : 2, 0);
        break;
      default: {  // two branches with windows of their own
        const int a = network.Convolution(last, 2, 1, 1, 0);
        const int b = network.Convolution(last, 2, 3, 1, 1);
        last = network.Add(network.Depthwise(a, kernel, 1, kernel / 2), b);
        break;
      }
    }
  }
  if (has_scalar) last = network.Scale(last, network.Mean(last));
  network.Convolution(last, 2, 1 + 2 * random.UniformInt(2), 1, 1);
  return network;
}

namespace {

AccessStep WindowStep(const TinyNetwork::Layer& layer, const std::vector<int64_t>& shape) {
  AccessStep step{.shape = shape, .inner = {layer.kernel, layer.kernel}, .axes = {}, .from = {}};
  step.axes.push_back({.constant = 0, .terms = {{0, 1}}});
  step.axes.push_back({.constant = 0, .terms = {{1, 1}}});
  step.axes.push_back({.constant = -layer.pad, .terms = {{2, layer.stride}, {4, 1}}});
  step.axes.push_back({.constant = -layer.pad, .terms = {{3, layer.stride}, {5, 1}}});
  if (layer.kind == TinyNetwork::Kind::kConvolution) {
    step.inner.push_back(shape[1]);
    step.axes[1].terms = {{6, 1}};
  }
  return step;
}

AccessStep ShiftStep(const std::vector<int64_t>& shape, int64_t channels) {
  AccessStep step{.shape = shape, .inner = {}, .axes = {}, .from = {}};
  for (int a = 0; a < 4; ++a) {
    step.axes.push_back({.constant = a == 1 ? -channels : 0, .terms = {{a, 1}}});
  }
  return step;
}

/// Every element at once.
AccessStep WholeStep(const std::vector<int64_t>& shape) {
  AccessStep step{.shape = shape, .inner = shape, .axes = {}, .from = {}};
  for (int a = 0; a < static_cast<int>(shape.size()); ++a) {
    step.axes.push_back({.constant = 0, .terms = {{a, 1}}});
  }
  return step;
}

AccessStep StepTo(const TinyNetwork::Layer& layer, const std::vector<int64_t>& shape,
                  int64_t channels_before) {
  switch (layer.kind) {
    case TinyNetwork::Kind::kAdd:
    case TinyNetwork::Kind::kConcatenate:
      return ShiftStep(shape, channels_before);
    case TinyNetwork::Kind::kScale:
      return shape.empty() ? WholeStep(shape) : ShiftStep(shape, 0);
    case TinyNetwork::Kind::kMean:
      return WholeStep(shape);
    default:
      return WindowStep(layer, shape);
  }
}

}  // namespace

FusedNetwork TinyNetwork::Build() const {
  FusedNetwork network;
  network.name = "tiny";
  for (size_t t = 0; t < shapes_.size(); ++t) {
    network.tensors.push_back({.name = "t" + std::to_string(t), .shape = shapes_[t]});
  }
  for (const Layer& layer : layers_) {
    FusedOperator op;
    op.name = "layer" + std::to_string(layer.output);
    op.output = layer.output;
    const std::vector<int64_t>& out = shapes_[layer.output];
    int64_t before = 0;
    for (const int input : layer.inputs) {
      op.operands.push_back({input, {StepTo(layer, shapes_[input], before)}});
      if (layer.kind == Kind::kConcatenate) before += shapes_[input][1];
    }
    op.operations_per_word = static_cast<double>(layer.kernel * layer.kernel);
    const auto shape = [&] {
      return ConvolutionShape{.r = layer.kernel,
                              .s = layer.kernel,
                              .p = out[2],
                              .q = out[3],
                              .c = shapes_[layer.inputs[0]][1],
                              .m = out[1],
                              .p_stride = layer.stride,
                              .q_stride = layer.stride};
    };
    if (layer.kind == Kind::kConvolution) {
      op.product = {.problem = Conv2dProblem(shape()), .output_axis = {-1, -1, 2, 3, -1, 1, 0}};
    } else if (layer.kind == Kind::kDepthwise) {
      op.product = {.problem = DepthwiseProblem(shape()), .output_axis = {-1, -1, 2, 3, 1, 0}};
    }
    network.operators.push_back(std::move(op));
  }
  network.tensors[layers_.back().output].is_output = true;
  network.Connect();
  return network;
}

namespace {

using Element = std::array<int64_t, 4>;
using Elements = std::set<Element>;

/// The elements of its operand that an element of a layer's output needs.
void ForEachRead(const TinyNetwork& network, const TinyNetwork::Layer& layer, const Element& at,
                 const std::function<void(int, const Element&)>& visit) {
  using Kind = TinyNetwork::Kind;
  if (layer.kind == Kind::kAdd) {
    for (const int input : layer.inputs) visit(input, at);
    return;
  }
  if (layer.kind == Kind::kConcatenate) {
    const int64_t first = network.shape(layer.inputs[0])[1];
    if (at[1] < first) return visit(layer.inputs[0], at);
    return visit(layer.inputs[1], {at[0], at[1] - first, at[2], at[3]});
  }
  const std::vector<int64_t>& shape = network.shape(layer.inputs[0]);
  if (layer.kind == Kind::kMean) {
    for (int64_t c = 0; c < shape[1]; ++c) {
      for (int64_t row = 0; row < shape[2]; ++row) {
        for (int64_t column = 0; column < shape[3]; ++column) {
          visit(layer.inputs[0], {0, c, row, column});
        }
      }
    }
    return;
  }
  if (layer.kind == Kind::kScale) {
    visit(layer.inputs[0], at);
    return visit(layer.inputs[1], {});
  }
  const bool all = layer.kind == Kind::kConvolution;
  for (int64_t c = all ? 0 : at[1]; c <= (all ? shape[1] - 1 : at[1]); ++c) {
    for (int64_t r = 0; r < layer.kernel; ++r) {
      for (int64_t s = 0; s < layer.kernel; ++s) {
        const int64_t row = at[2] * layer.stride + r - layer.pad;
        const int64_t column = at[3] * layer.stride + s - layer.pad;
        if (row < 0 || row >= shape[2] || column < 0 || column >= shape[3]) continue;
        visit(layer.inputs[0], {at[0], c, row, column});
      }
    }
  }
}

}  // namespace

TileSimulation SimulateTiles(const TinyNetwork& network, const DepthFirstTiling& tiling) {
  const std::vector<TinyNetwork::Layer>& layers = network.layers();
  const int sink = layers.back().output;
  const std::vector<int64_t>& out = network.shape(sink);
  const size_t tensors = static_cast<size_t>(sink) + 1;
  TileSimulation result{.computed = std::vector<int64_t>(tensors), .kept = 0};
  std::vector<Elements> of_bands(tensors), of_band(tensors);
  std::vector<std::map<Element, int>> made(tensors);  // the tile that computed it last
  const DepthFirstTiling::Axis rows = tiling.axes[0], columns = tiling.axes[1];
  std::vector<std::map<Element, std::vector<std::pair<int, int>>>> uses(tensors);
  int tile = 0;
  for (int64_t y = 0; y < out[rows.axis]; y += rows.size) {
    for (auto& of : of_band) of.clear();
    for (int64_t x = 0; x < out[columns.axis]; x += columns.size, ++tile) {
      std::vector<Elements> fresh(tensors);
      const auto need = [&](int tensor, const Element& element) {
        const bool is_known = (rows.is_cached && of_bands[tensor].contains(element)) ||
                              (columns.is_cached && of_band[tensor].contains(element));
        if (!is_known) {
          fresh[tensor].insert(element);
        } else {
          uses[tensor][element].emplace_back(made[tensor].at(element), tile);
        }
      };
      for (int64_t c = 0; c < out[1]; ++c) {
        for (int64_t r = y; r < std::min(y + rows.size, out[2]); ++r) {
          for (int64_t s = x; s < std::min(x + columns.size, out[3]); ++s) need(sink, {0, c, r, s});
        }
      }
      for (size_t k = layers.size(); k-- > 0;) {
        for (const Element& element : fresh[layers[k].output]) {
          ForEachRead(network, layers[k], element, need);
        }
      }
      for (size_t t = 0; t < tensors; ++t) {
        result.computed[t] += static_cast<int64_t>(fresh[t].size());
        for (const Element& element : fresh[t]) {
          made[t][element] = tile;
          of_band[t].insert(element);
        }
      }
    }
    for (size_t t = 0; t < tensors; ++t) of_bands[t].insert(of_band[t].begin(), of_band[t].end());
  }
  // An element is kept from the tile that made it to the last one that uses it.
  std::vector<int64_t> begins(static_cast<size_t>(tile) + 1), ends(static_cast<size_t>(tile) + 1);
  for (const auto& of : uses) {
    for (const auto& [element, intervals] : of) {
      std::map<int, int> last;
      for (const auto& [from, to] : intervals) last[from] = std::max(last[from], to);
      for (const auto& [from, to] : last) {
        ++begins[static_cast<size_t>(from)];
        ++ends[static_cast<size_t>(to)];
      }
    }
  }
  int64_t kept = 0;
  for (int t = 0; t < tile; ++t) {
    kept += begins[static_cast<size_t>(t)] - ends[static_cast<size_t>(t)];
    result.kept = std::max(result.kept, kept);
  }
  return result;
}

}  // namespace bayloom::mapspace
