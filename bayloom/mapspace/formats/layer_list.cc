// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/formats/layer_list.h"

#include "bayloom/base/file.h"
#include "bayloom/base/text_limits.h"
#include "bayloom/mapspace/formats/accelforge.h"
#include "bayloom/mapspace/formats/maestro.h"
#include "bayloom/mapspace/formats/zigzag.h"

namespace bayloom::mapspace {

bool IsLayerList(std::string_view file) {
  return file.ends_with(".yaml") || file.ends_with(".yml") || file.ends_with(".m");
}

std::vector<NamedProblem> ReadLayers(const std::string& file,
                                     const yaml::TemplateVariables& variables) {
  if (file.ends_with(".m")) {
    return ParseMaestroNetwork(base::ReadFile(file, base::kMaxTextBytes), file);
  }
  const yaml::YamlValue document = yaml::LoadTemplate(file, variables);
  if (document.IsMap() && document.Find("workload")) return ReadAccelforgeWorkload(document);
  if (!document.IsList()) {
    document.Fail(
        "expected a list of layers as ZigZag's workloads are, or AccelForge's 'workload'; one "
        "operation is a problem, no network");
  }
  return ReadZigzagWorkload(document);
}

}  // namespace bayloom::mapspace
