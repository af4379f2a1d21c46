#include "bayloom/search/annotated_choice.h"

#include <algorithm>

namespace bayloom {

bool Annotates(const Trace& trace, int step, const std::string& key) {
  const int value = trace.instructions()[step].outputs[0];
  return std::any_of(trace.instructions().begin() + step + 1, trace.instructions().end(),
                     [&](const Instruction& user) {
                       return user.kind == InstructionKind::kAnnotate && user.text == key &&
                              std::find(user.inputs.begin(), user.inputs.end(), value) !=
                                  user.inputs.end();
                     });
}

}  // namespace bayloom
