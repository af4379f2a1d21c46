// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "bayloom/base/single_line.h"
#include "bayloom/measure/kernel_launcher.h"
#include "bayloom/measure/opencl_library.h"

namespace bayloom::measure {
namespace {

constexpr uint32_t kDimensions = 3;
constexpr size_t kMaxLogBytes = 1 << 20;

bool IsOutOfSomething(int32_t code) {
  return code == kClOutOfResources || code == kClOutOfHostMemory ||
         code == kClMemAllocationFailure || code == kClInvalidWorkGroupSize ||
         code == kClInvalidWorkItemSize;
}

void Check(int32_t code, const char* what) {
  if (code == kClSuccess) return;
  throw LaunchError(IsOutOfSomething(code) ? trial::Verdict::kMemory : trial::Verdict::kCrash,
                    fmt::format("{}: {}", what, OpenClErrorName(code)));
}

/// A device with a context and a queue: the runner process makes each once.
struct Session {
  ClDevice device = nullptr;
  ClContext context = nullptr;
  ClQueue queue = nullptr;
  bool is_unified = false;  ///< it has the memory of this process
};

const Session& SessionOf(const OpenCl& cl, int platform, int device) {
  static std::map<std::pair<int, int>, Session> sessions;
  Session& session = sessions[{platform, device}];
  if (session.queue != nullptr) return session;
  const Result<ClDevice> found = FindOpenClDevice(cl, platform, device);
  if (!found) throw LaunchError(trial::Verdict::kBuildError, found.error().message);
  session.device = *found;
  uint32_t is_unified = 0;
  cl.GetDeviceInfo(session.device, kClDeviceUnifiedMemory, sizeof(is_unified), &is_unified,
                   nullptr);
  session.is_unified = is_unified != 0;
  int32_t code = 0;
  session.context = cl.CreateContext(nullptr, 1, &session.device, nullptr, nullptr, &code);
  Check(code, "no context of the device");
  session.queue = cl.CreateQueue(session.context, session.device, kClQueueProfiling, &code);
  Check(code, "no queue of the device");
  return session;
}

const OpenCl& LoadedOpenCl() {
  const Result<const OpenCl*> loaded = LoadOpenCl();
  if (!loaded) throw LaunchError(trial::Verdict::kBuildError, loaded.error().message);
  return **loaded;
}

/// A device that has the memory of this process works on the parameters in place: what it touches
/// beyond them is a fault, or found there. Others get copies.
class OpenClLauncher final : public KernelLauncher {
 public:
  OpenClLauncher(const KernelCall& call, std::span<const GuardedMemory> memory)
      : cl_(LoadedOpenCl()),
        session_(SessionOf(cl_, call.platform, call.device)),
        call_(call),
        memory_(memory) {
    try {
      Build();
      CheckLocalMemory();
      SetArguments();
    } catch (...) {
      Release();
      throw;
    }
  }
  ~OpenClLauncher() override { Release(); }
  OpenClLauncher(const OpenClLauncher&) = delete;
  OpenClLauncher& operator=(const OpenClLauncher&) = delete;

  double Time(int64_t count) override {
    std::vector<ClEvent> events(static_cast<size_t>(count));
    size_t global[kDimensions];
    size_t local[kDimensions];
    for (uint32_t d = 0; d < kDimensions; ++d) {
      local[d] = static_cast<size_t>(call_.items[d]);
      global[d] = local[d] * static_cast<size_t>(call_.groups[d]);
    }
    for (ClEvent& event : events) {
      Check(cl_.EnqueueKernel(session_.queue, kernel_, kDimensions, nullptr, global, local, 0,
                              nullptr, &event),
            "the launch was refused");
    }
    Check(cl_.Finish(session_.queue), "the kernel failed");
    uint64_t nanoseconds = 0;
    for (const ClEvent event : events) {
      uint64_t begin = 0;
      uint64_t end = 0;
      cl_.GetEventProfilingInfo(event, kClProfilingStart, sizeof(begin), &begin, nullptr);
      cl_.GetEventProfilingInfo(event, kClProfilingEnd, sizeof(end), &end, nullptr);
      nanoseconds += end - begin;
      cl_.ReleaseEvent(event);
    }
    return static_cast<double>(nanoseconds) * 1e-9;
  }

  void BeginWriting(size_t parameter) override {
    if (session_.is_unified) Map(parameter, kClMapWrite);
  }
  void EndWriting(size_t parameter) override {
    if (session_.is_unified) return Unmap(parameter);
    Check(cl_.EnqueueWrite(session_.queue, buffers_[parameter], /*blocking=*/1, 0,
                           static_cast<size_t>(memory_[parameter].size()),
                           memory_[parameter].data(), 0, nullptr, nullptr),
          "an argument did not arrive");
  }
  void Download(size_t parameter) override {
    if (session_.is_unified) {
      Map(parameter, kClMapRead);
      return Unmap(parameter);
    }
    Check(cl_.EnqueueRead(session_.queue, buffers_[parameter], /*blocking=*/1, 0,
                          static_cast<size_t>(memory_[parameter].size()), memory_[parameter].data(),
                          0, nullptr, nullptr),
          "the result did not arrive");
  }

 private:
  void Build() {
    const char* source = call_.code.c_str();
    int32_t code = 0;
    program_ = cl_.CreateProgram(session_.context, 1, &source, nullptr, &code);
    Check(code, "no program of the source");
    code = cl_.BuildProgram(program_, 1, &session_.device, call_.build_options.c_str(), nullptr,
                            nullptr);
    if (code != kClSuccess) {
      throw LaunchError(trial::Verdict::kBuildError,
                        fmt::format("{}: {}", OpenClErrorName(code), FirstErrorOfLog()));
    }
    kernel_ = cl_.CreateKernel(program_, call_.symbol.c_str(), &code);
    if (code != kClSuccess) {
      throw LaunchError(trial::Verdict::kBuildError,
                        fmt::format("there is no kernel '{}' in the source", call_.symbol));
    }
  }

  /// The first line of the compiler's messages that speaks of an error, else the first.
  std::string FirstErrorOfLog() const {
    size_t size = 0;
    cl_.GetProgramBuildInfo(program_, session_.device, kClProgramBuildLog, 0, nullptr, &size);
    std::string log(std::min(size, kMaxLogBytes), '\0');
    if (log.empty() || size > kMaxLogBytes ||
        cl_.GetProgramBuildInfo(program_, session_.device, kClProgramBuildLog, log.size(),
                                log.data(), nullptr) != kClSuccess) {
      return "the compiler said nothing";
    }
    log.resize(std::min(log.find('\0'), log.size()));
    if (log.empty()) return "the compiler said nothing";
    const size_t at = std::min(log.find("error"), log.size());
    const size_t begin = log.rfind('\n', at) == std::string::npos ? 0 : log.rfind('\n', at) + 1;
    const std::string line = log.substr(begin, log.find('\n', begin) - begin);
    // Without the path of the driver's copy of the source: "12:3: use of ...".
    const size_t path = line.rfind(".cl:");
    return base::SingleLine(path == std::string::npos ? line : line.substr(path + 4));
  }

  void CheckLocalMemory() const {
    uint64_t needed = 0;
    uint64_t limit = 0;
    cl_.GetKernelWorkGroupInfo(kernel_, session_.device, kClKernelLocalMemory, sizeof(needed),
                               &needed, nullptr);
    cl_.GetDeviceInfo(session_.device, kClDeviceLocalMemory, sizeof(limit), &limit, nullptr);
    for (const CallArgument& argument : call_.arguments) {
      needed += static_cast<uint64_t>(argument.local_bytes);
    }
    if (needed <= limit) return;
    throw LaunchError(
        trial::Verdict::kMemory,
        fmt::format("needs {} bytes of local memory, of which the device has {}", needed, limit));
  }

  void SetArguments() {
    uint32_t expected = 0;
    cl_.GetKernelInfo(kernel_, kClKernelArguments, sizeof(expected), &expected, nullptr);
    if (expected != call_.arguments.size()) {
      throw LaunchError(trial::Verdict::kBuildError,
                        fmt::format("kernel '{}' has {} arguments, and {} are given", call_.symbol,
                                    expected, call_.arguments.size()));
    }
    const uint64_t place = session_.is_unified ? kClMemUseHostPointer : kClMemCopyHostPointer;
    for (size_t i = 0; i < memory_.size(); ++i) {
      int32_t code = 0;
      buffers_.push_back(cl_.CreateBuffer(session_.context, kClMemReadWrite | place,
                                          static_cast<size_t>(memory_[i].size()), memory_[i].data(),
                                          &code));
      Check(code, "no buffer for an argument");
    }
    for (uint32_t i = 0; i < call_.arguments.size(); ++i) {
      const CallArgument& argument = call_.arguments[i];
      int32_t code = 0;
      if (argument.parameter >= 0) {
        code = cl_.SetKernelArgument(kernel_, i, sizeof(ClMemory), &buffers_[argument.parameter]);
      } else if (argument.local_bytes > 0) {
        code =
            cl_.SetKernelArgument(kernel_, i, static_cast<size_t>(argument.local_bytes), nullptr);
      } else {
        code = cl_.SetKernelArgument(kernel_, i, argument.scalar.size(), argument.scalar.data());
      }
      if (code != kClSuccess) {
        throw LaunchError(trial::Verdict::kBuildError,
                          fmt::format("argument {} of kernel '{}' is of another type than was "
                                      "declared ({})",
                                      i + 1, call_.symbol, OpenClErrorName(code)));
      }
    }
  }

  void Map(size_t parameter, uint64_t flags) {
    int32_t code = 0;
    cl_.EnqueueMapBuffer(session_.queue, buffers_[parameter], /*blocking=*/1, flags, 0,
                         static_cast<size_t>(memory_[parameter].size()), 0, nullptr, nullptr,
                         &code);
    Check(code, "memory of the device cannot be mapped");
  }
  void Unmap(size_t parameter) {
    Check(cl_.EnqueueUnmap(session_.queue, buffers_[parameter], memory_[parameter].data(), 0,
                           nullptr, nullptr),
          "memory of the device cannot be mapped");
    Check(cl_.Finish(session_.queue), "memory of the device cannot be mapped");
  }

  void Release() {
    for (const ClMemory buffer : buffers_) cl_.ReleaseBuffer(buffer);
    if (kernel_ != nullptr) cl_.ReleaseKernel(kernel_);
    if (program_ != nullptr) cl_.ReleaseProgram(program_);
  }

  const OpenCl& cl_;
  const Session& session_;
  KernelCall call_;
  std::span<const GuardedMemory> memory_;
  ClProgram program_ = nullptr;
  ClKernel kernel_ = nullptr;
  std::vector<ClMemory> buffers_;  ///< one per parameter
};

}  // namespace

std::unique_ptr<KernelLauncher> MakeOpenClLauncher(const KernelCall& call,
                                                   std::span<const GuardedMemory> memory) {
  return std::make_unique<OpenClLauncher>(call, memory);
}

}  // namespace bayloom::measure
