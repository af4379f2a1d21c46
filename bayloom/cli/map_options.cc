#include "bayloom/cli/map_options.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "bayloom/base/result.h"
#include "bayloom/base/stop_flag.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/duration.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "bayloom/tuning/map_records.h"

namespace bayloom {
namespace {

constexpr int64_t kModelEvaluations = 20000;
constexpr int64_t kFewEvaluations = 100;

std::ofstream OpenMapFile(const std::string& name, std::ios::openmode mode) {
  std::ofstream file(name, mode);
  if (!file) throw InputError("cannot write '" + name + "': " + std::strerror(errno));
  return file;
}

void MakeMapFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw InputError("cannot make the folder '" + folder + "': " + error.message());
}

}  // namespace

void MapOptions::Check() const {
  const std::string name = MapperName();
  const auto need = [&](bool is_given, const char* option, bool is_heard, const char* who) {
    if (is_given && !is_heard) {
      throw InputError(fmt::format("{} is for {}, not for the mapper '{}'", option, who, name));
    }
  };
  need(!transfer.empty(), "--transfer", name == "bayesian", "'bayesian'");
  need(rehearse.has_value(), "--rehearse", name == "bayesian", "'bayesian'");
  need(top_k.has_value(), "--top-k", SearchesAnEncoding(name), "optimizers such as 'bayesian'");
  if (evaluator.find_first_not_of(" \t\n") == std::string::npos) {
    throw InputError("--evaluator is empty: give model, timeloop or a command");
  }
  if (out.empty()) return;
  if (!network.path.empty()) return MakeMapFolder(out);
  const bool is_there = std::filesystem::exists(out);
  OpenMapFile(out, std::ios::app);
  if (!is_there) std::filesystem::remove(out);
}

ReuseCounting MapOptions::Counting() const {
  if (counting == "exact") return ReuseCounting::kExact;
  if (counting == "timeloop") return ReuseCounting::kTimeloop;
  throw InputError("--counting: '" + counting + "' is neither exact nor timeloop");
}

std::string MapOptions::MapperName() const {
  if (!mapper.empty()) return mapper;
  const bool learns = !transfer.empty() || rehearse || top_k;
  return evaluator == "model" && !learns ? "genetic" : "bayesian";
}

int64_t MapOptions::Evaluations() const {
  return evaluations.value_or(MapperName() == "bayesian" ? kFewEvaluations : kModelEvaluations);
}

MapperOptions MapOptions::Mapper() const {
  MapperOptions options;
  options.seed = seed;
  options.max_evaluations = Evaluations();
  if (!time.empty()) options.max_seconds = ParseDuration(time, "--time");
  options.victory = victory;
  options.tiles = ParseTileEncoding(tiles);
  options.orders = ParseOrderEncoding(orders);
  options.transfer = ParseTransferMethod(transfer_method);
  options.top_k = top_k.value_or(0);
  options.objective = ParseMapObjective(objective);
  options.stop = StopRequested;
  return options;
}

std::vector<Directive> MapOptions::Constraints() const {
  std::vector<Directive> all;
  for (const std::string& file : constraints) {
    for (Directive& directive : ReadConstraints(file)) all.push_back(std::move(directive));
  }
  return all;
}

std::unique_ptr<MappingEvaluator> MapOptions::Evaluator(const AnalyticalModel& model) const {
  const MapObjective minimized = ParseMapObjective(objective);
  if (evaluator == "model") return MakeModelEvaluator(model, minimized);
  const double most_seconds = ParseDuration(timeout, "--timeout");
  if (evaluator == "timeloop") {
    return MakeTimeloopEvaluator(model.problem(), model.architecture(), minimized, most_seconds);
  }
  return MakeCommandEvaluator(model.problem(), model.architecture(), {evaluator, most_seconds});
}

std::unique_ptr<SearchRecords> MapOptions::Records() const {
  if (database.empty()) {
    if (resume) throw InputError("--resume needs --db, the records to go on with");
    return nullptr;
  }
  return std::make_unique<SearchRecords>(database);
}

std::unique_ptr<MappingEvaluator> MapOptions::Evaluator(const AnalyticalModel& model,
                                                        SearchRecords* records,
                                                        uint64_t search_seed) const {
  std::unique_ptr<MappingEvaluator> plain = Evaluator(model);
  if (records == nullptr) return plain;
  const MapSearchIdentity identity = {model.problem(), model.architecture(), objective,
                                      evaluator,       MapperName(),         search_seed};
  return std::make_unique<RecordedEvaluator>(std::move(plain), identity, *records, resume);
}

std::vector<EarlierMappings> MapOptions::Earlier(const Mapspace& mapspace,
                                                 const AnalyticalModel& model) const {
  std::vector<EarlierMappings> all;
  for (const std::string& file : transfer) {
    SearchRecords records(file, Database::Mode::kReadOnly);
    for (EarlierMappings& search : ReadEarlierMappings(records, objective)) {
      const bool is_same =
          search.problem == model.problem() &&
          PrintArchitectureYaml(search.architecture) == PrintArchitectureYaml(model.architecture());
      if (!is_same) all.push_back(std::move(search));
    }
  }
  if (!transfer.empty() && all.empty()) {
    throw InputError(
        "--transfer: there is no earlier search for the same objective of another "
        "problem or architecture");
  }
  if (rehearse) {
    all.push_back(Rehearse(mapspace, model, ParseMapObjective(objective), *rehearse, seed));
  }
  return all;
}

void FailWithoutMapping(const std::string& failure) {
  throw CheckFailed("no mapping was found that fits and can be evaluated" +
                    (failure.empty() ? "" : "; the last failed: " + failure));
}

void WriteMapFile(const std::string& name, const std::string& text) {
  std::ofstream file = OpenMapFile(name, std::ios::out);
  file << text;
  file.close();
  if (!file) throw InputError("cannot write '" + name + "': " + std::strerror(errno));
}

}  // namespace bayloom
