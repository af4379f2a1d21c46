#include "bayloom/cli/duration.h"

#include <charconv>
#include <cmath>

#include "bayloom/base/result.h"

namespace bayloom {
namespace {

/// Seconds of one unit; 0 for what is none. No unit means seconds.
double UnitSeconds(std::string_view unit) {
  if (unit.empty() || unit == "s") return 1;
  if (unit == "m" || unit == "min") return 60;
  if (unit == "h") return 3600;
  return 0;
}

}  // namespace

double ParseDuration(std::string_view text, const std::string& option) {
  const auto refuse = [&] {
    return InputError(option + ": '" + std::string(text) +
                      "' is no duration; write 90s, 10m or 1h30m");
  };
  std::string_view rest = text;
  double seconds = 0;
  do {
    double number = 0;
    const auto [end, error] =
        std::from_chars(rest.data(), rest.data() + rest.size(), number, std::chars_format::fixed);
    if (error != std::errc()) throw refuse();
    rest.remove_prefix(end - rest.data());
    const std::string_view unit = rest.substr(0, rest.find_first_of("0123456789."));
    const double scale = UnitSeconds(unit);
    if (scale == 0 || !(number >= 0) || !std::isfinite(number)) throw refuse();
    rest.remove_prefix(unit.size());
    seconds += number * scale;
  } while (!rest.empty());
  return seconds;
}

}  // namespace bayloom
