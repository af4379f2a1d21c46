// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/import/import_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <new>
#include <stdexcept>

#include "bayloom/base/memory_advice.h"
#include "bayloom/base/result.h"
#include "bayloom/base/system_error.h"

namespace bayloom::graph {
namespace {

/// "; freeze the input 'rate' if its values never change".
std::string FreezingAdvice(const RunTimeDependence& error) {
  if (error.inputs().empty()) return "";
  std::vector<std::string> names;
  for (const std::string& name : error.inputs()) names.push_back(fmt::format("'{}'", name));
  const bool one = names.size() == 1;
  return fmt::format("; freeze the input{} {} if {} values never change", one ? "" : "s",
                     fmt::join(names, ", "), one ? "its" : "their");
}

}  // namespace

bool IsModelAtFault(const std::exception& error) {
  return dynamic_cast<const InputError*>(&error) != nullptr ||
         dynamic_cast<const std::invalid_argument*>(&error) != nullptr ||
         dynamic_cast<const std::domain_error*>(&error) != nullptr;
}

void RethrowNaming(const std::string& path) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    throw SystemError(fmt::format("{}: out of memory; {}", path, base::MemoryAdvice()));
  } catch (const SystemError&) {
    throw;
  } catch (const OpenShapeError& error) {
    throw OpenShapeError(fmt::format("{}: {}", path, error.what()), error.dimensions(),
                         error.inputs());
  } catch (const RunTimeDependence& error) {
    throw RunTimeDependence(fmt::format("{}: {}{}", path, error.what(), FreezingAdvice(error)),
                            error.inputs(), error.bound());
  } catch (const std::exception& error) {
    const std::string message = fmt::format("{}: {}", path, error.what());
    if (IsModelAtFault(error)) throw InputError(message);
    throw std::logic_error(message);
  }
}

}  // namespace bayloom::graph
