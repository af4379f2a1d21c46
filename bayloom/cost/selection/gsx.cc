#include "bayloom/cost/selection/farthest_first.h"
#include "bayloom/cost/selection/selection.h"

namespace bayloom {
namespace {

class GsxSelection final : public SelectionMethod {
 public:
  std::string name() const override { return "gsx"; }
  SelectionNeeds needs() const override { return {.features = true}; }
  std::vector<int> Select(const SelectionTask& task, int count, RandomStream&) const override {
    return TraverseFarthestFirst(
        task.count(), task.measured_features.rows, count, MostCentralRow(task.features),
        [&](int i, int anchor) {
          return SquaredDistance(task.features, i, task.measured_features, anchor);
        },
        [&](int i, int j) { return SquaredDistance(task.features, i, task.features, j); });
  }
};

}  // namespace

std::unique_ptr<SelectionMethod> MakeGsxSelection() { return std::make_unique<GsxSelection>(); }

}  // namespace bayloom
