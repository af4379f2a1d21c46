// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bayloom/base/file.h"
#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/map_kind.h"
#include "bayloom/cli/map_parts.h"
#include "bayloom/mapspace/exact/certificate.h"
#include "bayloom/report/format.h"
#include "bayloom/report/mapping_units.h"
#include "bayloom/report/printable.h"

namespace bayloom::cli {
namespace {

/// Below this share a gap is what sums in another order make.
constexpr double kNoGap = 1e-9;
/// Below this share a gap is what whole blocks and whole cycles make of the same mapping.
constexpr double kRoundingGap = 1e-4;

void CheckACertificate(const MapArguments& arguments) {
  const accelerator::MapOptions options = arguments.Options(1);
  const mapspace::Problem problem = arguments.LoadProblem();
  const std::vector<mapspace::Directive> constraints = arguments.Constraints();
  const mapspace::Mapspace mapspace(problem, arguments.LoadArchitectureFor(problem, constraints),
                                    constraints);
  const mapspace::AnalyticalModel model(mapspace.problem(), mapspace.architecture(),
                                        options.counting);
  const nlohmann::json json =
      nlohmann::json::parse(base::ReadFile(arguments.check), nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) throw InputError(arguments.check + " is not JSON");
  const mapspace::Certificate certificate = mapspace::CertificateFromJson(json, mapspace);
  const Result<mapspace::CertificateCheck> checked =
      mapspace::CheckCertificate(certificate, mapspace, model, arguments.seed);
  if (!checked) {
    constexpr size_t kMostShown = 400;
    throw CheckFailed(base::SingleLine(arguments.check) + ": " +
                      base::SingleLine(checked.error().message, kMostShown));
  }
  if (arguments.json) {
    fmt::print("{}\n", report::JsonText({{"valid", true},
                                         {"value", certificate.value},
                                         {"bound", certificate.bound},
                                         {"mappings", checked->mappings},
                                         {"completions", checked->completions}}));
    return;
  }
  fmt::print(
      "{}: the model gives the mapping {} {}; none of {} other mappings, and none of {} "
      "completions of {} partial mappings that were cut off, is below its bound\n{}\n",
      arguments.check, mapspace::ToString(certificate.objective),
      report::FormatMapValue(mapspace::ToString(certificate.objective), certificate.value),
      report::FormatCount(checked->mappings), report::FormatCount(checked->completions),
      certificate.sample.size(), DescribeProof(certificate));
}

}  // namespace

std::string DescribeProof(const mapspace::Certificate& certificate) {
  const std::string of = fmt::format("of {:.3g} mappings", certificate.mapspace_size);
  if (!certificate.is_whole) {
    return fmt::format("within {:.2g} % of the optimum {}; not proved further before the end",
                       100 * certificate.Gap(), of);
  }
  if (certificate.Gap() < kNoGap) return "the optimum " + of;
  return fmt::format("within {:.1g} % of the optimum {}{}", 100 * certificate.Gap(), of,
                     certificate.Gap() < kRoundingGap
                         ? ": bounds do not count what is rounded up to blocks and cycles"
                         : "");
}

MapKind CertificateChecking() {
  return {.name = "--check",
          .takes = {MapOption::kCheck, MapOption::kMappings},
          .writes_folder = false,
          .run = CheckACertificate};
}

}  // namespace bayloom::cli
