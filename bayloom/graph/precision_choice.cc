// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/precision_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "bayloom/codegen/host.h"
#include "bayloom/graph/executor.h"
#include "bayloom/graph/passes/float_product.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"
#include "bayloom/graph/random_inputs.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/sketch/default_schedule.h"
#include "bayloom/tensor/comparison.h"

namespace bayloom::graph {
namespace {

using HostTensors = std::vector<tensor::HostTensor>;

/// The outputs of a simplified network, compiled without tuning.
HostTensors OutputsOf(Graph graph, const Precision& precision, const HostTensors& inputs) {
  const target::Target target = codegen::HostTarget();
  LowerPrecision(graph, precision);
  ArrangeMemory(graph);
  const TaskGraph network = ExtractTasks(std::move(graph));
  std::vector<tensor::Program> programs;
  programs.reserve(network.tasks.size());
  std::vector<const tensor::Program*> chosen;
  for (const GraphTask& task : network.tasks) {
    programs.push_back(sketch::DefaultSchedule(task.workload, target));
    chosen.push_back(&programs.back());
  }
  std::vector<const void*> from;
  for (const tensor::HostTensor& input : inputs) from.push_back(input.data.data());
  HostTensors outputs;
  for (const GraphOutput& output : network.graph.outputs) {
    const Value& value = network.graph.values[output.value];
    outputs.push_back(tensor::HostTensor::Zeros(value.dtype, value.shape));
  }
  std::vector<void*> to;
  for (tensor::HostTensor& output : outputs) to.push_back(output.data.data());
  Executor(network, chosen, target).Run(from, to);
  return outputs;
}

/// Of floats; integers that depend on them may be any.
double LargestError(const HostTensors& actual, const HostTensors& expected) {
  double largest = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const tensor::HostTensor& e = expected[i];
    if (!tensor::IsFloat(e.dtype)) continue;
    const double error =
        tensor::Compare(e.dtype, actual[i].data.data(), e.data.data(), e.ElementCount(), {})
            .RelativeDifference();
    if (!(error <= largest)) largest = error;
  }
  return std::isnan(largest) ? std::numeric_limits<double>::infinity() : largest;
}

/// A network and, beside each of its products, that product with narrow operands; its outputs are
/// the largest magnitudes of the products and of the differences.
class ProductTwins {
 public:
  ProductTwins(const Graph& graph, tensor::DType dtype)
      : graph_(graph), dtype_(dtype), names_(ProductNames(graph)) {}

  Graph Build() {
    std::vector<Node> nodes = std::move(graph_.nodes);
    graph_.nodes = {};
    graph_.outputs = {};
    for (size_t n = 0; n < nodes.size(); ++n) {
      nodes[n].group = -1;  // a product of attention has another reader, its twin's
      graph_.nodes.push_back(nodes[n]);
      if (!names_[n].empty()) AddTwin(nodes[n]);
    }
    RemoveDeadNodes(graph_);
    return std::move(graph_);
  }

 private:
  void AddTwin(const Node& product) {
    Node twin = product;
    const auto factors = *AsFloatProduct(product);
    const tensor::Expr a = Rounded(factors[0]), b = Rounded(factors[1]);
    twin.stage.value = a * b;
    twin.stage.name += ".narrow";
    const std::vector<int64_t> shape = ShapeOf(product);
    twin.stage.output = AddValue(twin.stage.name, shape);
    graph_.nodes.push_back(twin);
    std::vector<tensor::Expr> place;
    for (size_t d = 0; d < shape.size(); ++d) {
      place.push_back(tensor::IterVar(static_cast<int>(d)));
    }
    const tensor::Expr exact = Load(product.output(), place), narrow = Load(twin.output(), place);
    AddMaximum(product.stage.name + ".largest", shape, exact);
    AddMaximum(product.stage.name + ".error", shape, narrow - exact);
  }

  /// The factor with its elements rounded where they are read.
  tensor::Expr Rounded(const FloatFactor& factor) {
    return factor.Reading(Narrow(factor.load->index), dtype_);
  }

  ValueId Narrow(ValueId value) {
    if (const auto known = narrow_.find(value); known != narrow_.end()) return known->second;
    const Value wide = graph_.values[value];
    std::vector<tensor::Expr> place;
    for (size_t d = 0; d < wide.shape.size(); ++d) {
      place.push_back(tensor::IterVar(static_cast<int>(d)));
    }
    Node node = MakeMap(graph_, wide.name + ".narrow", "cast", wide.shape,
                        tensor::Cast(dtype_, Load(value, place)));
    graph_.nodes.push_back(node);
    return narrow_[value] = node.output();
  }

  static tensor::Expr Load(ValueId value, const std::vector<tensor::Expr>& place) {
    return tensor::Load(value, tensor::DType::kFloat32, place);
  }

  ValueId AddValue(const std::string& name, const std::vector<int64_t>& shape) {
    graph_.values.push_back({name, tensor::DType::kFloat32, shape, nullptr});
    return static_cast<ValueId>(graph_.values.size()) - 1;
  }

  /// An output of one element: the largest magnitude over the shape.
  void AddMaximum(const std::string& name, const std::vector<int64_t>& shape,
                  const tensor::Expr& element) {
    Node node;
    node.op = "max";
    node.kind = NodeKind::kReduce;
    node.stage.name = name;
    node.stage.iters = SpatialIters(shape);
    for (tensor::Iter& iter : node.stage.iters) iter.kind = tensor::IterKind::kReduction;
    node.stage.reduction = tensor::Reduction::kMax;
    node.stage.value = tensor::Unary(tensor::ExprOp::kAbs, element);
    node.stage.output = AddValue(name, {});
    graph_.outputs.push_back({name, node.output()});
    graph_.nodes.push_back(std::move(node));
  }

  Graph graph_;
  const tensor::DType dtype_;
  const std::vector<std::string> names_;
  std::map<ValueId, ValueId> narrow_;
};

PrecisionChoice ChoiceOf(const PrecisionRequest& request, const std::vector<KeptProduct>& worst,
                         size_t kept) {
  PrecisionChoice choice;
  choice.dtype = request.dtype;
  choice.products = static_cast<int>(worst.size());
  choice.kept.assign(worst.begin(), worst.begin() + static_cast<int64_t>(kept));
  return choice;
}

}  // namespace

Precision PrecisionChoice::precision() const {
  Precision precision{dtype, {}};
  for (const KeptProduct& product : kept) precision.kept.insert(product.name);
  return precision;
}

std::vector<double> ProductErrors(const Graph& graph, const PrecisionRequest& request) {
  const HostTensors numbers = OutputsOf(ProductTwins(graph, request.dtype).Build(), {},
                                        MakeRandomInputs(graph, request.seed));
  std::vector<double> errors;
  size_t next = 0;
  for (const std::string& name : ProductNames(graph)) {
    errors.push_back(0);
    if (name.empty()) continue;
    const double largest = numbers[next].Get(0), error = numbers[next + 1].Get(0);
    next += 2;
    errors.back() = error == 0 ? 0 : error / largest;
    if (std::isnan(errors.back())) errors.back() = std::numeric_limits<double>::infinity();
  }
  return errors;
}

PrecisionChoice ChoosePrecision(const Graph& graph, const PrecisionRequest& request) {
  std::vector<KeptProduct> products;  // that may have to be kept
  for (const std::string& name : ProductNames(graph)) {
    if (!name.empty()) products.push_back({name, 0});
  }
  const HostTensors inputs = MakeRandomInputs(graph, request.seed);
  const HostTensors expected = OutputsOf(graph, {}, inputs);
  const auto error_with = [&](size_t kept) {
    if (kept == products.size()) return 0.0;
    const Precision precision = ChoiceOf(request, products, kept).precision();
    return LargestError(OutputsOf(graph, precision, inputs), expected);
  };
  const double all_narrow = error_with(0);
  size_t enough = 0;
  double error = all_narrow;
  if (error > request.tolerance) {
    const std::vector<double> errors = ProductErrors(graph, request);
    const std::vector<std::string> names = ProductNames(graph);
    products.clear();
    for (size_t n = 0; n < names.size(); ++n) {
      if (!names[n].empty()) products.push_back({names[n], errors[n]});
    }
    std::ranges::stable_sort(products, std::ranges::greater(), &KeptProduct::error);
    // Twice as many until it is enough, then between that and the last that was not.
    size_t too_few = 0;
    for (enough = 1;; enough = std::min(2 * enough, products.size())) {
      error = error_with(enough);
      if (error <= request.tolerance) break;
      too_few = enough;
    }
    while (enough - too_few > 1) {
      const size_t middle = std::midpoint(too_few, enough);
      const double tried = error_with(middle);
      if (tried <= request.tolerance) {
        enough = middle;
        error = tried;
      } else {
        too_few = middle;
      }
    }
  }
  PrecisionChoice choice = ChoiceOf(request, products, enough);
  choice.error = error;
  choice.error_without_kept = all_narrow;
  return choice;
}

}  // namespace bayloom::graph
