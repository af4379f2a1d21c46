// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "bayloom/base/single_line.h"
#include "bayloom/base/thread_pool.h"
#include "bayloom/codegen/abi.h"
#include "bayloom/codegen/host.h"
#include "bayloom/codegen/jit.h"
#include "bayloom/codegen/runtime/bayloom_huge_pages.h"
#include "bayloom/codegen/runtime/bayloom_open.h"
#include "bayloom/codegen/runtime/bayloom_runtime.h"
#include "bayloom/codegen/subnormals.h"
#include "bayloom/graph/gpu_network.h"

namespace bayloom::graph {
namespace {

/// An empty tensor may lie nowhere.
void Copy(void* to, const void* from, int64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
}

bool IsAmong(const std::vector<OpenTensor>& tensors, size_t position) {
  return std::ranges::any_of(tensors, [&](const OpenTensor& tensor) {
    return tensor.position == static_cast<int>(position);
  });
}

void CheckFound(const PlannedFound& found, int64_t count) {
  if (count >= found.least && count <= found.most) return;
  throw InputError(fmt::format("the network finds the length {} for '{}', which is {}", count,
                               base::SingleLine(found.name), BoundText(found.least, found.most)));
}

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::vector<codegen::KernelObject> CompilePrograms(
    const std::vector<const tensor::Program*>& programs, const target::Target& target,
    const std::string& prefix, const std::vector<bool>& side_by_side) {
  std::vector<codegen::KernelObject> kernels(programs.size());
  std::vector<std::string> errors(programs.size());
  const bool is_gpu = target.kind() == target::TargetKind::kNvidiaGpu;
  const int processors = codegen::AllowedProcessors();
  base::ThreadPool pool(is_gpu ? processors : std::clamp(target.cores, 1, processors));
  pool.ParallelFor(static_cast<int64_t>(programs.size()), [&](int64_t task) {
    Result<codegen::KernelObject> kernel = codegen::CompileProgram(
        *programs[task], target, fmt::format("{}{}", prefix, task),
        !side_by_side.empty() && side_by_side[task] ? codegen::KernelForm::kSteps
                                                    : codegen::KernelForm::kWhole);
    if (kernel) {
      kernels[task] = *std::move(kernel);
    } else {
      errors[task] = kernel.error().message;
    }
  });
  for (size_t task = 0; task < errors.size(); ++task) {
    if (errors[task].empty()) continue;
    throw InputError(
        fmt::format("task {} cannot be compiled: {}", programs[task]->name, errors[task]));
  }
  return kernels;
}

struct Executor::Impl {
  NetworkPlan plan;

  virtual ~Impl() = default;
  virtual void Use(int task, int program) = 0;
  virtual void SetLengths(std::span<const int64_t> lengths) = 0;
  virtual void KeepFound(bool) {}
  virtual std::span<const int64_t> Lengths() const { return {}; }
  /// Adds the seconds of each call to `seconds` unless that is null.
  virtual void Run(std::vector<const void*> inputs, const std::vector<void*>& outputs,
                   std::vector<double>* seconds) = 0;

  explicit Impl(NetworkPlan planned) : plan(std::move(planned)) {}
};

namespace {

/// In memory of this process, on its processors.
struct OnProcessor final : Executor::Impl {
  std::vector<codegen::LoadedKernel> kernels;
  std::vector<int> first_kernels;  ///< by task; those of its programs follow each other
  std::vector<int> used;           ///< by task: which of its programs
  int threads = 1;
  std::vector<int64_t> workspace_offsets;  ///< by call
  codegen::AlignedMemory arena, states, workspace, constants;
  std::vector<codegen::AlignedMemory> input_copies, output_copies;
  /// Of a round's calls; kept from one to the next.
  std::array<std::vector<void*>, BAYLOOM_MAX_LOOPS> call_parameters;
  std::vector<int64_t> lengths;      ///< of the open dimensions
  std::vector<int64_t> set_lengths;  ///< the same before anything is found
  bool keeps_found = false;
  std::vector<const PlannedCall*> small_calls;  ///< by call, for these lengths; null: the usual one

  /// `programs`: how many each task has; their objects follow each other.
  OnProcessor(NetworkPlan planned, const std::vector<codegen::KernelObject>& objects,
              const std::vector<int>& programs, int cores)
      : Impl(std::move(planned)), used(programs.size()), threads(cores) {
    for (int next = 0; const int count : programs)
      first_kernels.push_back(std::exchange(next, next + count));
    for (const codegen::KernelObject& object : objects) {
      Result<codegen::LoadedKernel> kernel = codegen::LoadedKernel::Load(object);
      if (!kernel) throw InputError("cannot load compiled code: " + kernel.error().message);
      kernels.push_back(*std::move(kernel));
    }
    arena = codegen::AllocateAligned(plan.arena_bytes);
    states = codegen::AllocateAligned(plan.state_bytes);
    workspace = codegen::AllocateAligned(PlaceWorkspaces(objects, programs));
    constants = codegen::AllocateAligned(static_cast<int64_t>(plan.constants.size()));
    Copy(constants.get(), plan.constants.data(), static_cast<int64_t>(plan.constants.size()));
    bayloom_use_huge_pages(constants.get(), static_cast<int64_t>(plan.constants.size()), 0);
    plan.constants = {};
    std::vector<int64_t> largest;
    for (const Symbol& symbol : plan.symbols) largest.push_back(symbol.largest);
    OnProcessor::SetLengths(largest);
    for (int64_t bytes : plan.input_bytes) input_copies.push_back(codegen::AllocateAligned(bytes));
    for (int64_t bytes : plan.output_bytes)
      output_copies.push_back(codegen::AllocateAligned(bytes));
  }

  /// Calls of one round get workspaces beside each other; the bytes that the largest round needs.
  int64_t PlaceWorkspaces(const std::vector<codegen::KernelObject>& objects,
                          const std::vector<int>& programs) {
    workspace_offsets.resize(plan.calls.size());
    int64_t most = 0;
    for (const std::vector<int>& round : plan.rounds) {
      int64_t bytes = 0;
      for (int call : round) {
        workspace_offsets[call] = bytes;
        const int task = plan.calls[call].task;
        int64_t own = 0;
        for (int k = 0; k < programs[task]; ++k) {
          own = std::max(own, objects[first_kernels[task] + k].WorkspaceBytes(threads));
        }
        if (!plan.small_calls.empty()) {
          for (const SmallCall& small : plan.small_calls[call]) {
            if (small.IsNothing()) continue;
            own = std::max(own, objects[small.call.task].WorkspaceBytes(threads));
          }
        }
        bytes += target::AlignUp(own);
      }
      most = std::max(most, bytes);
    }
    return most;
  }

  char* Resolve(const Storage& storage, const std::vector<const void*>& inputs,
                const std::vector<void*>& outputs) const {
    switch (storage.kind) {
      case Storage::Kind::kInput:
        // Kernels only read their inputs.
        return static_cast<char*>(const_cast<void*>(inputs[storage.position])) + storage.offset;
      case Storage::Kind::kOutput:
        return static_cast<char*>(outputs[storage.position]) + storage.offset;
      case Storage::Kind::kArena:
        return static_cast<char*>(arena.get()) + storage.position;
      case Storage::Kind::kState:
        return static_cast<char*>(states.get()) + storage.position +
               storage.rows.Evaluate(lengths) * storage.row_bytes;
      case Storage::Kind::kConstant:
        break;
    }
    return static_cast<char*>(constants.get()) + storage.position;
  }

  void Use(int task, int program) override { used[task] = program; }

  void SetLengths(std::span<const int64_t> of_symbols) override {
    set_lengths.assign(of_symbols.begin(), of_symbols.end());
    ResetLengths();
  }

  void KeepFound(bool keep) override {
    keeps_found = keep;
    ResetLengths();
  }

  std::span<const int64_t> Lengths() const override { return lengths; }

  void ResetLengths() {
    lengths = set_lengths;
    for (const PlannedFound& found : plan.found) {
      if (found.symbol >= 0 && !keeps_found) lengths[found.symbol] = found.most;
    }
    ApplyLengths();
  }

  void ApplyLengths() {
    small_calls.assign(plan.calls.size(), nullptr);
    for (size_t c = 0; c < plan.small_calls.size(); ++c) {
      const auto fits = [&](const SmallCall& call) {
        return call.size.Evaluate(lengths) <= call.up_to;
      };
      const auto first = std::ranges::find_if(plan.small_calls[c], fits);
      if (first != plan.small_calls[c].end()) small_calls[c] = &first->call;
    }
    for (const PlannedSize& size : plan.sizes) {
      const int64_t value = size.length.Evaluate(lengths);
      std::memcpy(static_cast<char*>(arena.get()) + size.position, &value, sizeof(value));
    }
  }

  /// Reads the lengths that are there after so many rounds, from the position in NetworkPlan::found
  /// on, which moves behind them.
  void ReadFound(int rounds, size_t& next, const std::vector<const void*>& inputs,
                 const std::vector<void*>& outputs) {
    const size_t first = next;
    for (; next < plan.found.size() && plan.found[next].rounds == rounds; ++next) {
      const PlannedFound& found = plan.found[next];
      int64_t count = 0;
      std::memcpy(&count, Resolve(found.count, inputs, outputs), sizeof(count));
      if (keeps_found) continue;
      CheckFound(found, count);
      if (found.symbol >= 0) lengths[found.symbol] = count;
    }
    if (next > first) ApplyLengths();
  }

  std::vector<int64_t> LengthsOf(const OpenTensor& tensor) const {
    std::vector<int64_t> result;
    for (const Length& length : tensor.lengths) result.push_back(length.Evaluate(lengths));
    return result;
  }

  void SpreadInputs(const std::vector<const void*>& inputs) {
    for (const OpenTensor& tensor : plan.open_inputs) {
      if (inputs[tensor.position] == nullptr) continue;
      const std::vector<int64_t> shape = LengthsOf(tensor);
      bayloom_spread(Resolve(tensor.network, {}, {}),
                     static_cast<const char*>(inputs[tensor.position]),
                     static_cast<int>(shape.size()), shape.data(), tensor.extents.data(),
                     tensor.element_bytes);
    }
  }

  void GatherOutputs(const std::vector<const void*>& inputs, const std::vector<void*>& outputs) {
    for (const OpenTensor& tensor : plan.open_outputs) {
      if (outputs[tensor.position] == nullptr) continue;
      const std::vector<int64_t> shape = LengthsOf(tensor);
      bayloom_gather(static_cast<char*>(outputs[tensor.position]),
                     Resolve(tensor.network, inputs, outputs), static_cast<int>(shape.size()),
                     shape.data(), tensor.extents.data(), tensor.element_bytes);
    }
  }

  const PlannedCall& CallOf(int position) const {
    if (small_calls[static_cast<size_t>(position)] != nullptr) return *small_calls[position];
    const int program = used[plan.calls[position].task];
    return program == 0 ? plan.calls[position] : plan.alternatives[position][program - 1];
  }

  void RunRound(const std::vector<int>& round, const std::vector<const void*>& inputs,
                const std::vector<void*>& outputs, std::vector<double>* seconds);

  void Run(std::vector<const void*> inputs, const std::vector<void*>& outputs,
           std::vector<double>* seconds) override {
    bayloom_set_threads(threads);
    const codegen::SubnormalsAreZeros flushed;
    SpreadInputs(inputs);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (codegen::IsAligned(inputs[i]) || IsAmong(plan.open_inputs, i)) continue;
      Copy(input_copies[i].get(), inputs[i], plan.input_bytes[i]);
      inputs[i] = input_copies[i].get();
    }
    std::vector<void*> results = outputs;
    for (size_t i = 0; i < results.size(); ++i) {
      if (codegen::IsAligned(results[i]) || IsAmong(plan.open_outputs, i)) continue;
      results[i] = output_copies[i].get();
    }
    size_t next_found = 0;
    if (!plan.found.empty()) ResetLengths();
    ReadFound(0, next_found, inputs, results);
    for (size_t round = 0; round < plan.rounds.size(); ++round) {
      RunRound(plan.rounds[round], inputs, results, seconds);
      ReadFound(static_cast<int>(round) + 1, next_found, inputs, results);
    }
    for (const PlannedCopy& copy : plan.copies) {
      Copy(results[copy.output], Resolve(copy.from, inputs, results), copy.bytes);
    }
    GatherOutputs(inputs, results);
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i] != outputs[i]) Copy(outputs[i], results[i], plan.output_bytes[i]);
    }
  }
};

void OnProcessor::RunRound(const std::vector<int>& round, const std::vector<const void*>& inputs,
                           const std::vector<void*>& outputs, std::vector<double>* seconds) {
  std::array<bayloom_kernel_call, BAYLOOM_MAX_LOOPS> together{};
  int count = 0;
  for (size_t i = 0; i < round.size(); ++i) {
    const PlannedCall& call = CallOf(round[i]);
    if (call.task == SmallCall::kNothing) continue;
    const codegen::LoadedKernel& kernel = kernels[first_kernels[call.task] + used[call.task]];
    std::vector<void*>& parameters = call_parameters[i];
    parameters.clear();
    for (const Storage& s : call.arguments) parameters.push_back(Resolve(s, inputs, outputs));
    void* const own = static_cast<char*>(workspace.get()) + workspace_offsets[round[i]];
    together[count++] = {parameters.data(), own, kernel.steps().data(),
                         static_cast<int>(kernel.steps().size())};
    if (round.size() > 1 && seconds == nullptr) continue;
    const double start = seconds != nullptr ? Now() : 0;
    kernel(parameters.data(), own);
    if (seconds != nullptr) (*seconds)[round[i]] += Now() - start;
  }
  if (round.size() > 1 && seconds == nullptr && count > 0) {
    bayloom_run_together(count, together.data());
  }
}

/// On the GPU, with its own memory.
struct OnGpu final : Executor::Impl {
  GpuNetwork network;
  std::vector<int64_t> lengths;  ///< of the open dimensions

  OnGpu(NetworkPlan planned, const std::vector<codegen::KernelObject>& objects,
        const target::Target& target)
      : Impl(std::move(planned)), network(plan, objects, target) {
    plan.constants = {};
    for (const Symbol& symbol : plan.symbols) lengths.push_back(symbol.largest);
  }

  void Use(int, int) override {}
  void SetLengths(std::span<const int64_t> of_symbols) override {
    lengths.assign(of_symbols.begin(), of_symbols.end());
  }
  std::span<const int64_t> Lengths() const override { return lengths; }

  void Run(std::vector<const void*> inputs, const std::vector<void*>& outputs,
           std::vector<double>* seconds) override {
    network.Run(inputs, outputs, lengths, seconds);
  }
};

}  // namespace

Executor::Executor(const TaskGraph& network, const std::vector<const tensor::Program*>& programs,
                   const target::Target& target, Branches branches,
                   std::span<const SmallProgram> small) {
  NetworkPlan plan = PlanNetwork(network, programs, target, branches, nullptr, small);
  std::vector<const tensor::Program*> all = programs;
  for (const SmallProgram& program : small) all.push_back(program.program);
  const std::vector<codegen::KernelObject> objects =
      CompilePrograms(all, target, "kernel_", plan.TasksSideBySide(all.size()));
  if (target.kind() == target::TargetKind::kNvidiaGpu) {
    impl_ = std::make_unique<OnGpu>(std::move(plan), objects, target);
  } else {
    const std::vector<int> one_each(all.size(), 1);
    impl_ = std::make_unique<OnProcessor>(std::move(plan), objects, one_each, target.cores);
  }
}

Executor::Executor(const TaskGraph& network,
                   const std::vector<std::vector<const tensor::Program*>>& programs,
                   const target::Target& target) {
  std::vector<const tensor::Program*> all;
  std::vector<int> counts;
  for (const std::vector<const tensor::Program*>& of_task : programs) {
    all.insert(all.end(), of_task.begin(), of_task.end());
    counts.push_back(static_cast<int>(of_task.size()));
  }
  impl_ = std::make_unique<OnProcessor>(PlanWithAlternatives(network, programs, target),
                                        CompilePrograms(all, target), counts, target.cores);
}
Executor::~Executor() = default;
Executor::Executor(Executor&&) noexcept = default;

void Executor::Run(const std::vector<const void*>& inputs, const std::vector<void*>& outputs) {
  impl_->Run(inputs, outputs, nullptr);
}

void Executor::RunTimed(const std::vector<const void*>& inputs, const std::vector<void*>& outputs,
                        std::vector<double>& seconds) {
  seconds.resize(impl_->plan.calls.size());
  impl_->Run(inputs, outputs, &seconds);
}

void Executor::SetLengths(std::span<const int64_t> lengths) {
  const std::vector<Symbol>& symbols = impl_->plan.symbols;
  if (lengths.size() != symbols.size()) throw std::logic_error("a length for each open dimension");
  for (size_t s = 0; s < symbols.size(); ++s) {
    if (!symbols[s].Has(lengths[s])) {
      throw std::logic_error(fmt::format("{} is not in {}", lengths[s], symbols[s].ToString()));
    }
  }
  impl_->SetLengths(lengths);
}

void Executor::KeepFound(bool keep) { impl_->KeepFound(keep); }

std::span<const int64_t> Executor::Lengths() const { return impl_->Lengths(); }

void Executor::Use(int task, int program) { impl_->Use(task, program); }

const NetworkPlan& Executor::plan() const { return impl_->plan; }

}  // namespace bayloom::graph
