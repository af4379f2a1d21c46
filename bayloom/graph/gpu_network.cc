// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/gpu_network.h"

#include <fmt/format.h>

#include <algorithm>
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

bayloom_gpu_place PlaceOnGpu(const Storage& storage) {
  constexpr bayloom_gpu_memory kMemories[] = {BAYLOOM_GPU_INPUT, BAYLOOM_GPU_OUTPUT,
                                              BAYLOOM_GPU_ARENA, BAYLOOM_GPU_CONSTANT};
  return {kMemories[static_cast<size_t>(storage.kind)], storage.position, storage.offset};
}

struct GpuNetwork::Tables {
  std::string architecture;
  std::vector<codegen::KernelObject> objects;
  std::vector<std::vector<bayloom_gpu_launch>> launches;
  std::vector<bayloom_gpu_kernel> kernels;
  std::vector<std::vector<bayloom_gpu_place>> arguments;
  std::vector<bayloom_gpu_call> calls;
  std::vector<bayloom_gpu_copy> copies;
  std::vector<int64_t> input_bytes, output_bytes;
  bayloom_gpu_plan plan = {};
  bayloom_gpu_network network = {};

  Tables(const NetworkPlan& planned, std::vector<codegen::KernelObject> compiled,
         const target::Target& target)
      : architecture(target.cpu),
        objects(std::move(compiled)),
        input_bytes(planned.input_bytes),
        output_bytes(planned.output_bytes) {
    for (const codegen::KernelObject& object : objects) {
      std::vector<bayloom_gpu_launch>& own = launches.emplace_back();
      for (const codegen::GpuLaunch& launch : object.launches) {
        own.push_back({launch.symbol.c_str(), launch.blocks, launch.threads, launch.shared_bytes});
      }
      kernels.push_back({object.object.c_str(), static_cast<int>(own.size()), own.data()});
      network.workspace_bytes = std::max(network.workspace_bytes, object.shared_workspace_bytes);
    }
    for (const PlannedCall& call : planned.calls) {
      std::vector<bayloom_gpu_place>& own = arguments.emplace_back();
      for (const Storage& storage : call.arguments) own.push_back(PlaceOnGpu(storage));
      calls.push_back({call.task, static_cast<int>(own.size()), own.data()});
    }
    for (const PlannedCopy& copy : planned.copies) {
      copies.push_back({PlaceOnGpu(copy.from), copy.output, copy.bytes});
    }
    plan = {static_cast<int>(calls.size()),
            calls.data(),
            static_cast<int>(copies.size()),
            copies.data(),
            input_bytes.data(),
            output_bytes.data(),
            planned.arena_bytes};
    network.architecture = architecture.c_str();
    network.input_count = static_cast<int>(input_bytes.size());
    network.output_count = static_cast<int>(output_bytes.size());
    network.kernel_count = static_cast<int>(kernels.size());
    network.kernels = kernels.data();
    network.constants = planned.constants.data();
    network.constant_bytes = static_cast<int64_t>(planned.constants.size());
    network.plan_count = 1;
    network.plans = &plan;
  }
};

GpuNetwork::GpuNetwork(const NetworkPlan& plan, std::vector<codegen::KernelObject> kernels,
                       const target::Target& target)
    : tables_(std::make_unique<Tables>(plan, std::move(kernels), target)) {
  char error[kErrorBytes] = "";
  const bayloom_gpu_status status =
      bayloom_gpu_create(&tables_->network, &gpu_, error, sizeof(error));
  if (status == BAYLOOM_GPU_OK) return;
  const double megabytes = static_cast<double>(tables_->network.constant_bytes + plan.arena_bytes +
                                               tables_->network.workspace_bytes) /
                           1e6;
  Fail(status, status == BAYLOOM_GPU_NO_MEMORY
                   ? fmt::format("{} (weights and values between operators are {:.1f} MB)", error,
                                 megabytes)
                   : error);
}

GpuNetwork::~GpuNetwork() { bayloom_gpu_destroy(gpu_); }

void GpuNetwork::Run(const std::vector<const void*>& inputs, const std::vector<void*>& outputs,
                     std::vector<double>* seconds) {
  char error[kErrorBytes] = "";
  const bayloom_gpu_status status =
      seconds == nullptr
          ? bayloom_gpu_run(gpu_, 0, inputs.data(), outputs.data(), error, sizeof(error))
          : bayloom_gpu_time(gpu_, 0, inputs.data(), outputs.data(), seconds->data(), error,
                             sizeof(error));
  if (status != BAYLOOM_GPU_OK) Fail(status, error);
}

}  // namespace bayloom::graph
