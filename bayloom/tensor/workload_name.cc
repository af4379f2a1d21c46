// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/workload_name.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace bayloom::tensor {
namespace {

constexpr size_t kMaxOperatorBytes = 48;
constexpr size_t kHashDigits = 4;

/// The stage that a workload is about: the one with the most points.
const Stage& MainStage(const Workload& workload) {
  const auto points = [](const Stage& stage) {
    double product = 1;
    for (const Iter& iter : stage.iters) product *= static_cast<double>(iter.extent);
    return product;
  };
  return *std::ranges::max_element(workload.stages, {}, points);
}

/// "conv+relu"; of a long chain of operators the beginning and the end.
std::string Operators(const Workload& workload) {
  const std::string& name = workload.name;
  if (name.size() <= kMaxOperatorBytes) return name;
  constexpr size_t kHalf = kMaxOperatorBytes / 2 - 1;
  return name.substr(0, kHalf) + ".." + name.substr(name.size() - kHalf);
}

std::string Extents(const Stage& stage, IterKind kind) {
  std::vector<std::string> extents;
  for (const Iter& iter : stage.iters) {
    const char* open = iter.bound.is_open() ? ".." : "";
    if (iter.kind == kind) extents.push_back(fmt::format("{}{}", open, iter.extent));
  }
  return fmt::format("{}", fmt::join(extents, "x"));
}

/// Steps between neighbouring positions of windows: by how much an index grows with an iterator of
/// the output (stride) or of the reduction (dilation).
class WindowSteps {
 public:
  explicit WindowSteps(const Stage& stage) : stage_(stage) {
    const auto iters = static_cast<int>(stage.iters.size());
    Visit(stage.value, [&](const Expr& e) {
      if (e->op != ExprOp::kLoad) return;
      for (const Expr& index : e->operands) {
        if (const std::optional<LinearForm> form = ToLinear(index, iters)) Add(*form);
      }
    });
  }

  std::string Stride() const { return Text("stride", strides_); }
  std::string Dilation() const { return Text("dilation", dilations_); }

 private:
  void Add(const LinearForm& form) {
    bool has_window = false;
    for (size_t i = 0; i < stage_.iters.size(); ++i) {
      has_window |= form.coefficients[i] != 0 && stage_.iters[i].kind == IterKind::kReduction;
    }
    for (size_t i = 0; i < stage_.iters.size(); ++i) {
      const int64_t step = form.coefficients[i];
      if (step <= 1 || IsGroup(form, step)) continue;
      const bool is_spatial = stage_.iters[i].kind == IterKind::kSpatial;
      if (is_spatial || has_window) (is_spatial ? strides_ : dilations_)[i] = step;
    }
  }

  /// Whether the index counts through groups of channels that the reduction runs over.
  bool IsGroup(const LinearForm& form, int64_t step) const {
    for (size_t i = 0; i < stage_.iters.size(); ++i) {
      if (form.coefficients[i] == 1 && stage_.iters[i].kind == IterKind::kReduction &&
          stage_.iters[i].extent == step) {
        return true;
      }
    }
    return false;
  }

  static std::string Text(const char* what, const std::map<size_t, int64_t>& steps) {
    if (steps.empty()) return "";
    std::vector<int64_t> numbers;
    for (const auto& [iter, step] : steps) numbers.push_back(step);
    if (std::ranges::count(numbers, numbers.front()) == std::ssize(numbers)) numbers.resize(1);
    return fmt::format(", {} {}", what, fmt::join(numbers, "x"));
  }

  const Stage& stage_;
  std::map<size_t, int64_t> strides_, dilations_;  ///< by iterator
};

/// Whether something of the size of the result is added to it, or what else is done with it.
bool HasResidual(const Workload& workload, const Stage& main) {
  const int64_t elements = workload.buffers[main.output].ElementCount();
  if (elements == 1) return false;
  for (size_t b = 0; b < workload.buffers.size(); ++b) {
    const Buffer& buffer = workload.buffers[b];
    if (buffer.role == BufferRole::kInput && buffer.ElementCount() == elements &&
        main.reduction != Reduction::kNone && !Loads(main.value, static_cast<BufferId>(b)) &&
        std::ranges::none_of(workload.stages, [&](const Stage& stage) {
          return Loads(main.value, stage.output) && Loads(stage.value, static_cast<BufferId>(b));
        })) {
      return true;
    }
  }
  return false;
}

/// The types if they are not all float32: those that are read, then that of the result.
std::string Types(const Workload& workload, const Stage& main) {
  std::set<std::string> types;
  for (const BufferId parameter : workload.Parameters()) {
    if (workload.buffers[parameter].role == BufferRole::kSize) continue;
    types.insert(std::string(ToString(workload.buffers[parameter].dtype)));
  }
  types.insert(std::string(ToString(workload.buffers[main.output].dtype)));
  if (types == std::set<std::string>{"float32"}) return "";
  return fmt::format(", {}", fmt::join(types, " "));
}

/// The tensors that parameters are slices of.
std::string Slices(const Workload& workload) {
  std::string text;
  for (const BufferId parameter : workload.Parameters()) {
    const Buffer& buffer = workload.buffers[parameter];
    if (buffer.slice_of.empty()) continue;
    text += fmt::format(", {} {}", buffer.role == BufferRole::kOutput ? "into" : "from",
                        fmt::join(buffer.slice_of, "x"));
  }
  return text;
}

}  // namespace

std::string NameOf(const Workload& workload) {
  if (workload.stages.empty()) return Operators(workload);
  const Stage& main = MainStage(workload);
  const std::string spatial = Extents(main, IterKind::kSpatial);
  const std::string reduction = Extents(main, IterKind::kReduction);
  const WindowSteps steps(main);
  return fmt::format(
      "{} {}{}{}{}{}{}{}{}", Operators(workload), spatial.empty() ? "scalar" : spatial,
      reduction.empty() ? "" : " over ", reduction, steps.Stride(), steps.Dilation(),
      HasResidual(workload, main) ? ", residual" : "", Types(workload, main), Slices(workload));
}

std::vector<std::string> NamesOf(std::span<const Workload* const> workloads) {
  std::vector<std::string> names;
  std::vector<std::string> digits;
  std::map<std::string, std::set<std::string>> hashes;  // by name
  for (const Workload* workload : workloads) {
    names.push_back(NameOf(*workload));
    digits.push_back(fmt::format("{:016x}", workload->StructuralHash()));
    hashes[names.back()].insert(digits.back());
  }
  for (size_t i = 0; i < names.size(); ++i) {
    const std::set<std::string>& equal = hashes[names[i]];
    if (equal.size() == 1) continue;
    const auto told_apart = [&](size_t length) {
      std::set<std::string> beginnings;
      for (const std::string& hash : equal) beginnings.insert(hash.substr(0, length));
      return beginnings.size() == equal.size();
    };
    size_t length = kHashDigits;
    while (!told_apart(length)) ++length;
    names[i] += " #" + digits[i].substr(0, length);
  }
  return names;
}

}  // namespace bayloom::tensor
