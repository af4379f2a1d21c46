// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "bayloom/base/result.h"
#include "bayloom/target/machine_model.h"
#include "bayloom/target/target.h"

namespace bayloom::codegen {

/// What the driver tells of a GPU.
struct GpuDescription {
  std::string name;          ///< "NVIDIA H200"
  int capability = 0;        ///< 100 for sm_100
  std::string architecture;  ///< "sm_90": the latest that code is made for and the GPU runs
  int driver_version = 0;    ///< 1000 times the major and 10 times the minor version of CUDA
  int64_t memory_bytes = 0;
  int64_t l2_bytes = 0;
  int multiprocessors = 0;
  double clock_hertz = 0;              ///< of the multiprocessors, at most; 0: not told
  double memory_bytes_per_second = 0;  ///< 0: not told
};

/// The GPU that code runs on: the first that the driver has, as CUDA_VISIBLE_DEVICES says. Nothing
/// is created on it, and this process does not use the driver for that (a child does), unless it
/// has done so before: the children of a process that has cannot. Fails without a driver, with one
/// that is too old or does not answer the child within so many seconds, and without a GPU. Throws
/// SystemError where there can be no process.
Result<GpuDescription> DescribeGpu(double seconds = 10);

/// Its rates: what the driver tells, and what is typical of its compute capability where that is 0
/// (target/gpu_machine.h).
target::MachineModel MachineOf(const GpuDescription& gpu);

/// Makes number `device` of the GPUs that the driver has the only one for this process and those
/// that it starts. To be called before the driver is first used. Throws InputError if the variable
/// CUDA_VISIBLE_DEVICES, which it changes, has not so many.
void ChooseGpu(int device);

/// Whether a target's name is one of GPUs.
bool IsGpuName(const std::string& name);
/// The target "cuda:sm_90" for any architecture of target/gpu_limits.h, or "cuda" for the GPU that
/// is there. Throws InputError for an architecture that is not known, and for "cuda" where there is
/// no GPU.
target::Target GpuTargetNamed(const std::string& name);

}  // namespace bayloom::codegen
