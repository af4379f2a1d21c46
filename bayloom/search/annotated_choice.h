#pragma once

#include <string>

#include "bayloom/tensor/trace.h"

namespace bayloom {

/// Whether the value that the sampling step defines becomes an annotation called `key`.
bool Annotates(const Trace& trace, int step, const std::string& key);

}  // namespace bayloom
