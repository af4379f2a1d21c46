#include "bayloom/cli/tuning_subject.h"

#include <filesystem>

#include "bayloom/base/result.h"
#include "bayloom/tensor/operator_shorthand.h"

namespace bayloom {

std::string TuningSubject::DefaultDatabase() const {
  return is_model ? std::filesystem::path(name).stem().string() + ".db" : "operators.db";
}

TuningSubject LoadSubject(const std::string& model, const std::string& op) {
  if (model.empty() == op.empty()) {
    throw InputError(
        "name a model, such as resnet18.onnx, or an operator, such as "
        "--op matmul:512,512,512");
  }
  TuningSubject subject;
  subject.is_model = op.empty();
  subject.name = subject.is_model ? std::filesystem::path(model).filename().string() : op;
  subject.specs.push_back({op, ParseOperator(op), 1});
  return subject;
}

}  // namespace bayloom
