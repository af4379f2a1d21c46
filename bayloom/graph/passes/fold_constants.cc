#include <algorithm>
#include <cmath>

#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"

namespace bayloom {
namespace {

/// What an expression depends on.
struct Dependence {
  bool constants = false;  ///< loads of values known at compile time
  bool others = false;     ///< loads of other values
  std::vector<int> iters;  ///< sorted
};

Dependence DependenceOf(const Graph& graph, const Expr& e) {
  Dependence result;
  Visit(e, [&](const Expr& inner) {
    if (inner->op == ExprOp::kIter) result.iters.push_back(inner->index);
    if (inner->op != ExprOp::kLoad) return;
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
    node.stage.value = FoldParts(node.stage.value);
  }

 private:
  /// The largest parts that can be folded, from the outside in.
  Expr FoldParts(const Expr& e) {
    if (e->operands.empty() && e->op != ExprOp::kLoad) return e;
    if (const Expr literal = AsLiteral(e); literal.defined()) return literal;
    const Dependence dependence = DependenceOf(graph_, e);
    if (!dependence.constants) return e;
    if (!dependence.others && e->op != ExprOp::kLoad && Pays(e, dependence)) {
      return Evaluate(e, dependence);
    }
    std::vector<Expr> operands;
    for (const Expr& operand : e->operands) operands.push_back(FoldParts(operand));
    return Rebuilt(*e, std::move(operands));
  }

  /// The operation with other operands, simplified.
  static Expr Rebuilt(const ExprNode& e, std::vector<Expr> operands) {
    switch (e.op) {
      case ExprOp::kLoad:
        return Load(e.index, e.dtype, std::move(operands));
      case ExprOp::kSelect:
        return Select(operands[0], operands[1], operands[2]);
      case ExprOp::kCast:
        return Cast(e.dtype, operands[0]);
      default:
        return operands.size() == 1 ? Unary(e.op, operands[0])
                                    : Binary(e.op, operands[0], operands[1]);
    }
  }

  /// A load of a tensor of one element.
  Expr AsLiteral(const Expr& e) const {
    if (e->op != ExprOp::kLoad || !graph_.values[e->index].constant) return {};
    const HostTensor& data = *graph_.values[e->index].constant;
    if (data.ElementCount() != 1) return {};
    if (!IsFloat(data.dtype)) return IntLiteral(data.GetInt(0), data.dtype);
    return std::isnan(data.Get(0)) ? Expr() : FloatLiteral(data.Get(0), data.dtype);
  }

  /// Folding replaces arithmetic by a load: it pays where that does not read more memory than
  /// the constants did.
  bool Pays(const Expr& e, const Dependence& dependence) const {
    int64_t loaded = 0;
    for (const Expr& load : LoadsOf(e)) {
      loaded = std::max(loaded, graph_.values[load->index].ElementCount());
    }
    int64_t elements = 1;
    for (int iter : dependence.iters) elements *= (*iters_)[iter].extent;
    return elements <= loaded;
  }

  Expr Evaluate(const Expr& e, const Dependence& dependence) {
    std::vector<int64_t> shape;
    std::vector<Expr> own_iters(iters_->size()), indices;
    for (int iter : dependence.iters) {
      own_iters[iter] = IterVar(static_cast<int>(shape.size()));
      shape.push_back((*iters_)[iter].extent);
      indices.push_back(IterVar(iter));
    }
    Stage stage;
    stage.name = name_ + ".constant";
    stage.iters = SpatialIters(shape);
    stage.value = SubstituteIters(e, own_iters);
    HostTensor data = EvaluateStage(
        stage, [&](ValueId id) -> const HostTensor& { return *graph_.values[id].constant; });
    const auto id = static_cast<ValueId>(graph_.values.size());
    graph_.values.push_back(
        {stage.name, data.dtype, shape, std::make_shared<const HostTensor>(std::move(data))});
    return FoldParts(Load(id, e->dtype, std::move(indices)));
  }

  Graph& graph_;
  const std::vector<Iter>* iters_ = nullptr;
  std::string name_;
};

}  // namespace

void FoldConstants(Graph& graph) {
  Folder folder(graph);
  for (Node& node : graph.nodes) {
    if (node.kind != NodeKind::kView) folder.Fold(node);
  }
  RemoveDeadNodes(graph);
}

}  // namespace bayloom
