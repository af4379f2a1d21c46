// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "bayloom/base/system_error.h"
#include "bayloom/trial/evaluator.h"
#include "bayloom/trial/notices.h"

namespace bayloom::trial {

/// Evaluates by functions that block, each in a thread of its own: commands, processes, simulators.
///
/// A function that throws a SystemError loses its trial; any other exception is thrown again by
/// Collect.
template <typename Candidate>
class ThreadedEvaluator final : public Evaluator<Candidate> {
 public:
  /// Tries one candidate; nullopt if it was asked to stop before there was an outcome. It must end
  /// within a second of being asked to.
  using Function = std::function<std::optional<Outcome>(const Candidate&, const std::stop_token&)>;

  /// One worker for each function; a function is only ever called by its worker.
  explicit ThreadedEvaluator(std::vector<Function> functions,
                             std::shared_ptr<Notices> notices = std::make_shared<Notices>())
      : notices_(std::move(notices)) {
    for (Function& function : functions) {
      workers_.emplace_back([this, function = std::move(function)](const std::stop_token& stop) {
        Work(function, stop);
      });
    }
  }
  ~ThreadedEvaluator() override {
    for (std::jthread& worker : workers_) worker.request_stop();
    Cancel();
  }

  int Capacity() const override { return static_cast<int>(workers_.size()); }

  void Submit(TrialId id, const Candidate& candidate) override {
    const std::lock_guard lock(mutex_);
    if (cancellation_.stop_requested()) cancellation_ = {};
    waiting_.push_back({id, &candidate});
    changed_.notify_all();
  }

  std::vector<FinishedTrial> Collect(double wait_seconds,
                                     const std::function<bool()>& stop) override {
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::duration<double>(wait_seconds);
    std::unique_lock lock(mutex_);
    while (finished_.empty() && !failure_ && !stop() &&
           std::chrono::steady_clock::now() < deadline) {
      changed_.wait_for(lock, kPollInterval);
    }
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    return std::exchange(finished_, {});
  }

  std::vector<std::string> TakeNotices() override { return notices_->Take(); }

  void Cancel() override {
    std::unique_lock lock(mutex_);
    waiting_.clear();
    cancellation_.request_stop();
    changed_.wait(lock, [&] { return working_ == 0; });
    finished_.clear();
    failure_ = nullptr;
  }

 private:
  struct Waiting {
    TrialId id;
    const Candidate* candidate;
  };
  static constexpr std::chrono::milliseconds kPollInterval{20};

  void Work(const Function& function, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, stop, [&] { return !waiting_.empty(); });
      if (stop.stop_requested()) return;
      const Waiting next = waiting_.front();
      waiting_.pop_front();
      ++working_;
      const std::stop_token cancelled = cancellation_.get_token();
      lock.unlock();
      std::optional<FinishedTrial> finished;
      std::exception_ptr failure;
      try {
        finished = Try(function, next, cancelled);
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      --working_;
      try {
        if (finished) finished_.push_back(*std::move(finished));
      } catch (const std::bad_alloc&) {
        failure = std::current_exception();
      }
      if (failure) failure_ = failure;
      changed_.notify_all();
    }
  }

  static std::optional<FinishedTrial> Try(const Function& function, const Waiting& trial,
                                          const std::stop_token& cancelled) {
    try {
      std::optional<Outcome> outcome = function(*trial.candidate, cancelled);
      if (!outcome) return std::nullopt;
      return FinishedTrial{trial.id, std::move(outcome), {}};
    } catch (const SystemError& error) {
      return FinishedTrial{trial.id, std::nullopt, error.what()};
    }
  }

  std::shared_ptr<Notices> notices_;  ///< what the functions have to tell
  std::mutex mutex_;                  ///< guards everything below but the workers
  std::condition_variable_any changed_;
  std::deque<Waiting> waiting_;
  std::vector<FinishedTrial> finished_;
  std::exception_ptr failure_;
  int working_ = 0;
  std::stop_source cancellation_;  ///< of the trials in flight
  std::vector<std::jthread> workers_;
};

}  // namespace bayloom::trial
