#include "bayloom/external/space_reader.h"

#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/external/scenario_readers.h"

namespace bayloom {

void SpaceReader::Add(std::unique_ptr<Parameter> parameter, const YamlValue& field) {
  WithPlace(field, [&] { builder_.Add(std::move(parameter)); });
  ++parameters_;
}

void SpaceReader::AddConstraint(const std::string& text, const YamlValue& field) {
  constraints_.push_back({text, field});
}

std::shared_ptr<const Space> SpaceReader::Finish(const YamlValue& field) {
  if (parameters_ == 0) field.Fail("expected at least one parameter");
  for (const Constraint& constraint : constraints_) {
    if (Status added = builder_.AddConstraint(constraint.text); !added) {
      constraint.field.Fail(added.error().message);
    }
  }
  return WithPlace(field, [&] {
    Result<std::shared_ptr<const Space>> space = builder_.Build();
    if (!space) throw InputError(space.error().message);
    return *std::move(space);
  });
}

}  // namespace bayloom
