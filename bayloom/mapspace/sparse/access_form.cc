// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/sparse/access_form.h"

#include <cmath>

#include "bayloom/mapspace/sparse/whole_count.h"

namespace bayloom::mapspace {
namespace {

double BitsOf(const RankAccesses& accesses, const RankTraffic& rank) {
  return static_cast<double>(accesses.metadata) * rank.metadata_bits +
         static_cast<double>(accesses.payload) * rank.payload_bits;
}

}  // namespace

AccessForm::AccessForm(const SparseTraffic& traffic, AccessKind kind)
    : dense_((traffic.*kind.words).dense),
      actual_((traffic.*kind.words).actual),
      gated_((traffic.*kind.words).gated),
      word_share_(traffic.word_share),
      block_overhead_(traffic.block_overhead),
      instances_(traffic.instances) {
  for (const RankTraffic& rank : traffic.ranks) {
    const RankActions& actions = rank.*kind.ranks;
    actual_bits_ += BitsOf(actions.actual, rank);
    gated_bits_ += BitsOf(actions.gated, rank);
  }
}

int64_t AccessForm::PartOf(int64_t count, int64_t words) const {
  if (words == dense_) return count;
  return RoundedUp(static_cast<double>(count) * static_cast<double>(words) /
                   static_cast<double>(dense_));
}

double AccessForm::PartOf(double bits, int64_t words) const {
  if (words == dense_) return bits;
  return bits * static_cast<double>(words) / static_cast<double>(dense_);
}

int64_t AccessForm::MovedWords(int64_t words, const StorageLevel& level) const {
  if (dense_ == 0) return words;
  const auto data = static_cast<double>(PartOf(actual_, words) + PartOf(gated_, words));
  const double bits = PartOf(actual_bits_, words) + PartOf(gated_bits_, words);
  return RoundedUp(instances_ * (data * word_share_ + std::floor(bits / level.word_bits)));
}

double AccessForm::EnergyPj(int64_t words, const StorageLevel& level,
                            double block_energy_pj) const {
  return instances_ *
         (DataEnergyPj(words, level, block_energy_pj) + MetadataEnergyPj(words, level));
}

double AccessForm::DataEnergyPj(int64_t words, const StorageLevel& level,
                                double block_energy_pj) const {
  if (dense_ == 0) return level.Blocks(words) * block_energy_pj;
  // Whole blocks, but for tiles that end within one, whose number is a mean.
  const auto blocks = [&](int64_t count) {
    return block_overhead_ * std::ceil(static_cast<double>(count) * word_share_ /
                                       static_cast<double>(level.block_words));
  };
  return blocks(PartOf(actual_, words)) * block_energy_pj +
         blocks(PartOf(gated_, words)) * level.sparsity.gated_access_energy_pj;
}

double AccessForm::MetadataEnergyPj(int64_t words, const StorageLevel& level) const {
  if (dense_ == 0) return 0;
  const LevelSparsity& sparsity = level.sparsity;
  const bool is_apart = sparsity.HasMetadataStorage();
  const double width = is_apart ? static_cast<double>(sparsity.metadata_width_bits)
                                : static_cast<double>(level.word_bits * level.block_words);
  return std::ceil(PartOf(actual_bits_, words) / width) *
         (is_apart ? sparsity.metadata_access_energy_pj : level.access_energy_pj);
}

}  // namespace bayloom::mapspace
