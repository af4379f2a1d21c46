// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/package.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "bayloom/base/file.h"
#include "bayloom/codegen/cpu_features.h"
#include "bayloom/codegen/host.h"
#include "bayloom/graph/evaluate.h"
#include "tests/execute.h"
#include "tests/graph/pass_checks.h"
#include "tests/graph/two_layers.h"
#include "tests/temporary_folder.h"

namespace bayloom::graph {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kPrograms[] = BAYLOOM_TEST_PACKAGE_PROGRAMS;

class PackageTest : public ::testing::Test {
 protected:
  /// Compiles TwoLayers for the targets; the folder of the package.
  std::string Write(const std::vector<std::string>& targets, const std::string& folder = "package",
                    const std::string& name = "net", Graph graph = TwoLayers()) {
    std::vector<std::unique_ptr<Compiled>> compiled;
    std::vector<PackageVariant> variants;
    for (const std::string& target_name : targets) {
      const target::Target target = codegen::TargetNamed(target_name, 2);
      compiled.push_back(Compile(graph, target));
      variants.push_back({target, compiled.back()->programs});
    }
    package_ = WritePackage(compiled[0]->network, variants, folder_ / folder, name);
    return folder_ / folder;
  }

  /// Compiles a program of tests/graph/package with the package in the folder; its path.
  std::string Build(const std::string& source, const std::string& folder) {
    const std::string program = folder_ / source + ".out";
    const base::CommandResult built =
        Execute({"cc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-pedantic", "-Werror", "-pthread",
                 "-march=x86-64", "-I", folder, std::string(kPrograms) + "/" + source, "-o",
                 program, package_.library, "-Wl,-rpath," + folder});
    EXPECT_TRUE(built.status.Success()) << Describe(built);
    return program;
  }

  /// Whether the header is clean as C89 and as C++98, in a file that defines what it can.
  void ExpectCleanHeader(const std::string& name) {
    const std::string source = folder_ / "include.c";
    std::ofstream(source) << "#include <stdio.h>\n#include <stdlib.h>\n#include \"" << name
                          << ".h\"\n#include \"" << name << ".h\"\nint f(void);\n"
                          << "int f(void) { return " << name << "_set_threads(0); }\n";
    const std::string folder = std::filesystem::path(package_.header).parent_path();
    for (const char* language : {"c", "c++"}) {
      const base::CommandResult built =
          Execute({"cc", "-x", language,
                   *language == 'c' && language[1] == '\0' ? "-std=c89" : "-std=c++98", "-Wall",
                   "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", "-I", folder, source});
      EXPECT_TRUE(built.status.Success()) << name << " as " << language << ": " << Describe(built);
    }
  }

  TemporaryFolder folder_;
  Package package_;
};

TEST_F(PackageTest, ComputesTheSameWithNothingElse) {
  const std::string folder = Write({"native"});
  const tensor::HostTensor input = RandomTensor({4, 24}, 3);
  base::WriteFile(folder_ / "x", {reinterpret_cast<const char*>(input.data.data()), 96 * 4});
  const base::CommandResult run = Execute({Build("run.c", folder), folder_ / "x", folder_ / "y"});
  ASSERT_TRUE(run.status.Success()) << Describe(run);
  EXPECT_EQ(run.output, "native\n");
  const base::CommandResult symbols = Execute({"nm", "-D", "--defined-only", package_.library});
  EXPECT_THAT(symbols.output, HasSubstr("net_create"));
  EXPECT_THAT(symbols.output, Not(HasSubstr("kernel_")));
  EXPECT_THAT(symbols.output, Not(HasSubstr("bayloom_")));
}

TEST_F(PackageTest, DescribesItsTensors) {
  Write({"native"});
  void* const library = dlopen(package_.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto describe = reinterpret_cast<const char* (*)()>(dlsym(library, "net_description"));
  ASSERT_NE(describe, nullptr);
  const auto tensor = [](const char* name, std::vector<int64_t> shape) {
    return nlohmann::json{{"name", name}, {"type", "float32"}, {"shape", std::move(shape)}};
  };
  const nlohmann::json shape = {
      {"label", ""},
      {"inputs", {tensor("x", {4, 24})}},
      {"outputs", {tensor("active", {4, 32}), tensor("flat", {96}), tensor("same", {4, 24})}}};
  EXPECT_EQ(nlohmann::json::parse(describe()),
            (nlohmann::json{{"name", "net"}, {"shapes", nlohmann::json::array({shape})}}));
  dlclose(library);
}

/// A network whose tensors have as many rows as one wants: their sums, and the rows times weights.
Graph Rows(int64_t rows) {
  GraphBuilder b("rows");
  const tensor::Tensor x = b.Input("x", tensor::DType::kFloat32, {rows, 24});
  const tensor::Tensor product = Multiply(b, x, b.Constant("w", RandomTensor({24, 4096}, 1)));
  const tensor::Tensor active = Relu(b, b.View(product, {rows * 4096}));
  return b.Build({{"y", active.id()}});
}

/// The package of several numbers of rows, named "net".
Package WriteRows(const std::vector<int64_t>& all_rows, const std::string& folder) {
  const target::Target target = codegen::HostTarget(2);
  std::vector<std::unique_ptr<Compiled>> compiled;
  std::vector<PackageShape> shapes;
  for (const int64_t rows : all_rows) {
    compiled.push_back(Compile(Rows(rows), target));
    shapes.push_back({"rows=" + std::to_string(rows),
                      &compiled.back()->network,
                      {{target, compiled.back()->programs}}});
  }
  return WritePackage(shapes, folder, "net");
}

TEST_F(PackageTest, ALibraryTakesTheShapeOfTheCall) {
  package_ = WriteRows({1, 3, 16}, folder_ / "package");
  const std::string program = Build("shapes.c", folder_ / "package");
  for (const int64_t rows : {16, 1, 3}) {
    const tensor::HostTensor input = RandomTensor({rows, 24}, 7);
    const tensor::HostTensor expected = EvaluateGraph(Rows(rows), {input})[0];
    base::WriteFile(folder_ / "x",
                    {reinterpret_cast<const char*>(input.data.data()), input.data.size()});
    const base::CommandResult run = Execute({program, folder_ / "x", folder_ / "y"});
    ASSERT_TRUE(run.status.Success()) << rows << ": " << Describe(run);
    const std::string output = base::ReadFile(folder_ / "y");
    ASSERT_EQ(output.size(), expected.data.size());
    const auto* y = reinterpret_cast<const float*>(output.data());
    for (int64_t i = 0; i < expected.ElementCount(); ++i) {
      ASSERT_NEAR(y[i], expected.Get(i), 1e-4) << rows;
    }
  }
  base::WriteFile(folder_ / "x", std::string(2 * 24 * 4, 'x'));
  const base::CommandResult other = Execute({program, folder_ / "x", folder_ / "y"});
  EXPECT_THAT(other.error_output,
              HasSubstr("sizes of the tensors; the library is for rows=1; rows=3; rows=16"));
  EXPECT_THAT(base::ReadFile(package_.header), HasSubstr(" * rows=16\n"));
  ExpectCleanHeader("net");
}

TEST_F(PackageTest, EqualWeightsOfSeveralShapesAreThereOnce) {
  const auto one = std::filesystem::file_size(WriteRows({8}, folder_ / "one").library);
  const auto three = std::filesystem::file_size(WriteRows({8, 16, 32}, folder_ / "three").library);
  EXPECT_LT(three, one + 24 * 4096 * 4 / 2);
}

TEST_F(PackageTest, ShapesThatACallCannotTellApartAreRefused) {
  try {
    WriteRows({3, 4, 3}, folder_ / "package");
    ADD_FAILURE() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("the same sizes with rows=3 and with rows=3"));
  }
}

/// As TwoLayers to its callers; inside are kernels of the library.
Graph CallsOfTheLibrary() {
  using tensor::LibraryKernel;
  constexpr auto kFloat = tensor::DType::kFloat32;
  GraphBuilder b("calls");
  const tensor::Tensor x = b.Input("x", kFloat, {4, 24});
  const tensor::Tensor sums =
      b.Call("cumsum", {4, 24}, kFloat, LibraryKernel::kScan, {x}, {4, 24, 1, 0, 0, 1});
  const tensor::Tensor order =
      b.Call("topk", {4, 24}, tensor::DType::kInt64, LibraryKernel::kTopK, {x}, {4, 24, 1, 24, 0});
  const tensor::Tensor scattered =
      b.Call("scatter", {4, 24}, kFloat, LibraryKernel::kScatterElements, {x, order, sums},
             {1, 1, 2, 4, 24, 4, 24});
  const tensor::Tensor active = b.Map("pad", {4, 32}, [&](const auto& i) {
    return tensor::Select(i[1] < tensor::Expr(24), sums(i[0], i[1]), tensor::FloatLiteral(0));
  });
  return b.Build(
      {{"active", active.id()}, {"flat", b.View(scattered, {96}).id()}, {"same", x.id()}});
}

TEST_F(PackageTest, CarriesTheKernelsOfTheLibrary) {
  const std::string folder = Write({"x86-64-v2"}, "package", "net", CallsOfTheLibrary());
  const tensor::HostTensor input = RandomTensor({4, 24}, 3);
  base::WriteFile(folder_ / "x", {reinterpret_cast<const char*>(input.data.data()), 96 * 4});
  const base::CommandResult run = Execute({Build("run.c", folder), folder_ / "x", folder_ / "y"});
  ASSERT_TRUE(run.status.Success()) << Describe(run);
  const tensor::HostTensor expected = EvaluateGraph(CallsOfTheLibrary(), {input})[1];
  const std::string output = base::ReadFile(folder_ / "y");
  const auto* y = reinterpret_cast<const float*>(output.data());
  for (int i = 0; i < 96; ++i) ASSERT_NEAR(y[i], expected.Get(i), 1e-4);
  const base::CommandResult symbols = Execute({"nm", "-D", "--defined-only", package_.library});
  EXPECT_THAT(symbols.output, Not(HasSubstr("bayloom_")));
}

TEST_F(PackageTest, MisuseIsAnError) {
  const base::CommandResult run = Execute({Build("misuse.c", Write({"native"}))});
  EXPECT_TRUE(run.status.Success()) << Describe(run);
}

TEST_F(PackageTest, NamesOfEveryKindMakeCleanHeaders) {
  for (const char* name : {"int", "class", "NULL", "malloc"}) {
    const std::string usable = ToPackageName(name);
    Write({"native"}, "package", usable);
    ExpectCleanHeader(usable);
  }
}

TEST_F(PackageTest, TextBecomesAUsableName) {
  const std::pair<const char*, const char*> expected[] = {{"squeezenet1.1", "squeezenet1_1"},
                                                          {"int", "int"},
                                                          {"my net--v2!", "my_net_v2"},
                                                          {"__proto__", "proto"},
                                                          {"", "network"},
                                                          {"../..", "network"},
                                                          {"3d", "net_3d"},
                                                          {"malloc", "net_malloc"},
                                                          {"pthread_attr", "net_pthread_attr"},
                                                          {"\xc3\xa9t\xc3\xa9", "t"},
                                                          {"c", "net_c"},
                                                          {"bayloom", "net_bayloom"}};
  for (const auto& [text, name] : expected) EXPECT_EQ(ToPackageName(text), name);
  EXPECT_EQ(ToPackageName(ToPackageName(std::string(5000, 'a'))).size(), 100u);
}

TEST_F(PackageTest, RefusesWhatCannotWork) {
  for (const char* name : {"two layers", "", "_net", "a__b", "a_", "2d", "malloc", "stdio", "m",
                           "pthread", "timer", "a/b", "../a", "a\nb", "a*/b"}) {
    try {
      Write({"native"}, "package", name);
      ADD_FAILURE() << name;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("cannot be a library's name"));
      EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
    }
  }
  const std::unique_ptr<Compiled> compiled = Compile(TwoLayers(), codegen::HostTarget(1));
  const PackageVariant variant = {codegen::HostTarget(1), compiled->programs};
  EXPECT_THROW(WritePackage(compiled->network, {&variant, 1}, "/proc/nowhere", "net"), InputError);
}

TEST_F(PackageTest, NamesOfTensorsStayInTheComment) {
  Graph graph = TwoLayers();
  graph.values[graph.inputs[0]].name =
      "*/ int evil = 1; /* ?"
      "?/\n\\\n#error x\xff";
  graph.outputs[0].name = std::string(100000, '/');
  Write({"native"}, "package", "net", graph);
  EXPECT_THAT(base::ReadFile(package_.header), HasSubstr("int evil"));
  EXPECT_LT(base::ReadFile(package_.header).size(), 10000u);
  ExpectCleanHeader("net");
}

TEST_F(PackageTest, FoldersMayHaveAnyName) {
  for (const char* folder : {"-Wl,a,b with 'blank'", "@\"quoted\"\\\nline;$(HOME)%d"}) {
    Write({"native"}, folder);
    EXPECT_TRUE(std::filesystem::exists(package_.library)) << folder;
  }
}

TEST_F(PackageTest, EqualWeightsOfSeveralTargetsAreThereOnce) {
  Write({"x86-64-v2"});
  const auto one = std::filesystem::file_size(package_.library);
  Write({"x86-64-v2", "x86-64-v3", "native"});
  EXPECT_LT(std::filesystem::file_size(package_.library), one + 60000);
}

/// The emulated processors, and this one, run what they can and refuse the rest with a text.
TEST_F(PackageTest, EveryProcessorRunsItsBestCodeOrSaysWhatItLacks) {
  if (!Execute({"qemu-x86_64", "--version"}).status.Success()) {
    GTEST_SKIP() << "qemu-x86_64 (Debian package qemu-user) is not installed";
  }
  const tensor::HostTensor input = RandomTensor({4, 24}, 3);
  const tensor::HostTensor expected = EvaluateGraph(TwoLayers(), {input})[1];
  base::WriteFile(folder_ / "x", {reinterpret_cast<const char*>(input.data.data()), 96 * 4});
  // What qemu's processors run; it has no AVX-512 itself. Without xsave the system does not save
  // the registers of AVX.
  const std::map<std::string, std::vector<std::string>> runs = {
      {"Conroe", {}},
      {"Nehalem", {"x86-64-v2"}},
      {"Haswell,-xsave", {"x86-64-v2"}},
      {"Haswell", {"x86-64-v3", "x86-64-v2"}},
      {"max", {"x86-64-v3", "x86-64-v2"}}};
  const bool native_is_wide = codegen::HostTarget().vector_bytes > 32;
  for (const std::vector<std::string>& targets :
       std::vector<std::vector<std::string>>{{"x86-64-v2"},
                                             {"x86-64-v3"},
                                             {"x86-64-v4"},
                                             {"native"},
                                             {"x86-64-v4", "x86-64-v2", "x86-64-v3"}}) {
    if (targets[0] == "native" && !native_is_wide) continue;
    const std::string program = Build("run.c", Write(targets));
    for (const auto& [processor, able] : runs) {
      std::string best;  // of those in the library
      for (const std::string& target : able) {
        const bool there = std::find(targets.begin(), targets.end(), target) != targets.end();
        if (best.empty() && there) best = target;
      }
      const base::CommandResult run =
          Execute({"qemu-x86_64", "-cpu", processor, program, folder_ / "x", folder_ / "y"});
      ASSERT_FALSE(run.status.signaled) << targets[0] << " on " << processor;
      ASSERT_EQ(run.status.code, best.empty() ? 3 : 0) << targets[0] << " on " << processor;
      if (best.empty()) {
        EXPECT_THAT(run.error_output,
                    HasSubstr("the code needs a processor that has all features"));
        continue;
      }
      EXPECT_EQ(run.output, best + "\n") << processor;
      const std::string output = base::ReadFile(folder_ / "y");
      const auto* y = reinterpret_cast<const float*>(output.data());
      for (int i = 0; i < 96; ++i) ASSERT_NEAR(y[i], expected.Get(i), 1e-4) << processor;
    }
  }
}

}  // namespace
}  // namespace bayloom::graph
