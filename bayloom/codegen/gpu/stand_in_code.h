// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/codegen/gpu/launch.h"
#include "bayloom/codegen/gpu/stand_in.h"
#include "bayloom/codegen/gpu/stand_in_machine.h"
#include "bayloom/codegen/jit.h"
#include "bayloom/plan/gpu/gpu_plan.h"

namespace bayloom::codegen {

/// A buffer, and where it is.
struct StandInBuffer {
  std::string name;
  plan::GpuPlace place;
  int64_t bytes = 0;
  int element_bytes = 1;
};

/// Kernels for this processor, before they are loaded.
struct StandInObjects {
  struct Kernel {
    GpuLaunch launch;
    int64_t scratch_bytes = 0;  ///< the last of the launch's shared memory
    std::string object;
  };
  std::vector<Kernel> kernels;
  std::vector<StandInBuffer> buffers;  ///< by BufferId
  int parameters = 0;
  int64_t workspace_bytes = 0;
};

struct StandInCode {
  StandInObjects objects;
  std::vector<LoadedKernel> loaded;  ///< parallel to objects.kernels
};

/// Kernels are named `symbol`_0 and so on, as those of CompileToPtx.
Result<StandInObjects> CompileStandInObjects(const tensor::Program& program,
                                             const target::GpuLimits& limits, Machine& machine,
                                             const std::string& symbol);
Result<StandIn> LoadStandIn(StandInObjects objects);

/// Compiles for the stand-in, with code for the machine given.
Result<StandIn> CompileForStandIn(const tensor::Program& program, const target::GpuLimits& limits,
                                  Machine& machine);

}  // namespace bayloom::codegen
