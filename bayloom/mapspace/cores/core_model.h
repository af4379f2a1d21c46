// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bayloom/mapspace/cores/network_on_chip.h"
#include "bayloom/mapspace/mapping_evaluator.h"
#include "bayloom/mapspace/model.h"

namespace bayloom::mapspace {

/// How a problem is divided between cores: dimensions of its output, each into equal parts.
struct CoreSplit {
  struct Axis {
    int dimension = 0;
    int64_t parts = 2;

    bool operator==(const Axis&) const = default;
  };
  std::vector<Axis> axes;  ///< none: one core does everything

  int CoreCount() const;
  /// "M/4 P/2"; "-" for none.
  std::string Describe(const Problem& problem) const;

  bool operator==(const CoreSplit&) const = default;
};

/// The splits of one or two dimensions that make use of the most cores: of those with which more
/// than half of what the best split uses are used. Nothing is summed up over cores.
std::vector<CoreSplit> SplitsOver(const Problem& problem, int cores);

/// What one core does.
Problem PartOf(const Problem& problem, const CoreSplit& split);

/// What a problem costs on several cores.
struct CoreCost {
  double core_energy_pj = 0;     ///< of multiplications and memories, all cores together
  double network_energy_pj = 0;  ///< of the network between cores and memory
  double memory_energy_pj = 0;   ///< of the memory outside
  double energy_pj = 0;          ///< of all
  int64_t cycles = 0;
  double macs = 0;
  int64_t memory_reads = 0, memory_writes = 0;
  double network_sent = 0, network_delivered = 0, network_word_hops = 0;  ///< words
};

/// Cost of a problem whose parts run on equal cores, all by the same mapping, at the same time.
///
/// A core is the architecture without its outermost level, which all cores share. What several
/// cores need is read there once and sent to all of them; outputs, and windows that neighbouring
/// parts share, each core has for itself. Cycles are those of the slowest among a core, the memory
/// and the busiest link, all transfers overlapping. On one core everything is as AnalyticalModel
/// says.
class CoreModel {
 public:
  /// Throws InputError as AnalyticalModel does, and where the architecture makes use of zeros.
  CoreModel(const Problem& problem, const Architecture& architecture, const NetworkOnChip& network,
            CoreSplit split, ReuseCounting counting);

  const CoreSplit& split() const { return split_; }
  /// Of one core's part; its outermost level costs nothing and is never too slow.
  const AnalyticalModel& part() const { return part_; }

  CoreCost Evaluate(const Mapping& mapping) const;
  /// As a mapper minimizes it: pJ per multiply-accumulate, cycles, or pJ times cycles.
  static double ValueOf(const CoreCost& cost, MapObjective objective);

 private:
  /// Of a tensor: the cores that need the same words of it.
  std::vector<std::vector<int>> SharersOf(const DataSpace& tensor) const;

  StorageLevel memory_;
  NetworkOnChip network_;
  CoreSplit split_;
  AnalyticalModel part_;
  std::vector<std::vector<std::vector<int>>> sharers_;  ///< [tensor][group]
};

/// By the model, which must outlive the evaluator.
std::unique_ptr<trial::Evaluator<Mapping>> MakeCoreEvaluator(const CoreModel& model,
                                                             MapObjective objective);

}  // namespace bayloom::mapspace
