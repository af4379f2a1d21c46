// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/load_monitor.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "bayloom/measure/host_caches.h"

namespace bayloom::measure {
namespace {

constexpr double kFirstInterval = 0.5;
constexpr double kInterval = 5;
/// Use of processors that is always there: services of the system, this process' own threads.
constexpr double kOrdinaryUse = 0.25;

/// Of a line of /proc/<pid>/stat: whose child it is, and the processor time of it and of its
/// children that have ended.
struct ProcessTimes {
  int id = 0;
  int parent = 0;
  double ticks = 0;
};

std::optional<ProcessTimes> ReadProcess(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line)) return std::nullopt;
  ProcessTimes process;
  std::istringstream(line) >> process.id;
  const size_t name_end = line.rfind(')');  // the name may contain anything
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream rest(line.substr(name_end + 1));
  std::string skipped;
  rest >> skipped >> process.parent;
  for (int field = 5; field < 14; ++field) rest >> skipped;
  for (int field = 14; field < 18; ++field) {
    double ticks = 0;
    rest >> ticks;
    process.ticks += ticks;
  }
  return rest ? std::optional(process) : std::nullopt;
}

/// Processor time of this process and its descendants, in ticks.
std::optional<double> OwnTicks(const std::string& proc) {
  const std::optional<ProcessTimes> self = ReadProcess(proc + "/self/stat");
  if (!self) return std::nullopt;
  std::multimap<int, ProcessTimes> children;  // by parent
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(proc, error)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::optional<ProcessTimes> process = ReadProcess(entry.path() / "stat");
    if (process) children.emplace(process->parent, *process);
  }
  double ticks = 0;
  std::vector<ProcessTimes> open = {*self};
  while (!open.empty()) {
    const ProcessTimes process = open.back();
    open.pop_back();
    ticks += process.ticks;
    const auto [begin, end] = children.equal_range(process.id);
    for (auto child = begin; child != end; ++child) open.push_back(child->second);
  }
  return ticks;
}

/// Whether that is what takes most.
bool IsStolen(const MachineLoad& load) { return load.stolen > load.others; }

/// "1.3 of its 2 cores".
std::string TakenText(const MachineLoad& load) {
  return fmt::format("{:.1f} of its {} core{}", std::max(load.stolen, load.others), load.processors,
                     load.processors == 1 ? "" : "s");
}

/// Of the past.
std::string WasTakenText(const MachineLoad& load) {
  return fmt::format(
      "{} {}",
      IsStolen(load) ? "the host of this virtual machine withheld" : "other processes used",
      TakenText(load));
}

}  // namespace

bool IsBusy(const MachineLoad& load, int threads) {
  const double taken = load.others + load.stolen;
  return taken > kOrdinaryUse && load.processors - taken < threads + kOrdinaryUse;
}

std::string DescribeBusy(const MachineLoad& load) {
  return fmt::format(
      "the machine is busy: {} {}; times will be noisy",
      IsStolen(load) ? "the host of this virtual machine withholds" : "other processes use",
      TakenText(load));
}

std::string DescribeWasBusy(const MachineLoad& load) {
  return fmt::format("the machine was busy: {}; the times are noisy", WasTakenText(load));
}

std::string DescribeMeasuredBusy(const MachineLoad& load) {
  return fmt::format("the machine was busy while it was measured: {}", WasTakenText(load));
}

LoadMonitor::LoadMonitor(LoadMonitorOptions options) : options_(std::move(options)) {
  if (options_.processors.empty()) options_.processors = AllowedProcessors();
  looked_at_ = options_.clock();
  first_ = latest_ = Read();
}

bool LoadMonitor::Look() {
  const double now = options_.clock();
  if (!latest_ || now - looked_at_ < (looks_ == 0 ? kFirstInterval : kInterval)) return false;
  looked_at_ = now;
  const std::optional<Usage> usage = Read();
  if (!usage) return false;
  last_ = Between(*latest_, *usage);
  latest_ = usage;
  ++looks_;
  return IsBusy(last_, options_.threads) && busy_looks_++ == 0;
}

MachineLoad LoadMonitor::Average() const {
  return first_ ? Between(*first_, *latest_) : MachineLoad();
}

MachineLoad LoadMonitor::SinceBegin() const {
  const std::optional<Usage> now = Read();
  return first_ && now ? Between(*first_, *now) : MachineLoad();
}

bool LoadMonitor::WasMostlyBusy() const {
  return looks_ > 0 && 2 * busy_looks_ >= looks_ && IsBusy(Average(), options_.threads);
}

std::optional<LoadMonitor::Usage> LoadMonitor::Read() const {
  std::ifstream in(options_.proc + "/stat");
  Usage usage;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("cpu") || line.starts_with("cpu ")) continue;
    std::istringstream fields(line.substr(3));
    int processor = 0;
    double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft = 0;
    double stolen = 0;
    fields >> processor >> user >> nice >> system >> idle >> waiting >> interrupts >> soft >>
        stolen;
    if (!fields || !options_.processors.contains(processor)) continue;
    const double busy = user + nice + system + interrupts + soft;
    usage.busy += busy;
    usage.stolen += stolen;
    usage.all += busy + stolen + idle + waiting;
  }
  const std::optional<double> own = OwnTicks(options_.proc);
  if (usage.all == 0 || !own) return std::nullopt;
  usage.own = *own;
  return usage;
}

MachineLoad LoadMonitor::Between(const Usage& begin, const Usage& end) const {
  MachineLoad load;
  load.processors = static_cast<int>(options_.processors.size());
  const double time = end.all - begin.all;
  if (time <= 0) return load;
  const double scale = load.processors / time;
  load.others = std::max(0.0, (end.busy - begin.busy) - (end.own - begin.own)) * scale;
  load.stolen = std::max(0.0, end.stolen - begin.stolen) * scale;
  return load;
}

bool IsBusyNow(int threads) {
  constexpr std::chrono::milliseconds kLook(333);
  const LoadMonitor monitor({.threads = threads});
  std::this_thread::sleep_for(kLook);
  return IsBusy(monitor.SinceBegin(), threads);
}

}  // namespace bayloom::measure
