#include <fmt/format.h>

#include "bayloom/base/result.h"
#include "bayloom/cli/show.h"
#include "bayloom/cli/write_file.h"
#include "bayloom/record/store.h"
#include "bayloom/report/session_charts.h"

namespace bayloom {
namespace {

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
  if (!options.chart.empty()) WriteFile(options.chart, ConvergenceChart(store, session).ToSvg());
  if (!options.model_chart.empty()) {
    WriteFile(options.model_chart, ModelQualityChart(store, session).ToSvg());
  }
}

}  // namespace bayloom
