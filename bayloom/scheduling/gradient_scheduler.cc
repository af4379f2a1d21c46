// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <limits>

#include "bayloom/scheduling/slot_random.h"
#include "bayloom/scheduling/task_scheduler.h"

namespace bayloom::scheduling {
namespace {

class GradientScheduler final : public TaskScheduler {
 public:
  explicit GradientScheduler(const TaskSchedulerOptions& options) : options_(options) {}

  std::string name() const override { return "gradient"; }

  int Next(std::span<const TaskProgress> tasks) override {
    std::vector<int> best;  // the tasks that share the largest gain
    double largest = -std::numeric_limits<double>::infinity();
    for (int i = 0; i < static_cast<int>(tasks.size()); ++i) {
      if (tasks[i].finished) continue;
      if (tasks[i].slots() == 0) return i;
      const double gain = ExpectedGain(tasks[i]);
      if (best.empty() || gain > largest) {
        best = {i};
        largest = gain;
      } else if (gain == largest) {
        best.push_back(i);
      }
    }
    if (best.empty()) return -1;
    base::RandomStream random = RandomOfSlot(options_.seed, tasks);
    return best[random.UniformInt(static_cast<int64_t>(best.size()))];
  }

 private:
  /// Seconds the whole may gain by the next slot.
  double ExpectedGain(const TaskProgress& task) const {
    const int n = task.slots();
    const int k = options_.gradient_window;
    const double now = task.BestAfterSlot(n - 1);
    if (std::isinf(now)) return -std::numeric_limits<double>::infinity();
    const double before = n > k ? task.BestAfterSlot(n - 1 - k) : now;
    // A task that had nothing feasible k slots ago says nothing of how fast it improves.
    const double recent = std::isinf(before) ? 0 : (before - now) / k;
    const double optimistic = now / n;
    const double alpha = options_.gradient_alpha;
    return task.importance() * (alpha * recent + (1 - alpha) * optimistic);
  }

  TaskSchedulerOptions options_;
};

}  // namespace

std::unique_ptr<TaskScheduler> MakeGradientScheduler(const TaskSchedulerOptions& options) {
  return std::make_unique<GradientScheduler>(options);
}

}  // namespace bayloom::scheduling
