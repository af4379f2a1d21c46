// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/mapspace/fused/group_cost.h"
#include "bayloom/mapspace/mapping_evaluator.h"

namespace bayloom::mapspace {

/// An axis that tiles may be cut along, and the sizes to try, largest first.
struct TiledAxis {
  int axis;
  std::vector<int64_t> sizes;
};
/// Of an operator's output, pairs of axes, outermost loop first: the last two (rows and columns of
/// images, rows of products), and the two before the last (heads and rows of attention).
std::vector<std::vector<TiledAxis>> TiledAxesOf(const FusedNetwork& network, int op);

struct GroupSearchOptions {
  MapObjective objective = MapObjective::kEnergy;
  /// Beside those of the architecture; they say which levels can be home: see RetentionLevelsOf.
  std::vector<Directive> constraints = {};
  /// Operators of a group at the most.
  int max_operators = 12;
  /// Tilings of a group that are kept, the best by estimate.
  int max_candidates = 8;
  /// Asked between groups; once true, the best of what is known is taken.
  std::function<bool()> stop = [] { return false; };
  /// Of a group with a home and without tiling, none of which fits one core: what it costs where
  /// several share it, by estimate or with tiles that are mapped; nullopt where they cannot. Empty:
  /// there is one core.
  std::function<std::optional<GroupCost>(const FusedGroup& group, bool is_exact)> shared = {};
};

/// A group of a plan with its cost.
struct PlannedGroup {
  FusedGroup group;
  GroupCost cost;
  /// Whether it fits only where several cores share it (GroupSearchOptions::shared).
  bool is_shared = false;
};

struct GroupPlan {
  std::vector<PlannedGroup> groups;  ///< in the network's order, covering all operators
  double energy_pj = 0;
  int64_t cycles = 0;  ///< one group after the other
  int64_t outside_words = 0;

  double EnergyDelay() const { return energy_pj * static_cast<double>(cycles); }
};
double ValueOf(const GroupPlan& plan, MapObjective objective);

/// Divides a network into groups of consecutive operators and chooses a tiling for each, for the
/// least energy, cycles, or product of both over the whole network.
///
/// What a group costs takes a search for every kind of tile of every operator. So first every group
/// that fits gets an estimate, from what its operators cost layer by layer; the best division by
/// what is known so far is found by dynamic programming over the cut points; those of its groups
/// that are only estimated are mapped; and so on until the best division has no estimate in it.
/// For the product, the dynamic program keeps the Pareto front of energy and cycles at every cut.
class GroupSearch {
 public:
  /// All must outlive it. `layers`: of every operator, what it costs by itself. `estimate` and
  /// `exact` say what tiles cost; `exact` may fail when it is asked to stop.
  GroupSearch(const FusedNetwork& network, const Architecture& architecture,
              std::vector<GroupCost> layers, TileCoster estimate, TileCoster exact,
              GroupSearchOptions options);

  /// What is known while it runs.
  struct Progress {
    int64_t groups = 0;  ///< estimated
    int64_t mapped = 0;  ///< with known costs
    int rounds = 0;      ///< divisions made
    GroupPlan best;      ///< of known costs only
  };
  /// Whether it ended by itself. `on_progress` is called after every group that was mapped.
  bool Run(const std::function<void(const Progress&)>& on_progress = {});

  const Progress& progress() const { return progress_; }
  /// The best division of groups with known costs.
  const GroupPlan& plan() const { return progress_.best; }

 private:
  struct Candidate {
    FusedGroup group;  ///< counted from the first group with this structure
    GroupCost cost;
    bool is_known = false;
    bool is_shared = false;
  };
  using Candidates = std::vector<Candidate>;
  struct Choice {
    int begin = 0, end = 0;
    Candidate* candidate = nullptr;
  };
  /// A division of the operators before a cut.
  struct Partial {
    double energy = 0, cycles = 0;
    Choice last;
    int before = -1;  ///< among the divisions at the cut where the last group begins
  };

  /// A text that groups share if and only if they cost the same.
  std::string StructureOf(int begin, int end) const;
  void Enumerate();
  Candidates Estimate(int begin, int end) const;
  void AddTilings(const FusedGroup& group, const std::vector<TiledAxis>& axes,
                  Candidates& candidates) const;
  /// Null if it does not fit.
  const Candidate* Keep(FusedGroup group, Candidates& candidates) const;
  /// Whether no more of the group's weights could be kept beside smaller tiles.
  bool KeepsWeightsItCan(const Candidate& candidate) const;
  void AddShared(int begin, int end, Candidates& candidates) const;
  double ValueOf(const GroupCost& cost) const;
  void Prune(std::vector<Partial>& divisions) const;
  std::vector<Choice> BestDivision(bool known_only) const;
  std::optional<GroupCost> ExactCostOf(const Candidate& candidate) const;
  /// Maps the group's tiles. False if it was stopped.
  bool MakeKnown(const Choice& choice);
  GroupPlan PlanOf(const std::vector<Choice>& choices) const;

  const FusedNetwork& network_;
  const Architecture& architecture_;
  std::vector<GroupCost> layers_;
  TileCoster estimate_, exact_;
  GroupSearchOptions options_;
  std::map<std::string, std::shared_ptr<Candidates>> by_structure_;
  /// [begin][end - begin - 1]
  std::vector<std::vector<std::shared_ptr<Candidates>>> groups_;
  /// Mean of known over estimated costs; estimates are multiplied by it.
  double energy_ratio_ = 1, cycle_ratio_ = 1;
  int64_t compared_ = 0;
  Progress progress_;
};

}  // namespace bayloom::mapspace
