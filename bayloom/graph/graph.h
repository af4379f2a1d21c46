// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/graph/length.h"
#include "bayloom/tensor/interpreter.h"
#include "bayloom/tensor/workload.h"

namespace bayloom::graph {

/// A network as a DAG of tensor computations with static shapes, or with dimensions that are open
/// up to a largest length.
///
/// There is no fixed list of operators here: what a node computes is written down as a `Stage`, a
/// scalar expression over its output's coordinates, exactly as in a Workload. Importing ONNX is
/// where operators, their versions and their attributes end; folding, layout conversion and
/// fusion are substitutions in expressions and work for every operator alike.

/// Position of a value in Graph::values; loads in a node's expression name values by it.
using ValueId = tensor::BufferId;

/// A dense row-major tensor that a node writes, the caller passes in, or the model contains; or a
/// size, an int64 that says when the network runs how long an open dimension is.
///
/// The shape of what has open dimensions is that of their largest lengths (tensor::Buffer).
struct Value {
  std::string name;
  tensor::DType dtype = tensor::DType::kFloat32;
  std::vector<int64_t> shape;
  /// The data, where it is known at compile time.
  std::shared_ptr<const tensor::HostTensor> constant;
  /// Of a size: what it is. No node writes it, and only SizeOf in expressions and bounds name it.
  std::optional<Length> size = {};
  /// Of inputs, constants and outputs of the graph: per dimension the size that says how long it
  /// is, -1 for one that is not open; empty: none is open.
  std::vector<ValueId> bounds = {};

  int64_t ElementCount() const;
  /// The size that bounds the dimension, or -1.
  ValueId BoundOf(size_t dimension) const { return bounds.empty() ? -1 : bounds[dimension]; }
};

/// Whether any of its dimensions is open.
bool IsOpen(const Value& value);

/// What a node is to the passes: how it may be fused and which memory order it wants.
enum class NodeKind : uint8_t {
  kMap,     ///< no reduction: elementwise, broadcasting, moving elements about
  kReduce,  ///< combines whole axes; reads each element of its operands about once
  kWindow,  ///< convolution or pooling over [batch, channels, positions...]; wants channels last
  kMatmul,  ///< contraction; wants the last output axis contiguous in its second operand
  kView,    ///< `source` under another shape: the same elements in the same row-major order
  kCall,    ///< a kernel of the library (tensor/library_call.h), over tensors in row-major order
  kJoin,    ///< a concatenation whose operands are slices of its memory: nothing is left to do
  kSlice,   ///< elements that lie one after the other in its operand, read there: as kJoin
};

struct Node {
  std::string op;  ///< what it was in the model: "relu", "conv", "softmax.max"
  NodeKind kind = NodeKind::kMap;
  /// The computation; `stage.name` says where in the model it comes from. A view's stage has an
  /// output only.
  tensor::Stage stage = {};
  ValueId source = -1;  ///< kView only
  /// Nodes of one number are one task; those of -1 may be fused with any.
  int group = -1;

  ValueId output() const { return stage.output; }
  /// Whether its value is another name for memory that other nodes write.
  bool IsAlias() const {
    return kind == NodeKind::kView || kind == NodeKind::kJoin || kind == NodeKind::kSlice;
  }
};

struct GraphOutput {
  std::string name;
  ValueId value;  ///< may be an input or a constant too
};

/// What a network keeps from one run to the next, as a decoder keeps the keys and values of the
/// tokens that it has seen. Input and output are two names of one memory: the output is the
/// input's elements, and behind them, along an axis, those that a run adds.
struct State {
  ValueId past;     ///< an input
  ValueId present;  ///< an output, written by a kJoin of the past and what is added
  /// What both are slices of, with as much room along the axis as any run needs. No node names it.
  ValueId memory;
  int axis;
  Length start;  ///< where along the axis what is added begins: how long the past is
};

/// What the node, which writes the state's present, puts behind the past.
ValueId AddedTo(const Node& present, const State& state);

/// A length that the network finds when it runs: how many rows a kernel of the library finds, or
/// an integer that is computed. It bounds dimensions as lengths do that a caller gives; what has
/// such a dimension is computed after it.
struct FoundLength {
  std::string name;
  ValueId count;    ///< an int64 scalar: what is found
  int symbol = -1;  ///< which of Graph::symbols it is; -1: none, its bounds are equal
  /// A run fails that finds less or more.
  int64_t least = 0, most = 0;
};

/// "at most 300", "5", "1 to 300"
std::string BoundText(int64_t least, int64_t most);

struct Graph {
  std::string name;
  std::vector<Value> values;
  std::vector<Node> nodes;  ///< in topological order; each value is written by one node at most
  std::vector<ValueId> inputs;
  std::vector<GraphOutput> outputs;
  std::vector<Symbol> symbols;     ///< the open dimensions; those that are found come last
  std::vector<FoundLength> found;  ///< in the order in which they are found
  /// Lengths of them that stand for all that occur, the largest first: what programs are judged by.
  std::vector<std::vector<int64_t>> points;
  std::vector<State> states;  ///< in the order of the outputs
  /// Along their axes states have room for so many elements at least: for those of the same network
  /// with other lengths, which shares their memory.
  int64_t state_room = 0;
  /// Of states that grow, a step of one token needs so many rows with its own; 0: all.
  int64_t window = 0;
  /// Why caches of fixed size are inputs and outputs as any others, where there are some.
  std::string fixed_caches;
  /// The type in which states keep floats: the model's if nullopt; int8: levels of one scale a row.
  std::optional<tensor::DType> state_type;
  /// The type that the model has most of its float16 and bfloat16 constants in; their values are
  /// float32 here.
  std::optional<tensor::DType> narrow_constants;

  /// Per value: the node writing it, or -1.
  std::vector<int> Producers() const;
  /// Per value: the nodes reading it, in order, each once.
  std::vector<std::vector<int>> Consumers() const;
  /// Per value: whether it is one of the outputs, or a length that is found.
  std::vector<bool> IsOutput() const;
  /// Puts other values in the place of outputs and of lengths that are found.
  void ReplaceOutputs(const std::function<ValueId(ValueId)>& replacement);
};

/// Where a value lies in the memory of another one.
struct SlicePlace {
  ValueId whole = -1;  ///< the result of a kJoin that is in no other; -1: the value is no slice
  int64_t first = 0;   ///< of the whole's elements, the value's first one
  /// Of what is added to a state: it begins this many rows, each of so many elements, behind that.
  Length rows = 0;
  int64_t row_elements = 0;
};
/// One entry per value.
std::vector<SlicePlace> SlicePlaces(const Graph& graph);

/// Of the operand's elements, the first one that a kSlice shows.
int64_t SliceStart(const Graph& graph, const Node& slice);

/// A node's parts, if what it computes is their concatenation: part k's elements begin at
/// `starts[k]` along the axis, at the part's first element, and end where the next part's begin.
struct Concatenation {
  int axis;
  std::vector<ValueId> parts;
  std::vector<int64_t> starts;
};
std::optional<Concatenation> AsConcatenation(const Graph& graph, const Node& node);

/// The values a node reads, each once, in the order in which its expression names them.
std::vector<ValueId> OperandsOf(const Node& node);

/// The sizes that bound a node's iterators, that its expression names, and that bound what it
/// reads; those that its task takes. None of a view.
std::vector<ValueId> SizesOf(const Graph& graph, const Node& node);
/// The lengths found that the node's sizes follow from: it has to be computed after these.
std::vector<ValueId> CountsBefore(const Graph& graph, const Node& node);

/// The shape of a value for these lengths of the graph's symbols.
std::vector<int64_t> ShapeAt(const Graph& graph, ValueId value, std::span<const int64_t> lengths);

/// Spatial iterators over a shape, named as people know them: n, c, h, w over images, i, j, ...
/// else.
std::vector<tensor::Iter> SpatialIters(const std::vector<int64_t>& shape);

/// Nodes that nothing depends on are taken out, and values without a reader or a name.
void RemoveDeadNodes(Graph& graph);

/// "float32[1, 3, 224, 224]"
std::string ToString(tensor::DType dtype, const std::vector<int64_t>& shape);
/// The value's type; open dimensions by the names of their sizes: "float32[1, sequence, 768]".
std::string TypeOf(const Graph& graph, ValueId value);
/// The graph, one line per value and node, with the nodes' expressions.
std::string Print(const Graph& graph);

}  // namespace bayloom::graph
