#pragma once

#include <string>

namespace bayloom {

/// 128 random bits in hexadecimal.
std::string RandomUuid();

}  // namespace bayloom
