#include "bayloom/scheduling/early_termination.h"
#include "bayloom/scheduling/slot_random.h"
#include "bayloom/scheduling/task_scheduler.h"

namespace bayloom {
namespace {

class DynamicRandomScheduler final : public TaskScheduler {
 public:
  explicit DynamicRandomScheduler(const TaskSchedulerOptions& options) : options_(options) {}

  std::string name() const override { return "dynamic-random"; }

  int Next(std::span<const TaskProgress> tasks) override {
    const std::vector<int> choices = ImprovingTasks(tasks, options_.patience);
    if (choices.empty()) return -1;
    RandomStream random = RandomOfSlot(options_.seed, tasks);
    return choices[random.UniformInt(static_cast<int64_t>(choices.size()))];
  }

 private:
  TaskSchedulerOptions options_;
};

}  // namespace

std::unique_ptr<TaskScheduler> MakeDynamicRandomScheduler(const TaskSchedulerOptions& options) {
  return std::make_unique<DynamicRandomScheduler>(options);
}

}  // namespace bayloom
