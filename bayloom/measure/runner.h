// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/base/subprocess.h"
#include "bayloom/measure/channel.h"
#include "bayloom/measure/crash_note.h"
#include "bayloom/measure/interruption.h"
#include "bayloom/measure/protocol.h"
#include "bayloom/trial/outcome.h"

namespace bayloom::measure {

struct RunnerOptions {
  /// The program to start as runner process; see RunnerExecutable.
  std::string executable;
  /// Wall-clock seconds for one trial, preparation and checking included.
  double timeout_seconds = 10;
  /// ... and for running a task's reference, which may be a very slow program.
  double reference_timeout_seconds = 120;
  /// Address space of the runner process; 0 means three quarters of the machine's memory, or what
  /// this process may have if that is less. Not enforced under sanitizers, which map terabytes.
  int64_t memory_limit_bytes = 0;
  /// Off for GPUs: their drivers map more addresses than there is memory.
  bool limit_address_space = true;
  /// Candidates run without a network and without a file that they could write to.
  bool sandbox = false;
  /// Variables of the runner process as "NAME=value", beside this process's.
  std::vector<std::string> environment = {};
};

/// A task's data in shared memory, ready to be sent to runner processes.
struct TaskData {
  int64_t id = 0;  ///< different for every task's data
  TaskMessage message;
  int descriptor = -1;  ///< memory that holds the parameters' contents; owned by who made it
};

/// The tuner's side: keeps a runner process, asks it to run kernels, and answers for it when it
/// dies, hangs, eats memory or computes something wrong: that costs the one trial, and the next
/// gets a new process. Not thread safe.
class Runner {
 public:
  explicit Runner(RunnerOptions options) : options_(std::move(options)) {}

  /// Runs a kernel on the task's data. The value of a feasible outcome is its seconds, with
  /// `spread` and `cut_short` of MeasurementDetails. Throws SystemError if no runner process can be
  /// started or the system kills it, and Interrupted.
  trial::Outcome Run(const TaskData& task, const TrialMessage& trial, const StopCheck& stop = {});
  /// Number of runner processes started so far.
  int starts() const { return starts_; }

 private:
  struct Process {
    base::Subprocess child;
    Channel channel;
    CrashNotePage note;
    int64_t task = -1;  ///< id of the data it has
  };

  static constexpr int kMaxStarts = 3;

  /// Tries it kMaxStarts times: the system may kill a process that has done nothing yet.
  void Start();
  /// How the process ended that was to become a runner; nullopt if it did become one.
  std::optional<std::string> TryStart();
  bool LimitsMemory() const;
  int64_t MemoryLimit() const;
  trial::Outcome Ask(const TaskData& task, MessageType type, const std::string& body,
                     int descriptor, double timeout, const StopCheck& stop);
  /// Until there is something to receive or the time is over.
  void AwaitAnswer(double timeout, const StopCheck& stop);
  /// The runner did not answer: ends it and says what that means.
  trial::Outcome EndWithoutAnswer(Channel::Event event, double timeout);

  RunnerOptions options_;
  std::unique_ptr<Process> process_;
  int starts_ = 0;
};

}  // namespace bayloom::measure
