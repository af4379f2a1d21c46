// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Streams, events, graphs, launches.

#include <unistd.h>

#include <cstdio>

#include "tests/cuda_stand_in/device.h"

namespace bayloom::cuda_stand_in {
namespace {

/// Runs a kernel's threads, with every access checked: what is found is an illegal address, and the
/// message goes to standard error.
int RunLaunch(const Function& function, int64_t blocks, const std::vector<void*>& pointers) {
  if (TakeFault("hang")) pause();
  const std::vector<int64_t> bytes = function.module->code.ParameterBytes();
  for (size_t i = 0; i < pointers.size(); ++i) {
    const auto address = reinterpret_cast<uint64_t>(pointers[i]);
    if (TheDevice().At(address, static_cast<uint64_t>(bytes[i])) == nullptr) {
      std::fprintf(stderr, "argument %zu of a kernel is no memory of the device\n", i);
      return TheDevice().error = kIllegalAddress;
    }
  }
  const codegen::StandIn& code = function.module->code;
  if (const int64_t needed = code.BlocksOf(function.number, pointers); blocks < needed) {
    std::fprintf(stderr, "%lld blocks of a kernel are launched, and its sizes need %lld\n",
                 static_cast<long long>(blocks), static_cast<long long>(needed));
    return TheDevice().error = kIllegalAddress;
  }
  const auto seen = code.RunKernel(function.number, blocks, pointers, {});
  if (!seen) {
    std::fprintf(stderr, "%s\n", seen.error().message.c_str());
    return TheDevice().error = kIllegalAddress;
  }
  if (TakeFault("illegal-address")) return TheDevice().error = kIllegalAddress;
  if (TakeFault("overrun")) {
    const size_t last = pointers.size() - 2;  // the output; behind it is the workspace
    static_cast<std::byte*>(pointers[last])[bytes[last]] = std::byte{1};
  }
  return kSuccess;
}

int RunAll(const Graph& graph) {
  for (const std::function<int()>& work : graph) {
    if (const int error = work(); error != kSuccess) return error;
  }
  return kSuccess;
}

}  // namespace

int Enqueue(bayloom_cu_stream stream, std::function<int()> work) {
  if (const int error = Ready(); error != kSuccess) return error;
  auto* of = reinterpret_cast<Stream*>(stream);
  if (of != nullptr && of->is_capturing) {
    of->captured.push_back(std::move(work));
    return kSuccess;
  }
  return work();
}

STAND_IN_EXPORT int cuStreamCreate(bayloom_cu_stream* stream, unsigned) {
  if (const int error = Ready(); error != kSuccess) return error;
  *stream = reinterpret_cast<bayloom_cu_stream>(new Stream);
  return kSuccess;
}

STAND_IN_EXPORT int cuStreamDestroy_v2(bayloom_cu_stream stream) {
  delete reinterpret_cast<Stream*>(stream);
  return Ready();
}

STAND_IN_EXPORT int cuStreamSynchronize(bayloom_cu_stream stream) {
  if (reinterpret_cast<Stream*>(stream)->is_capturing) return kCaptureInvalidated;
  return Ready();
}

STAND_IN_EXPORT int cuStreamBeginCapture_v2(bayloom_cu_stream stream, int) {
  if (const int error = Ready(); error != kSuccess) return error;
  auto* of = reinterpret_cast<Stream*>(stream);
  if (of->is_capturing) return kInvalidValue;
  of->is_capturing = true;
  return kSuccess;
}

STAND_IN_EXPORT int cuStreamEndCapture(bayloom_cu_stream stream, bayloom_cu_graph* graph) {
  auto* of = reinterpret_cast<Stream*>(stream);
  if (!of->is_capturing) return kInvalidValue;
  of->is_capturing = false;
  *graph = reinterpret_cast<bayloom_cu_graph>(new Graph(std::move(of->captured)));
  of->captured.clear();
  return Ready();
}

STAND_IN_EXPORT int cuGraphInstantiateWithFlags(bayloom_cu_graph_exec* made, bayloom_cu_graph graph,
                                                unsigned long long) {
  if (const int error = Ready(); error != kSuccess) return error;
  *made =
      reinterpret_cast<bayloom_cu_graph_exec>(new Graph(*reinterpret_cast<const Graph*>(graph)));
  return kSuccess;
}

STAND_IN_EXPORT int cuGraphLaunch(bayloom_cu_graph_exec graph, bayloom_cu_stream stream) {
  return Enqueue(stream, [graph] { return RunAll(*reinterpret_cast<const Graph*>(graph)); });
}

STAND_IN_EXPORT int cuGraphExecDestroy(bayloom_cu_graph_exec graph) {
  delete reinterpret_cast<Graph*>(graph);
  return Ready();
}

STAND_IN_EXPORT int cuGraphDestroy(bayloom_cu_graph graph) {
  delete reinterpret_cast<Graph*>(graph);
  return Ready();
}

STAND_IN_EXPORT int cuEventCreate(bayloom_cu_event* event, unsigned) {
  if (const int error = Ready(); error != kSuccess) return error;
  *event = reinterpret_cast<bayloom_cu_event>(new Event);
  return kSuccess;
}

STAND_IN_EXPORT int cuEventDestroy_v2(bayloom_cu_event event) {
  delete reinterpret_cast<Event*>(event);
  return Ready();
}

STAND_IN_EXPORT int cuEventRecord(bayloom_cu_event event, bayloom_cu_stream stream) {
  return Enqueue(stream, [event] {
    reinterpret_cast<Event*>(event)->time = std::chrono::steady_clock::now();
    return kSuccess;
  });
}

STAND_IN_EXPORT int cuEventSynchronize(bayloom_cu_event event) {
  if (!reinterpret_cast<Event*>(event)->time) return kInvalidValue;
  return Ready();
}

STAND_IN_EXPORT int cuEventElapsedTime(float* milliseconds, bayloom_cu_event begin,
                                       bayloom_cu_event end) {
  const auto* from = reinterpret_cast<const Event*>(begin);
  const auto* to = reinterpret_cast<const Event*>(end);
  if (!from->time || !to->time) return kInvalidValue;
  *milliseconds = std::chrono::duration<float, std::milli>(*to->time - *from->time).count();
  return Ready();
}

STAND_IN_EXPORT int cuLaunchKernel(bayloom_cu_function kernel, unsigned blocks, unsigned blocks_y,
                                   unsigned blocks_z, unsigned threads, unsigned threads_y,
                                   unsigned threads_z, unsigned shared_bytes,
                                   bayloom_cu_stream stream, void** arguments, void** extra) {
  const auto& function = *reinterpret_cast<const Function*>(kernel);
  const codegen::GpuLaunch& wanted = function.module->launches[function.number];
  const bool fits = wanted.reaches.empty() ? int64_t{blocks} == wanted.blocks
                                           : blocks > 0 && int64_t{blocks} <= wanted.blocks;
  const bool as_compiled = fits && int64_t{threads} == wanted.threads && blocks_y == 1 &&
                           blocks_z == 1 && threads_y == 1 && threads_z == 1 && extra == nullptr &&
                           int64_t{shared_bytes} == wanted.shared_bytes &&
                           int64_t{shared_bytes} <= function.shared_bytes;
  if (!as_compiled) return kInvalidValue;
  std::vector<void*> pointers;
  for (size_t i = 0; i < function.module->code.ParameterBytes().size(); ++i) {
    pointers.push_back(reinterpret_cast<void*>(*static_cast<uint64_t*>(arguments[i])));
  }
  return Enqueue(stream, [&function, blocks, pointers] {
    // Errors of kernels are told by the calls that follow.
    (void)RunLaunch(function, blocks, pointers);
    return kSuccess;
  });
}

}  // namespace bayloom::cuda_stand_in
