// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/graph/builder.h"
#include "bayloom/graph/found_lengths.h"
#include "bayloom/graph/import/named_value.h"

namespace onnx {
class AttributeProto;
class NodeProto;
}  // namespace onnx

namespace bayloom::graph {

class StatedShapes;
struct DataFolder;
struct SmallType;

/// One node of a model while it is imported: its inputs as tensors of the graph under
/// construction, its attributes, its outputs to be set. What cannot be used ends in `Refuse`.
class OperatorContext {
 public:
  /// Imports the graph-valued attribute of a node: outer values are visible, `inputs` become the
  /// subgraph's inputs; returns its outputs.
  using SubgraphImporter = std::function<std::vector<NamedValue>(const onnx::AttributeProto&,
                                                                 const std::vector<NamedValue>&)>;

  OperatorContext(GraphBuilder& builder, const onnx::NodeProto& node, int opset,
                  std::vector<std::optional<tensor::Tensor>> inputs, SubgraphImporter subgraph)
      : builder_(builder),
        node_(node),
        opset_(opset),
        inputs_(std::move(inputs)),
        subgraph_(std::move(subgraph)) {}

  GraphBuilder& builder() { return builder_; }
  /// The version of the operator set that the model uses.
  int opset() const { return opset_; }
  const onnx::NodeProto& node() const { return node_; }
  std::string op() const;
  /// The operator's name as nodes are labelled: "conv" for Conv.
  std::string label() const;

  int input_count() const { return static_cast<int>(inputs_.size()); }
  bool HasInput(int i) const { return i < input_count() && inputs_[i].has_value(); }
  /// Refuses when the input is absent.
  tensor::Tensor Input(int i);
  /// All inputs, none of which may be absent.
  std::vector<tensor::Tensor> Inputs();
  /// The input, which may be a sequence. Refuses when it is absent.
  NamedValue InputValue(int i) const;
  /// Refuses when the input is no sequence.
  Sequence InputSequence(int i) const;
  /// ONNX's number of the type of the input's elements; 0: not known.
  int InputType(int i) const;
  /// The input's data; null when absent or not known at compile time.
  const tensor::HostTensor* ConstantInput(int i);
  /// Data that has to be known at compile time; throws RunTimeDependence if it is not.
  const tensor::HostTensor& KnownInput(int i);
  /// A list or scalar of integers that has to be known at compile time; throws RunTimeDependence
  /// if it is not.
  std::vector<int64_t> IntsInput(int i);
  /// A list of integers that are the lengths of these dimensions of output 0, of all if none is
  /// named: those that are not known at compile time are found when the network runs (FindLength).
  std::vector<int64_t> LengthsInput(int i, const std::vector<int>& dimensions = {});
  /// The shape of an output, if the model says it.
  std::optional<std::vector<int64_t>> StatedShape(int output) const;
  /// How long the last dimension of an output is at most, by what the model says of results of
  /// elementwise operators that follow.
  std::optional<int64_t> BoundOfLast(int output) const;
  /// The length of a dimension of an output that `count`, an integer of one element, is when the
  /// network runs, or is known to be. `bound`: how long shapes say that it is at most.
  int64_t FindLength(const tensor::Tensor& count, int output, int dimension,
                     std::optional<int64_t> bound = std::nullopt);
  /// What messages and users call an output: its name, or that of the node.
  std::string NameOfOutput(int output) const;
  /// How many rows of that dimension memory has to hold: `bound`, or a user's bound that is less.
  int64_t CapacityFor(int output, int dimension, int64_t bound) const;
  /// A list or scalar of numbers that has to be known at compile time.
  std::vector<double> NumbersInput(int i);
  /// The same for one integer or number; refuses more or fewer.
  int64_t IntInput(int i);
  double NumberInput(int i);

  bool HasAttribute(std::string_view name) const;
  int64_t Int(std::string_view name, std::optional<int64_t> otherwise = std::nullopt);
  float Float(std::string_view name, std::optional<float> otherwise = std::nullopt);
  std::string String(std::string_view name, std::optional<std::string> otherwise = std::nullopt);
  std::vector<int64_t> Ints(std::string_view name, std::vector<int64_t> otherwise = {});
  std::vector<float> Floats(std::string_view name, std::vector<float> otherwise = {});
  std::vector<std::string> Strings(std::string_view name, std::vector<std::string> otherwise = {});
  tensor::HostTensor TensorAttribute(std::string_view name);
  /// As Int, but has to be an axis of a tensor of that rank; negative ones count from the end.
  int Axis(std::string_view name, std::optional<int64_t> otherwise, int rank);
  /// Checks an axis and counts negative ones from the end.
  int CheckAxis(int64_t axis, int rank);
  std::vector<int> CheckAxes(const std::vector<int64_t>& axes, int rank);
  /// The graph-valued attribute's outputs for these inputs.
  std::vector<NamedValue> Subgraph(std::string_view attribute,
                                   const std::vector<NamedValue>& inputs);
  /// The same where only tensors go in and out; refuses sequences.
  std::vector<tensor::Tensor> TensorSubgraph(std::string_view attribute,
                                             const std::vector<tensor::Tensor>& inputs);

  int output_count() const;
  bool WantsOutput(int i) const;
  void SetOutput(int i, tensor::Tensor tensor);
  /// The output's values are those of a small type; `tensor` has its holder's.
  void SetOutput(int i, tensor::Tensor tensor, const SmallType* small);
  /// A tensor or a sequence, with its type where that is known.
  void SetOutput(int i, NamedValue value);
  const std::vector<std::optional<tensor::Tensor>>& outputs() const { return outputs_; }
  /// What output `i` was set to; nullopt: nothing.
  std::optional<NamedValue> OutputValue(int i) const;

  /// Which small type (small_types.h) an input's values are of; null: of the tensor's own type.
  const SmallType* SmallTypeOf(int input) const;
  const SmallType* SmallTypeOfAttribute(std::string_view tensor) const;
  const SmallType* SmallTypeOfOutput(int i) const;
  /// Where the files with data of the model lie.
  void SetDataFolder(const DataFolder* folder) { data_folder_ = folder; }
  /// What the model says of shapes, if the node's outputs are named there.
  void SetStatedShapes(const StatedShapes* shapes) { stated_shapes_ = shapes; }
  void SetSmallTypes(std::vector<const SmallType*> inputs) { small_inputs_ = std::move(inputs); }
  /// What the inputs are where they are more than tensors; parallel to the inputs.
  void SetInputValues(std::vector<NamedValue> values) { input_values_ = std::move(values); }

  /// Throws InputError with the reason; the importer adds file and node.
  [[noreturn]] void Refuse(const std::string& reason) const;
  /// Refuses an attribute's value: "attribute mode = cubic: only ... ".
  [[noreturn]] void RefuseAttribute(std::string_view name, const std::string& value,
                                    const std::string& reason) const;

 private:
  FoundRequest RequestFor(int output, int dimension, std::optional<int64_t> bound) const;
  const onnx::AttributeProto* Find(std::string_view name) const;
  const onnx::AttributeProto* Find(std::string_view name, int type, std::string_view type_name,
                                   bool required) const;

  GraphBuilder& builder_;
  const onnx::NodeProto& node_;
  int opset_;
  std::vector<std::optional<tensor::Tensor>> inputs_;
  std::vector<std::optional<tensor::Tensor>> outputs_;
  SubgraphImporter subgraph_;
  std::vector<const SmallType*> small_inputs_, small_outputs_;
  std::vector<NamedValue> input_values_, output_values_;
  const DataFolder* data_folder_ = nullptr;
  const StatedShapes* stated_shapes_ = nullptr;
};

using Exprs = GraphBuilder::Exprs;

struct Operator {
  std::string_view name;
  /// Writes the nodes that compute it.
  void (*import)(OperatorContext& context);
  std::string_view domain = "";  ///< empty: ONNX's own
};

/// The operator of that name in a domain; null if it is not known.
const Operator* FindOperator(std::string_view domain, std::string_view name);

// The families, one file each.
std::span<const Operator> ActivationOperators();
std::span<const Operator> ArithmeticOperators();
std::span<const Operator> AttentionOperators();
std::span<const Operator> ComposedOperators();
std::span<const Operator> ControlFlowOperators();
std::span<const Operator> ConvolutionOperators();
std::span<const Operator> DeterminantOperators();
std::span<const Operator> FlexAttentionOperators();
std::span<const Operator> GatherOperators();
std::span<const Operator> GenerationOperators();
std::span<const Operator> GroupNormalizationOperators();
std::span<const Operator> IndexingOperators();
std::span<const Operator> LinearAttentionOperators();
std::span<const Operator> LossOperators();
std::span<const Operator> MatmulOperators();
std::span<const Operator> NormalizationOperators();
std::span<const Operator> PaddingOperators();
std::span<const Operator> PlacementOperators();
std::span<const Operator> PoolingOperators();
std::span<const Operator> QuantizationOperators();
std::span<const Operator> QuantizedProductOperators();
std::span<const Operator> RandomOperators();
std::span<const Operator> RecurrentOperators();
std::span<const Operator> ReductionOperators();
std::span<const Operator> RegionOperators();
std::span<const Operator> ResizeOperators();
std::span<const Operator> SamplingOperators();
std::span<const Operator> ScatterOperators();
std::span<const Operator> SelectionOperators();
std::span<const Operator> SequenceOperators();
std::span<const Operator> ShapeOperators();
std::span<const Operator> SlicingOperators();
std::span<const Operator> SortingOperators();
std::span<const Operator> SpectrumOperators();
std::span<const Operator> TextOperators();

}  // namespace bayloom::graph
