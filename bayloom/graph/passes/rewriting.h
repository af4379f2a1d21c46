// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "bayloom/graph/graph.h"

namespace bayloom::graph {

/// What the passes share.

bool MentionsIter(const tensor::Expr& e, int iter);
/// The loads in an expression, in order of traversal.
std::vector<tensor::Expr> LoadsOf(const tensor::Expr& e);
std::vector<tensor::Expr> LoadsOf(const tensor::Expr& e, ValueId value);
/// Replaces loads: `replace` gives the new expression or nullopt to keep one.
tensor::Expr RewriteLoads(
    const tensor::Expr& e,
    const std::function<std::optional<tensor::Expr>(const tensor::Expr&)>& replace);

bool IsIter(const tensor::Expr& e, int iter);
/// The literal for a load of a constant of one element; undefined for other expressions.
tensor::Expr AsLiteral(const Graph& graph, const tensor::Expr& e);
/// Per index of a load: the iterator it is, -1 for the literal 0; nullopt if an index is
/// something else or an iterator occurs twice.
std::optional<std::vector<int>> BareIters(const tensor::Expr& load);
/// Whether every load of the value by the node takes each element exactly once, at a permutation
/// of the node's iterators (those of extent 1 aside).
bool ReadsElementwise(const Graph& graph, const Node& node, ValueId value);
/// Whether every load of the value by the node is at its own place: index d is iterator d, and
/// they run over the same extent.
bool ReadsInPlace(const Graph& graph, const Node& node, ValueId value);

/// Whether both run over the same extents and bounds, reduce alike, and write tensors of one type
/// and shape.
bool RunAlike(const Graph& graph, const Node& a, const Node& b);

bool IsAnchor(const Node& node);
/// A node that only moves elements, each index affine: slices, transpositions.
bool IsMove(const Node& node);
/// The expression with transpositions and slices that only node `reader` reads, of which it is a
/// part, in its index arithmetic. Those of a group stay.
tensor::Expr ThroughMoves(const Graph& graph, const tensor::Expr& e, int reader);
/// Whether the reader chooses between tensors, as a concatenation does, and the node costs more
/// than a copy: chosen element by element, all sides would be computed everywhere.
bool IsCostlyInJoin(const Node& node, const Node& reader);
/// Whether the node chooses between tensors, as a concatenation does, and the reader takes at least
/// as many of its elements as it has, at places that are computed: chosen at each of those, vectors
/// of elements that lie side by side would become single ones.
bool IsJoinReadAtComputedPlaces(const Node& node, const Node& reader);
/// The spatial extents.
std::vector<int64_t> ShapeOf(const Node& node);
/// Product of all extents.
int64_t PointsOf(const Node& node);

/// Makes a map the concatenation of these values along an axis (see AsConcatenation).
void SetParts(const Graph& graph, Node& node, int axis, const std::vector<ValueId>& parts);

/// A stage of this shape and value as a kMap node writing a new value of the graph (not yet in
/// its list of nodes).
Node MakeMap(Graph& graph, const std::string& name, const std::string& op,
             const std::vector<int64_t>& shape, tensor::Expr value);
/// A new value as a view of `source`, or `source` itself if it has that shape. The node is added
/// to `nodes`; a view of a constant is a constant without a node.
ValueId AddView(Graph& graph, std::vector<Node>& nodes, ValueId source,
                const std::vector<int64_t>& shape);

/// The tensor with zeros behind the dimensions that are shorter than in `shape`.
tensor::HostTensor PadWithZeros(const tensor::HostTensor& tensor,
                                const std::vector<int64_t>& shape);

/// A group of dimensions of shape `a` that together are a group of dimensions of shape `b`.
struct DimGroup {
  int a_begin, a_end, b_begin, b_end;
};
/// The finest common grouping of two shapes with equal element counts.
std::vector<DimGroup> MatchShapes(const std::vector<int64_t>& a, const std::vector<int64_t>& b);
/// Where in a view's source the element of the view at `indices` lies, if that is affine: if the
/// view takes dimensions of the source apart.
std::optional<std::vector<tensor::Expr>> IndicesBehindView(
    const std::vector<int64_t>& source, const std::vector<int64_t>& shown,
    const std::vector<tensor::Expr>& indices);

/// Per value: whether it is an anchor's result, perhaps with elementwise nodes behind it that
/// will be fused with the anchor.
std::vector<bool> AnchoredValues(const Graph& graph);

}  // namespace bayloom::graph
