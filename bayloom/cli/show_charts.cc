#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "bayloom/base/result.h"
#include "bayloom/cli/show.h"
#include "bayloom/record/store.h"
#include "bayloom/report/session_charts.h"

namespace bayloom {
namespace {

void WriteChart(const LineChart& chart, const std::string& path) {
  std::ofstream file(path);
  file << chart.ToSvg();
  file.close();
  if (!file) throw InputError(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
}

SessionId ChosenSession(Store& store, const ShowOptions& options) {
  if (options.session) return *options.session;
  const std::vector<SessionRecord> sessions = store.Sessions();
  if (sessions.empty()) throw InputError(fmt::format("{} has no session yet", store.path()));
  return sessions.back().id;
}

}  // namespace

void ShowCharts(const ShowOptions& options) {
  Store store(options.subject.path, Store::Mode::kReadOnly);
  const SessionId session = ChosenSession(store, options);
  if (!options.chart.empty()) WriteChart(ConvergenceChart(store, session), options.chart);
  if (!options.model_chart.empty()) {
    WriteChart(ModelQualityChart(store, session), options.model_chart);
  }
}

}  // namespace bayloom
