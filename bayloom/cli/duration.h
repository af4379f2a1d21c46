#pragma once

#include <string>
#include <string_view>

namespace bayloom {

/// Seconds of a duration as people write it: "90", "90s", "10m", "1.5h", "1h30m". Throws
/// InputError, naming `option`, for anything else.
double ParseDuration(std::string_view text, const std::string& option);

}  // namespace bayloom
