#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <stop_token>
#include <thread>

#include "bayloom/base/clock.h"
#include "bayloom/external/search.h"

namespace bayloom {
namespace {

constexpr std::chrono::milliseconds kGlance(50);

/// Evaluators at work, a thread each, between a queue of configurations and one of outcomes.
class Crew {
 public:
  struct Done {
    Configuration configuration;
    std::optional<Outcome> outcome;  ///< empty if it was stopped
    std::exception_ptr failure;      ///< of the evaluator itself
  };

  explicit Crew(std::span<const std::unique_ptr<ConfigurationEvaluator>> evaluators) {
    for (const auto& evaluator : evaluators) {
      workers_.emplace_back(
          [this, &evaluator](const std::stop_token& stop) { Work(*evaluator, stop); });
    }
  }
  ~Crew() { Stop(); }

  void Add(Configuration configuration) {
    const std::lock_guard lock(mutex_);
    todo_.push_back(std::move(configuration));
    ++busy_;
    changed_.notify_all();
  }
  /// Configurations added and not taken back by TakeDone.
  int busy() const { return busy_; }

  /// What has been done since the last call; waits a little if nothing has.
  std::deque<Done> TakeDone() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kGlance, [&] { return !done_.empty(); });
    busy_ -= static_cast<int>(done_.size());
    return std::exchange(done_, {});
  }

  /// Ends what runs.
  void Stop() {
    for (std::jthread& worker : workers_) worker.request_stop();
    changed_.notify_all();
    for (std::jthread& worker : workers_) {
      if (worker.joinable()) worker.join();
    }
  }

 private:
  void Work(ConfigurationEvaluator& evaluator, const std::stop_token& stop) {
    while (true) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop, [&] { return !todo_.empty(); });
      if (stop.stop_requested()) return;
      Done done = {std::move(todo_.front()), std::nullopt, nullptr};
      todo_.pop_front();
      lock.unlock();
      try {
        done.outcome = evaluator.Evaluate(done.configuration, stop);
      } catch (...) {
        done.failure = std::current_exception();
      }
      lock.lock();
      done_.push_back(std::move(done));
      changed_.notify_all();
    }
  }

  std::mutex mutex_;  ///< guards the queues
  std::condition_variable_any changed_;
  std::deque<Configuration> todo_;
  std::deque<Done> done_;
  int busy_ = 0;  ///< only used by the calling thread
  std::vector<std::jthread> workers_;
};

}  // namespace

SearchEnd RunSearch(Search& search,
                    std::span<const std::unique_ptr<ConfigurationEvaluator>> evaluators,
                    const SearchLimits& limits, const std::function<void()>& observe) {
  const double earlier = search.elapsed();
  const double begun = MonotonicSeconds();
  const auto elapsed = [&] { return earlier + MonotonicSeconds() - begun; };
  const auto trials_left = [&](int64_t busy) {
    return limits.trials ? *limits.trials - search.trials() - busy : int64_t{1} << 40;
  };
  bool is_exhausted = false;
  Crew crew(evaluators);
  while (true) {
    if (limits.stop && limits.stop()) return SearchEnd::kStopped;
    if (limits.seconds && elapsed() >= *limits.seconds) return SearchEnd::kTime;
    const int64_t idle = static_cast<int64_t>(evaluators.size()) - crew.busy();
    const int64_t wanted = std::min(idle, trials_left(crew.busy()));
    if (wanted > 0 && !is_exhausted) {
      std::vector<Configuration> asked = search.Ask(static_cast<int>(wanted));
      is_exhausted = static_cast<int64_t>(asked.size()) < wanted;
      for (Configuration& configuration : asked) crew.Add(std::move(configuration));
    }
    if (crew.busy() == 0) return is_exhausted ? SearchEnd::kExhausted : SearchEnd::kTrials;
    for (const Crew::Done& done : crew.TakeDone()) {
      if (done.failure) std::rethrow_exception(done.failure);
      if (!done.outcome) continue;
      if (search.Tell(done.configuration, *done.outcome, elapsed())) observe();
    }
  }
}

}  // namespace bayloom
