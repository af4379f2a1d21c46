#include "bayloom/scheduling/task_scheduler.h"

namespace bayloom {
namespace {

class RoundRobinScheduler final : public TaskScheduler {
 public:
  std::string name() const override { return "round-robin"; }

  int Next(std::span<const TaskProgress> tasks) override {
    int chosen = -1;
    for (int i = 0; i < static_cast<int>(tasks.size()); ++i) {
      if (tasks[i].finished) continue;
      if (chosen < 0 || tasks[i].slots() < tasks[chosen].slots()) chosen = i;
    }
    return chosen;
  }
};

}  // namespace

std::unique_ptr<TaskScheduler> MakeRoundRobinScheduler(const TaskSchedulerOptions&) {
  return std::make_unique<RoundRobinScheduler>();
}

}  // namespace bayloom
