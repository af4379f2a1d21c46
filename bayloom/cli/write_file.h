#pragma once

#include <string>
#include <string_view>

namespace bayloom {

/// Writes a whole file; throws InputError where that fails.
void WriteFile(const std::string& path, std::string_view text);

}  // namespace bayloom
