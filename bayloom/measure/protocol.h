// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bayloom/codegen/compile.h"
#include "bayloom/measure/channel.h"
#include "bayloom/measure/output_check.h"
#include "bayloom/measure/timing.h"
#include "bayloom/tensor/program.h"
#include "bayloom/trial/outcome.h"

namespace bayloom::measure {

/// What a tuner and its runner process say to each other. The tuner asks, the runner answers each
/// request with one message.
enum class MessageType : uint32_t {
  kReady,    ///< runner: I am here; or: the task is set
  kSetTask,  ///< tuner: TaskMessage, with the descriptor of the task's data
  kTrial,    ///< tuner: TrialMessage
  kOutcome,  ///< runner: OutcomeMessage
};

/// A parameter of a task's programs, and where its content is in the task's data, as in memory
/// (row-major for constants). For outputs that is the expected content.
struct TaskParameter {
  std::string name;
  tensor::DType dtype = tensor::DType::kFloat32;
  tensor::BufferRole role = tensor::BufferRole::kInput;
  std::vector<int64_t> shape;  ///< of what lies in memory: a slice with gaps is one row
  /// There are elements in between that the program must leave as they are (Buffer::slice_of).
  bool has_gaps = false;
  int64_t offset = 0;  ///< bytes, multiple of a page

  int64_t ElementCount() const;
  int64_t ByteCount() const { return ElementCount() * tensor::ByteSize(dtype); }
};

/// What all programs of a task have in common.
struct TaskMessage {
  int64_t data_bytes = 0;
  std::vector<TaskParameter> parameters;  ///< in the order of Workload::Parameters()
  Tolerance tolerance;
};

/// A compiled program to be run.
struct TrialMessage {
  codegen::KernelObject kernel;
  /// Per parameter, as Buffer::layout.
  std::vector<std::vector<tensor::LayoutAxis>> layouts;
  /// Per parameter, as Buffer::transform; without a source_shape: none.
  std::vector<tensor::ConstantTransform> transforms;
  int threads = 1;
  /// Runs it once and keeps its outputs as what the task's other programs must compute.
  bool is_reference = false;
  double cut_seconds = 0;
  TimingOptions timing;

  static TrialMessage For(const tensor::Program& program, codegen::KernelObject kernel,
                          int threads);
};

// Kernels' launches in bodies of messages.
void Put(BodyWriter& writer, const std::vector<codegen::GpuLaunch>& launches);
void Get(BodyReader& reader, std::vector<codegen::GpuLaunch>& launches);  ///< std::out_of_range

struct OutcomeMessage {
  trial::Verdict verdict = trial::Verdict::kOk;
  std::string reason;
  double seconds = 0;
  double spread = 0;
  bool cut_short = false;
  double clock_mhz = 0;    ///< of a GPU's multiprocessors after timing; 0: unknown
  double power_watts = 0;  ///< of a GPU while timing; 0: unknown
  double registers = 0;    ///< of a GPU's thread, as ResourceUsage; 0: unknown
  double spill_bytes = 0;
};

// What messages hold (EncodeBody, DecodeBody).
template <>
inline constexpr std::tuple kFields<TaskParameter> = {
    &TaskParameter::name,  &TaskParameter::dtype,    &TaskParameter::role,
    &TaskParameter::shape, &TaskParameter::has_gaps, &TaskParameter::offset};
template <>
inline constexpr std::tuple kFields<TaskMessage> = {
    &TaskMessage::data_bytes, &TaskMessage::parameters, &TaskMessage::tolerance};
template <>
inline constexpr std::tuple kFields<codegen::GpuLaunch> = {
    &codegen::GpuLaunch::symbol,    &codegen::GpuLaunch::blocks,
    &codegen::GpuLaunch::threads,   &codegen::GpuLaunch::shared_bytes,
    &codegen::GpuLaunch::registers, &codegen::GpuLaunch::spill_bytes};
template <>
inline constexpr std::tuple kFields<codegen::KernelObject> = {
    &codegen::KernelObject::symbol,
    &codegen::KernelObject::object,
    &codegen::KernelObject::shared_workspace_bytes,
    &codegen::KernelObject::worker_workspace_bytes,
    &codegen::KernelObject::code_bytes,
    &codegen::KernelObject::launches};
template <>
inline constexpr std::tuple kFields<tensor::ConstantTransform> = {
    &tensor::ConstantTransform::source_shape, &tensor::ConstantTransform::matrices};
template <>
inline constexpr std::tuple kFields<TrialMessage> = {
    &TrialMessage::kernel,  &TrialMessage::layouts,      &TrialMessage::transforms,
    &TrialMessage::threads, &TrialMessage::is_reference, &TrialMessage::cut_seconds,
    &TrialMessage::timing};
template <>
inline constexpr std::tuple kFields<OutcomeMessage> = {
    &OutcomeMessage::verdict,     &OutcomeMessage::reason,    &OutcomeMessage::seconds,
    &OutcomeMessage::spread,      &OutcomeMessage::cut_short, &OutcomeMessage::clock_mhz,
    &OutcomeMessage::power_watts, &OutcomeMessage::registers, &OutcomeMessage::spill_bytes};

}  // namespace bayloom::measure
