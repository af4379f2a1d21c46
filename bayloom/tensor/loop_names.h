// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/tensor/program.h"

namespace bayloom::tensor {

/// The names that Print gives the program's loops, by LoopId; unique within a nest at the root.
std::vector<std::string> LoopNames(const Program& program);

}  // namespace bayloom::tensor
