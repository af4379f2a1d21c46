// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/remote/server.h"

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "bayloom/base/single_line.h"
#include "bayloom/base/system_error.h"
#include "bayloom/base/write_ignoring_sigpipe.h"

namespace bayloom::remote {
namespace {

constexpr double kCollectSeconds = 0.2;
constexpr int kPollMilliseconds = 100;
constexpr size_t kMaxReason = 1000;

/// What the tuner writes, read by a thread of its own, so that the tuner's end is noticed at once.
class RequestQueue {
 public:
  explicit RequestQueue(int input)
      : thread_([this, input](const std::stop_token& stop) { Read(input, stop); }) {}

  /// The next request, or why a line is none; waits for it if `waits`. nullopt: there is none now,
  /// or will be none.
  std::optional<Result<Request>> Next(bool waits) {
    std::unique_lock lock(mutex_);
    if (waits) changed_.wait(lock, [&] { return !requests_.empty() || is_over_; });
    if (requests_.empty()) return std::nullopt;
    Result<Request> next = std::move(requests_.front());
    requests_.pop_front();
    if (next && next->kind == Request::Kind::kCancel) --cancellations_;
    return next;
  }
  void End() {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    changed_.notify_all();
  }
  bool is_over() const { return is_over_; }
  /// What runs is to be broken off.
  bool interrupts() const { return is_over_ || cancellations_ > 0; }

 private:
  void Read(int input, const std::stop_token& stop) {
    std::string unread;
    char buffer[65536];
    while (!stop.stop_requested() && !is_over_) {
      pollfd readable = {input, POLLIN, 0};
      if (poll(&readable, 1, kPollMilliseconds) <= 0) continue;
      const ssize_t bytes = read(input, buffer, sizeof(buffer));
      if (bytes < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (bytes <= 0) break;
      unread.append(buffer, static_cast<size_t>(bytes));
      size_t begin = 0;
      for (size_t end; (end = unread.find('\n', begin)) != std::string::npos; begin = end + 1) {
        Add(ReadRequest(std::string_view(unread).substr(begin, end - begin)));
      }
      unread.erase(0, begin);
      if (unread.size() > kMaxMessageBytes) {
        Add(Error{"a line of more than 64 MiB"});
        break;
      }
    }
    End();
  }

  void Add(Result<Request> request) {
    const std::lock_guard lock(mutex_);
    if (request && request->kind == Request::Kind::kCancel) ++cancellations_;
    requests_.push_back(std::move(request));
    changed_.notify_all();
  }

  std::mutex mutex_;  ///< guards the requests
  std::condition_variable changed_;
  std::deque<Result<Request>> requests_;
  std::atomic<bool> is_over_ = false;
  std::atomic<int> cancellations_ = 0;
  std::jthread thread_;  ///< the last member: it uses the others
};

/// What the tuner reads. Every so often a thread of its own adds a sign of life.
class ReportWriter {
 public:
  ReportWriter(int output, double alive_seconds, RequestQueue& queue)
      : output_(output), queue_(queue), thread_([this, alive_seconds](const std::stop_token& stop) {
          std::unique_lock lock(pause_);
          while (!stopped_.wait_for(lock, stop, std::chrono::duration<double>(alive_seconds),
                                    [&] { return stop.stop_requested(); })) {
            Write({});
          }
        }) {}

  void Write(const Report& report) {
    const std::string line = ToLine(report);
    const std::lock_guard lock(mutex_);
    std::string_view rest = line;
    while (!rest.empty() && !is_closed_) {
      const ssize_t bytes = base::WriteIgnoringSigpipe(output_, rest.data(), rest.size());
      if (bytes > 0) rest.remove_prefix(static_cast<size_t>(bytes));
      if (bytes < 0 && errno == EAGAIN) {
        pollfd writable = {output_, POLLOUT, 0};
        poll(&writable, 1, kPollMilliseconds);
      } else if (bytes < 0 && errno != EINTR) {
        is_closed_ = true;
        queue_.End();
      }
    }
  }

 private:
  int output_;
  RequestQueue& queue_;
  std::mutex mutex_;  ///< guards the output
  bool is_closed_ = false;
  std::mutex pause_;
  std::condition_variable_any stopped_;
  std::jthread thread_;  ///< the last member: it uses the others
};

class Server {
 public:
  Server(int input, int output, const ServerOptions& options)
      : options_(options), queue_(input), writer_(output, options.alive_seconds, queue_) {}

  void Run() {
    writer_.Write(options_.hello);
    const std::function<bool()> stop = [this] { return queue_.interrupts(); };
    while (true) {
      while (std::optional<Result<Request>> next = queue_.Next(/*waits=*/leases_.empty())) {
        if (*next) {
          Answer(**next);
        } else {
          Refuse(next->error().message);
        }
      }
      if (queue_.is_over()) break;
      for (auto& [id, evaluator] : evaluators_) {
        if (!IsBusy(id)) continue;
        try {
          for (trial::FinishedTrial& finished : evaluator->Collect(kCollectSeconds, stop)) {
            Deliver(std::move(finished));
          }
        } catch (const InputError& error) {  // no candidate of it can be tried here
          evaluator->Cancel();
          std::erase_if(leases_, [&](const auto& lease) { return lease.second == id; });
          Refuse(error.what(), id);
        }
      }
    }
    CancelAll();
  }

 private:
  bool IsBusy(SubjectId subject) const {
    for (const auto& [lease, of] : leases_) {
      if (of == subject) return true;
    }
    return false;
  }

  void Deliver(trial::FinishedTrial finished) {
    if (leases_.erase(finished.id) == 0) return;
    Report report;
    report.lease = finished.id;
    if (finished.outcome) {
      report.kind = Report::Kind::kOutcome;
      report.outcome = *std::move(finished.outcome);
    } else {
      report.kind = Report::Kind::kLost;
      report.text = base::SingleLine(finished.lost, kMaxReason);
    }
    report.note = Note();
    writer_.Write(report);
  }

  std::string Note() const {
    return options_.note ? base::SingleLine(options_.note(), kMaxReason) : std::string();
  }

  void Refuse(const std::string& why, SubjectId subject = 0) {
    Report report;
    report.kind = Report::Kind::kError;
    report.subject = subject;
    report.text = base::SingleLine(why, kMaxReason);
    writer_.Write(report);
  }

  void Answer(const Request& request) {
    switch (request.kind) {
      case Request::Kind::kSubject:
        return Begin(request);
      case Request::Kind::kTrial:
        return Try(request);
      case Request::Kind::kCancel:
        return CancelAll();
      case Request::Kind::kMachine: {
        if (queue_.is_over()) return;
        Result<nlohmann::json> machine =
            options_.measure_machine([this] { return queue_.is_over(); });
        if (!machine) return Refuse(machine.error().message);
        Report report;
        report.kind = Report::Kind::kMachine;
        report.body = *std::move(machine);
        report.note = Note();
        return writer_.Write(report);
      }
    }
  }

  void Begin(const Request& request) {
    if (evaluators_.contains(request.subject)) {
      return Refuse("this subject is there already", request.subject);
    }
    Result<std::unique_ptr<CandidateEvaluator>> evaluator = options_.make_evaluator(request.body);
    if (!evaluator) return Refuse(evaluator.error().message, request.subject);
    Report report;
    report.kind = Report::Kind::kSubject;
    report.subject = request.subject;
    report.slots = (*evaluator)->Slots();
    evaluators_.emplace(request.subject, *std::move(evaluator));
    writer_.Write(report);
  }

  void Try(const Request& request) {
    const auto evaluator = evaluators_.find(request.subject);
    const Status begun =
        evaluator == evaluators_.end() ? Error{"there is no such subject"}
        : leases_.contains(request.lease)
            ? Error{"this lease is given already"}
            : evaluator->second->Submit(request.lease, request.body, request.is_repeat);
    if (begun) {
      leases_.emplace(request.lease, request.subject);
      return;
    }
    Report report;
    report.kind = Report::Kind::kLost;
    report.lease = request.lease;
    report.text = base::SingleLine(begun.error().message, kMaxReason);
    writer_.Write(report);
  }

  void CancelAll() {
    for (auto& [id, evaluator] : evaluators_) {
      if (IsBusy(id)) evaluator->Cancel();
    }
    leases_.clear();
  }

  const ServerOptions& options_;
  RequestQueue queue_;
  ReportWriter writer_;
  std::map<SubjectId, std::unique_ptr<CandidateEvaluator>> evaluators_;
  std::map<LeaseId, SubjectId> leases_;  ///< of the trials in flight
};

}  // namespace

void Serve(int input, int output, const ServerOptions& options) {
  Server(input, output, options).Run();
}

}  // namespace bayloom::remote
