// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module codegen: programs to LLVM IR to object code; the small C runtime that compiled networks
/// need.
///
///     const Result<KernelObject> object = CompileProgram(program, HostTarget(), "product");
///     const Result<LoadedKernel> kernel = LoadedKernel::Load(*object);
///     (*kernel)(parameters, workspace);
///
/// Reading order: `compile.h`; `cpu/module.h` and `cpu/nest.h` (which shape a node takes, in
/// which order); `cpu/tile_emitter.h` with `cpu/tile_sums.h` and its variants; `ir/`
/// (expressions, memory, mathematics); `gpu/ptx.h`, then `gpu/stand_in.h`; `runtime/` (C, for
/// compiled networks).

#include "bayloom/codegen/aarch64_target.h"
#include "bayloom/codegen/abi.h"
#include "bayloom/codegen/compile.h"
#include "bayloom/codegen/cpu_features.h"
#include "bayloom/codegen/gpu/assemble.h"
#include "bayloom/codegen/gpu/gpu_description.h"
#include "bayloom/codegen/gpu/gpu_image.h"
#include "bayloom/codegen/gpu/launch.h"
#include "bayloom/codegen/gpu/ptx.h"
#include "bayloom/codegen/gpu/stand_in.h"
#include "bayloom/codegen/host.h"
#include "bayloom/codegen/jit.h"
#include "bayloom/codegen/kernel_steps.h"
#include "bayloom/codegen/library.h"
#include "bayloom/codegen/link.h"
#include "bayloom/codegen/object.h"
#include "bayloom/codegen/probe.h"
#include "bayloom/codegen/runtime/bayloom_cuda.h"
#include "bayloom/codegen/runtime/bayloom_decoder.h"
#include "bayloom/codegen/runtime/bayloom_gpu.h"
#include "bayloom/codegen/runtime/bayloom_huge_pages.h"
#include "bayloom/codegen/runtime/bayloom_open.h"
#include "bayloom/codegen/runtime/bayloom_plan.h"
#include "bayloom/codegen/shared_library.h"
#include "bayloom/codegen/subnormals.h"
#include "bayloom/target.h"
#include "bayloom/tensor.h"

namespace bayloom {

using codegen::CompileProgram;
using codegen::HostTarget;
using codegen::KernelObject;
using codegen::LoadedKernel;

}  // namespace bayloom
