// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/passes/passes.h"

namespace bayloom::graph {

void Simplify(Graph& graph) {
  NormalizeViews(graph);
  SliceInPlace(graph);
  FoldScales(graph);
  InlineElementwise(graph);
  NormalizeViews(graph);
  InferBounds(graph);  // of new nodes, before they are inlined
  InlineElementwise(graph);
  ConvertLayouts(graph);
  InferBounds(graph);
  RemoveCopies(graph);
  FoldTransposes(graph);
  MoveElementwise(graph);
  InlineElementwise(graph);
  FoldConstants(graph);
  MultiplyByInverses(graph);
  SplitCausalAttention(graph);
  FuseAttention(graph);
}

void ArrangeMemory(Graph& graph) {
  InterleaveTerms(graph);
  JoinExtremes(graph);
  SplitReductions(graph);
  PadReductions(graph);
  JoinSlices(graph);
  JoinStates(graph);
  QuantizeStates(graph);
  WidenChannels(graph);
}

void Optimize(Graph& graph, const Precision& precision) {
  Simplify(graph);
  LowerPrecision(graph, precision);
  ArrangeMemory(graph);
}

}  // namespace bayloom::graph
