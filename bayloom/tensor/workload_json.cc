// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/workload_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "bayloom/base/json.h"
#include "bayloom/base/single_line.h"
#include "bayloom/tensor/library_call.h"
#include "bayloom/tensor/names.h"

namespace bayloom::tensor {
namespace {

using Json = nlohmann::json;
using Op = ExprOp;

template <typename Table>
auto ValueIn(const Table& table, const Json& json, const char* what) {
  const std::string text = json.get<std::string>();
  for (const auto& [value, name] : table) {
    if (name == text) return value;
  }
  throw std::invalid_argument(fmt::format("unknown {} '{}'", what, base::SingleLine(text)));
}

void Require(bool condition, const char* what) {
  if (!condition) throw std::invalid_argument(what);
}

// --- Writing ---------------------------------------------------------------------------------

Json FloatToJson(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

/// Lists the nodes of an expression, each once.
class NodeWriter {
 public:
  int Write(const Expr& e) {
    if (auto known = places_.find(e.get()); known != places_.end()) return known->second;
    Json node = {NameOf(e->op), ToString(e->dtype)};
    if (e->op == Op::kInt) node.push_back(e->int_value);
    if (e->op == Op::kFloat) node.push_back(FloatToJson(e->float_value));
    if (e->op == Op::kIter || e->op == Op::kLoad || e->op == Op::kSize) node.push_back(e->index);
    if (e->op == Op::kCall) node.push_back(NameOf(static_cast<LibraryKernel>(e->index)));
    for (const Expr& operand : e->operands) node.push_back(Write(operand));
    nodes_.push_back(std::move(node));
    const int place = static_cast<int>(nodes_.size()) - 1;
    places_.emplace(e.get(), place);
    return place;
  }
  Json Take() { return std::move(nodes_); }

 private:
  std::map<const ExprNode*, int> places_;
  Json nodes_ = Json::array();
};

Json BoundToJson(const Bound& bound) { return {bound.size, bound.step, bound.beyond}; }

Json BufferToJson(const Buffer& buffer) {
  Json json = {{"name", buffer.name},
               {"dtype", ToString(buffer.dtype)},
               {"shape", buffer.shape},
               {"role", NameOf(buffer.role)}};
  if (buffer.scope != StorageScope::kGlobal) json["scope"] = NameOf(buffer.scope);
  if (!buffer.slice_of.empty()) json["slice_of"] = buffer.slice_of;
  for (const Bound& bound : buffer.bounds) json["bounds"].push_back(BoundToJson(bound));
  if (buffer.role == BufferRole::kSize) {
    json["range"] = {buffer.range.smallest, buffer.range.largest};
  }
  for (const LayoutAxis& axis : buffer.layout) {
    json["layout"].push_back({axis.dimension, axis.stride, axis.extent});
  }
  return json;
}

Json StageToJson(const Stage& stage) {
  Json json = {{"name", stage.name}, {"output", stage.output}, {"iters", Json::array()}};
  for (const Iter& iter : stage.iters) {
    json["iters"].push_back(
        {iter.name, iter.extent, iter.kind == IterKind::kSpatial ? "spatial" : "reduction"});
    if (iter.bound.is_open()) json["iters"].back().push_back(BoundToJson(iter.bound));
  }
  if (stage.reduction != Reduction::kNone) json["reduction"] = NameOf(stage.reduction);
  NodeWriter writer;
  writer.Write(stage.value);
  json["value"] = writer.Take();
  return json;
}

// --- Reading ---------------------------------------------------------------------------------

DType DTypeFromJson(const Json& json) {
  const std::string text = json.get<std::string>();
  if (std::optional<DType> dtype = ParseDType(text)) return *dtype;
  throw std::invalid_argument(fmt::format("unknown element type '{}'", base::SingleLine(text)));
}

double FloatFromJson(const Json& json) {
  if (json == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (json == "inf") return std::numeric_limits<double>::infinity();
  if (json == "-inf") return -std::numeric_limits<double>::infinity();
  return json.get<double>();
}

int64_t IntFromJson(const Json& json) {
  Require(json.is_number_integer(), "expected an integer");
  return json.get<int64_t>();
}

/// An integer in [0, bound).
int IndexFromJson(const Json& json, int64_t bound, const char* what) {
  const int64_t index = IntFromJson(json);
  if (index < 0 || index >= bound) {
    throw std::invalid_argument(fmt::format("{} {} is not one of {}", what, index, bound));
  }
  return static_cast<int>(index);
}

void CheckTypes(const ExprNode& node) {
  const std::vector<Expr>& operands = node.operands;
  const auto is = [&](size_t i, DType dtype) { return operands[i]->dtype == dtype; };
  if (node.op == Op::kCast) {
    Require(operands.size() == 1, "a cast takes one operand");
  } else if (node.op == Op::kIsNan || node.op == Op::kIsInf) {
    Require(operands.size() == 1 && node.dtype == DType::kBool, "a float test gives a bool");
  } else if (node.op == Op::kSelect) {
    Require(operands.size() == 3 && is(0, DType::kBool) && is(1, node.dtype) && is(2, node.dtype),
            "a select takes a bool and two values of its type");
  } else if (node.op >= Op::kLess && node.op <= Op::kEqual) {
    Require(operands.size() == 2 && node.dtype == DType::kBool && is(0, operands[1]->dtype),
            "a comparison takes two values of one type and gives a bool");
  } else if (node.op >= Op::kAdd && node.op <= Op::kXor) {
    Require(operands.size() == 2 && is(0, node.dtype) && is(1, node.dtype),
            "a binary operation takes two values of its type");
  } else {
    Require(operands.size() == 1 && is(0, node.dtype),
            "a unary operation takes one value of its type");
  }
}

/// Operands first, each a load of its first element, then int64 literals.
void CheckCallOperands(const ExprNode& call) {
  bool numbers = false;
  for (const Expr& operand : call.operands) {
    const bool is_number = operand->op == Op::kInt && operand->dtype == DType::kInt64;
    Require(is_number || (operand->op == Op::kLoad && !numbers),
            "a call takes tensors and then integers");
    numbers |= is_number;
    for (const Expr& index : operand->operands) {
      Require(IsIntLiteral(index, 0), "a call takes whole tensors");
    }
  }
}

BufferId SizeFromJson(const Json& json, const std::vector<Buffer>& buffers) {
  const int size = IndexFromJson(json, static_cast<int64_t>(buffers.size()), "size");
  Require(buffers[size].role == BufferRole::kSize, "a bound is a size");
  return size;
}

Bound BoundFromJson(const Json& json, const std::vector<Buffer>& buffers) {
  const Bound bound{SizeFromJson(json.at(0), buffers), IntFromJson(json.at(1)),
                    IntFromJson(json.at(2))};
  Require(bound.step >= 1 && bound.beyond >= 0, "a bound has a positive step");
  return bound;
}

Expr NodeFromJson(const Json& json, const std::vector<Expr>& nodes, const Stage& stage,
                  const std::vector<Buffer>& buffers) {
  Require(json.is_array() && json.size() >= 2, "a node is a list of operation, type, operands");
  auto node = std::make_shared<ExprNode>();
  node->op = ValueIn(kOpNames, json[0], "operation");
  node->dtype = DTypeFromJson(json[1]);
  const bool is_leaf = node->op <= Op::kLoad || node->op == Op::kSize;
  const bool is_call = node->op == Op::kCall;
  Require(!is_leaf || json.size() > 2, "a literal, iterator or load lacks its number");
  Require(!is_call || json.size() > 2, "a call lacks its kernel");
  for (size_t i = is_leaf || is_call ? 3 : 2; i < json.size(); ++i) {
    const auto known = static_cast<int64_t>(nodes.size());
    node->operands.push_back(nodes[IndexFromJson(json[i], known, "node")]);
  }
  if (is_call) {
    node->index = static_cast<int>(ValueIn(kLibraryKernelNames, json[2], "kernel"));
    CheckCallOperands(*node);
  } else if (!is_leaf) {
    CheckTypes(*node);
  } else if (node->op == Op::kInt) {
    node->int_value = IntFromJson(json[2]);
  } else if (node->op == Op::kFloat) {
    node->float_value = FloatFromJson(json[2]);
  } else if (node->op == Op::kIter) {
    node->index = IndexFromJson(json[2], static_cast<int64_t>(stage.iters.size()), "iterator");
    Require(node->dtype == DType::kInt64, "an iterator is an int64");
  } else if (node->op == Op::kSize) {
    node->index = SizeFromJson(json[2], buffers);
    Require(node->dtype == DType::kInt64, "a size is an int64");
  } else {
    node->index = IndexFromJson(json[2], static_cast<int64_t>(buffers.size()), "buffer");
    const Buffer& buffer = buffers[node->index];
    Require(node->dtype == buffer.dtype, "a load has the type of its buffer");
    Require(node->operands.size() == buffer.shape.size(), "a load has one index per dimension");
    for (const Expr& index : node->operands)
      Require(IsInteger(index->dtype), "an index is an integer");
  }
  Require(node->op == Op::kLoad || !is_leaf || node->operands.empty(), "a leaf has no operands");
  return Expr(std::shared_ptr<const ExprNode>(std::move(node)));
}

/// What a size has beside what all buffers have. Sizes are the first buffers.
void ReadSize(const Json& json, Buffer& size, const std::vector<Buffer>& before) {
  const Json& range = json.at("range");
  size.range = {IntFromJson(range.at(0)), IntFromJson(range.at(1))};
  Require(size.range.smallest >= 0 && size.range.smallest <= size.range.largest &&
              size.range.largest >= 1,
          "a size has a range of at least one value");
  Require(size.dtype == DType::kInt64 && size.shape.empty(), "a size is one int64");
  Require(before.empty() || before.back().role == BufferRole::kSize, "sizes come first");
}

Buffer BufferFromJson(const Json& json, const std::vector<Buffer>& before) {
  Buffer buffer;
  buffer.name = json.at("name").get<std::string>();
  buffer.dtype = DTypeFromJson(json.at("dtype"));
  for (const Json& extent : json.at("shape")) buffer.shape.push_back(IntFromJson(extent));
  for (int64_t extent : buffer.shape) Require(extent >= 1, "a dimension has at least one element");
  buffer.role = ValueIn(kRoleNames, json.at("role"), "role");
  if (json.contains("scope")) buffer.scope = ValueIn(kScopeNames, json["scope"], "scope");
  if (json.contains("slice_of")) {
    for (const Json& extent : json["slice_of"]) buffer.slice_of.push_back(IntFromJson(extent));
    Require(std::ranges::equal(buffer.slice_of, buffer.shape, std::greater_equal<>()),
            "a slice is no larger than what it is a slice of");
  }
  if (json.contains("bounds")) {
    for (const Json& bound : json["bounds"]) {
      const bool is_open = bound.at(0) != Bound().size;
      buffer.bounds.push_back(is_open ? BoundFromJson(bound, before) : Bound{});
    }
    Require(buffer.bounds.size() == buffer.shape.size(), "there is one bound per dimension");
  }
  if (buffer.role == BufferRole::kSize) ReadSize(json, buffer, before);
  if (!json.contains("layout")) return buffer;
  for (const Json& axis : json["layout"]) {
    const auto rank = static_cast<int64_t>(buffer.shape.size());
    buffer.layout.push_back({IndexFromJson(axis.at(0), rank, "dimension"), IntFromJson(axis.at(1)),
                             IntFromJson(axis.at(2))});
    Require(buffer.layout.back().stride >= 1 && buffer.layout.back().extent >= 1,
            "a layout axis has a positive stride and extent");
  }
  return buffer;
}

/// The iterators of a stage must fit its output: the spatial ones first, one per dimension.
void CheckIters(const Stage& stage, const Buffer& output) {
  size_t spatial = 0;
  for (const Iter& iter : stage.iters) {
    Require(iter.extent >= 1, "an iterator has at least one step");
    if (iter.kind != IterKind::kSpatial) continue;
    Require(&iter == &stage.iters[spatial], "spatial iterators come before reduction iterators");
    Require(spatial < output.shape.size() && iter.extent == output.shape[spatial],
            "a spatial iterator runs over a dimension of the output");
    ++spatial;
  }
  Require(spatial == output.shape.size(), "an output has one spatial iterator per dimension");
  Require((stage.iters.size() > spatial) == (stage.reduction != Reduction::kNone),
          "a stage reduces if and only if it has reduction iterators");
}

/// Limits of an expression that others wrote: functions over expressions recurse, and some visit a
/// part that is shared wherever it is used.
constexpr int kMaxDepth = 1000;
constexpr double kMaxNodes = 1e6;

/// Refuses nodes that make an expression beyond the limits.
class ExpressionLimits {
 public:
  /// To be called with every node, operands first.
  void Add(const Expr& node) {
    Size size;
    for (const Expr& operand : node->operands) {
      const Size& part = sizes_.at(operand.get());
      size.depth = std::max(size.depth, part.depth + 1);
      size.nodes += part.nodes;
    }
    Require(size.depth <= kMaxDepth, "an expression is nested more than 1000 deep");
    Require(size.nodes <= kMaxNodes, "an expression has more than a million parts");
    sizes_.emplace(node.get(), size);
  }

 private:
  struct Size {
    int depth = 1;
    double nodes = 1;  ///< shared ones wherever they are used
  };
  std::unordered_map<const ExprNode*, Size> sizes_;
};

Stage StageFromJson(const Json& json, const std::vector<Buffer>& buffers) {
  Stage stage;
  stage.name = json.at("name").get<std::string>();
  stage.output =
      IndexFromJson(json.at("output"), static_cast<int64_t>(buffers.size()), "output buffer");
  for (const Json& iter : json.at("iters")) {
    const std::string kind = iter.at(2).get<std::string>();
    Require(kind == "spatial" || kind == "reduction", "an iterator is spatial or reduction");
    stage.iters.push_back({iter.at(0).get<std::string>(), IntFromJson(iter.at(1)),
                           kind == "spatial" ? IterKind::kSpatial : IterKind::kReduction});
    if (iter.size() > 3) stage.iters.back().bound = BoundFromJson(iter[3], buffers);
  }
  if (json.contains("reduction")) {
    stage.reduction = ValueIn(kReductionNames, json["reduction"], "reduction");
  }
  CheckIters(stage, buffers[stage.output]);
  std::vector<Expr> nodes;
  ExpressionLimits limits;
  for (const Json& node : json.at("value")) {
    nodes.push_back(NodeFromJson(node, nodes, stage, buffers));
    limits.Add(nodes.back());
  }
  Require(!nodes.empty(), "a stage has a value");
  stage.value = nodes.back();
  for (const Expr& node : nodes) {
    Require(node->op != Op::kCall || node.get() == stage.value.get(),
            "a call of the library is all of a stage's value");
  }
  Require(stage.value->dtype == buffers[stage.output].dtype, "a stage has its output's type");
  return stage;
}

std::vector<std::vector<int64_t>> PointsFromJson(const Json& json, const Workload& workload) {
  std::vector<std::vector<int64_t>> points;
  for (const Json& point : json) {
    std::vector<int64_t>& values = points.emplace_back();
    for (const Json& value : point) values.push_back(IntFromJson(value));
    Require(std::ssize(values) == workload.SizeCount(), "a point has a value for each size");
    for (size_t size = 0; size < values.size(); ++size) {
      const SizeRange& range = workload.buffers[size].range;
      Require(values[size] >= range.smallest && values[size] <= range.largest,
              "a size is within its range");
    }
  }
  return points;
}

/// Every buffer is passed in or written by one stage, and written before it is read.
void CheckOrder(const Workload& workload) {
  std::vector<bool> written;
  for (const Buffer& buffer : workload.buffers) {
    written.push_back(IsPassedIn(buffer.role));
  }
  for (const Stage& stage : workload.stages) {
    Visit(stage.value, [&](const Expr& e) {
      Require(e->op != Op::kLoad || written[e->index], "a buffer is read before it is written");
    });
    Require(!written[stage.output], "a buffer is written twice or is an input");
    written[stage.output] = true;
  }
  for (bool done : written) Require(done, "a buffer is never written");
}

/// A call of the library is a workload's only stage, over dense tensors that suit it.
void CheckCalls(const Workload& workload) {
  for (const Stage& stage : workload.stages) {
    const std::optional<LibraryCall> call = AsCall(stage.value);
    if (!call) continue;
    Require(workload.stages.size() == 1, "a call of the library is a workload's only stage");
    Require(stage.reduction == Reduction::kNone, "a call of the library does not reduce");
    for (const Buffer& buffer : workload.buffers) {
      Require(buffer.layout.empty() && buffer.slice_of.empty(), "a call takes dense tensors");
    }
    std::vector<CallTensor> operands;
    for (BufferId id : call->operands) operands.push_back(CallTensorOf(workload.buffers[id]));
    const Status status = CheckCall(*call, operands, CallTensorOf(workload.buffers[stage.output]));
    if (!status) throw std::invalid_argument(status.error().message);
  }
}

}  // namespace

Json WorkloadToJson(const Workload& workload) {
  Json json = {{"name", workload.name}, {"buffers", Json::array()}, {"stages", Json::array()}};
  for (const Buffer& buffer : workload.buffers) json["buffers"].push_back(BufferToJson(buffer));
  for (const Stage& stage : workload.stages) json["stages"].push_back(StageToJson(stage));
  if (!workload.points.empty()) json["points"] = workload.points;
  if (workload.has_cold_constants) json["cold_constants"] = true;
  return json;
}

Result<Workload> WorkloadFromJson(const Json& json) {
  Workload workload;
  std::string place = "the workload";
  try {
    workload.name = json.at("name").get<std::string>();
    for (const Json& buffer : json.at("buffers")) {
      place = fmt::format("buffer {}", workload.buffers.size());
      workload.buffers.push_back(BufferFromJson(buffer, workload.buffers));
    }
    for (const Json& stage : json.at("stages")) {
      place = fmt::format("stage {}", workload.stages.size());
      workload.stages.push_back(StageFromJson(stage, workload.buffers));
    }
    place = "the points";
    if (json.contains("points")) workload.points = PointsFromJson(json["points"], workload);
    workload.has_cold_constants = json.value("cold_constants", false);
    place = "the stages' order";
    CheckOrder(workload);
    place = "the call of the library";
    CheckCalls(workload);
  } catch (const std::invalid_argument& e) {
    return Error{fmt::format("workload JSON, {}: {}", place, e.what())};
  } catch (const Json::exception& e) {
    return Error{fmt::format("workload JSON, {}: {}", place, base::JsonErrorText(e.what()))};
  }
  return workload;
}

}  // namespace bayloom::tensor
