// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "bayloom/mapspace/cores/divided_group.h"
#include "bayloom/mapspace/fused/group_account.h"

namespace bayloom::mapspace {

/// What cores do for a group, each by an account of its own, and what they move over the network.
/// Cores are named by their places along NetworkOnChip::CoreAlong.
class CoreAccounts {
 public:
  /// The architecture must outlive it.
  CoreAccounts(const Architecture& architecture, RetentionLevel home, const NetworkOnChip& chip,
               int cores);

  int count() const { return static_cast<int>(accounts_.size()); }
  GroupAccount& at(int place) { return accounts_[place]; }
  /// Words of the dense tensor from the outermost level, where they are read once, to the homes of
  /// these cores; so many times.
  void BringIn(std::span<const int> places, int64_t words, int64_t count, const TensorForms& forms);
  /// From one core's home to those of others.
  void Move(int from, std::span<const int> to, int64_t words, int64_t count,
            const TensorForms& forms);

  /// With the cycles that cores take; `peak_words`: of the core that has the most.
  DividedCost Total(int64_t core_cycles, int64_t peak_words) const;

 private:
  std::vector<int> CoresAt(std::span<const int> places) const;

  StorageLevel memory_, home_;
  NetworkOnChip chip_;
  std::vector<GroupAccount> accounts_;
  std::vector<int64_t> shared_;  ///< of every core's reads outside, those that several share
  NetworkTraffic traffic_;
};

// One file each: see GroupDivision.
Result<DividedCost> CostOfBands(const FusedNetwork& network, const Architecture& architecture,
                                const NetworkOnChip& chip, const DividedGroup& group,
                                const TileCoster& coster);
Result<DividedCost> CostOfOperatorStages(const FusedNetwork& network,
                                         const Architecture& architecture,
                                         const NetworkOnChip& chip, const DividedGroup& group,
                                         const TileCoster& coster);
Result<DividedCost> CostOfSpreadLayers(const FusedNetwork& network,
                                       const Architecture& architecture, const NetworkOnChip& chip,
                                       const DividedGroup& group, const TileCoster& coster);

}  // namespace bayloom::mapspace
