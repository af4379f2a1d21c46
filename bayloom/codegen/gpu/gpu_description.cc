// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/gpu/gpu_description.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <vector>

#include "bayloom/base/clock.h"
#include "bayloom/base/descriptor.h"
#include "bayloom/base/option_error.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/system_error.h"
#include "bayloom/codegen/runtime/bayloom_cuda.h"
#include "bayloom/target/gpu_limits.h"
#include "bayloom/target/gpu_machine.h"

namespace bayloom::codegen {
namespace {

constexpr char kVisible[] = "CUDA_VISIBLE_DEVICES";
constexpr std::string_view kCuda = "cuda";

/// The architecture that code is made for on a GPU: the latest known one that it runs.
std::string ArchitectureFor(int capability) {
  std::string best;
  for (const std::string_view known : target::GpuArchitectures()) {
    if (target::RunsCodeOf(known, capability)) best = known;
  }
  return best;
}

Result<GpuDescription> DescribeHere() {
  char error[256] = "";
  const bayloom_cuda* const cuda = bayloom_cuda_load(error, sizeof(error));
  if (cuda == nullptr) return Error{error};
  GpuDescription gpu;
  bayloom_cu_device device = 0;
  int count = 0, code = cuda->DeviceGetCount(&count);
  if (code == BAYLOOM_CU_SUCCESS && count == 0) return Error{"the NVIDIA driver has no GPU"};
  const auto attribute = [&](int number) {
    int value = 0;
    if (code == BAYLOOM_CU_SUCCESS) code = cuda->DeviceGetAttribute(&value, number, device);
    return value;
  };
  char name[256] = "";
  size_t memory = 0;
  if (code == BAYLOOM_CU_SUCCESS) code = cuda->DeviceGet(&device, 0);
  if (code == BAYLOOM_CU_SUCCESS) code = cuda->DeviceGetName(name, sizeof(name), device);
  if (code == BAYLOOM_CU_SUCCESS) code = cuda->DeviceTotalMem(&memory, device);
  if (code == BAYLOOM_CU_SUCCESS) code = cuda->DriverGetVersion(&gpu.driver_version);
  const int capability =
      10 * attribute(BAYLOOM_CU_CAPABILITY_MAJOR) + attribute(BAYLOOM_CU_CAPABILITY_MINOR);
  gpu.multiprocessors = attribute(BAYLOOM_CU_MULTIPROCESSORS);
  gpu.l2_bytes = attribute(BAYLOOM_CU_L2_BYTES);
  gpu.clock_hertz = 1e3 * attribute(BAYLOOM_CU_CLOCK_RATE);
  // Two transfers a clock, as all these memories have.
  gpu.memory_bytes_per_second =
      2e3 * attribute(BAYLOOM_CU_MEMORY_CLOCK_RATE) * attribute(BAYLOOM_CU_MEMORY_BUS_WIDTH) / 8;
  if (code != BAYLOOM_CU_SUCCESS) {
    bayloom_cuda_describe(cuda, code, "the GPU cannot be used", error, sizeof(error));
    return Error{error};
  }
  gpu.name = name;
  gpu.memory_bytes = static_cast<int64_t>(memory);
  gpu.capability = capability;
  gpu.architecture = ArchitectureFor(capability);
  if (gpu.architecture.empty()) {
    return Error{fmt::format("{} is sm_{}, and sm_80 is the least that code is made for", gpu.name,
                             capability)};
  }
  return gpu;
}

nlohmann::json DescriptionToJson(const Result<GpuDescription>& gpu) {
  if (!gpu) return {{"error", gpu.error().message}};
  return {{"name", gpu->name},
          {"capability", gpu->capability},
          {"architecture", gpu->architecture},
          {"driver", gpu->driver_version},
          {"memory", gpu->memory_bytes},
          {"l2", gpu->l2_bytes},
          {"multiprocessors", gpu->multiprocessors},
          {"clock", gpu->clock_hertz},
          {"memory_rate", gpu->memory_bytes_per_second}};
}

Result<GpuDescription> DescriptionFromJson(const nlohmann::json& json) {
  if (json.contains("error")) return Error{json.at("error").get<std::string>()};
  GpuDescription gpu;
  json.at("name").get_to(gpu.name);
  json.at("capability").get_to(gpu.capability);
  json.at("architecture").get_to(gpu.architecture);
  json.at("driver").get_to(gpu.driver_version);
  json.at("memory").get_to(gpu.memory_bytes);
  json.at("l2").get_to(gpu.l2_bytes);
  json.at("multiprocessors").get_to(gpu.multiprocessors);
  json.at("clock").get_to(gpu.clock_hertz);
  json.at("memory_rate").get_to(gpu.memory_bytes_per_second);
  return gpu;
}

/// In a child of `parent`: writes what it finds out into a pipe. It ends with its parent, and
/// nothing of the parent's code runs in it afterwards.
[[noreturn]] void AnswerAndExit(pid_t parent, int answer) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  try {
    const std::string text = DescriptionToJson(DescribeHere())
                                 .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    _exit(write(answer, text.data(), text.size()) == std::ssize(text) ? 0 : 1);
  } catch (...) {
    _exit(1);
  }
}

/// What is written into a pipe until its other end is closed; nullopt if that is not within so many
/// seconds.
std::optional<std::string> ReadAll(int pipe, double seconds) {
  const double deadline = base::MonotonicSeconds() + seconds;
  std::string text;
  while (true) {
    const double left = deadline - base::MonotonicSeconds();
    pollfd end = {pipe, POLLIN, 0};
    const int ready = left > 0 ? poll(&end, 1, static_cast<int>(1000 * left) + 1) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return std::nullopt;
    char part[512];
    const ssize_t count = read(pipe, part, sizeof(part));
    if (count == 0) return text;
    if (count > 0) text.append(part, static_cast<size_t>(count));
    if (count < 0 && errno != EINTR) return text;
  }
}

/// Waits for a child that was killed. One that the driver keeps in the kernel even so is left alone
/// after a second.
void Reap(pid_t child) {
  constexpr int kWaits = 100;
  constexpr useconds_t kMicroseconds = 10000;
  for (int i = 0; i < kWaits; ++i) {
    const pid_t ended = waitpid(child, nullptr, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) return;
    usleep(kMicroseconds);
  }
}

/// What a child process finds out within so many seconds.
Result<GpuDescription> DescribeInChild(double seconds) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw SystemError("there can be no further pipe");
  const base::Descriptor reading(ends[0]);
  base::Descriptor writing(ends[1]);
  const pid_t parent = getpid(), child = fork();
  if (child < 0) throw SystemError("there can be no further process");
  if (child == 0) AnswerAndExit(parent, writing.number());
  writing = base::Descriptor();
  const std::optional<std::string> text = ReadAll(reading.number(), seconds);
  kill(child, SIGKILL);
  Reap(child);
  if (!text) {
    return Error{
        fmt::format("the NVIDIA driver did not say within {} s what GPUs it has", seconds)};
  }
  const nlohmann::json json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object())
    return Error{"the NVIDIA driver ended the process that asked for its GPUs"};
  return DescriptionFromJson(json);
}

}  // namespace

Result<GpuDescription> DescribeGpu(double seconds) {
  return bayloom_cuda_is_loaded() ? DescribeHere() : DescribeInChild(seconds);
}

target::MachineModel MachineOf(const GpuDescription& gpu) {
  target::GpuMachine told;
  told.capability = gpu.capability;
  told.multiprocessors = gpu.multiprocessors;
  told.clock_hertz = gpu.clock_hertz;
  told.l2_bytes = gpu.l2_bytes;
  told.memory_bytes_per_second = gpu.memory_bytes_per_second;
  return target::MachineModelOf(target::CompleteGpuMachine(told));
}

void ChooseGpu(int device) {
  std::string chosen = std::to_string(device);
  // As it was at first: options may be resolved more than once.
  static const std::optional<std::string> visible = [] {
    const char* const text = std::getenv(kVisible);
    return text != nullptr ? std::optional<std::string>(text) : std::nullopt;
  }();
  if (visible) {
    std::vector<std::string> devices;
    std::istringstream text(*visible);
    for (std::string one; std::getline(text, one, ',');) devices.push_back(one);
    if (device >= std::ssize(devices)) {
      throw OptionError("device", fmt::format("there is no {}: {} has {}", device, kVisible,
                                              base::SingleLine(*visible)));
    }
    chosen = devices[static_cast<size_t>(device)];
  }
  setenv(kVisible, chosen.c_str(), 1);
}

bool IsGpuName(const std::string& name) {
  return name == kCuda || name.starts_with(std::string(kCuda) + ":");
}

target::Target GpuTargetNamed(const std::string& name) {
  if (name == kCuda) {
    const Result<GpuDescription> gpu = DescribeGpu();
    if (!gpu) {
      throw OptionError("target",
                        fmt::format("{}; 'cuda:sm_90' makes code for an architecture without a GPU",
                                    gpu.error().message));
    }
    return *target::GpuTarget(gpu->architecture);
  }
  const std::string architecture = name.substr(kCuda.size() + 1);
  std::optional<target::Target> target = target::GpuTarget(architecture);
  if (!target) {
    throw InputError(fmt::format("there is no GPU architecture '{}'; there are {}",
                                 base::SingleLine(architecture),
                                 fmt::join(target::GpuArchitectures(), ", ")));
  }
  return *std::move(target);
}

}  // namespace bayloom::codegen
