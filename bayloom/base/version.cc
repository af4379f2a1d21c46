#include "bayloom/base/version.h"

namespace bayloom {

std::string_view Version() { return BAYLOOM_VERSION; }

}  // namespace bayloom
