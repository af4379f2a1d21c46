// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>

#include "bayloom/base/file.h"
#include "examples/models/graph_builder.h"
#include "tests/cli/run_bayloom.h"
#include "tests/graph/decoder_models.h"
#include "tests/temporary_folder.h"

namespace bayloom::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// Models whose inputs are not of one shape.
class Shapes : public testing::Test {
 protected:
  Shapes() {
    models::GraphBuilder g("dense", 13, /*seed=*/1);
    const models::Value a = g.Input("a", {1, 8, 4});
    const models::Value b = g.Input("b", {1, 8, 4});
    const models::Value w = g.Weight("w", {4, 6}, 4, 1);
    g.Output(g.Node("Relu", {g.Node("MatMul", {g.Node("Add", {a, b}), w})}), {1, 8, 6});
    dense_ = Save("dense.onnx", g, {"batch", "sequence"});

    models::GraphBuilder h("reshape", 13, 0);
    const models::Value x = h.Input("x", {6});
    h.Output(h.Node("Reshape", {x, h.IndexInput("shape", {2})}), {2, 3});
    reshape_ = Save("reshape.onnx", h, {});

    models::GraphBuilder s("crop", 18, 0);
    const models::Value image = s.Input("x", {4, 4});
    s.Output(s.Node("CenterCropPad", {image, s.IndexInput("size", {2})}), {2, 3});
    crop_ = Save("crop.onnx", s, {});

    models::GraphBuilder u("unsupported", 13, 0);
    const models::Value y = u.Node("Relu", {u.Input("x", {6})});
    const models::Value words = u.Node("StringNormalizer", {y});
    u.Output(u.Node("Relu", {words}), {6});
    u.Output(u.Node("CumSum", {y, y}), {6});
    unsupported_ = Save("unsupported.onnx", u, {});
  }

  /// With these names for the first dimensions of all inputs.
  std::string Save(const std::string& name, const models::GraphBuilder& builder,
                   const std::vector<std::string>& dimensions) const {
    onnx::ModelProto model = builder.model();
    for (auto& input : *model.mutable_graph()->mutable_input()) {
      auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
      for (size_t d = 0; d < dimensions.size(); ++d) {
        shape.mutable_dim(static_cast<int>(d))->set_dim_param(dimensions[d]);
      }
    }
    base::WriteFile(folder_ / name, model.SerializeAsString());
    return folder_ / name;
  }

  TemporaryFolder folder_;
  std::string dense_, reshape_, crop_, unsupported_;
};

TEST_F(Shapes, WhatIsMissingIsAskedForInOneLine) {
  for (const char* command : {"run", "show", "bench", "compile", "tune"}) {
    const Answer answer = RunBayloom({command, dense_, "--dim", "batch=1"});
    EXPECT_EQ(answer.exit_code, 2) << command;
    EXPECT_THAT(answer.error, HasSubstr("the model leaves a dimension open: sequence (inputs 'a', "
                                        "'b'); give what is missing, such as --dim sequence=128"))
        << command;
  }
  EXPECT_THAT(RunBayloom({"run", dense_}).error, HasSubstr("--dim batch=1 --dim sequence=128"));
}

TEST_F(Shapes, SizesAreGivenByNameOrByShape) {
  const Answer named = RunBayloom({"run", dense_, "--dim", "batch=2", "--dim", "sequence=3"});
  EXPECT_EQ(named.exit_code, 0) << named.error;
  EXPECT_THAT(named.out, HasSubstr("float32[2, 3, 6]"));
  const Answer shaped = RunBayloom({"run", dense_, "--shape", "a=2x3x4"});
  EXPECT_EQ(shaped.exit_code, 0) << shaped.error;
  EXPECT_EQ(shaped.out, named.out);
  const Answer both = RunBayloom({"run", dense_, "--shape", "a=2x3x4", "--dim", "batch=1"});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.error, HasSubstr("dimension 'batch' cannot be both"));
}

TEST_F(Shapes, WhatIsNoSizeIsRefused) {
  for (const char* text : {"batch", "batch=", "=1", "batch=x", "batch=-1", "batch=1,", "batch=1x2",
                           "batch=4,4", "batch=99999999999999999999"}) {
    const Answer answer = RunBayloom({"run", dense_, "--dim", text, "--dim", "sequence=3"});
    EXPECT_EQ(answer.exit_code, 2) << text;
    EXPECT_THAT(answer.error, HasSubstr("--dim")) << text;
  }
  EXPECT_THAT(RunBayloom({"run", dense_, "--dim", "batch=1", "--dim", "batch=2"}).error,
              HasSubstr("'batch' is given twice"));
  EXPECT_THAT(RunBayloom({"run", dense_, "--dim", "bach=1"}).error,
              HasSubstr("no input has an open dimension 'bach'; there are: batch"));
}

TEST_F(Shapes, ACacheTypeIsRefusedWhereNothingIsKept) {
  const Answer answer =
      RunBayloom({"run", dense_, "--dim", "batch=1", "--dim", "sequence=1..8", "--cache", "f16"});
  EXPECT_EQ(answer.exit_code, 2);
  EXPECT_THAT(answer.error,
              AllOf(HasSubstr("--cache: "), HasSubstr("keeps nothing from one run to the next")));
}

TEST_F(Shapes, CheckSaysWhatACacheOfATypeTakes) {
  onnx::ModelProto model;
  const std::string text =
      "<ir_version: 8, opset_import: [\"\" : 14]> " + graph::DecoderModel({}, /*head=*/64).text;
  ASSERT_TRUE(onnx::OnnxParser(text.c_str()).Parse(model).IsOK());
  const std::string path = folder_ / "decoder.onnx";
  base::WriteFile(path, model.SerializeAsString());
  const auto bytes = [&](const std::string& type) {
    const Answer answer = RunBayloom({"check", path, "--dim", "p=0..20", "--dim", "s=1..6", "--dim",
                                      "t=p+s", "--cache", type, "--json"});
    return nlohmann::json::parse(answer.out)["decoder"]["state_bytes_per_token"];
  };
  EXPECT_EQ(bytes("model"), 2 * 2 * 64 * 4);
  EXPECT_EQ(bytes("f16"), 2 * 2 * 64 * 2);
  EXPECT_EQ(bytes("int8"), 2 * (2 * 64 + 16 * 4));  // and scales
}

TEST_F(Shapes, ASizeMayBeASumOfOthers) {
  const Answer one =
      RunBayloom({"run", dense_, "--dim", "batch=sequence+1", "--dim", "sequence=3"});
  EXPECT_EQ(one.exit_code, 0) << one.error;
  EXPECT_THAT(one.out, HasSubstr("float32[4, 3, 6]"));
  const Answer several =
      RunBayloom({"compile", dense_, "--effort", "none", "--out", folder_.path(), "--json", "--dim",
                  "batch=sequence+1", "--dim", "sequence=4,8"});
  ASSERT_EQ(several.exit_code, 0) << several.error;
  EXPECT_EQ(nlohmann::json::parse(several.out)["shapes"].size(), 2u);
  const Answer unknown =
      RunBayloom({"run", dense_, "--dim", "batch=other+1", "--dim", "sequence=3"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.error, HasSubstr("'batch=other+1' is no sum of numbers and of sizes"));
}

TEST_F(Shapes, RangesThatAreNoneAreRefusedInOneLine) {
  const std::vector<std::pair<std::string, std::string>> ranges = {
      {"5..1", "ends before it begins"},
      {"5..5", "one length in it; write 5"},
      {"8..30:8", "write 8..24:8"},
      {"1..", "no range"},
      {"..4", "no range"},
      {"1..8:0", "no range"},
      {"-1..8", "no range"},
      {"1..x", "no range"}};
  for (const auto& [range, reason] : ranges) {
    const Answer answer = RunBayloom({"check", dense_, "--dim", "sequence=" + range});
    EXPECT_EQ(answer.exit_code, 2) << range;
    EXPECT_THAT(answer.error,
                AllOf(HasSubstr("--dim sequence=" + range + ": "), HasSubstr(reason)));
  }
  const Answer parts =
      RunBayloom({"tune", dense_, "--partial", "--dim", "batch=1", "--dim", "sequence=1..8"});
  EXPECT_EQ(parts.exit_code, 2);
  EXPECT_THAT(parts.error, HasSubstr("--dim sequence=1..8: networks in parts take no ranges"));
}

TEST_F(Shapes, SizesAndRangesOfOneDimensionAreNetworksOfOneLibrary) {
  const Answer compiled =
      RunBayloom({"compile", dense_, "--effort", "none", "--out", folder_.path(), "--json", "--dim",
                  "batch=1", "--dim", "sequence=2..16,1,20..24"});
  ASSERT_EQ(compiled.exit_code, 0) << compiled.error;
  const nlohmann::json described = nlohmann::json::parse(compiled.out);
  std::vector<std::string> labels;
  for (const auto& shape : described["shapes"]) labels.push_back(shape["shape"]);
  EXPECT_THAT(labels, ElementsAre("sequence=1", "sequence=2..16", "sequence=20..24"));
  for (const char* twice : {"sequence=1,1", "sequence=1..4,1..4", "sequence=1..4,2,2"}) {
    EXPECT_THAT(RunBayloom({"compile", dense_, "--dim", twice}).error, HasSubstr("given twice"));
  }
}

TEST_F(Shapes, RangesAreRunAtTheLargestLengths) {
  const Answer open = RunBayloom({"run", dense_, "--dim", "batch=1", "--dim", "sequence=1..8"});
  EXPECT_EQ(open.exit_code, 0) << open.error;
  const Answer fixed = RunBayloom({"run", dense_, "--dim", "batch=1", "--dim", "sequence=8"});
  EXPECT_EQ(open.out, fixed.out);
}

TEST_F(Shapes, CheckNamesDimensionsThatStayOpen) {
  const std::vector<std::string> check = {"check",   dense_,  "--dim",
                                          "batch=2", "--dim", "sequence=4..16:4"};
  const Answer text = RunBayloom(check);
  EXPECT_EQ(text.exit_code, 0) << text.error;
  EXPECT_THAT(text.out, AllOf(HasSubstr("open    sequence=4..16:4  in a, b"),
                              HasSubstr("a  float32[2, sequence, 4]"),
                              HasSubstr("float32[2, sequence, 6]"), HasSubstr("one network")));
  std::vector<std::string> with_json = check;
  with_json.emplace_back("--json");
  const nlohmann::json json = nlohmann::json::parse(RunBayloom(with_json).out);
  EXPECT_EQ(json["outputs"][0]["type"], "float32[2, sequence, 6]");
  EXPECT_EQ(json["open"][1]["largest"], 16);
  EXPECT_EQ(json["open"][1]["step"], 4);
  EXPECT_FALSE(json["open"][0].contains("largest"));
}

TEST_F(Shapes, ASumOfARangeStaysOpen) {
  const Answer answer =
      RunBayloom({"check", dense_, "--dim", "sequence=1..8", "--dim", "batch=sequence+1"});
  EXPECT_EQ(answer.exit_code, 0) << answer.error;
  EXPECT_THAT(answer.out, HasSubstr("float32[sequence + 1, sequence, 6]"));
}

TEST_F(Shapes, SeveralSizesAreTunedTogether) {
  const std::string database = folder_ / "dense.db";
  const Answer tuned =
      RunBayloom({"tune", dense_, "--dim", "batch=1", "--dim", "sequence=4,8,16", "--trials", "12",
                  "--strategy", "random", "--threads", "1", "--db", database});
  ASSERT_EQ(tuned.exit_code, 0) << tuned.error;
  EXPECT_THAT(tuned.error, HasSubstr("6 tasks of dense.onnx batch=1 sequence=4,8,16"));
  EXPECT_THAT(tuned.out, HasSubstr("--dim batch=1 --dim sequence=4,8,16"));
  for (const char* size : {"sequence=4", "sequence=16"}) {
    const Answer run = RunBayloom(
        {"run", dense_, "--dim", "batch=1", "--dim", size, "--threads", "1", "--db", database});
    EXPECT_EQ(run.exit_code, 0) << run.error;
    EXPECT_THAT(run.error, HasSubstr("2 of 2 tasks tuned")) << size;
  }
  const Answer several = RunBayloom({"run", dense_, "--dim", "batch=1", "--dim", "sequence=4,8"});
  EXPECT_EQ(several.exit_code, 2);
  EXPECT_THAT(several.error, HasSubstr("give one"));
}

TEST_F(Shapes, OpenSizesAreTunedAtSeveralLengths) {
  const std::string database = folder_ / "dense.db";
  const std::vector<std::string> shape = {dense_,      "--dim", "batch=1", "--dim", "sequence=1..8",
                                          "--threads", "1",     "--db",    database};
  const auto with = [&](const std::vector<std::string>& command,
                        const std::vector<std::string>& options) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), shape.begin(), shape.end());
    arguments.insert(arguments.end(), options.begin(), options.end());
    return RunBayloom(arguments);
  };
  const Answer tuned = with({"tune"}, {"--trials", "12", "--strategy", "random", "--json"});
  ASSERT_EQ(tuned.exit_code, 0) << tuned.error;
  const nlohmann::json json = nlohmann::json::parse(tuned.out);
  const std::string text = json.dump();
  ASSERT_TRUE(text.find("by_size") != std::string::npos) << text;
  const Answer run = with({"run"}, {});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_THAT(run.error, HasSubstr("tasks tuned"));
  const Answer bench = with({"bench"}, {"--time", "100ms"});
  EXPECT_THAT(bench.out,
              AllOf(HasSubstr("latency with sequence=8"), HasSubstr("latency with sequence=1:")));
  // What was measured at other sizes is not gone on with.
  const std::string sizes = folder_ / "sizes.csv";
  base::WriteFile(sizes, "sequence\n2\n");
  const Answer other = with({"tune"}, {"--sizes", sizes, "--resume", "--trials", "20"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.error, HasSubstr("begun with the sizes '8, "));
}

TEST_F(Shapes, SeveralSizesAreInOneLibrary) {
  const std::vector<std::string> compile = {"compile", dense_,         "--effort", "none",
                                            "--out",   folder_.path(), "--json"};
  const auto with = [&](const std::vector<std::string>& sizes) {
    std::vector<std::string> arguments = compile;
    for (const std::string& size : sizes) arguments.insert(arguments.end(), {"--dim", size});
    return RunBayloom(arguments);
  };
  const Answer two = with({"batch=1", "sequence=4,8"});
  ASSERT_EQ(two.exit_code, 0) << two.error;
  const nlohmann::json json = nlohmann::json::parse(two.out);
  ASSERT_EQ(json["shapes"].size(), 2u);
  EXPECT_EQ(json["shapes"][1]["shape"], "sequence=8");
  EXPECT_EQ(json["shapes"][1]["variants"].size(), 1u);
  EXPECT_THAT(base::ReadFile(json["header"].get<std::string>()),
              AllOf(HasSubstr(" * sequence=4\n"), HasSubstr("float32[1, 8, 6], 192 bytes")));

  const Answer alike = with({"batch=1,2", "sequence=4,8"});
  EXPECT_EQ(alike.exit_code, 2);
  EXPECT_THAT(alike.error, HasSubstr("the same sizes with batch=1 sequence=8 and with batch=2 "
                                     "sequence=4"));
}

TEST_F(Shapes, WhatDependsOnAnInputIsKnownWithItFrozen) {
  const Answer refused = RunBayloom({"run", crop_});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.error, AllOf(HasSubstr("CenterCropPad"), HasSubstr("freeze the input 'size'"),
                                   HasSubstr("--freeze size=VALUE")));
  const Answer run = RunBayloom({"run", reshape_, "--freeze", "shape=3,2"});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_THAT(run.out, HasSubstr("float32[3, 2]"));
  for (const char* text : {"shape=3,x", "shape=", "shape=1.5,2", "shape=1,2,3", "size=1"}) {
    EXPECT_EQ(RunBayloom({"run", reshape_, "--freeze", text}).exit_code, 2) << text;
  }
}

TEST_F(Shapes, AFrozenTensorMayBeInAFile) {
  onnx::TensorProto tensor;
  tensor.set_data_type(onnx::TensorProto::INT64);
  tensor.add_dims(2);
  tensor.add_int64_data(2);
  tensor.add_int64_data(3);
  base::WriteFile(folder_ / "shape.pb", tensor.SerializeAsString());
  const Answer run = RunBayloom({"run", reshape_, "--freeze", "shape=" + (folder_ / "shape.pb")});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_THAT(run.out, HasSubstr("float32[2, 3]"));
}

TEST_F(Shapes, CheckSaysWhatAModelNeeds) {
  const Answer open = RunBayloom({"check", dense_});
  EXPECT_EQ(open.exit_code, 1);
  EXPECT_THAT(open.error, HasSubstr("dense.onnx: needs --dim batch=1 --dim sequence=128"));
  EXPECT_THAT(open.out, AllOf(HasSubstr("input   a  float32[batch, sequence, 4]"),
                              HasSubstr("open    sequence  in a, b"), HasSubstr("data    float32"),
                              HasSubstr("MatMul"), HasSubstr("with batch=1 sequence=64")));
  const Answer ready = RunBayloom({"check", dense_, "--shape", "a=1x8x4"});
  EXPECT_EQ(ready.exit_code, 0) << ready.error;
  EXPECT_THAT(ready.out, HasSubstr("dense.onnx: can be tuned as it is\n"));
  const Answer frozen = RunBayloom({"check", crop_});
  EXPECT_EQ(frozen.exit_code, 1);
  EXPECT_THAT(frozen.error, HasSubstr("needs --freeze size=VALUE"));
  EXPECT_EQ(RunBayloom({"check", dense_, "--dim", "bach=1"}).exit_code, 2);
  EXPECT_EQ(RunBayloom({"check", folder_ / "missing.onnx"}).exit_code, 2);
}

TEST_F(Shapes, CheckDoesNotAskToFreezeEverything) {
  models::GraphBuilder g("own", 18, 0);
  const models::Value x = g.IndexInput("x", {1});
  g.Output(g.Node("CenterCropPad", {x, x}), {1});
  const std::string path = Save("own.onnx", g, {});
  const Answer answer = RunBayloom({"check", path});
  EXPECT_EQ(answer.exit_code, 1);
  EXPECT_THAT(answer.error, AllOf(HasSubstr("--partial"), Not(HasSubstr("--freeze"))));

  // Where both streams are one, the verdict is behind the table.
  const std::string both = folder_ / "both";
  std::ignore = std::system((BAYLOOM_PROGRAM " check " + path + " >" + both + " 2>&1").c_str());
  const std::string text = base::ReadFile(both);
  EXPECT_THAT(text.substr(text.rfind('\n', text.size() - 2) + 1), StartsWith("bayloom: "));
}

/// Lengths that a network finds are bound by shapes, or by the user.
TEST_F(Shapes, CheckSaysWhatIsFoundAndWhatBoundsIt) {
  models::GraphBuilder g("points", 13, 0);
  const models::Value places = g.Node("NonZero", {g.Input("x", {2, 6})});
  g.Output(g.Node("Transpose", {places}), {12, 2});
  const std::string points = Save("points.onnx", g, {});
  const Answer table = RunBayloom({"check", points});
  EXPECT_EQ(table.exit_code, 0) << table.error;
  EXPECT_THAT(table.out, AllOf(HasSubstr("found in a run"), HasSubstr("at most 12  shapes")));
  const Answer json = RunBayloom({"check", points, "--json", "--bound", places + "=5"});
  const nlohmann::json found = nlohmann::json::parse(json.out)["found"];
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]["operator"], "NonZero");
  EXPECT_EQ(found[0]["largest"], 5);
  EXPECT_EQ(found[0]["bound_by"], "user");
  EXPECT_THAT(RunBayloom({"run", points, "--bound", "z=5"}).error,
              HasSubstr("no length that is found when the network runs is called 'z'"));
  for (const char* text : {"z", "z=", "z=0", "z=x", "=4"}) {
    EXPECT_THAT(RunBayloom({"run", points, "--bound", text}).error, HasSubstr("--bound")) << text;
  }

  models::GraphBuilder r("range", 13, 0);
  const models::Value count = r.Node("Squeeze", {r.IndexInput("n", {1})});
  const models::Value zero = r.Node("Sub", {count, count});
  const models::Value steps = r.Node("Range", {zero, count, r.Node("Div", {count, count})});
  r.Output(r.Node("ReduceSum", {steps}), {1});
  const std::string range = Save("range.onnx", r, {});
  const Answer unbound = RunBayloom({"check", range});
  EXPECT_EQ(unbound.exit_code, 1);
  EXPECT_THAT(unbound.error, HasSubstr("needs --bound " + steps + "=300"));
  EXPECT_EQ(RunBayloom({"check", range, "--bound", steps + "=8"}).exit_code, 0);
}

TEST_F(Shapes, CheckExaminesAllNodes) {
  const Answer table = RunBayloom({"check", unsupported_});
  EXPECT_EQ(table.exit_code, 1);
  EXPECT_THAT(table.error, HasSubstr("cannot be tuned: 2 nodes of 2 operators are refused"));
  EXPECT_THAT(table.out, AllOf(HasSubstr("CumSum"), HasSubstr("1 node behind refused ones")));

  const Answer answer = RunBayloom({"check", unsupported_, "--json"});
  EXPECT_EQ(answer.exit_code, 1);
  const nlohmann::json json = nlohmann::json::parse(answer.out);
  EXPECT_EQ(json["ready"], false);
  ASSERT_EQ(json["refusals"].size(), 2u);
  EXPECT_EQ(json["refusals"][0]["operator"], "StringNormalizer");
  EXPECT_EQ(json["refusals"][0]["version"], 13);
  EXPECT_EQ(json["refusals"][1]["operator"], "CumSum");
  EXPECT_EQ(json["unexamined_nodes"], 1);
  EXPECT_FALSE(json.contains("flops"));
}

TEST_F(Shapes, CheckSaysThatRefusalsMayBeDueToTheSizes) {
  models::GraphBuilder g("split", 13, 0);
  g.Output(g.Node("Concat", g.Node("Split", {g.Input("x", {6})}, {{"axis", int64_t{0}}}, 7),
                  {{"axis", int64_t{0}}}),
           {6});
  const std::string path = Save("split.onnx", g, {"length"});
  const Answer answer = RunBayloom({"check", path});
  EXPECT_EQ(answer.exit_code, 1);
  EXPECT_THAT(answer.error, AllOf(HasSubstr("needs --dim length="), Not(HasSubstr("cannot"))));
  EXPECT_EQ(RunBayloom({"check", path, "--dim", "length=14"}).exit_code, 0);
}

TEST_F(Shapes, CheckAsJson) {
  const Answer answer =
      RunBayloom({"check", dense_, "--dim", "batch=2", "--dim", "sequence=5", "--json"});
  ASSERT_EQ(answer.exit_code, 0) << answer.error;
  const nlohmann::json json = nlohmann::json::parse(answer.out);
  EXPECT_EQ(json["ready"], true);
  EXPECT_EQ(json["operator_sets"]["ai.onnx"], 13);
  EXPECT_EQ(json["open"][0]["name"], "batch");
  EXPECT_EQ(json["parameters"][0]["count"], 24);
  EXPECT_EQ(json["parameters"][0]["bytes"], 96);
  EXPECT_GE(json["flops"].get<double>(), 2 * 2 * 5 * 4 * 6);
  EXPECT_TRUE(json["missing"].empty());
  EXPECT_THAT(json["verdict"].get<std::string>(), Not(HasSubstr("needs")));
}

TEST_F(Shapes, SizesThatRunsHaveAreReadFromAFile) {
  const std::string path = folder_ / "sizes.csv";
  const auto check = [&](const std::string& text, const std::string& range) {
    base::WriteFile(path, text);
    return RunBayloom({"check", dense_, "--dim", "batch=1", "--dim", range, "--sizes", path});
  };
  EXPECT_EQ(check("sequence,count\n3,10\n 8 ,2\n", "sequence=1..8").exit_code, 0);
  EXPECT_EQ(check("batch,sequence\n1,3\n2,7\n", "sequence=1..8").exit_code, 0);
  const auto refusal = [&](const std::string& text, const std::string& range) {
    const Answer answer = check(text, range);
    EXPECT_EQ(answer.exit_code, 2) << text;
    return answer.error;
  };
  EXPECT_THAT(refusal("sequence\n9\n", "sequence=1..8"),
              HasSubstr("9 is not among --dim sequence=1..8"));
  EXPECT_THAT(refusal("sequence\nten\n", "sequence=1..8"), HasSubstr("line 2: 'ten' is no size"));
  EXPECT_THAT(refusal("sequence,count\n3\n", "sequence=1..8"),
              HasSubstr("line 2 has 1 numbers, not 2"));
  EXPECT_THAT(refusal("count\n3\n", "sequence=1..8"), HasSubstr("no column is called sequence"));
  EXPECT_THAT(refusal("sequence,width\n3,3\n", "sequence=1..8"),
              HasSubstr("'width' is no dimension"));
  EXPECT_THAT(refusal("sequence\n", "sequence=1..8"), HasSubstr("there are no sizes"));
  EXPECT_THAT(refusal("sequence\n3\n", "sequence=8"), HasSubstr("no dimension is open"));
}

}  // namespace
}  // namespace bayloom::cli
