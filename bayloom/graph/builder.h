// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/graph/compared_imports.h"
#include "bayloom/graph/folded_constants.h"
#include "bayloom/graph/graph.h"
#include "bayloom/tensor/library_call.h"

namespace bayloom::graph {

class FoundLengths;
class KnownFloats;
struct FoundRequest;

/// Writes a Graph, node after node, in the way WorkloadBuilder writes a Workload.
///
/// What depends on constants only is computed on the spot and becomes a constant, and so does
/// anything without elements: shape arithmetic of a model never reaches the graph. Folding is
/// bounded in work and memory; what exceeds the bounds is left to run time.
class GraphBuilder {
 public:
  using Exprs = tensor::WorkloadBuilder::Exprs;
  using Axis = tensor::WorkloadBuilder::Axis;
  using ElementFunction = std::function<tensor::Expr(const Exprs&)>;
  using TermFunction = std::function<tensor::Expr(const Exprs&, const Exprs&)>;

  explicit GraphBuilder(std::string name);
  /// Goes on writing an existing graph: new nodes come after the ones that are there.
  explicit GraphBuilder(Graph graph);

  /// Writes the graph so that it can be compared with that of other lengths (open/compare.h): the
  /// nodes of what is folded stay in it, and what the outputs do not need; operators write an index
  /// that depends on an extent as an expression, not as a table.
  /// With `ratios`, so do ratios of extents that may be other ones for other lengths. All imports
  /// that are compared share `imports`.
  void CompareLengths(bool ratios, ComparedImports& imports) {
    imports_ = &imports;
    compares_ratios_ = ratios;
    imports.steps.BeginImport();
  }
  /// What is computed of constants is looked for there, and kept there.
  void ShareFolded(FoldedConstants& folded) { folded_ = &folded; }
  bool compares_lengths() const { return imports_ != nullptr; }
  bool compares_ratios() const { return compares_ratios_; }
  /// Lengths that the network finds when it runs are taken from there. With `fixed`, only those
  /// that the model says; where there is another one, FindsOpen() from then on, and it is refused.
  void FindLengths(FoundLengths& found, bool fixed) {
    found_ = &found;
    finds_fixed_ = fixed;
  }
  bool FindsOpen() const { return finds_open_; }
  /// Refuses all lengths that are known at run time only.
  void FindNoLengths() { found_ = nullptr; }
  /// The length that `count`, an integer of one element, is when the network runs, or is known to
  /// be; else as this import has it. Those of equal counts are one. Throws RunTimeDependence where
  /// there is no bound for it, or FindLengths was not called.
  int64_t FindLength(const tensor::Tensor& count, const FoundRequest& request);
  /// How many rows memory has to hold of such a length, which shapes bound.
  int64_t CapacityFor(const FoundRequest& request) const;
  /// An element of a tensor: a number, if it is one, also where others of the tensor are not known;
  /// else what computes it from elements of other tensors, as far as these are few.
  tensor::Expr ElementOf(const tensor::Tensor& tensor, const std::vector<int64_t>& place) const;

  /// Whether what is written belongs to a step of a loop that is not there for these lengths. Its
  /// indices may lie outside of what they index.
  void SetAbsent(bool is_absent) { is_absent_ = is_absent; }
  bool is_absent() const { return is_absent_; }
  /// How an operator is unrolled that takes so many steps.
  Unrolling UnrollingOf(int64_t steps) const {
    return imports_ != nullptr ? imports_->steps.Of(steps) : Unrolling{steps};
  }
  /// Whether a part of the operator that is written now, which is there or not for these lengths,
  /// is the other way round for others.
  bool IsOptional(int part, bool is_there) {
    return imports_ != nullptr &&
           imports_->parts.IsOptional(scope_ + "." + std::to_string(part), is_there);
  }

  /// Whether a known float that is an operand of the node that is written now may be written into
  /// its expression (ScalarOperands).
  bool MayWriteScalar(size_t operand, double value, bool is_folded) {
    return !compares_ratios_ ||
           imports_->scalars.MayBeWritten(scope_ + "." + std::to_string(operand), value, is_folded);
  }

  /// Whether a length that the operator reads is found when the network runs, though this import
  /// knows it (ComputedLengths); then what it is at least and at most.
  std::optional<std::pair<int64_t, int64_t>> ComputedRange(int64_t element, int64_t length) {
    const std::string name = scope_ + "." + std::to_string(element);
    if (imports_ == nullptr || !imports_->lengths.IsFound(name, length)) return std::nullopt;
    return std::pair(imports_->lengths.SmallestOf(name), imports_->lengths.LargestOf(name));
  }

  /// Nodes made from now on are named "<scope>.<op>".
  void SetScope(std::string scope) { scope_ = std::move(scope); }

  tensor::Tensor Input(std::string name, tensor::DType dtype, std::vector<int64_t> shape);
  tensor::Tensor Constant(std::string name, tensor::HostTensor data);
  tensor::Tensor Constant(std::string name, std::shared_ptr<const tensor::HostTensor> data);
  /// One element per point of `shape`.
  tensor::Tensor Map(std::string op, std::vector<int64_t> shape, const ElementFunction& value);
  /// One element per point of `shape`, combined over the reduction axes.
  tensor::Tensor Reduce(std::string op, std::vector<int64_t> shape, std::vector<Axis> axes,
                        tensor::Reduction reduction, const TermFunction& term,
                        NodeKind kind = NodeKind::kReduce);
  /// What a kernel of the library computes (tensor/library_call.h).
  tensor::Tensor Call(std::string op, std::vector<int64_t> shape, tensor::DType dtype,
                      tensor::LibraryKernel kernel, const std::vector<tensor::Tensor>& operands,
                      const std::vector<int64_t>& numbers);
  /// The same elements in the same order under another shape of equal element count.
  tensor::Tensor View(const tensor::Tensor& source, std::vector<int64_t> shape);

  /// `count` rows along the first axis from row `first` on. They are read where they lie if
  /// kernels may read from there; otherwise they are copied. Where lengths are compared, rows may
  /// be beyond the last one: those of a step that is not there.
  tensor::Tensor Rows(const tensor::Tensor& source, int64_t first, int64_t count);

  /// The data if it is known at compile time, else null.
  const tensor::HostTensor* ConstantOf(const tensor::Tensor& tensor) const;
  /// Names of the graph's inputs that the tensor depends on.
  std::vector<std::string> InputsBehind(const tensor::Tensor& tensor) const;
  /// Gives a value that is computed the name that the model has for it; inputs and constants keep
  /// theirs.
  void Rename(const tensor::Tensor& tensor, std::string name);

  const Graph& graph() const { return graph_; }
  /// What is known of values beyond what the nodes say; for operators that compute with integers.
  KnownFloats& known_floats() { return *known_floats_; }

  /// From now on rows that packed weights multiply may be rounded to 8 bits, where the model does
  /// not ask for it, too (RowPrecision).
  void AllowIntegerRows() { allows_integer_rows_ = true; }
  bool allows_integer_rows() const { return allows_integer_rows_; }
  /// Finishes; nodes that the outputs do not need are dropped.
  Graph Build(std::vector<GraphOutput> outputs);

 private:
  tensor::Tensor AddNode(Node node, std::vector<int64_t> shape);
  tensor::Expr ElementOf(ValueId value, const std::vector<int64_t>& place, int& budget) const;
  /// True if every operand is known and computing the node is worth its cost.
  bool CanFold(const tensor::Stage& stage, const std::vector<int64_t>& shape);
  std::shared_ptr<const tensor::HostTensor> Fold(const tensor::Stage& stage);

  Graph graph_;
  std::string scope_;
  std::shared_ptr<KnownFloats> known_floats_;
  bool allows_integer_rows_ = false;
  FoldedConstants* folded_ = nullptr;
  ComparedImports* imports_ = nullptr;  ///< where lengths are compared
  bool compares_ratios_ = false, is_absent_ = false;
  FoundLengths* found_ = nullptr;
  bool finds_fixed_ = false, finds_open_ = false;
  std::vector<std::pair<tensor::Expr, int64_t>> counts_;  ///< of lengths that are found
  int64_t folding_budget_;  ///< work that may still be spent on folding
};

/// Makes a node that reduces over nothing one that gives the neutral element.
void ReduceNothing(Node& node);

/// The product of the extents; throws InputError when one is negative or the tensor would exceed
/// the largest supported size (2^40 elements).
int64_t CheckedElementCount(const std::vector<int64_t>& shape);

}  // namespace bayloom::graph
