// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/graph/graph.h"
#include "bayloom/graph/precision.h"

namespace bayloom::graph {

/// Rewritings of a graph into another one that computes the same outputs from the same inputs,
/// one pass per file. They work on expressions, not on operators.

/// Parts of expressions that depend on constants only become constants; constants of one element
/// become literals.
void FoldConstants(Graph& graph);

/// Folds what scales a convolution's or matrix product's result per output channel into its
/// constant weights: batch normalization, scales, divisions. What is added stays behind it.
void FoldScales(Graph& graph);

/// Substitutes elementwise nodes into their only reader where nothing is computed twice by that:
/// a chain from a convolution to the end of its activation becomes one node. Sides that come
/// together again (x * sigmoid(x)) come together here.
void InlineElementwise(Graph& graph);

/// Takes views out of the way of fusion: views of views become one, elementwise nodes and
/// reductions behind a view compute in the shape before it, and those whose results are only
/// wanted under another shape compute in that.
void NormalizeViews(Graph& graph);

/// Chooses the order of axes in which values are stored. Convolutions and pools get their
/// channels last and their weights as [kernel..., in, out]; matrix products get the last output
/// axis contiguous; everything between follows, so that transpositions mostly become copies of
/// nothing. Inputs and outputs of the graph keep their order.
void ConvertLayouts(Graph& graph);

/// Nodes that only pass their operand on are replaced by it, or by a view of it. Equal views are
/// one, and equal nodes whose elements take longer to compute than to load: models quantize a
/// tensor again for each product that reads it.
void RemoveCopies(Graph& graph);

/// Slices and transpositions go into the index arithmetic of their readers, unless a matrix
/// product would lose the contiguous axis by that, or a convolution that of many channels.
void FoldTransposes(Graph& graph);

/// Where whole rows change places, as when an image is cut into windows, the elementwise node
/// before computes them where they are wanted, or the one behind reads them where they are, even if
/// it sees them under another shape.
void MoveElementwise(Graph& graph);

/// Of values that are read part by part, as unrolled loops read their input, the parts are read
/// where they lie (kSlice), if they are in one piece there: what reads them is the same task for
/// all parts then.
void SliceInPlace(Graph& graph);

/// Convolutions and matrix products whose number of channels leaves the last vector nearly full
/// compute a few channels more, which are never read: 1008 in place of 1000.
void WidenChannels(Graph& graph);

/// Where a row is divided by a root that it has in common, as normalizations divide by the standard
/// deviation, it is multiplied by the inverse, which is computed once for the row.
void MultiplyByInverses(Graph& graph);

/// Attention whose mask hides most keys from some queries, as causal ones and sliding windows do,
/// becomes that of a few blocks of queries, each with the keys that one of them sees.
void SplitCausalAttention(Graph& graph);

/// Attention becomes one group of nodes, so that no scores of all queries are in memory: its keys
/// are numbered by vector and lane, and the softmax's division goes behind the second product. With
/// few queries or keys its products stay tasks of their own.
void FuseAttention(Graph& graph);

/// Sums of products of bytes that instructions cannot take four by four, or of bfloat16 two by two,
/// get a few terms that are zero: over channels (the three of an image), and in depthwise
/// convolutions of bytes over the rows of the kernel.
void PadReductions(Graph& graph);

/// Products of attention that read bfloat16 find neighbouring terms of their sums next to each
/// other in the copies that they read along lanes: keys[.., group, d / 2, lane, d % 2].
void InterleaveTerms(Graph& graph);

/// The minimum and the maximum over all elements of one large tensor, as dynamic quantization needs
/// them, are found in one pass over it: both of a row while that is in the nearest cache, then
/// those of all rows.
void JoinExtremes(Graph& graph);

/// Reductions over rows whose length vectors do not divide (197, 18385) become two: partial results
/// of the elements that lie a few vectors apart, and what combines them, with the row's rest.
void SplitReductions(Graph& graph);

/// The operands of concatenations are computed right into its result's memory (kJoin), where they
/// can be; the rest is copied there.
void JoinSlices(Graph& graph);

/// What is an input with an open dimension, and elements behind it along that one, is kept in one
/// memory with it (State): what is behind is computed there, and nothing copies the input.
void JoinStates(Graph& graph);

/// States of floats become levels of 8 bits, and a state more with a scale for each of their rows,
/// if Graph::state_type is int8. Rows whose levels are not aligned stay float16.
void QuantizeStates(Graph& graph);

/// Which open dimensions bound what nodes compute, as far as it follows from the graph's inputs and
/// from nodes that know it. Passes need not keep what is known of values.
void InferBounds(Graph& graph);

/// Everything up to FuseAttention, in the order that suits it: what does not depend on the types
/// that values are stored in.
void Simplify(Graph& graph);

/// Everything from InterleaveTerms on, with JoinExtremes.
void ArrangeMemory(Graph& graph);

/// Products of one matrix with several constant ones of one shape, such as the queries, keys and
/// values of attention, become one with a part for each, with what follows element by element. The
/// parts are read where they lie (kSlice). For an optimized graph that GPUs run: each product alone
/// may be too small to occupy one. See ForGpu (graph/tasks.h).
void JoinProducts(Graph& graph);

/// Simplify, LowerPrecision (graph/precision.h), ArrangeMemory.
void Optimize(Graph& graph, const Precision& precision = {});

}  // namespace bayloom::graph
