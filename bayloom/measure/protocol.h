// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bayloom/codegen/compile.h"
#include "bayloom/measure/channel.h"
#include "bayloom/measure/kernel_call.h"
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
/// (row-major for constants). For outputs that is the content expected at the first of the task's
/// points; that of the others follows in steps of TaskMessage::result_bytes.
struct TaskParameter {
  std::string name;
  tensor::DType dtype = tensor::DType::kFloat32;
  tensor::BufferRole role = tensor::BufferRole::kInput;
  std::vector<int64_t> shape;  ///< of what lies in memory: a slice with gaps is one row
  /// There are elements in between that the program must leave as they are (Buffer::slice_of).
  bool has_gaps = false;
  int64_t offset = 0;  ///< bytes, multiple of a page
  /// Of a parameter with open dimensions: per dimension, its extent, how far apart its elements are
  /// in memory and the size that bounds it (-1: none does).
  std::vector<int64_t> extents = {}, strides = {};
  std::vector<int> bounds = {};
  /// Of an output that is read as well: where its content before a run is in the task's data. -1:
  /// it has none.
  int64_t initial_offset = -1;
  bool is_checked = true;  ///< an output whose content is known

  int64_t ElementCount() const;
  int64_t ByteCount() const { return ElementCount() * tensor::ByteSize(dtype); }
};

/// What all programs of a task have in common.
struct TaskMessage {
  int64_t data_bytes = 0;
  std::vector<TaskParameter> parameters;  ///< in the order of Workload::Parameters()
  Tolerance tolerance;
  /// Values of the sizes, which are the first parameters, that programs are run and checked with;
  /// they are timed with the first `timed` of them. One without values: there are no sizes.
  std::vector<std::vector<int64_t>> points = {{}};
  int64_t timed = 1;
  int64_t result_bytes = 0;
  /// As Workload's: runs that are timed take copies of the constants in turn.
  bool has_cold_constants = false;
};

/// Elements that lie one after the other.
struct ElementSpan {
  int64_t first = 0;
  int64_t count = 0;
};

/// The elements of a parameter's memory that there are with these values of the sizes.
std::vector<ElementSpan> ElementsWithin(const TaskParameter& parameter,
                                        std::span<const int64_t> sizes);

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
  /// How a user's kernel is called; then `kernel`, `layouts` and `transforms` say
  /// nothing.
  KernelCall call = {};

  static TrialMessage For(const tensor::Program& program, codegen::KernelObject kernel,
                          int threads);
};

// Kernels' launches in bodies of messages.
void Put(BodyWriter& writer, const std::vector<codegen::GpuLaunch>& launches);
void Get(BodyReader& reader, std::vector<codegen::GpuLaunch>& launches);  ///< std::out_of_range

struct OutcomeMessage {
  trial::Verdict verdict = trial::Verdict::kOk;
  std::string reason;
  double seconds = 0;  ///< geometric mean over the timed points
  /// At each of these, where there are several.
  std::vector<double> point_seconds = {};
  double spread = 0;
  bool cut_short = false;
  double clock_mhz = 0;    ///< of a GPU's multiprocessors after timing; 0: unknown
  double power_watts = 0;  ///< of a GPU while timing; 0: unknown
  double registers = 0;    ///< of a GPU's thread, as ResourceUsage; 0: unknown
  double spill_bytes = 0;
  /// Of a user's kernel: of each batch, seconds per run.
  std::vector<double> batches = {};

  /// That of a trial without a value.
  static OutcomeMessage Failure(trial::Verdict verdict, std::string reason);
};

// What messages hold (EncodeBody, DecodeBody).
template <>
inline constexpr std::tuple kFields<TaskParameter> = {
    &TaskParameter::name,           &TaskParameter::dtype,     &TaskParameter::role,
    &TaskParameter::shape,          &TaskParameter::has_gaps,  &TaskParameter::offset,
    &TaskParameter::extents,        &TaskParameter::strides,   &TaskParameter::bounds,
    &TaskParameter::initial_offset, &TaskParameter::is_checked};
template <>
inline constexpr std::tuple kFields<TaskMessage> = {&TaskMessage::data_bytes,
                                                    &TaskMessage::parameters,
                                                    &TaskMessage::tolerance,
                                                    &TaskMessage::points,
                                                    &TaskMessage::timed,
                                                    &TaskMessage::result_bytes,
                                                    &TaskMessage::has_cold_constants};
template <>
inline constexpr std::tuple kFields<codegen::GpuLaunch> = {
    &codegen::GpuLaunch::symbol,      &codegen::GpuLaunch::blocks,
    &codegen::GpuLaunch::threads,     &codegen::GpuLaunch::shared_bytes,
    &codegen::GpuLaunch::registers,   &codegen::GpuLaunch::spill_bytes,
    &codegen::GpuLaunch::block_share, &codegen::GpuLaunch::fixed_iterations,
    &codegen::GpuLaunch::reaches};
template <>
inline constexpr std::tuple kFields<codegen::GridReach> = {
    &codegen::GridReach::most, &codegen::GridReach::size, &codegen::GridReach::before,
    &codegen::GridReach::step, &codegen::GridReach::or_next};
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
    &TrialMessage::timing,  &TrialMessage::call};
template <>
inline constexpr std::tuple kFields<OutcomeMessage> = {
    &OutcomeMessage::verdict,       &OutcomeMessage::reason,      &OutcomeMessage::seconds,
    &OutcomeMessage::point_seconds, &OutcomeMessage::spread,      &OutcomeMessage::cut_short,
    &OutcomeMessage::clock_mhz,     &OutcomeMessage::power_watts, &OutcomeMessage::registers,
    &OutcomeMessage::spill_bytes,   &OutcomeMessage::batches};

}  // namespace bayloom::measure
