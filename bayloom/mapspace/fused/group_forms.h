// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "bayloom/mapspace/fused/group_cost.h"

namespace bayloom::mapspace {

/// How the tensors of a group are kept and moved where zeros are left out: of every product as in
/// most of its tiles. Plain words where nothing is sparse, and of tensors that only operators
/// without products read and write.
class GroupForms {
 public:
  /// What an operator's tile costs that stands for the others; nullopt if it never runs.
  using CostOfProduct = std::function<Result<std::optional<TileCost>>(int op)>;

  /// Of the operators [begin, end). Fails as `cost` does, which is only asked where the
  /// architecture or a problem is sparse. Network and architecture must outlive it.
  static Result<GroupForms> Make(const FusedNetwork& network, int begin, int end,
                                 const Architecture& architecture, RetentionLevel home,
                                 const CostOfProduct& cost);
  static Result<GroupForms> Make(const DepthFirstTiles& tiles, const Architecture& architecture,
                                 RetentionLevel home, const TileCoster& coster);

  bool is_plain() const { return of_operator_.empty(); }
  /// Of a tensor that comes from outside, or another core, as the first product that reads it has
  /// it; of one that leaves, as the product that writes it has it.
  const TensorForms& Read(int tensor) const;
  const TensorForms& Written(int tensor) const;
  const TensorForms& Weights(int op) const;

  /// Words of the home level that words of a tensor take, and bits of metadata: the most that a
  /// product which reads or writes it has.
  int64_t HomeWords(int tensor, int64_t words) const;
  int64_t HomeMetadataBits(int tensor, int64_t words) const;

 private:
  GroupForms(const FusedNetwork& network, int begin, const StorageLevel& home)
      : network_(&network), home_(&home), begin_(begin) {}
  const TensorForms* Of(int op, std::string_view data_space) const;

  const FusedNetwork* network_;
  const StorageLevel* home_;
  int begin_;
  std::vector<std::shared_ptr<const TileForms>> of_operator_;  ///< null: none
  /// Of every tensor of the network.
  std::vector<std::vector<const TensorForms*>> readers_, writers_;
};

}  // namespace bayloom::mapspace
