// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "bayloom/yaml/yaml_value.h"

namespace bayloom::mapspace {

/// A set of an operation's tensors, one bit each.
using TensorSet = uint32_t;

inline constexpr TensorSet kNoTensor = 0, kAllTensors = 7;
inline constexpr std::array<std::pair<std::string_view, TensorSet>, 3> kTensorBits = {
    {{"Inputs", 1}, {"Weights", 2}, {"Outputs", 4}}};

/// What AccelForge calls sets of tensors: input, weight, output, Inputs (both that are read),
/// Outputs, All. kNoTensor for any other name.
TensorSet RoleNamed(std::string_view name);

/// "input | output", "~MainMemory", "All - weight", with parentheses; a memory's name, which may
/// have ".tensors" behind it, is the set that it keeps. Nothing and Intermediates are empty, for
/// operations are mapped one by one. Throws InputError with the place.
TensorSet ParseTensorSet(const yaml::YamlValue& value,
                         const std::map<std::string, TensorSet>& memories);

}  // namespace bayloom::mapspace
