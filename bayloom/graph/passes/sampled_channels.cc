// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/passes/sampled_channels.h"

#include <algorithm>

#include "bayloom/graph/passes/rewriting.h"

namespace bayloom::graph {
namespace {

/// Whether it is rounded from a position that is known at run time only.
bool IsRoundedPosition(const tensor::Expr& index) {
  bool rounds = false;
  tensor::Visit(index, [&](const tensor::Expr& e) {
    rounds = rounds || (e->op == tensor::ExprOp::kCast && tensor::IsFloat(e->operands[0]->dtype));
  });
  return rounds && !LoadsOf(index).empty();
}

}  // namespace

int ChannelAxisOf(const tensor::Expr& load, int channels) {
  int axis = -1;
  bool has_places = false;
  for (size_t d = 0; d < load->operands.size(); ++d) {
    const tensor::Expr& index = load->operands[d];
    has_places = has_places || IsRoundedPosition(index);
    if (!MentionsIter(index, channels)) continue;
    if (index->op != tensor::ExprOp::kIter) return -1;
    axis = static_cast<int>(d);
  }
  return has_places ? axis : -1;
}

int SampledChannels(const Node& node) {
  constexpr int64_t kMinChannels = 8;
  if (node.kind != NodeKind::kMap && node.kind != NodeKind::kReduce) return -1;
  const std::vector<tensor::Expr> loads = LoadsOf(node.stage.value);
  for (size_t i = node.stage.iters.size(); i-- > 0;) {
    const tensor::Iter& iter = node.stage.iters[i];
    if (iter.kind == tensor::IterKind::kReduction || iter.extent < kMinChannels) continue;
    const bool sampled = std::ranges::any_of(loads, [&](const tensor::Expr& load) {
      return ChannelAxisOf(load, static_cast<int>(i)) >= 0;
    });
    if (sampled) return static_cast<int>(i);
  }
  return -1;
}

bool KeepsChannelsLast(const Node& node, const Node& reader) {
  const int channels = SampledChannels(node), rank = static_cast<int>(ShapeOf(node).size());
  if (channels < 0 || channels != rank - 1) return true;
  const int last = static_cast<int>(ShapeOf(reader).size()) - 1;
  return std::ranges::all_of(LoadsOf(reader.stage.value, node.output()),
                             [&](const tensor::Expr& load) {
                               return last >= 0 && MentionsIter(load->operands[channels], last);
                             });
}

}  // namespace bayloom::graph
