#include "bayloom/measure/machine_rates.h"

#include <gtest/gtest.h>

namespace bayloom {
namespace {

TEST(MachineRates, AreThoseOfAProcessor) {
  const MachineRates rates = MeasureMachineRates(1);
  EXPECT_GT(rates.flops_per_second, 1e8);
  EXPECT_LT(rates.flops_per_second, 1e13);
  EXPECT_GT(rates.bytes_per_second, 1e8);
  EXPECT_LT(rates.bytes_per_second, 1e13);
}

TEST(MachineRates, TheSlowerOfArithmeticAndMemoryIsTheBound) {
  const MachineRates rates = {100, 10};
  EXPECT_DOUBLE_EQ(RooflineSeconds(rates, 1000, 1), 10);
  EXPECT_DOUBLE_EQ(RooflineSeconds(rates, 1000, 200), 20);
}

}  // namespace
}  // namespace bayloom
