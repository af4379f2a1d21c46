// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/gpu_session.h"

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/measure/nvml.h"

namespace bayloom::measure {
namespace {

/// Bytes on each side of a buffer that nothing may write.
constexpr int64_t kCanaryBytes = 512;
constexpr std::byte kCanary{0xc5};
/// More launches are not put into one graph: making it takes time, too.
constexpr int64_t kMaxGraphRuns = 256;

}  // namespace

bayloom_cu_pointer GpuSession::Memory::data() const {
  return base + static_cast<uint64_t>(kCanaryBytes);
}

void GpuSession::Check(int code, const char* what) const {
  if (code == BAYLOOM_CU_SUCCESS) return;
  char text[256];
  bayloom_cuda_describe(cuda_, code, what, text, sizeof(text));
  throw GpuError(
      code == BAYLOOM_CU_ERROR_OUT_OF_MEMORY ? trial::Verdict::kMemory : trial::Verdict::kCrash,
      text);
}

GpuSession::GpuSession() {
  char error[256];
  cuda_ = bayloom_cuda_load(error, sizeof(error));
  if (cuda_ == nullptr) throw GpuError(trial::Verdict::kCrash, error);
  Check(cuda_->DeviceGet(&device_, 0), "the GPU cannot be used");
  Check(cuda_->PrimaryCtxRetain(&context_, device_), "the GPU cannot be used");
  Check(cuda_->CtxPushCurrent(context_), "the GPU cannot be used");
  Check(cuda_->StreamCreate(&stream_, BAYLOOM_CU_STREAM_NON_BLOCKING), "no stream");
  Check(cuda_->EventCreate(&begin_, 0), "no event");
  Check(cuda_->EventCreate(&end_, 0), "no event");
  int cache = 0;
  Check(cuda_->DeviceGetAttribute(&cache, BAYLOOM_CU_L2_BYTES, device_), "no size of the cache");
  rubbish_bytes_ = 2 * static_cast<size_t>(cache);
  char bus[32] = "";
  Check(cuda_->DeviceGetPCIBusId(bus, sizeof(bus), device_), "the GPU has no place");
  nvml_device_ = FindNvmlDevice(bus);
}

/// After an error these calls fail, which does not matter: the process ends.
GpuSession::~GpuSession() {
  Free();
  if (rubbish_ != 0) cuda_->MemFree(rubbish_);
  cuda_->EventDestroy(begin_);
  cuda_->EventDestroy(end_);
  cuda_->StreamDestroy(stream_);
  cuda_->PrimaryCtxRelease(device_);
}

void GpuSession::Unload() {
  DropGraph();
  if (module_ != nullptr) cuda_->ModuleUnload(module_);
  module_ = nullptr;
}

void GpuSession::Free() {
  Unload();
  for (Memory& memory : memory_) Release(memory);
  memory_.clear();
  Release(workspace_);
}

void GpuSession::Release(Memory& memory) {
  if (memory.base != 0) cuda_->MemFree(memory.base);
  memory = {};
}

void GpuSession::ReleaseUnlessFits(Memory& memory, const GpuBuffer& buffer) {
  if (memory.bytes != buffer.bytes) Release(memory);
}

GpuSession::Memory GpuSession::Allocate(int64_t bytes) {
  Memory memory;
  memory.bytes = bytes;
  const auto all = static_cast<size_t>(bytes + 2 * kCanaryBytes);
  Check(cuda_->MemAlloc(&memory.base, all), "its buffers do not fit into the memory of the GPU");
  Check(cuda_->Fill(memory.base, static_cast<unsigned char>(kCanary), all, stream_),
        "memory cannot be filled");
  return memory;
}

void GpuSession::Provide(Memory& memory, const GpuBuffer& buffer) {
  const bool is_new = memory.base == 0;
  if (!is_new && (buffer.is_output || memory.content == buffer.content)) return;
  if (is_new) memory = Allocate(buffer.bytes);
  memory.content = buffer.content;
  if (buffer.is_output || buffer.bytes == 0) return;
  Check(cuda_->CopyToDevice(memory.data(), buffer.host, static_cast<size_t>(buffer.bytes), stream_),
        "inputs cannot be copied");
}

GpuSession::Kernel GpuSession::Load(const codegen::KernelObject& object,
                                    const std::vector<GpuBuffer>& buffers) {
  if (memory_.size() == buffers.size()) {
    Unload();
  } else {
    Free();
  }
  std::vector<codegen::GpuLaunch> described = object.launches;
  // Of PTX without arrays of threads, all memory of a thread is for registers that it has not.
  const bool assembled_here = object.object.find(".entry") != std::string::npos &&
                              object.object.find("__local_depot") == std::string::npos;
  Check(cuda_->ModuleLoadData(&module_, object.object.c_str()), "the driver refuses the code");
  Kernel kernel;
  for (codegen::GpuLaunch& launch : described) {
    Kernel::Launch& made = kernel.launches.emplace_back();
    made.blocks = static_cast<unsigned>(launch.blocks);
    made.threads = static_cast<unsigned>(launch.threads);
    made.shared_bytes = static_cast<unsigned>(launch.shared_bytes);
    made.compiled = launch;
    Check(cuda_->ModuleGetFunction(&made.function, module_, launch.symbol.c_str()),
          "the code has not the kernel");
    Check(cuda_->FuncSetAttribute(made.function, BAYLOOM_CU_MAX_DYNAMIC_SHARED_BYTES,
                                  static_cast<int>(made.shared_bytes)),
          "the GPU has not the shared memory");
    AskUse(made, assembled_here, launch);
  }
  kernel.use = UseOf(described);
  if (const auto refusal = RefusalOf(kernel.use)) {
    throw GpuError(trial::Verdict::kMemory, *refusal);
  }
  const GpuBuffer workspace = {
      .name = "the workspace", .bytes = object.shared_workspace_bytes, .is_output = true};
  memory_.resize(buffers.size());
  // Both at a time need not fit into the memory.
  for (size_t i = 0; i < buffers.size(); ++i) ReleaseUnlessFits(memory_[i], buffers[i]);
  ReleaseUnlessFits(workspace_, workspace);
  for (size_t i = 0; i < buffers.size(); ++i) Provide(memory_[i], buffers[i]);
  Provide(workspace_, workspace);
  Check(cuda_->StreamSynchronize(stream_), "inputs cannot be copied");
  return kernel;
}

void GpuSession::SetSizes(Kernel& kernel, const std::vector<GpuBuffer>& buffers,
                          std::span<const int64_t> sizes) {
  if (sizes.empty()) return;
  DropGraph();
  for (size_t s = 0; s < sizes.size(); ++s) Provide(memory_[s], buffers[s]);
  for (Kernel::Launch& launch : kernel.launches) {
    launch.blocks = static_cast<unsigned>(codegen::BlocksAt(launch.compiled, sizes));
  }
}

void GpuSession::AskUse(const Kernel::Launch& launch, bool spills,
                        codegen::GpuLaunch& described) const {
  const auto ask = [&](int attribute) {
    int value = 0;
    Check(cuda_->FuncGetAttribute(&value, attribute, launch.function), "a kernel cannot be asked");
    return value;
  };
  described.registers = ask(BAYLOOM_CU_REGISTERS);
  described.shared_bytes += ask(BAYLOOM_CU_STATIC_SHARED_BYTES);
  // Stored and loaded.
  if (spills) described.spill_bytes = 2 * int64_t{ask(BAYLOOM_CU_LOCAL_BYTES)};
}

void GpuSession::Fill(size_t buffer, std::byte value) {
  const Memory& memory = memory_[buffer];
  if (memory.bytes == 0) return;
  Check(cuda_->Fill(memory.data(), static_cast<unsigned char>(value),
                    static_cast<size_t>(memory.bytes), stream_),
        "outputs cannot be filled");
}

void GpuSession::FillWorkspace(std::byte value) {
  if (workspace_.bytes == 0) return;
  Check(cuda_->Fill(workspace_.data(), static_cast<unsigned char>(value),
                    static_cast<size_t>(workspace_.bytes), stream_),
        "the workspace cannot be filled");
}

void GpuSession::Launch(const Kernel& kernel) {
  std::vector<bayloom_cu_pointer> pointers;
  for (const Memory& memory : memory_) pointers.push_back(memory.data());
  pointers.push_back(workspace_.data());
  std::vector<void*> arguments;
  for (bayloom_cu_pointer& pointer : pointers) arguments.push_back(&pointer);
  for (const Kernel::Launch& launch : kernel.launches) {
    Check(cuda_->LaunchKernel(launch.function, launch.blocks, 1, 1, launch.threads, 1, 1,
                              launch.shared_bytes, stream_, arguments.data(), nullptr),
          "a kernel cannot be launched");
  }
}

void GpuSession::DropGraph() {
  if (graph_ != nullptr) cuda_->GraphExecDestroy(graph_);
  graph_ = nullptr;
  graph_count_ = 0;
}

bayloom_cu_graph_exec GpuSession::GraphOf(const Kernel& kernel, int64_t count) {
  if (graph_count_ == count) return graph_;
  DropGraph();
  if (cuda_->StreamBeginCapture(stream_, BAYLOOM_CU_CAPTURE_THREAD_LOCAL) != BAYLOOM_CU_SUCCESS) {
    return nullptr;
  }
  for (int64_t i = 0; i < count; ++i) Launch(kernel);
  bayloom_cu_graph captured = nullptr;
  if (cuda_->StreamEndCapture(stream_, &captured) != BAYLOOM_CU_SUCCESS) return nullptr;
  if (cuda_->GraphInstantiate(&graph_, captured, 0) == BAYLOOM_CU_SUCCESS) {
    graph_count_ = count;
  } else {
    graph_ = nullptr;
  }
  cuda_->GraphDestroy(captured);
  return graph_;
}

double GpuSession::TimeLaunches(const Kernel& kernel, int64_t count, bool flush) {
  const int64_t at_once = std::min(count, kMaxGraphRuns);
  bayloom_cu_graph_exec graph = GraphOf(kernel, at_once);
  if (flush) {
    if (rubbish_ == 0) Check(cuda_->MemAlloc(&rubbish_, rubbish_bytes_), "no memory to flush");
    Check(cuda_->Fill(rubbish_, 0, rubbish_bytes_, stream_), "the cache cannot be flushed");
  }
  Check(cuda_->EventRecord(begin_, stream_), "no event");
  for (int64_t left = count; left > 0;) {
    if (graph != nullptr && left >= at_once) {
      Check(cuda_->GraphLaunch(graph, stream_), "a kernel cannot be launched");
      left -= at_once;
    } else {
      Launch(kernel);
      --left;
    }
  }
  Check(cuda_->EventRecord(end_, stream_), "no event");
  Check(cuda_->EventSynchronize(end_), "a kernel failed");
  float milliseconds = 0;
  Check(cuda_->EventElapsedTime(&milliseconds, begin_, end_), "no time");
  return static_cast<double>(milliseconds) / 1000;
}

void GpuSession::Download(const std::vector<GpuBuffer>& buffers) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (!buffers[i].is_output || buffers[i].bytes == 0) continue;
    Check(cuda_->CopyToHost(buffers[i].host, memory_[i].data(),
                            static_cast<size_t>(buffers[i].bytes), stream_),
          "outputs cannot be copied");
  }
  Check(cuda_->StreamSynchronize(stream_), "outputs cannot be copied");
}

Status GpuSession::CheckCanaries(const Memory& memory, const std::string& name) {
  std::vector<std::byte> canaries(static_cast<size_t>(2 * kCanaryBytes));
  Check(cuda_->CopyToHost(canaries.data(), memory.base, kCanaryBytes, stream_), "no canaries");
  Check(
      cuda_->CopyToHost(canaries.data() + kCanaryBytes,
                        memory.data() + static_cast<uint64_t>(memory.bytes), kCanaryBytes, stream_),
      "no canaries");
  Check(cuda_->StreamSynchronize(stream_), "no canaries");
  const auto wrong =
      std::ranges::find_if(canaries, [](std::byte value) { return value != kCanary; });
  if (wrong == canaries.end()) return Ok();
  const bool before = wrong - canaries.begin() < kCanaryBytes;
  return Error{fmt::format("something was written {} {}", before ? "before" : "behind", name)};
}

Status GpuSession::CheckOverrun(const std::vector<GpuBuffer>& buffers) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (Status status = CheckCanaries(memory_[i], buffers[i].name); !status) return status;
  }
  return CheckCanaries(workspace_, "the workspace");
}

GpuState GpuSession::state() const { return NvmlState(nvml_device_); }

}  // namespace bayloom::measure
