#include "bayloom/base/version.h"

#include <gmock/gmock.h>

namespace bayloom {
namespace {

TEST(Version, IsThreeNumbers) {
  EXPECT_THAT(std::string(Version()), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

}  // namespace
}  // namespace bayloom
