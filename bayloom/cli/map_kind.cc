// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/map_kind.h"

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/formats/layer_list.h"

namespace bayloom::cli {
namespace {

struct GivenOption {
  MapOption option;
  bool is_given;
  std::string_view refusal;  ///< by the kind of this name
};

std::vector<GivenOption> OptionsIn(const MapArguments& arguments) {
  return {
      {MapOption::kFuse, arguments.fuse, "--fuse is for a network, such as resnet50.onnx"},
      {MapOption::kLayerList,
       !arguments.network.path.empty() && mapspace::IsLayerList(arguments.network.path),
       "{} needs an ONNX model: a list of layers does not say what lies between"},
      {MapOption::kMapping, !arguments.mapping.empty(),
       "--mapping evaluates a mapping of one operation: it does not go with {}"},
      {MapOption::kCheck, !arguments.check.empty(),
       "--check is for the certificate of one operation: it does not go with {}"},
      {MapOption::kCertificate, !arguments.certificate.empty(),
       "--certificate is of one operation: it does not go with {}"},
      {MapOption::kMappings, arguments.mappings != "even", "{} has even mappings only"},
      {MapOption::kWhy, arguments.why, "--why is for layers by themselves, not for {}"},
      {MapOption::kEvaluator, arguments.evaluator != "model",
       "{} needs the built-in model, not --evaluator"},
      {MapOption::kWorkers, !arguments.workers.empty(),
       "{} is carried out here; --workers are for searches with a simulator"},
      {MapOption::kFront, arguments.objectives.size() > 1, "{} minimizes one objective"},
      {MapOption::kLearnFrom, !arguments.learn_from.words.empty(),
       "{} does not go with --learn-from"},
      {MapOption::kWarmStartModel, arguments.warm_start_model.has_value(),
       "{} does not go with --warm-start-model"},
      {MapOption::kTopK, arguments.top_k.has_value(), "{} does not go with --top-k"},
      {MapOption::kTileEvaluations, arguments.tile_evaluations.has_value(),
       "--tile-evaluations needs --fuse"},
  };
}

MapKind Asked(const MapArguments& arguments) {
  const bool is_network = arguments.HasSeveralLayers();
  if (!arguments.network.path.empty() && arguments.fuse) return FusedSearch();
  if (!arguments.cores.empty()) return CoresSearch();
  if (is_network) return NetworkSearch();
  if (!arguments.check.empty()) return CertificateChecking();
  return arguments.mapping.empty() ? OperationSearch() : MappingEvaluation();
}

}  // namespace

MapKind KindOf(const MapArguments& arguments) {
  MapKind kind = Asked(arguments);
  for (const GivenOption& given : OptionsIn(arguments)) {
    if (given.is_given && std::ranges::find(kind.takes, given.option) == kind.takes.end()) {
      throw InputError(fmt::format(fmt::runtime(given.refusal), kind.name));
    }
  }
  return kind;
}

}  // namespace bayloom::cli
