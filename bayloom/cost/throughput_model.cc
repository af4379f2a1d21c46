#include "bayloom/cost/throughput_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

namespace bayloom {
namespace {

/// A file begins with this, the model's name and a line end.
constexpr std::string_view kMagic = "bayloom-model 1 ";

}  // namespace

std::vector<std::string> ThroughputModelNames() { return {"xgboost", "mlp", "mlp-squared"}; }

std::unique_ptr<ThroughputModel> CreateThroughputModel(const std::string& name, uint64_t seed) {
  if (name == "xgboost") return MakeTreesModel(seed);
  if (name == "mlp") return MakeMlpModel(seed);
  if (name == "mlp-squared") return MakeSquaredMlpModel(seed);
  throw InputError(fmt::format("there is no model '{}'; there are {}", name,
                               fmt::join(ThroughputModelNames(), ", ")));
}

void WriteModelFile(const ThroughputModel& model, const std::string& path) {
  const std::string partial = path + ".partial";
  std::ofstream file(partial, std::ios::binary);
  file << kMagic << model.name() << '\n' << model.Save();
  file.close();
  if (!file || std::rename(partial.c_str(), path.c_str()) != 0) {
    throw InputError(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
  }
}

std::unique_ptr<ThroughputModel> ReadModelFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const size_t end = bytes.find('\n');
  const std::vector<std::string> names = ThroughputModelNames();
  std::string name;
  if (bytes.starts_with(kMagic) && end != std::string::npos) {
    name = bytes.substr(kMagic.size(), end - kMagic.size());
  }
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    throw InputError(
        fmt::format("'{}' holds no model that this program knows; "
                    "'bayloom pretrain' writes one",
                    path));
  }
  std::unique_ptr<ThroughputModel> model = CreateThroughputModel(name, 0);
  const Status loaded = model->Load(std::string_view(bytes).substr(end + 1));
  if (!loaded) {
    throw InputError(fmt::format("the model in '{}' is damaged: {}", path, loaded.error().message));
  }
  return model;
}

}  // namespace bayloom
