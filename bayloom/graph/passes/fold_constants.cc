// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"

namespace bayloom::graph {
namespace {

/// What an expression depends on.
struct Dependence {
  bool constants = false;  ///< loads of values known at compile time
  bool others = false;     ///< loads of other values, and sizes
  std::vector<int> iters;  ///< sorted
};

Dependence DependenceOf(const Graph& graph, const tensor::Expr& e) {
  Dependence result;
  tensor::Visit(e, [&](const tensor::Expr& inner) {
    if (inner->op == tensor::ExprOp::kIter) result.iters.push_back(inner->index);
    if (inner->op == tensor::ExprOp::kSize) result.others = true;
    if (inner->op != tensor::ExprOp::kLoad) return;
    (graph.values[inner->index].constant ? result.constants : result.others) = true;
  });
  std::sort(result.iters.begin(), result.iters.end());
  result.iters.erase(std::unique(result.iters.begin(), result.iters.end()), result.iters.end());
  return result;
}

class Folder {
 public:
  explicit Folder(Graph& graph) : graph_(graph) {}

  void Fold(Node& node) {
    iters_ = &node.stage.iters;
    name_ = node.stage.name;
    unpacks_bytes_ = tensor::IsFloat(node.stage.value->dtype) && IsOfBytes(node.stage.value);
    node.stage.value = FoldParts(node.stage.value);
  }

 private:
  /// The largest parts that can be folded, from the outside in.
  tensor::Expr FoldParts(const tensor::Expr& e) {
    if (e->operands.empty() && e->op != tensor::ExprOp::kLoad) return e;
    if (const tensor::Expr literal = AsLiteral(graph_, e); literal.defined()) return literal;
    const Dependence dependence = DependenceOf(graph_, e);
    if (!dependence.constants) return e;
    if (!dependence.others && e->op != tensor::ExprOp::kLoad && Pays(e, dependence)) {
      return Evaluate(e, dependence);
    }
    std::vector<tensor::Expr> operands;
    for (const tensor::Expr& operand : e->operands) operands.push_back(FoldParts(operand));
    return Rebuilt(*e, std::move(operands));
  }

  /// The operation with other operands, simplified.
  static tensor::Expr Rebuilt(const tensor::ExprNode& e, std::vector<tensor::Expr> operands) {
    switch (e.op) {
      case tensor::ExprOp::kLoad:
        return tensor::Load(e.index, e.dtype, std::move(operands));
      case tensor::ExprOp::kSelect:
        return tensor::Select(operands[0], operands[1], operands[2]);
      case tensor::ExprOp::kCast:
        return tensor::Cast(e.dtype, operands[0]);
      default:
        return operands.size() == 1 ? tensor::Unary(e.op, operands[0])
                                    : tensor::Binary(e.op, operands[0], operands[1]);
    }
  }

  /// Bytes that are widened where they are used: instructions multiply bytes. So are the narrow
  /// scales of bytes.
  bool WidensInPlace(const tensor::Expr& e) const {
    if (e->op != tensor::ExprOp::kCast || e->operands[0]->op != tensor::ExprOp::kLoad) return false;
    const tensor::DType from = e->operands[0]->dtype;
    return tensor::ByteSize(from) == 1 ? tensor::IsInteger(from)
                                       : unpacks_bytes_ && from == tensor::DType::kFloat16;
  }

  /// Wider elements made of bytes, which are stored in place of them because there are a lot.
  bool UnpacksBytes(const tensor::Expr& e) const {
    const bool is_wider =
        tensor::IsFloat(e->dtype) || (unpacks_bytes_ && tensor::ByteSize(e->dtype) > 1);
    return is_wider && IsOfBytes(e);
  }

  /// Whether most constants that are loaded are bytes.
  bool IsOfBytes(const tensor::Expr& e) const {
    int64_t largest = 0;
    bool is_bytes = false;
    for (const tensor::Expr& load : LoadsOf(e)) {
      const int64_t elements = graph_.values[load->index].ElementCount();
      if (elements <= largest || !graph_.values[load->index].constant) continue;
      largest = elements;
      is_bytes = load->dtype == tensor::DType::kUInt8;
    }
    return is_bytes;
  }

  /// Folding replaces arithmetic by a load: it pays where that does not read more memory than
  /// the constants did.
  bool Pays(const tensor::Expr& e, const Dependence& dependence) const {
    if (WidensInPlace(e) || UnpacksBytes(e)) return false;
    int64_t loaded = 0;
    for (const tensor::Expr& load : LoadsOf(e)) {
      loaded = std::max(loaded, graph_.values[load->index].ElementCount());
    }
    int64_t elements = 1;
    for (int iter : dependence.iters) elements *= (*iters_)[iter].extent;
    return elements <= loaded;
  }

  tensor::Expr Evaluate(const tensor::Expr& e, const Dependence& dependence) {
    std::vector<int64_t> shape;
    std::vector<tensor::Expr> own_iters(iters_->size()), indices;
    for (int iter : dependence.iters) {
      own_iters[iter] = tensor::IterVar(static_cast<int>(shape.size()));
      shape.push_back((*iters_)[iter].extent);
      indices.push_back(tensor::IterVar(iter));
    }
    tensor::Stage stage;
    stage.name = name_ + ".constant";
    stage.iters = SpatialIters(shape);
    stage.value = tensor::SubstituteIters(e, own_iters);
    tensor::HostTensor data = EvaluateStage(stage, [&](ValueId id) -> const tensor::HostTensor& {
      return *graph_.values[id].constant;
    });
    const auto id = static_cast<ValueId>(graph_.values.size());
    graph_.values.push_back({stage.name, data.dtype, shape,
                             std::make_shared<const tensor::HostTensor>(std::move(data))});
    return FoldParts(tensor::Load(id, e->dtype, std::move(indices)));
  }

  Graph& graph_;
  const std::vector<tensor::Iter>* iters_ = nullptr;
  std::string name_;
  bool unpacks_bytes_ = false;
};

}  // namespace

void FoldConstants(Graph& graph) {
  Folder folder(graph);
  for (Node& node : graph.nodes) {
    if (node.kind != NodeKind::kView && node.kind != NodeKind::kCall) folder.Fold(node);
  }
  RemoveDeadNodes(graph);
}

}  // namespace bayloom::graph
