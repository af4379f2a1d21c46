// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/load_monitor.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/temporary_folder.h"

namespace bayloom::measure {
namespace {

/// A machine of two processors with a /proc of its own. This process is number 10; 11 is its child,
/// 12 that one's; 20 is another user's, named to mislead.
class LoadMonitorTest : public testing::Test {
 protected:
  LoadMonitorTest() { Pass(0, 0, 0, 0); }

  /// Lets a second go by in which processes use these parts of a processor.
  void Pass(double own, double grandchild, double others, double stolen) {
    now_ += 1;
    own_ += 100 * own;
    grandchild_ += 100 * grandchild;
    others_ += 100 * others;
    stolen_ += 100 * stolen;
    const double busy = own_ + grandchild_ + others_;
    const double idle = 200 * now_ - busy - stolen_;
    WriteProcess("self", 10, "(bayloom)", 1, own_);
    WriteProcess("10", 10, "(bayloom)", 1, own_);
    WriteProcess("11", 11, "(runner)", 10, 0);
    WriteProcess("12", 12, "(compiler)", 11, grandchild_);
    WriteProcess("20", 20, "(a) S 10 (b)", 1, others_);
    std::ofstream(folder_ / "stat")
        << fmt::format("cpu  {:.0f} 0 0 0 0 0 0 0 0 0\n", 7777 + busy)
        << fmt::format("cpu0 {:.0f} 0 0 {:.0f} 0 0 0 {:.0f} 0 0\n", busy, idle, stolen_)
        << "cpu1 0 0 0 0 0 0 0 0 0 0\n"
        << fmt::format("cpu7 {:.0f} 0 0 0 0 0 0 0 0 0\nintr 5\n", 100 * now_);
  }
  LoadMonitor Monitor(int threads) {
    return LoadMonitor(
        {.threads = threads, .processors = {0, 1}, .proc = folder_.path(), .clock = [this] {
           return now_;
         }});
  }

  double now_ = 0;

 private:
  void WriteProcess(const std::string& folder, int id, const std::string& name, int parent,
                    double ticks) {
    std::filesystem::create_directories(folder_ / folder);
    // A half of it by children that have ended.
    std::ofstream(folder_ / (folder + "/stat"))
        << fmt::format("{} {} S {} 1 1 0 -1 4194304 99 0 0 0 {:.0f} 0 0 {:.0f} 20 0 1\n", id, name,
                       parent, ticks / 2, ticks / 2);
  }

  TemporaryFolder folder_;
  double own_ = 0, grandchild_ = 0, others_ = 0, stolen_ = 0;
};

TEST_F(LoadMonitorTest, SaysOnceThatOtherProcessesUseTheMachine) {
  LoadMonitor monitor = Monitor(1);
  int said = 0;
  for (int second = 0; second < 20; ++second) {
    Pass(0.7, 0, 1.3, 0);
    said += monitor.Look();
  }
  EXPECT_EQ(said, 1);
  EXPECT_NEAR(monitor.last().others, 1.3, 0.02);
  EXPECT_TRUE(monitor.WasMostlyBusy());
  EXPECT_EQ(DescribeBusy(monitor.Average()),
            "the machine is busy: other processes use 1.3 of its 2 cores; times will be noisy");
  EXPECT_EQ(DescribeWasBusy(monitor.Average()),
            "the machine was busy: other processes used 1.3 of its 2 cores; the times are noisy");
}

TEST_F(LoadMonitorTest, WhatItsOwnProcessesDoIsNotCounted) {
  LoadMonitor monitor = Monitor(2);
  for (int second = 0; second < 20; ++second) {
    Pass(0.8, 1.1, 0.1, 0);
    EXPECT_FALSE(monitor.Look());
  }
  EXPECT_NEAR(monitor.Average().others, 0.1, 0.02);
  EXPECT_FALSE(monitor.WasMostlyBusy());
}

TEST_F(LoadMonitorTest, ShortWorkIsToldWhatDisturbedIt) {
  const LoadMonitor monitor = Monitor(2);
  EXPECT_EQ(monitor.SinceBegin().others, 0);
  Pass(1, 0, 0.8, 0);
  EXPECT_NEAR(monitor.SinceBegin().others, 0.8, 0.02);
  EXPECT_TRUE(IsBusy(monitor.SinceBegin(), 2));
  EXPECT_EQ(DescribeMeasuredBusy(monitor.SinceBegin()),
            "the machine was busy while it was measured: other processes used 0.8 of its 2 cores");
}

TEST_F(LoadMonitorTest, AProcessorThatIsNotNeededMayBeUsed) {
  const MachineLoad load = {.processors = 4, .others = 1.3};
  EXPECT_FALSE(IsBusy(load, 1));
  EXPECT_FALSE(IsBusy(load, 2));
  EXPECT_TRUE(IsBusy(load, 3));
  EXPECT_FALSE(IsBusy({.processors = 4, .others = 0.2}, 4)) << "there is always some load";
}

TEST_F(LoadMonitorTest, WhatPassesIsNotSaidAgainInTheEnd) {
  LoadMonitor monitor = Monitor(1);
  bool said = false;
  for (int second = 0; second < 40; ++second) {
    Pass(0.7, 0, second < 4 ? 1.3 : 0, 0);
    said |= monitor.Look();
  }
  EXPECT_TRUE(said);
  EXPECT_FALSE(monitor.WasMostlyBusy());
}

TEST_F(LoadMonitorTest, TheHostOfAVirtualMachineIsToldApart) {
  LoadMonitor monitor = Monitor(1);
  Pass(0.5, 0, 0.2, 1.2);
  EXPECT_TRUE(monitor.Look());
  EXPECT_EQ(DescribeBusy(monitor.last()),
            "the machine is busy: the host of this virtual machine withholds 1.2 of its 2 cores; "
            "times will be noisy");
}

TEST(LoadMonitor, WithoutASystemThatSaysSoNothingIsNoticed) {
  LoadMonitor monitor(
      {.proc = "/does/not/exist", .clock = [now = 0.0]() mutable { return now += 10; }});
  EXPECT_FALSE(monitor.Look());
  EXPECT_FALSE(monitor.WasMostlyBusy());
}

TEST(LoadMonitor, ReadsThisMachine) {
  double now = 0;
  LoadMonitor monitor({.clock = [&] { return now; }});
  now = 10;
  monitor.Look();
  EXPECT_GE(monitor.last().processors, 1);
  EXPECT_LE(monitor.last().others, monitor.last().processors + 0.1);
}

}  // namespace
}  // namespace bayloom::measure
