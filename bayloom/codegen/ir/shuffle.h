// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bayloom/codegen/ir/types.h"

namespace bayloom::codegen {

/// How elements that lie near each other, but not side by side, come into a register: from a few
/// registers of neighbours. Every lane's element is `element[l]` of the window `window[l]`.
struct Windows {
  int width = 1;                     ///< elements of a window, a power of two
  std::vector<int64_t> begins;       ///< first elements, in ascending order
  std::vector<int> window, element;  ///< by active lane
};

/// Windows over the elements `lanes[0 .. active)` of a register of `lanes.size()` lanes; they cover
/// nothing before the least or behind the greatest of them. nullopt where it takes about as many
/// windows as elements.
std::optional<Windows> WindowsOver(const std::vector<int64_t>& lanes, int active);

/// The register of so many lanes that takes its elements from the windows' values.
llvm::Value* TakeFromWindows(IrBuilder& builder, const Windows& windows,
                             const std::vector<llvm::Value*>& values, int lanes);

/// The columns of a matrix whose rows are registers: as many registers as a row has lanes, with a
/// lane for each row. Both numbers are powers of two, and there are two rows at least.
std::vector<llvm::Value*> Transposed(IrBuilder& builder, std::vector<llvm::Value*> rows);

}  // namespace bayloom::codegen
