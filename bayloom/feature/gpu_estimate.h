// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "bayloom/target/gpu_machine.h"
#include "bayloom/tensor/program.h"

namespace bayloom::feature {

/// What the assembler says of a kernel, of each thread.
struct KernelRegisters {
  int registers = 0;  ///< 0: not known
  double spilled_bytes = 0;
};

/// What is expected of one kernel of a program for GPUs.
struct GpuKernelEstimate {
  double blocks = 1, threads = 1;  ///< of the grid, and of a block
  double shared_bytes = 0;         ///< of a block
  double registers = 0;            ///< of a thread: the assembler's, else by what its tiles hold
  int resident = 1;                ///< blocks that a multiprocessor has at a time
  double occupancy = 0;            ///< threads that it has then, of those that it could have
  double waves = 1;                ///< of blocks, the last one in part
  double l2_bytes = 0;             ///< that multiprocessors read and write in all
  double memory_bytes = 0;         ///< of these, what the second-level cache does not hold

  // Seconds of the busiest multiprocessor, as if it did nothing else.
  double arithmetic = 0;  ///< float32 operations, special functions, products of matrices by warps
  double issue = 0;       ///< instructions, four a clock
  double shared = 0;      ///< shared memory, bank conflicts included
  double cache = 0;       ///< first-level cache: wider for accesses that are not coalesced
  double latency = 0;     ///< what its blocks wait for that others do not hide
  // Seconds of all of them together.
  double l2 = 0;
  double memory = 0;

  double seconds = 0;  ///< all of this put together, with its launch
};

/// What the kernels of a program may take on a GPU that is otherwise idle, judged by the plan of
/// them that code is made from (plan::PlanGpuKernels): which blocks of threads a multiprocessor has
/// at a time (by threads, registers and shared memory), what each resource of it needs for them,
/// what moves between memory, second-level cache and multiprocessors, and how long one block takes
/// if nothing slows it down. The longest decides, and three tenths of the others are added for what
/// does not overlap. Copies that run ahead (tensor/async_copy.h) are waited for while the thread
/// computes. Loads are waited for as often as they fill the registers that a thread has for them.
///
/// Data that fit into the second-level cache are taken to be there, as they are when a program is
/// run again and again. `known` are what the assembler says of the kernels, in their order; empty:
/// registers are estimated by what threads keep. Kernels beyond the limits of the GPU have
/// estimates, too; there are none for programs that no GPU can run as they are scheduled.
///
/// It follows the machine: none of its rates and neither the number of multiprocessors nor the
/// second-level cache may grow, and no latency shrink, without the estimate staying or falling.
/// That does not hold for the limits of a multiprocessor: more blocks at a time share its
/// first-level cache. How far it can be trusted: docs/studies/2026-11-gpu-estimate.md.
std::vector<GpuKernelEstimate> EstimateGpuKernels(const tensor::Program& program,
                                                  const target::GpuMachine& gpu,
                                                  std::span<const KernelRegisters> known = {});

/// The sum over the kernels, in seconds; infinity where there are none. With open axes the
/// geometric mean over the program's points, if it has any, of what a run with these sizes takes:
/// its grids have fewer blocks, and loops fewer steps. EstimateGpuKernels is for the largest sizes.
double EstimateGpuTime(const tensor::Program& program, const target::GpuMachine& gpu,
                       std::span<const KernelRegisters> known = {});

}  // namespace bayloom::feature
