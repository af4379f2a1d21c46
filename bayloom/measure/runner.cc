// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <stdexcept>
#include <utility>

#include "bayloom/base/clock.h"
#include "bayloom/base/result.h"
#include "bayloom/base/system_error.h"
#include "bayloom/measure/measurement_details.h"
#include "bayloom/measure/memory_limit.h"
#include "bayloom/measure/runner_main.h"

namespace bayloom::measure {
namespace {

constexpr double kStartSeconds = 60;
/// Time to end for a process whose channel has closed.
constexpr double kEndSeconds = 2;

}  // namespace

bool Runner::LimitsMemory() const {
  return kAddressSpaceCanBeLimited && options_.limit_address_space;
}

int64_t Runner::MemoryLimit() const {
  if (options_.memory_limit_bytes > 0) return options_.memory_limit_bytes;
  return DefaultMemoryLimit();
}

void Runner::Start() {
  for (int attempt = 1;; ++attempt) {
    const std::optional<std::string> failure = TryStart();
    if (!failure) return;
    if (attempt == kMaxStarts) {
      throw SystemError(fmt::format("{} does not serve as a runner process: {}",
                                    RunnerExecutable(options_.executable), *failure));
    }
  }
}

std::optional<std::string> Runner::TryStart() {
  Result<std::pair<Channel, Channel>> ends = Channel::MakePair();
  if (!ends) throw SystemError(ends.error().message);
  Result<CrashNotePage> note = CrashNotePage::Make();
  if (!note) throw SystemError(note.error().message);
  base::SubprocessOptions options;
  options.arguments = {RunnerExecutable(options_.executable), kRunnerCommand};
  options.standard_input = options.standard_output = options.standard_error =
      base::ChildStream::kNull;
  options.descriptors = {ends->second.descriptor(), note->descriptor()};
  options.memory_limit_bytes = LimitsMemory() ? MemoryLimit() : 0;
  options.preferred_oom_victim = true;
  options.environment = options_.environment;
  if (options_.sandbox) options.sandbox = base::Sandbox{};
  Result<base::Subprocess> child = base::Subprocess::Start(options);
  if (!child) throw SystemError(child.error().message);
  ++starts_;
  { const Channel theirs = std::move(ends->second); }  // so that their end closes with them
  process_ = std::make_unique<Process>(
      Process{std::move(*child), std::move(ends->first), std::move(*note), -1});
  const Channel::Received hello = process_->channel.Receive(kStartSeconds);
  if (hello.event == Channel::Event::kMessage &&
      hello.type == static_cast<uint32_t>(MessageType::kReady)) {
    return std::nullopt;
  }
  const std::unique_ptr<Process> failed = std::move(process_);
  const std::optional<base::ExitStatus> status = failed->child.Wait(kEndSeconds);
  return status ? status->Describe() : "no answer";
}

trial::Outcome Runner::Run(const TaskData& task, const TrialMessage& trial, const StopCheck& stop) {
  if (!process_) Start();
  if (process_->task != task.id) {
    trial::Outcome set = Ask(task, MessageType::kSetTask, EncodeBody(task.message), task.descriptor,
                             options_.reference_timeout_seconds, stop);
    if (!set.ok() || !process_) return set;
    process_->task = task.id;
  }
  return Ask(task, MessageType::kTrial, EncodeBody(trial), -1,
             trial.is_reference ? options_.reference_timeout_seconds : options_.timeout_seconds,
             stop);
}

void Runner::AwaitAnswer(double timeout, const StopCheck& stop) {
  const double deadline = base::MonotonicSeconds() + timeout;
  while (base::MonotonicSeconds() < deadline &&
         !process_->channel.WaitReadable(kStopCheckInterval)) {
    if (!stop || !stop()) continue;
    process_.reset();  // ends what runs in it
    throw Interrupted();
  }
}

trial::Outcome Runner::Ask(const TaskData& task, MessageType type, const std::string& body,
                           int descriptor, double timeout, const StopCheck& stop) {
  // If sending fails, receiving will say why.
  process_->channel.Send(static_cast<uint32_t>(type), body, descriptor);
  const double begun = base::MonotonicSeconds();
  AwaitAnswer(timeout, stop);
  const Channel::Received answer =
      process_->channel.Receive(std::max(timeout - (base::MonotonicSeconds() - begun), 0.0));
  if (answer.event != Channel::Event::kMessage) return EndWithoutAnswer(answer.event, timeout);
  OutcomeMessage message;
  try {
    message = DecodeBody<OutcomeMessage>(answer.body);
  } catch (const std::out_of_range&) {
    return EndWithoutAnswer(Channel::Event::kGarbage, timeout);
  }
  if (message.verdict > trial::Verdict::kInvalidAnswer ||
      message.point_seconds.size() > task.message.points.size())
    return EndWithoutAnswer(Channel::Event::kGarbage, timeout);
  // What wrote something wrong may have written it somewhere wrong too.
  // A GPU on which a kernel failed is of no use to this process any more.
  if (message.verdict == trial::Verdict::kWrongOutput ||
      message.verdict == trial::Verdict::kCrash) {
    process_.reset();
  }
  if (message.verdict != trial::Verdict::kOk) {
    return trial::Outcome::Infeasible(message.verdict, std::move(message.reason));
  }
  trial::Outcome outcome;
  outcome.value = message.seconds;
  std::vector<TimeAtSizes> at_sizes;
  for (size_t p = 0; p < message.point_seconds.size(); ++p) {
    at_sizes.push_back({task.message.points[p], message.point_seconds[p]});
  }
  SetDetails(outcome, {.at_sizes = std::move(at_sizes),
                       .spread = message.spread,
                       .cut_short = message.cut_short,
                       .clock_mhz = message.clock_mhz,
                       .power_watts = message.power_watts,
                       .registers = message.registers,
                       .spill_bytes = message.spill_bytes,
                       .batches = std::move(message.batches)});
  return outcome;
}

trial::Outcome Runner::EndWithoutAnswer(Channel::Event event, double timeout) {
  const std::unique_ptr<Process> process = std::move(process_);
  // Having closed its end, it is about to end by itself; let its status be its own.
  std::optional<base::ExitStatus> status;
  if (event == Channel::Event::kClosed) status = process->child.Wait(kEndSeconds);
  const bool killed = !status;
  if (killed) status = process->child.Kill();

  const CrashNote note = process->note.note();
  const auto because = [&](trial::Verdict verdict, const std::string& what) {
    const std::string where = Describe(note);
    return trial::Outcome::Infeasible(verdict, where.empty() ? what : what + " " + where);
  };
  if (event == Channel::Event::kTimeout) {
    return because(trial::Verdict::kTimeout, fmt::format("did not end within {:g} s", timeout));
  }
  if (event == Channel::Event::kGarbage) {
    return because(trial::Verdict::kCrash, "wrote invalid data to the runner's channel");
  }
  const int64_t limit = MemoryLimit();
  const int64_t margin = std::max<int64_t>(limit / 8, 64 << 20);
  if (LimitsMemory() && status->signaled && note.address_space >= limit - margin) {
    return because(trial::Verdict::kMemory,
                   fmt::format("needs more memory than the {:.0f} MB it may have",
                               static_cast<double>(limit) / 1e6));
  }
  // This process did not send that signal: the system does when it runs out of memory, which says
  // nothing about the candidate. What needs too much itself meets its own limit, above.
  if (!killed && status->signaled && status->code == SIGKILL) {
    throw SystemError("a runner process was killed by the system");
  }
  return because(trial::Verdict::kCrash, status->Describe());
}

}  // namespace bayloom::measure
