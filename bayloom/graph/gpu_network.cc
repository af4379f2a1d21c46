// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/gpu_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "bayloom/base/system_error.h"

namespace bayloom::graph {
namespace {

constexpr size_t kErrorBytes = 256;

[[noreturn]] void Fail(bayloom_gpu_status status, const std::string& what) {
  if (status == BAYLOOM_GPU_FAILED) throw SystemError(what);
  throw InputError(what);
}

}  // namespace

bayloom_gpu_place PlaceOnGpu(const NetworkPlan& plan, const Storage& storage) {
  constexpr bayloom_gpu_memory kMemories[] = {BAYLOOM_GPU_INPUT, BAYLOOM_GPU_OUTPUT,
                                              BAYLOOM_GPU_ARENA, BAYLOOM_GPU_CONSTANT,
                                              BAYLOOM_GPU_STATE};
  if (storage.kind == Storage::Kind::kArena) {
    const auto size = std::ranges::find(plan.sizes, storage.position, &PlannedSize::position);
    if (size != plan.sizes.end()) {
      return {BAYLOOM_GPU_SIZE, size - plan.sizes.begin(), 0, nullptr, 0};
    }
  }
  return {kMemories[static_cast<size_t>(storage.kind)], storage.position, storage.offset, nullptr,
          storage.row_bytes};
}

std::vector<int64_t> WholeBytes(const std::vector<int64_t>& bytes,
                                const std::vector<OpenTensor>& open) {
  std::vector<int64_t> whole = bytes;
  for (const OpenTensor& tensor : open) whole[static_cast<size_t>(tensor.position)] = 0;
  return whole;
}

struct GpuNetwork::Tables {
  std::string architecture;
  std::vector<codegen::KernelObject> objects;
  // What is pointed to stays where it is.
  std::deque<std::vector<bayloom_gpu_reach>> reaches;
  std::deque<std::vector<bayloom_gpu_launch>> launches;
  std::deque<std::vector<bayloom_length_step>> lengths;
  std::deque<std::vector<const bayloom_length_step*>> dimensions;
  std::deque<std::vector<int64_t>> extents;
  std::deque<std::vector<bayloom_gpu_place>> arguments;
  std::deque<std::vector<bayloom_gpu_small_call>> small_calls;
  std::vector<bayloom_gpu_kernel> kernels;
  std::vector<bayloom_gpu_planned_call> calls;
  std::vector<bayloom_gpu_copy> copies;
  std::vector<const bayloom_length_step*> sizes;
  std::vector<bayloom_gpu_open_tensor> open_inputs, open_outputs;
  std::vector<int64_t> input_bytes, output_bytes;
  bayloom_gpu_plan plan = {};
  bayloom_gpu_network network = {};

  Tables(const NetworkPlan& planned, std::vector<codegen::KernelObject> compiled,
         const target::Target& target)
      : architecture(target.cpu),
        objects(std::move(compiled)),
        input_bytes(WholeBytes(planned.input_bytes, planned.open_inputs)),
        output_bytes(WholeBytes(planned.output_bytes, planned.open_outputs)) {
    for (const codegen::KernelObject& object : objects) AddKernel(object);
    for (size_t c = 0; c < planned.calls.size(); ++c) AddCall(planned, c);
    for (const PlannedCopy& copy : planned.copies) {
      copies.push_back({Place(planned, copy.from), copy.output, copy.bytes});
    }
    for (const PlannedSize& size : planned.sizes) sizes.push_back(Steps(size.length));
    for (const OpenTensor& tensor : planned.open_inputs) {
      open_inputs.push_back(Open(planned, tensor));
    }
    for (const OpenTensor& tensor : planned.open_outputs) {
      open_outputs.push_back(Open(planned, tensor));
    }
    plan.call_count = static_cast<int>(calls.size());
    plan.calls = calls.data();
    plan.copy_count = static_cast<int>(copies.size());
    plan.copies = copies.data();
    plan.input_bytes = input_bytes.data();
    plan.output_bytes = output_bytes.data();
    plan.arena_bytes = planned.arena_bytes;
    plan.length_count = std::ssize(planned.symbols);
    plan.size_count = std::ssize(sizes);
    plan.sizes = sizes.data();
    plan.open_input_count = std::ssize(open_inputs);
    plan.open_inputs = open_inputs.data();
    plan.open_output_count = std::ssize(open_outputs);
    plan.open_outputs = open_outputs.data();
    network.architecture = architecture.c_str();
    network.input_count = static_cast<int>(input_bytes.size());
    network.output_count = static_cast<int>(output_bytes.size());
    network.kernel_count = static_cast<int>(kernels.size());
    network.kernels = kernels.data();
    network.state_bytes = planned.state_bytes;
    network.constants = planned.constants.data();
    network.constant_bytes = static_cast<int64_t>(planned.constants.size());
    network.plan_count = 1;
    network.plans = &plan;
  }

  void AddKernel(const codegen::KernelObject& object) {
    std::vector<bayloom_gpu_launch>& own = launches.emplace_back();
    for (const codegen::GpuLaunch& launch : object.launches) {
      std::vector<bayloom_gpu_reach>& grid = reaches.emplace_back();
      for (const codegen::GridReach& reach : launch.reaches) {
        grid.push_back({reach.most, reach.size, reach.before, reach.step, reach.or_next ? 1 : 0});
      }
      own.push_back({launch.symbol.c_str(), launch.blocks, launch.threads, launch.shared_bytes,
                     launch.block_share, launch.fixed_iterations, std::ssize(grid), grid.data()});
    }
    kernels.push_back({object.object.c_str(), static_cast<int>(own.size()), own.data()});
    network.workspace_bytes = std::max(network.workspace_bytes, object.shared_workspace_bytes);
  }

  const bayloom_length_step* Steps(const Length& length) {
    return lengths.emplace_back(length.Steps()).data();
  }

  bayloom_gpu_place Place(const NetworkPlan& planned, const Storage& storage) {
    bayloom_gpu_place place = PlaceOnGpu(planned, storage);
    if (place.memory == BAYLOOM_GPU_STATE) place.rows = Steps(storage.rows);
    return place;
  }

  bayloom_gpu_call CallOf(const NetworkPlan& planned, const PlannedCall& call) {
    std::vector<bayloom_gpu_place>& own = arguments.emplace_back();
    for (const Storage& storage : call.arguments) own.push_back(Place(planned, storage));
    return {call.task, static_cast<int>(own.size()), own.data()};
  }

  void AddCall(const NetworkPlan& planned, size_t number) {
    std::vector<bayloom_gpu_small_call>& small = small_calls.emplace_back();
    if (!planned.small_calls.empty()) {
      for (const SmallCall& call : planned.small_calls[number]) {
        small.push_back({Steps(call.size), call.up_to, CallOf(planned, call.call)});
      }
    }
    calls.push_back({CallOf(planned, planned.calls[number]), std::ssize(small), small.data()});
  }

  bayloom_gpu_open_tensor Open(const NetworkPlan& planned, const OpenTensor& tensor) {
    std::vector<const bayloom_length_step*>& own = dimensions.emplace_back();
    for (const Length& length : tensor.lengths) own.push_back(Steps(length));
    const std::vector<int64_t>& most = extents.emplace_back(tensor.extents);
    return {tensor.position,  Place(planned, tensor.network),
            std::ssize(most), own.data(),
            most.data(),      tensor.element_bytes};
  }
};

GpuNetwork::GpuNetwork(const NetworkPlan& plan, std::vector<codegen::KernelObject> kernels,
                       const target::Target& target)
    : tables_(std::make_unique<Tables>(plan, std::move(kernels), target)) {
  char error[kErrorBytes] = "";
  const bayloom_gpu_status status =
      bayloom_gpu_create(&tables_->network, &gpu_, error, sizeof(error));
  if (status == BAYLOOM_GPU_OK) return;
  const double megabytes =
      static_cast<double>(tables_->network.constant_bytes + plan.arena_bytes + plan.state_bytes +
                          tables_->network.workspace_bytes) /
      1e6;
  Fail(status, status == BAYLOOM_GPU_NO_MEMORY
                   ? fmt::format("{} (weights and values between operators are {:.1f} MB)", error,
                                 megabytes)
                   : error);
}

GpuNetwork::~GpuNetwork() { bayloom_gpu_destroy(gpu_); }

void GpuNetwork::Run(const std::vector<const void*>& inputs, const std::vector<void*>& outputs,
                     std::span<const int64_t> lengths, std::vector<double>* seconds) {
  char error[kErrorBytes] = "";
  const bayloom_gpu_work work = {0, inputs.data(), outputs.data(), lengths.data()};
  const bayloom_gpu_status status = bayloom_gpu_time(
      gpu_, &work, seconds == nullptr ? nullptr : seconds->data(), error, sizeof(error));
  if (status != BAYLOOM_GPU_OK) Fail(status, error);
}

}  // namespace bayloom::graph
