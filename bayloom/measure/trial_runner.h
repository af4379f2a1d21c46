// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/measure/constant_copies.h"
#include "bayloom/measure/crash_note.h"
#include "bayloom/measure/gpu_session.h"
#include "bayloom/measure/guarded_memory.h"
#include "bayloom/measure/kernel_launcher.h"
#include "bayloom/measure/protocol.h"

namespace bayloom::measure {

/// What happens inside the runner process: loads kernels, runs, checks and times them. All that a
/// kernel does to the process is not handled here; the tuner starts another one.
class TrialRunner {
 public:
  explicit TrialRunner(CrashNote& note) : note_(note) {}
  ~TrialRunner();
  TrialRunner(const TrialRunner&) = delete;
  TrialRunner& operator=(const TrialRunner&) = delete;

  /// Takes the descriptor of the task's data over.
  OutcomeMessage SetTask(TaskMessage task, int data_descriptor);
  OutcomeMessage Run(const TrialMessage& trial);

 private:
  OutcomeMessage RunLoaded(const TrialMessage& trial);
  /// The same for kernels for the GPU.
  OutcomeMessage RunOnGpu(const TrialMessage& trial);
  /// ... and for those of users.
  OutcomeMessage RunCall(const TrialMessage& trial);
  OutcomeMessage TimeCall(const TrialMessage& trial, double first_seconds,
                          KernelLauncher& launcher);
  /// Gives outputs what they have before a run; what is only written gets `value`.
  void FillForCall(KernelLauncher& launcher, std::byte value);
  void Restore(KernelLauncher& launcher, size_t position);
  void Download(KernelLauncher& launcher);
  /// Outputs with an initial content that they do not have any more.
  std::vector<size_t> ChangedOutputs() const;
  void DropTask();
  /// Gives every constant the form that the trial wants.
  void PackConstants(const TrialMessage& trial);
  void PackConstant(size_t position, const tensor::Buffer& form);
  /// Copies those that are not yet copied as they lie in memory_.
  void CopyConstants();
  void Watch();
  /// Programs are run with the sizes of this one of the task's points.
  void SetPoint(size_t point);
  void FillResults(std::byte value);
  /// Fails unless the last run wrote what it should at the point, and only that.
  Status CheckResults(size_t point = 0) const;
  Status CheckResult(size_t position, size_t point) const;
  /// The outputs as they are in memory_.
  std::vector<std::byte> Results() const;
  void StoreExpected(size_t point);
  /// How a program is run at the task's points, here or on a GPU.
  struct RunsAtPoints {
    std::function<void(size_t point)> set;
    std::function<void(std::byte value)> fill;  ///< results
    std::function<Timing(size_t point, double cut_seconds, const TimingOptions& options)> time;
    std::function<Status(size_t point)> check;
  };
  /// Times what has run once at each of the points that are timed.
  OutcomeMessage TimePoints(const TrialMessage& trial, const RunsAtPoints& runs);
  /// Fails as a program that computed something wrong at the point.
  OutcomeMessage WrongOutput(size_t point, const std::string& when, const Error& error) const;
  const std::byte* DataOf(const TaskParameter& parameter) const { return data_ + parameter.offset; }
  /// What an output has to be at the point.
  const std::byte* ExpectedOf(const TaskParameter& parameter, size_t point) const {
    return DataOf(parameter) + static_cast<int64_t>(point) * task_.result_bytes;
  }

  CrashNote& note_;
  TaskMessage task_;
  int data_descriptor_ = -1;
  const std::byte* data_ = nullptr;    ///< the mapped task data
  std::vector<GuardedMemory> memory_;  ///< one per parameter
  /// Per parameter: the form in which a constant's content lies in memory_, if it does.
  struct ConstantForm {
    std::vector<tensor::LayoutAxis> layout;
    tensor::ConstantTransform transform;
    bool operator==(const ConstantForm&) const = default;
  };
  std::vector<std::optional<ConstantForm>> packed_;
  ConstantCopies constant_copies_;
  GuardedMemory workspace_;
  std::unique_ptr<GpuSession> gpu_;  ///< once there was a kernel for it
  /// Per parameter: a number for what lies in memory_, another one for other content.
  std::vector<uint64_t> contents_;
  uint64_t last_content_ = 0;
  std::vector<uint64_t> copied_;  ///< contents_ when constants were copied last
};

}  // namespace bayloom::measure
