// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

#include "bayloom/base/result.h"
#include "bayloom/codegen/compile.h"
#include "bayloom/codegen/gpu/stand_in.h"
#include "bayloom/target/gpu_limits.h"
#include "bayloom/tensor/program.h"

namespace bayloom::codegen {

/// What the module of a compiled GPU program is.
enum class GpuImage : uint8_t {
  kCubin,    ///< machine code, assembled by `ptxas`
  kPtx,      ///< assembled by the driver when it is loaded
  kStandIn,  ///< PTX, and as comments in it the code of the same kernels for this processor
};

/// As the environment variable BAYLOOM_CUDA_IMAGE says: "cubin", "ptx" or "stand-in". Without it,
/// a cubin where there is an assembler, else PTX. Throws InputError for other words.
GpuImage WantedGpuImage();

/// Compiles a program to an image of the kind that is wanted.
Result<KernelObject> CompileForGpu(const tensor::Program& program, const target::GpuLimits& limits,
                                   const std::string& symbol);

/// PTX with code for the stand-in. What stands for the driver runs it.
Result<std::string> WithStandIn(const std::string& ptx, const tensor::Program& program,
                                const target::GpuLimits& limits, const std::string& symbol);
/// Fails for an image of another kind.
Result<StandIn> StandInOf(std::string_view image);

}  // namespace bayloom::codegen
