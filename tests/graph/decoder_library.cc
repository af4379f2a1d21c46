// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/graph/decoder_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "bayloom/codegen/host.h"
#include "bayloom/codegen/runtime/bayloom_package.h"
#include "bayloom/graph/package.h"
#include "bayloom/sketch/default_schedule.h"

namespace bayloom::graph {

DecoderLibrary::DecoderLibrary(const std::vector<const TaskGraph*>& networks) {
  std::vector<PackageShape> shapes;
  std::vector<std::vector<tensor::Program>> programs;
  for (const TaskGraph* network : networks) {
    std::vector<tensor::Program>& own = programs.emplace_back();
    for (const GraphTask& task : network->tasks) {
      own.push_back(sketch::DefaultSchedule(task.workload, codegen::HostTarget()));
    }
    PackageVariant variant{codegen::HostTarget(), {}};
    for (const tensor::Program& program : own) variant.programs.push_back(&program);
    shapes.push_back({fmt::format("shape {}", shapes.size()), network, {variant}});
  }
  const Package package = WritePackage(shapes, folder_ / "lib", "net");
  library_ = dlopen(package.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library_, nullptr) << dlerror();
}

DecoderLibrary::~DecoderLibrary() {
  for (void* model : models_) Function<int (*)(void*)>("net_destroy")(model);
}

void* DecoderLibrary::Symbol(const char* name) const { return dlsym(library_, name); }

void* DecoderLibrary::NewModel() const {
  void*& model = models_.emplace_back();
  EXPECT_EQ(Function<int (*)(int, void**)>("net_create")(BAYLOOM_ABI_VERSION, &model), 0);
  return model;
}

int DecoderLibrary::Step(void* model, const std::vector<int64_t>& ids, float* logits) const {
  using StepFunction = int (*)(void*, const int64_t*, size_t, float*);
  return Function<StepFunction>("net_step")(model, ids.data(), ids.size(), logits);
}

size_t DecoderLibrary::Length(void* model) const {
  return Function<size_t (*)(void*)>("net_length")(model);
}

int DecoderLibrary::Rewind(void* model, size_t length) const {
  return Function<int (*)(void*, size_t)>("net_rewind")(model, length);
}

int DecoderLibrary::Copy(void* from, void* to) const {
  return Function<int (*)(void*, void*)>("net_copy")(from, to);
}

}  // namespace bayloom::graph
