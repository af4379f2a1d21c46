#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/write_file.h"
#include "bayloom/record/store.h"
#include "bayloom/report/format.h"
#include "bayloom/report/session_charts.h"
#include "bayloom/report/session_report.h"

namespace bayloom {
namespace {

struct ReportOptions {
  std::vector<std::string> databases;
  std::optional<int64_t> session;
  std::string out;
  bool slots = false;
  bool json = false;
};

/// Charts and figures of several sessions in one folder.
class Folder {
 public:
  explicit Folder(const std::string& path) : path_(path) {
    std::error_code error;
    std::filesystem::create_directories(path_, error);
    if (error) throw InputError(fmt::format("cannot make '{}': {}", path, error.message()));
  }

  void Write(const std::string& name, const std::string& text) {
    const std::string path = (path_ / name).string();
    WriteFile(path, text);
    written_.push_back(path);
  }
  const std::vector<std::string>& written() const { return written_; }

 private:
  std::filesystem::path path_;
  std::vector<std::string> written_;
};

std::vector<SessionId> ChosenSessions(Store& store, const ReportOptions& options) {
  if (options.session) return {*options.session};
  std::vector<SessionId> sessions;
  for (const SessionRecord& session : store.Sessions()) sessions.push_back(session.id);
  if (sessions.empty()) throw InputError(store.path() + " has no session yet");
  return sessions;
}

void Print(const SessionReport& report, bool slots) {
  fmt::print("{} ({}): {} trials in {}, latency {}\n\n", report.record.model, report.label,
             FormatCount(report.trials()), FormatSeconds(report.seconds()),
             FormatSeconds(report.latency()));
  const Table tables[] = {LatencyTable(report), TaskTable(report), PhaseTable(report),
                          ModelTable(report)};
  for (const Table& table : tables) {
    if (!table.empty()) fmt::print("{}\n", table.Text());
  }
  if (slots) fmt::print("{}\n", TurnTable(report).Text());
}

/// "resnet18-3": the database's name and the session's number.
std::string Prefix(const std::string& database, SessionId session) {
  return fmt::format("{}-{}", std::filesystem::path(database).stem().string(), session);
}

/// One chart of each kind for all sessions of a model.
void DrawTogether(const std::vector<SessionReport>& reports, Folder& folder) {
  std::map<std::string, std::vector<SessionReport>> models;
  for (const SessionReport& report : reports) models[report.record.model].push_back(report);
  for (const auto& [model, sessions] : models) {
    std::string name = std::filesystem::path(model).stem().string();
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '/' || c == ':'; }, '-');
    folder.Write(name + "-latency-trials.svg", LatencyChart(sessions, false).ToSvg());
    folder.Write(name + "-latency-time.svg", LatencyChart(sessions, true).ToSvg());
  }
}

void DrawSession(Store& store, const SessionReport& report, Folder& folder) {
  const std::string prefix = Prefix(store.path(), report.record.id);
  folder.Write(prefix + "-tasks.svg", ConvergenceChart(store, report.record.id).ToSvg());
  folder.Write(prefix + "-trials.svg", AllocationChart(report).ToSvg());
  if (!report.model.empty()) {
    folder.Write(prefix + "-model.svg", ModelQualityChart(store, report.record.id).ToSvg());
  }
}

void Report(const ReportOptions& options) {
  std::optional<Folder> folder;
  if (!options.out.empty()) folder.emplace(options.out);
  std::vector<SessionReport> reports;
  nlohmann::json figures = nlohmann::json::array();
  for (const std::string& database : options.databases) {
    Store store(database, Store::Mode::kReadOnly);
    for (SessionId session : ChosenSessions(store, options)) {
      reports.push_back(ReportOf(store, session));
      figures.push_back(ToJson(reports.back()));
      if (folder) DrawSession(store, reports.back(), *folder);
    }
  }
  if (folder) {
    DrawTogether(reports, *folder);
    folder->Write("report.json", figures.dump(2) + "\n");
  }
  if (options.json) {
    fmt::print("{}\n", figures.dump(2));
    return;
  }
  for (const SessionReport& report : reports) Print(report, options.slots);
  if (!folder) return;
  for (const std::string& file : folder->written()) fmt::print("wrote {}\n", file);
}

}  // namespace

void AddReportCommand(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* report =
      app.add_subcommand("report", "Tell how sessions got on: figures, and charts as SVG");
  report->add_option("databases", options->databases, "Databases written by 'bayloom tune'")
      ->required();
  report->add_option("--session", options->session, "Only this session; default all");
  report->add_option("--out,-o", options->out,
                     "Folder for the charts, and for all figures as report.json");
  report->add_flag("--slots", options->slots, "Also list what the scheduler chose slot by slot");
  report->add_flag("--json", options->json, "Print all figures as JSON");
  report->footer(
      "The latency is the sum over all tasks of their best programs' times, each as often as the\n"
      "model calls it. The charts: latency over trials and over time, all sessions of a model\n"
      "together; and for each session the tasks' best-so-far curves, the trials they were given,\n"
      "and how well the cost model predicted.\n"
      "\n"
      "Examples:\n"
      "  bayloom report resnet18.db\n"
      "  bayloom report gradient.db dynatune.db --out charts");
  report->callback([options] { Report(*options); });
}

}  // namespace bayloom
