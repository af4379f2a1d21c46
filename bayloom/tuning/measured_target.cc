#include "bayloom/tuning/measured_target.h"

#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/measure/measure_machine.h"

namespace bayloom {

Target MeasuredTarget(Store& store, Target target) {
  if (const auto known = store.FindTarget(target)) return store.TargetOf(*known);
  Result<MachineModel> machine = MeasuredMachineOf(target);
  if (!machine) throw InputError(machine.error().message);
  target.machine = *std::move(machine);
  return store.TargetOf(store.AddTarget(target));
}

}  // namespace bayloom
