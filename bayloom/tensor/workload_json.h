// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>

#include "bayloom/base/result.h"
#include "bayloom/tensor/workload.h"

namespace bayloom::tensor {

/// A workload as JSON, complete: reading it back gives an equal workload, names and shared
/// subexpressions included. Each stage's value is a list of nodes, operands before users, the last
/// one being the value:
///
///     ["int", "int64", 3]                 a literal; floats that JSON lacks are "nan", "inf",
///     "-inf"
///     ["iter", "int64", 0]                iterator 0 of the stage
///     ["load", "float32", 2, 0, 1]        buffer 2 at the indices given by nodes 0 and 1
///     ["mul", "float32", 3, 4]            any other operation, on nodes 3 and 4
nlohmann::json WorkloadToJson(const Workload& workload);

/// Fails, saying what is wrong and where, unless the JSON is that of a well-formed workload:
/// records come from outside.
Result<Workload> WorkloadFromJson(const nlohmann::json& json);

}  // namespace bayloom::tensor
