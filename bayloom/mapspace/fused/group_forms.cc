// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/fused/group_forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bayloom/mapspace/sparse/sparse_model.h"

namespace bayloom::mapspace {
namespace {

const TensorForms kPlain = {};

const TensorForms& FirstOf(const std::vector<const TensorForms*>& forms) {
  return forms.empty() ? kPlain : *forms.front();
}

}  // namespace

const TensorForms* GroupForms::Of(int op, std::string_view data_space) const {
  const std::shared_ptr<const TileForms>& forms = of_operator_[op - begin_];
  if (!forms) return nullptr;
  const int tensor = network_->operators[op].product->problem.TensorNamed(data_space);
  return tensor < 0 ? nullptr : &(*forms)[tensor];
}

Result<GroupForms> GroupForms::Make(const FusedNetwork& network, int begin, int end,
                                    const Architecture& architecture, RetentionLevel home,
                                    const CostOfProduct& cost) {
  GroupForms forms(network, begin, architecture.levels[home.level]);
  const bool is_sparse =
      std::any_of(network.operators.begin() + begin, network.operators.begin() + end,
                  [&](const FusedOperator& op) {
                    return op.product && SparseModel::IsNeeded(op.product->problem, architecture);
                  });
  if (!is_sparse) return forms;
  forms.of_operator_.resize(static_cast<size_t>(end - begin));
  forms.readers_.resize(network.tensors.size());
  forms.writers_.resize(network.tensors.size());
  for (int k = begin; k < end; ++k) {
    const FusedOperator& op = network.operators[k];
    if (!op.product) continue;
    const Result<std::optional<TileCost>> tile = cost(k);
    if (!tile) return tile.error();
    if (!*tile) continue;
    forms.of_operator_[k - begin] = (*tile)->forms;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      const bool is_weights = op.product->weights_operand == static_cast<int>(i);
      const TensorForms* const form = forms.Of(k, is_weights ? "Weights" : "Inputs");
      if (form != nullptr) forms.readers_[op.operands[i].tensor].push_back(form);
    }
    const TensorForms* const form = forms.Of(k, "Outputs");
    if (form != nullptr) forms.writers_[op.output].push_back(form);
  }
  return forms;
}

Result<GroupForms> GroupForms::Make(const DepthFirstTiles& tiles, const Architecture& architecture,
                                    RetentionLevel home, const TileCoster& coster) {
  const FusedNetwork& network = tiles.network();
  const auto cost = [&](int k) -> Result<std::optional<TileCost>> {
    const FusedOperator& op = network.operators[k];
    std::optional<Box> largest;
    int64_t most = 0;
    for (const DepthFirstTiles::Kind& kind : tiles.kinds()) {
      const std::optional<Box> box = tiles.NewBox(op.output, kind.position);
      if (!box || kind.count * WordsOf(*box) <= most) continue;
      most = kind.count * WordsOf(*box);
      largest = box;
    }
    if (!largest) return std::optional<TileCost>();
    std::optional<TileCost> tile = coster(k, TileProblem(op, *largest), home);
    if (!tile) return Error{fmt::format("no mapping of a tile of '{}' fits", op.name)};
    return tile;
  };
  return Make(network, tiles.begin(), tiles.end(), architecture, home, cost);
}

const TensorForms& GroupForms::Read(int tensor) const {
  return is_plain() ? kPlain : FirstOf(readers_[tensor]);
}

const TensorForms& GroupForms::Written(int tensor) const {
  return is_plain() ? kPlain : FirstOf(writers_[tensor]);
}

const TensorForms& GroupForms::Weights(int op) const {
  const TensorForms* const form = is_plain() ? nullptr : Of(op, "Weights");
  return form == nullptr ? kPlain : *form;
}

int64_t GroupForms::HomeWords(int tensor, int64_t words) const {
  if (is_plain() || words == 0) return words;
  int64_t most = 0;
  for (const auto* forms : {&readers_[tensor], &writers_[tensor]}) {
    for (const TensorForms* form : *forms) most = std::max(most, form->HomeWords(words, *home_));
  }
  return most == 0 ? words : most;
}

int64_t GroupForms::HomeMetadataBits(int tensor, int64_t words) const {
  if (is_plain() || words == 0) return 0;
  int64_t most = 0;
  for (const auto* forms : {&readers_[tensor], &writers_[tensor]}) {
    for (const TensorForms* form : *forms) most = std::max(most, form->HomeMetadataBits(words));
  }
  return most;
}

}  // namespace bayloom::mapspace
