#include "bayloom/cost/selection/score_spread.h"
#include "bayloom/cost/selection/selection.h"

namespace bayloom {
namespace {

class GsySelection final : public SelectionMethod {
 public:
  std::string name() const override { return "gsy"; }
  std::vector<int> Select(const SelectionTask& task, int count, RandomStream&) const override {
    return SpreadScores(task.scores, task.measured_labels, count, ScoreDistance::kPlain);
  }
};

}  // namespace

std::unique_ptr<SelectionMethod> MakeGsySelection() { return std::make_unique<GsySelection>(); }

}  // namespace bayloom
