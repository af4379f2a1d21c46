// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "bayloom/graph/package/ir_text.h"
#include "bayloom/graph/package/package_module.h"

namespace bayloom::graph {

/// Memory of kernels that run at the same time: theirs lie one behind the other.
struct WorkspaceBytes {
  int64_t shared = 0;
  int64_t worker = 0;  ///< further ones for each thread
};

/// What every round of the variant finds enough.
WorkspaceBytes LargestWorkspace(const CompiledVariant& compiled);

/// A bayloom_place.
inline constexpr char kPlaceType[] = "{ i32, i32, i64, ptr, i64 }";
std::string PlaceOf(IrText& ir, const Storage& storage);

/// The bayloom_plan of each shape (codegen/runtime/bayloom_plan.h), as a pointer.
std::string PlanTables(IrText& ir, std::span<const PackageShape> shapes,
                       const CompiledVariant& compiled);

}  // namespace bayloom::graph
