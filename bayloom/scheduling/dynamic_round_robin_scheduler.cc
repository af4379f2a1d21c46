#include "bayloom/scheduling/early_termination.h"
#include "bayloom/scheduling/task_scheduler.h"

namespace bayloom {
namespace {

class DynamicRoundRobinScheduler final : public TaskScheduler {
 public:
  explicit DynamicRoundRobinScheduler(const TaskSchedulerOptions& options) : options_(options) {}

  std::string name() const override { return "dynamic-round-robin"; }

  int Next(std::span<const TaskProgress> tasks) override {
    int chosen = -1;
    for (int i : ImprovingTasks(tasks, options_.patience)) {
      if (chosen < 0 || tasks[i].slots() < tasks[chosen].slots()) chosen = i;
    }
    return chosen;
  }

 private:
  TaskSchedulerOptions options_;
};

}  // namespace

std::unique_ptr<TaskScheduler> MakeDynamicRoundRobinScheduler(const TaskSchedulerOptions& options) {
  return std::make_unique<DynamicRoundRobinScheduler>(options);
}

}  // namespace bayloom
