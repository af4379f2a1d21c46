// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// What the use of a GPU does to the process and the thread that use it, with what stands for the
// driver's library (tests/cuda_stand_in). Each test runs in a child, so that no other test's
// process has the driver.

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <functional>

#include "bayloom/codegen/gpu/gpu_description.h"
#include "bayloom/codegen/runtime/bayloom_cuda.h"
#include "bayloom/codegen/runtime/bayloom_gpu.h"
#include "bayloom/measure/measure_machine.h"
#include "bayloom/target/gpu_limits.h"
#include "bayloom/target/gpu_machine.h"
#include "tests/patience.h"
#include "tests/temporary_folder.h"
#include "tests/with_variable.h"

namespace bayloom::measure {
namespace {

class GpuProcess : public ::testing::Test {
 protected:
  /// The test's exit status is 0 if it returns true.
  static int InChild(const std::function<bool()>& test) {
    const pid_t child = fork();
    if (child == 0) _exit(test() ? 0 : 1);
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  const WithVariable driver_{"BAYLOOM_CUDA_DRIVER", BAYLOOM_TEST_CUDA};
};

TEST_F(GpuProcess, DescribingAGpuLeavesTheDriverToChildren) {
  EXPECT_EQ(InChild([] {
              const auto gpu = codegen::DescribeGpu();
              if (!gpu || gpu->name != "Stand-in 0" || bayloom_cuda_is_loaded()) return false;
              char error[256];
              return InChild([&] { return bayloom_cuda_load(error, sizeof(error)) != nullptr; }) ==
                     0;
            }),
            0);
}

TEST_F(GpuProcess, AChildOfAProcessWithTheDriverCannotUseIt) {
  EXPECT_EQ(InChild([] {
              char error[256];
              const bayloom_cuda* const cuda = bayloom_cuda_load(error, sizeof(error));
              if (cuda == nullptr || !codegen::DescribeGpu()) return false;
              return InChild([&] { return cuda->Init(0) == BAYLOOM_CU_ERROR_NOT_INITIALIZED; }) ==
                     0;
            }),
            0);
}

TEST_F(GpuProcess, WhatADriverSaysItHasNotIsSaid) {
  const WithVariable none("CUDA_VISIBLE_DEVICES", "7");
  const auto gpu = codegen::DescribeGpu();
  ASSERT_FALSE(gpu);
  EXPECT_NE(gpu.error().message.find("CUDA_ERROR_NO_DEVICE"), std::string::npos)
      << gpu.error().message;
}

/// A driver that hangs once; the file that it removes then.
class HangingDriver : public GpuProcess {
 protected:
  HangingDriver() : fault_("STAND_IN_FAULT", "init-hangs:" + file_) { std::ofstream{file_}; }

  TemporaryFolder folder_;
  const std::string file_ = folder_ / "fault";
  const WithVariable fault_;
};

TEST_F(HangingDriver, IsNotWaitedForForEver) {
  const auto gpu = codegen::DescribeGpu(0.2);
  ASSERT_FALSE(gpu);
  EXPECT_EQ(gpu.error().message, "the NVIDIA driver did not say within 0.2 s what GPUs it has");
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);  // no child is left
  EXPECT_TRUE(codegen::DescribeGpu());
}

/// Each process that lives has the other end of the pipe open.
TEST_F(HangingDriver, DoesNotOutliveAProcessThatIsKilled) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) _exit(codegen::DescribeGpu(60).ok() ? 0 : 1);
  close(ends[1]);
  while (access(file_.c_str(), F_OK) == 0) usleep(1000);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  pollfd end = {ends[0], POLLIN, 0};
  EXPECT_EQ(poll(&end, 1, static_cast<int>(1000 * kPatienceSeconds)), 1);
  EXPECT_NE(end.revents & POLLHUP, 0);
  close(ends[0]);
}

/// Later drivers tell no clock rates.
TEST_F(GpuProcess, WithoutClockRatesTheMachineIsATypicalOne) {
  const WithVariable none("STAND_IN_CLOCK", "0");
  const auto machine = MeasuredMachineOf(*target::GpuTarget("sm_90"));
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(machine->model.threads, 4);
  const target::GpuMachine typical = *target::TypicalGpu(90);
  EXPECT_DOUBLE_EQ(machine->model.PeakFlops(), 4 * 2 * 128 * typical.clock_hertz);
}

TEST_F(GpuProcess, TheCallersContextIsKept) {
  EXPECT_EQ(InChild([] {
              char error[256] = "";
              const bayloom_cuda* const cuda = bayloom_cuda_load(error, sizeof(error));
              void* const library = dlopen(BAYLOOM_TEST_CUDA, RTLD_NOW);
              const auto current =
                  reinterpret_cast<int (*)(bayloom_cu_context*)>(dlsym(library, "cuCtxGetCurrent"));
              int mine = 0;
              const auto context = reinterpret_cast<bayloom_cu_context>(&mine);
              bayloom_cu_context primary = nullptr;
              if (cuda == nullptr || cuda->PrimaryCtxRetain(&primary, 0) != 0 ||
                  cuda->CtxPushCurrent(context) != 0) {
                return false;
              }
              const auto is_kept = [&] {
                bayloom_cu_context now = nullptr;
                return current(&now) == 0 && now == context;
              };
              const bayloom_gpu_plan plan = {};
              const bayloom_gpu_work work = {};
              bayloom_gpu_network network = {};
              network.architecture = "sm_90";
              network.plan_count = 1;
              network.plans = &plan;
              bayloom_gpu* gpu = nullptr;
              if (bayloom_gpu_create(&network, &gpu, error, sizeof(error)) != BAYLOOM_GPU_OK) {
                return false;
              }
              bool kept = is_kept();
              const bool ran = bayloom_gpu_run(gpu, &work, error, sizeof(error)) == BAYLOOM_GPU_OK;
              kept &= is_kept();
              bayloom_gpu_destroy(gpu);
              return ran && kept && is_kept();
            }),
            0);
}

}  // namespace
}  // namespace bayloom::measure
