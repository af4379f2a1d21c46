// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/remote/pool.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "bayloom/base/clock.h"
#include "bayloom/base/job_limits.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/system_error.h"
#include "bayloom/base/version.h"
#include "bayloom/remote/drift_watch.h"
#include "bayloom/remote/pool_state.h"

namespace bayloom::remote {
namespace {

/// Longest wait between two looks at the workers.
constexpr double kLookSeconds = 0.05;
/// What a look that came late counts for a worker's silence.
constexpr double kMaxListenedSeconds = 0.2;
/// For all workers together to end by themselves, once nothing more is asked of them.
constexpr double kCloseSeconds = 0.5;
/// Notes of a worker that a person is shown.
constexpr int kMaxNotes = 20;

}  // namespace

class WorkerPool::Impl {
 public:
  using Trial = PoolTrial;
  using Subject = PoolSubject;
  using Worker = PoolWorker;

  explicit Impl(PoolOptions options) : options_(std::move(options)), drift_(options_.max_drift) {
    if (options_.commands.empty()) throw InputError("there is no worker");
    base::ReserveJobs(std::ssize(options_.commands), {.open_files = 8, .processes = 3});
    for (const std::string& command : options_.commands) workers_.emplace_back().command = command;
    AwaitHellos();
  }
  /// Workers may end by themselves, as they then remove the folders that they work in.
  ~Impl() {
    const double deadline = base::MonotonicSeconds() + kCloseSeconds;
    for (Worker& worker : workers_) {
      if (worker.connection) worker.connection->CloseInput();
    }
    for (Worker& worker : workers_) {
      if (worker.connection) worker.connection->AwaitEnd(deadline - base::MonotonicSeconds());
    }
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const Report& hello() const { return *hello_; }

  int Left() const {
    return static_cast<int>(std::ranges::count_if(
        workers_, [](const Worker& worker) { return worker.state != Worker::State::kLeftOut; }));
  }

  Result<nlohmann::json> MeasureMachine() {
    const auto ready = std::ranges::find(workers_, Worker::State::kReady, &Worker::state);
    if (ready == workers_.end()) return Error{"no worker is ready"};
    ready->machine.reset();
    ready->measures = true;
    ready->connection->Send({.kind = Request::Kind::kMachine});
    while (!ready->machine) {
      Look(kLookSeconds);
      if (ready->state != Worker::State::kReady) {
        return Error{ready->Name() + ": " + ready->last_failure};
      }
      if (options_.stop && options_.stop()) return Error{"stopped"};
    }
    return *std::move(ready->machine);
  }

  SubjectId AddSubject(nlohmann::json definition, bool is_timed, double answer_seconds) {
    const SubjectId id = std::ssize(subjects_) + 1;
    subjects_.emplace(id, Subject{std::move(definition), is_timed, answer_seconds, {}, 0, 0});
    return id;
  }

  int Slots(SubjectId subject) const {
    int slots = 0;
    for (const Worker& worker : workers_) {
      if (worker.state != Worker::State::kReady) continue;
      const auto known = worker.slots.find(subject);
      slots += known == worker.slots.end() ? 1 : std::max(1, known->second);
    }
    return std::max(1, slots);
  }

  void Submit(Trial trial) {
    current_ = trial.subject;
    queue_.push_back(std::move(trial));
  }

  std::vector<trial::FinishedTrial> Collect(double wait_seconds,
                                            const std::function<bool()>& stop) {
    const double deadline = base::MonotonicSeconds() + wait_seconds;
    for (bool is_first = true;; is_first = false) {
      // What is there already is not to wait for anything.
      Look(is_first ? 0 : std::min(kLookSeconds, deadline - base::MonotonicSeconds()));
      if (Left() == 0) LoseQueue();
      if (!refusal_.empty()) throw InputError(std::exchange(refusal_, {}));
      if (!finished_.empty()) return std::exchange(finished_, {});
      if (stop() || base::MonotonicSeconds() >= deadline) return {};
    }
  }

  void Cancel() {
    queue_.clear();
    finished_.clear();
    current_ = 0;
    drift_.Begin({});
    for (Worker& worker : workers_) {
      if (worker.leases.empty()) continue;
      worker.leases.clear();
      worker.connection->Send({.kind = Request::Kind::kCancel});
      worker.connection->Write();  // there may be no further look
    }
  }

 private:
  Status CheckMachine(const nlohmann::json& json) const {
    return options_.check_machine ? options_.check_machine(json) : Ok();
  }
  void Notice(const std::string& line) const {
    if (options_.on_notice) options_.on_notice(line);
  }

  void LoseQueue() {
    for (const Trial& trial : queue_)
      finished_.push_back({trial.id, std::nullopt, WhyNoneIsLeft(workers_)});
    queue_.clear();
  }

  /// Until each has said hello or was left out.
  void AwaitHellos() {
    const auto is_decided = [](const Worker& worker) {
      return worker.state == Worker::State::kReady || worker.state == Worker::State::kLeftOut;
    };
    while (!std::ranges::all_of(workers_, is_decided)) {
      Look(kLookSeconds);
      if (options_.stop && options_.stop()) throw InputError("stopped while workers started");
    }
    if (Left() == 0) throw InputError(WhyNoneIsLeft(workers_));
  }

  /// One round: starts what is due, hands out trials, and reads and writes what is available within
  /// so many seconds.
  void Look(double seconds) {
    for (Worker& worker : workers_) StartIfDue(worker);
    HandOut();
    Poll(seconds);
    const double now = base::MonotonicSeconds();
    const double listened = std::min(now - last_look_, kMaxListenedSeconds);
    last_look_ = now;
    for (Worker& worker : workers_) {
      if (worker.connection) Hear(worker, listened);
    }
    Compare();
    HandOut();
    for (Worker& worker : workers_) {  // what was handed out need not wait for the next look
      if (worker.connection && worker.connection->has_unsent()) Hear(worker, 0);
    }
  }

  void Poll(double seconds) {
    std::vector<pollfd> ends;
    for (const Worker& worker : workers_) {
      if (!worker.connection) continue;
      ends.push_back({worker.connection->output(), POLLIN, 0});
      if (worker.connection->has_unsent()) ends.push_back({worker.connection->input(), POLLOUT, 0});
    }
    poll(ends.data(), ends.size(), static_cast<int>(std::ceil(1000 * std::max(0.0, seconds))));
  }

  void StartIfDue(Worker& worker) {
    if (worker.state != Worker::State::kPaused || base::MonotonicSeconds() < worker.resume_at) {
      return;
    }
    Result<Connection> started = Connection::Start(worker.command);
    if (!started) return End(worker, started.error().message);
    worker.connection.emplace(*std::move(started));
    worker.state = Worker::State::kStarting;
    worker.resume_at = base::MonotonicSeconds();
    worker.silence = 0;
  }

  /// Reads what a worker has said; `listened`: seconds since that was done last.
  void Hear(Worker& worker, double listened) {
    std::vector<std::string> lines;
    const bool is_open = worker.connection->Transfer(lines);
    worker.silence = lines.empty() ? worker.silence + listened : 0;
    for (const std::string& line : lines) {
      const Result<Report> report = ReadReport(line);
      if (report) {
        Take(worker, *report);
      } else {
        LeaveOut(worker, fmt::format("it wrote '{}', which is no message of a worker ({})",
                                     base::SingleLine(line), report.error().message));
      }
      if (!worker.connection) return;
    }
    if (!is_open) return End(worker, "it ended: " + worker.connection->Explain());
    if (worker.state != Worker::State::kStarting) {
      if (worker.silence <= options_.silence_seconds) return AwaitAnswer(worker, listened);
      return End(worker, fmt::format("no sign of life for {:g} s", options_.silence_seconds));
    }
    if (worker.silence <= options_.start_seconds) return;
    const std::string why = fmt::format("it did not greet within {:g} s", options_.start_seconds);
    // What was a worker before may be one again.
    worker.was_greeted ? End(worker, why) : LeaveOut(worker, why);
  }

  /// Gives up what is alive and does not answer.
  void AwaitAnswer(Worker& worker, double listened) {
    const double patience = worker.AnswerSeconds(subjects_, options_.preparation_seconds);
    worker.waited = patience > 0 ? worker.waited + listened : 0;
    if (worker.waited > patience) {
      return End(worker, fmt::format("it is alive, but has answered nothing for {:g} s", patience));
    }
    if (worker.waited <= options_.notice_seconds || worker.was_waited_for) return;
    worker.was_waited_for = true;
    Notice(fmt::format("{} is alive, but has answered nothing for {:g} s; it is {}", worker.Name(),
                       options_.notice_seconds,
                       std::isinf(patience) ? "waited for, as nothing limits the time of its trials"
                                            : fmt::format("given up after {:g} s", patience)));
  }

  void Take(Worker& worker, const Report& report) {
    if (worker.state == Worker::State::kStarting) {
      if (report.kind != Report::Kind::kHello) {
        return LeaveOut(worker, "it did not begin with a greeting");
      }
      return Join(worker, report);
    }
    if (!report.note.empty() && worker.notes++ < kMaxNotes) {
      Notice(fmt::format("{}: {}{}", worker.Name(), report.note,
                         worker.notes == kMaxNotes ? " (its last note that is shown)" : ""));
    }
    switch (report.kind) {
      case Report::Kind::kSubject:
        if (!worker.slots.contains(report.subject)) break;
        worker.slots[report.subject] = report.slots;
        worker.waited = 0;
        break;
      case Report::Kind::kOutcome:
        Finish(worker, report.lease, report.outcome, {});
        break;
      case Report::Kind::kLost:
        Finish(worker, report.lease, std::nullopt, report.text);
        break;
      case Report::Kind::kMachine:
        if (!worker.measures) break;  // it was not asked for
        if (const Status checked = CheckMachine(report.body); !checked) {
          return LeaveOut(worker, "it has measured what is no machine: " + checked.error().message);
        }
        worker.machine = report.body;
        worker.measures = false;
        break;
      case Report::Kind::kError:
        return TakeError(worker, report);
      case Report::Kind::kHello:
        return LeaveOut(worker, "it said hello twice");
      case Report::Kind::kAlive:
        break;
    }
  }

  void TakeError(Worker& worker, const Report& report) {
    if (report.subject > 0) {
      const auto known = worker.slots.find(report.subject);
      if (known != worker.slots.end() && known->second > 0) {  // it could not go on
        refusal_ = worker.Name() + ": " + report.text;
      }
      return LeaveOut(worker, report.text);  // a refused subject will be refused again
    }
    if (!std::exchange(worker.measures, false)) {
      return End(worker, "it refused a request: " + report.text);
    }
    worker.machine = Error{report.text};
  }

  void Join(Worker& worker, const Report& hello) {
    if (hello.version != base::Version()) {
      return LeaveOut(worker,
                      fmt::format("it is bayloom {}, this is {}", hello.version, base::Version()));
    }
    if (hello.protocol != kProtocolVersion) {
      return LeaveOut(worker, fmt::format("it speaks version {} of the protocol, this version {}",
                                          hello.protocol, kProtocolVersion));
    }
    if (const Status checked = CheckMachine(hello.body); !checked) {
      return LeaveOut(worker, "its 'target' is none: " + checked.error().message);
    }
    if (hello_ && hello.identity != hello_->identity) {
      return LeaveOut(worker, fmt::format("its target is {}, that of the others is {}",
                                          hello.identity, hello_->identity));
    }
    if (!hello_) hello_ = hello;
    worker.was_greeted = true;
    worker.state = Worker::State::kReady;
    if (worker.was_lost) Notice(worker.Name() + " is back");
    worker.was_lost = false;
    for (auto& [id, subject] : subjects_) subject.trials_since_comparison = kCompareSoon;
  }

  /// It is gone: its trials are lost, and it is started again unless that was to no avail before.
  void End(Worker& worker, const std::string& why) {
    worker.last_failure = why;
    if (++worker.failures >= options_.max_failures) return LeaveOut(worker, why);
    const bool had_trials = !worker.leases.empty();
    if (worker.state == Worker::State::kReady) {
      Notice(fmt::format(
          "{}: {}{}; it is started again", worker.Name(), why,
          had_trials ? fmt::format("; {} of its trials are tried again", worker.leases.size())
                     : ""));
      worker.was_lost = true;
    }
    Disconnect(worker);
    worker.state = Worker::State::kPaused;
    worker.resume_at =
        base::MonotonicSeconds() + options_.restart_seconds * std::exp2(worker.failures - 1);
  }

  void LeaveOut(Worker& worker, const std::string& why) {
    worker.last_failure = why;
    worker.state = Worker::State::kLeftOut;
    Disconnect(worker);
    Notice(fmt::format("{} is left out: {}", worker.Name(), why));
  }

  void Disconnect(Worker& worker) {
    worker.connection.reset();
    worker.waited = 0;
    worker.measures = false;
    worker.slots.clear();
    drift_.Forget(Index(worker));
    for (const auto& [lease, trial] : std::exchange(worker.leases, {})) {
      if (trial.is_probe) continue;
      finished_.push_back({trial.id, std::nullopt, worker.Name() + ": " + worker.last_failure});
    }
  }

  int Index(const Worker& worker) const { return static_cast<int>(&worker - workers_.data()); }

  void Finish(Worker& worker, LeaseId lease, std::optional<trial::Outcome> outcome,
              std::string lost) {
    const auto place = worker.leases.find(lease);
    if (place == worker.leases.end()) return;  // its lease is over
    Trial trial = std::move(place->second);
    worker.leases.erase(place);
    worker.waited = 0;
    if (outcome && subjects_.at(trial.subject).is_timed) {
      lost = WhyNoMeasurement(*outcome);
      if (!lost.empty()) outcome.reset();
    }
    if (trial.is_probe) {
      const bool has_value = outcome && outcome->ok();
      return drift_.Tell(Index(worker), has_value ? std::optional(outcome->value) : std::nullopt);
    }
    if (outcome) {
      worker.failures = 0;
      Subject& subject = subjects_.at(trial.subject);
      ++subject.trials_since_comparison;
      const bool is_best = outcome->ok() && outcome->Get("cut_short", 0) == 0 &&
                           !(subject.incumbent && outcome->value >= subject.incumbent_value);
      if (subject.is_timed && is_best) {
        subject.incumbent = std::move(trial.candidate);
        subject.incumbent_value = outcome->value;
      }
    }
    finished_.push_back(
        {trial.id, std::move(outcome), lost.empty() ? "" : worker.Name() + ": " + lost});
  }

  /// Gives queued trials to the workers with the most room, and what drift needs first.
  void HandOut() {
    for (Worker& worker : workers_) HandOutProbes(worker);
    while (!queue_.empty()) {
      Worker* const worker = WithMostRoom(queue_.front().subject);
      if (worker == nullptr) return;
      Give(*worker, std::move(queue_.front()));
      queue_.pop_front();
    }
  }

  /// The room that a worker has for a subject's trials; it is told of the subject if it was not.
  int RoomFor(Worker& worker, SubjectId subject) {
    if (worker.state != Worker::State::kReady) return 0;
    const auto known = worker.slots.find(subject);
    if (known != worker.slots.end()) return known->second - static_cast<int>(worker.leases.size());
    worker.slots[subject] = 0;
    worker.connection->Send({.kind = Request::Kind::kSubject,
                             .subject = subject,
                             .body = subjects_.at(subject).definition});
    return 0;
  }

  Worker* WithMostRoom(SubjectId subject) {
    Worker* best = nullptr;
    int most = 0;
    for (Worker& worker : workers_) {
      const int room = RoomFor(worker, subject);
      if (room > most) {
        most = room;
        best = &worker;
      }
    }
    return best;
  }

  void Give(Worker& worker, Trial trial) {
    const LeaseId lease = ++last_lease_;
    worker.connection->Send({.kind = Request::Kind::kTrial,
                             .subject = trial.subject,
                             .lease = lease,
                             .body = trial.candidate,
                             .is_repeat = trial.is_repeat});
    worker.leases.emplace(lease, std::move(trial));
  }

  void HandOutProbes(Worker& worker) {
    while (drift_.Due(Index(worker)) > 0 && RoomFor(worker, compared_) > 0) {
      drift_.Ask(Index(worker));
      Give(worker, {0, compared_, *subjects_.at(compared_).incumbent, true, true});
    }
  }

  /// Ends the comparison of the workers that is under way, and begins the next when it is due.
  void Compare() {
    for (const DriftWatch::Slow& slow : drift_.Conclude()) {
      LeaveOut(workers_[slow.worker],
               fmt::format("it takes {:.2f} times as long as {} for the same program", slow.ratio,
                           workers_[slow.fastest].Name()));
    }
    if (options_.drift_interval == 0 || drift_.is_under_way() || current_ == 0) return;
    Subject& subject = subjects_.at(current_);
    std::vector<int> ready;
    for (const Worker& worker : workers_) {
      if (worker.state == Worker::State::kReady) ready.push_back(Index(worker));
    }
    const int interval = options_.drift_interval * static_cast<int>(ready.size());
    if (!subject.incumbent || subject.trials_since_comparison < interval) return;
    subject.trials_since_comparison = 0;
    compared_ = current_;
    drift_.Begin(ready);
  }

  /// More trials than any interval has: a comparison is due.
  static constexpr int kCompareSoon = 1 << 20;

  PoolOptions options_;
  std::optional<Report> hello_;
  std::vector<Worker> workers_;
  std::map<SubjectId, Subject> subjects_;
  std::deque<Trial> queue_;
  std::vector<trial::FinishedTrial> finished_;
  std::string refusal_;  ///< why no candidate of a subject can be tried, once a worker has said so
  LeaseId last_lease_ = 0;
  DriftWatch drift_;
  SubjectId current_ = 0;   ///< whose trials were queued last; 0: none since a cancellation
  SubjectId compared_ = 0;  ///< by whose incumbent the workers are compared
  double last_look_ = base::MonotonicSeconds();
};

WorkerPool::WorkerPool(PoolOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
WorkerPool::~WorkerPool() = default;
const Report& WorkerPool::hello() const { return impl_->hello(); }
int WorkerPool::workers() const { return impl_->Left(); }
Result<nlohmann::json> WorkerPool::MeasureMachine() { return impl_->MeasureMachine(); }
SubjectId WorkerPool::AddSubject(nlohmann::json definition, bool is_timed, double answer_seconds) {
  return impl_->AddSubject(std::move(definition), is_timed, answer_seconds);
}
int WorkerPool::Slots(SubjectId subject) const { return impl_->Slots(subject); }
void WorkerPool::Submit(SubjectId subject, trial::TrialId id, nlohmann::json candidate,
                        bool is_repeat) {
  impl_->Submit({id, subject, std::move(candidate), is_repeat, false});
}
std::vector<trial::FinishedTrial> WorkerPool::Collect(double wait_seconds,
                                                      const std::function<bool()>& stop) {
  return impl_->Collect(wait_seconds, stop);
}
void WorkerPool::Cancel() { impl_->Cancel(); }

}  // namespace bayloom::remote
