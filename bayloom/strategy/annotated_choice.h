// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "bayloom/tensor/trace.h"

namespace bayloom::strategy {

/// Whether the value that the sampling step defines becomes an annotation called `key`.
bool Annotates(const tensor::Trace& trace, int step, const std::string& key);

}  // namespace bayloom::strategy
