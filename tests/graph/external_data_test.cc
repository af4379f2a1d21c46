// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/import.h"
#include "tests/temporary_folder.h"

namespace bayloom::graph {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// y = x + w for four floats, where w lies in a file of its own.
class ExternalDataTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder_ / "weights");
    onnx::GraphProto& graph = *model_.mutable_graph();
    model_.set_ir_version(8);
    model_.add_opset_import()->set_version(13);
    graph.set_name("sum");
    Declare(*graph.add_input(), "x");
    Declare(*graph.add_output(), "y");
    onnx::NodeProto& add = *graph.add_node();
    add.set_op_type("Add");
    add.add_input("x");
    add.add_input("w");
    add.add_output("y");
    onnx::TensorProto& w = *graph.add_initializer();
    w.set_name("w");
    w.set_data_type(onnx::TensorProto::FLOAT);
    w.add_dims(4);
    w.set_data_location(onnx::TensorProto::EXTERNAL);
    const float numbers[] = {-1, -1, 1, 2, 3, 4};  // two that belong to another tensor
    std::ofstream(folder_ / "weights/w.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(numbers), sizeof(numbers));
  }

  static void Declare(onnx::ValueInfoProto& value, const std::string& name) {
    value.set_name(name);
    auto& type = *value.mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::FLOAT);
    type.mutable_shape()->add_dim()->set_dim_value(4);
  }

  void SetField(const std::string& key, const std::string& value) {
    auto& entry = *model_.mutable_graph()->mutable_initializer(0)->add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }

  std::string Save() const {
    const std::string path = folder_ / "model.onnx";
    std::ofstream file(path, std::ios::binary);
    model_.SerializeToOstream(&file);
    return path;
  }

  /// What the import of the model is refused with.
  std::string Refusal() const {
    try {
      ImportOnnx(Save());
    } catch (const InputError& error) {
      return error.what();
    }
    return "imported";
  }

  void ExpectRefusal(const std::string& reason) const {
    const std::string refusal = Refusal();
    EXPECT_THAT(refusal, HasSubstr(reason));
    EXPECT_THAT(refusal, StartsWith(folder_ / "model.onnx"));
    EXPECT_THAT(refusal, HasSubstr("w")) << "names the tensor";
    EXPECT_THAT(refusal, Not(HasSubstr("\n")));
  }

  TemporaryFolder folder_;
  onnx::ModelProto model_;
};

TEST_F(ExternalDataTest, IsReadFromItsPlaceInTheFile) {
  SetField("location", "weights/w.bin");
  SetField("offset", "8");
  SetField("length", "16");
  const Graph graph = ImportOnnx(Save());
  const std::vector<tensor::HostTensor> y =
      EvaluateGraph(graph, {tensor::HostTensor::Zeros(tensor::DType::kFloat32, {4})});
  for (int i = 0; i < 4; ++i) EXPECT_EQ(y[0].Get(i), i + 1);
}

TEST_F(ExternalDataTest, BeginsAtTheFilesBeginningIfNothingElseIsSaid) {
  SetField("location", "weights/w.bin");
  const std::vector<tensor::HostTensor> y =
      EvaluateGraph(ImportOnnx(Save()), {tensor::HostTensor::Zeros(tensor::DType::kFloat32, {4})});
  EXPECT_EQ(y[0].Get(0), -1);
  EXPECT_EQ(y[0].Get(3), 2);
}

TEST_F(ExternalDataTest, MissingFile) {
  SetField("location", "weights/v.bin");
  ExpectRefusal("weights/v.bin: cannot be read");
}

TEST_F(ExternalDataTest, FolderInPlaceOfAFile) {
  SetField("location", "weights");
  ExpectRefusal("weights: cannot be read");
}

TEST_F(ExternalDataTest, NoLocation) { ExpectRefusal("not a file beside the model"); }

TEST_F(ExternalDataTest, OutsideTheModelsFolder) {
  for (const char* location : {"../w.bin", "weights/../../w.bin", "/etc/passwd"}) {
    model_.mutable_graph()->mutable_initializer(0)->clear_external_data();
    SetField("location", location);
    ExpectRefusal("not a file beside the model");
  }
}

TEST_F(ExternalDataTest, LinksOutOfTheFolderAreNotFollowed) {
  const TemporaryFolder elsewhere;
  std::filesystem::copy(folder_ / "weights/w.bin", elsewhere / "w.bin");
  std::filesystem::create_symlink(elsewhere / "w.bin", folder_ / "link.bin");
  std::filesystem::create_symlink("link.bin", folder_ / "twice.bin");
  std::filesystem::create_symlink("circle.bin", folder_ / "circle.bin");
  std::filesystem::create_directory_symlink(elsewhere.path(), folder_ / "folder");
  for (const char* location : {"link.bin", "twice.bin", "circle.bin", "folder/w.bin"}) {
    model_.mutable_graph()->mutable_initializer(0)->clear_external_data();
    SetField("location", location);
    ExpectRefusal("links lead elsewhere");
  }
}

TEST_F(ExternalDataTest, LinksWithinTheFolderAreFollowed) {
  std::filesystem::create_symlink("weights/w.bin", folder_ / "near.bin");
  std::filesystem::create_directory_symlink("weights", folder_ / "folder");
  for (const char* location : {"near.bin", "folder/w.bin"}) {
    model_.mutable_graph()->mutable_initializer(0)->clear_external_data();
    SetField("location", location);
    EXPECT_NO_THROW(ImportOnnx(Save()));
  }
}

/// Caches of downloads keep files under the names of their contents, and links to them.
class DownloadCacheTest : public ExternalDataTest {
 protected:
  void SetUp() override {
    ExternalDataTest::SetUp();
    SetField("location", "w.bin");
    std::filesystem::create_directories(folder_ / "blobs");
    std::filesystem::create_directories(folder_ / "snapshots/1");
    std::filesystem::rename(Save(), folder_ / "blobs/a1");
    std::filesystem::copy(folder_ / "weights/w.bin", folder_ / "blobs/b2");
    std::filesystem::create_symlink("../../blobs/a1", folder_ / "snapshots/1/model.onnx");
  }
  std::string Outcome() const {
    try {
      ImportOnnx(folder_ / "snapshots/1/model.onnx");
      return "imported";
    } catch (const InputError& error) {
      return error.what();
    }
  }
};

TEST_F(DownloadCacheTest, IsRead) {
  std::filesystem::create_symlink("../../blobs/b2", folder_ / "snapshots/1/w.bin");
  EXPECT_EQ(Outcome(), "imported");
}

TEST_F(DownloadCacheTest, LinksToOtherFoldersAreNotFollowed) {
  std::filesystem::create_symlink("../../weights/w.bin", folder_ / "snapshots/1/w.bin");
  EXPECT_THAT(Outcome(), HasSubstr("links lead elsewhere"));
}

TEST_F(DownloadCacheTest, AModelThatIsNoLinkHasNoSuchFolder) {
  std::filesystem::create_symlink("../../blobs/b2", folder_ / "snapshots/1/w.bin");
  std::filesystem::remove(folder_ / "snapshots/1/model.onnx");
  std::filesystem::copy(folder_ / "blobs/a1", folder_ / "snapshots/1/model.onnx");
  EXPECT_THAT(Outcome(), HasSubstr("links lead elsewhere"));
}

TEST_F(ExternalDataTest, WhatIsNoFileIsNotWaitedFor) {
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  SetField("location", "pipe");
  ExpectRefusal("pipe: cannot be read");
}

TEST_F(ExternalDataTest, TheModelMayLieInTheCurrentFolder) {
  const std::filesystem::path before = std::filesystem::current_path();
  SetField("location", "weights/w.bin");
  Save();
  std::filesystem::current_path(folder_.path());
  EXPECT_NO_THROW(ImportOnnx("model.onnx"));
  std::filesystem::current_path(before);
}

TEST_F(ExternalDataTest, BeyondTheEndOfTheFile) {
  for (const char* offset : {"12", "24", "25", "9223372036854775807"}) {
    model_.mutable_graph()->mutable_initializer(0)->clear_external_data();
    SetField("location", "weights/w.bin");
    SetField("offset", offset);
    ExpectRefusal("16 bytes of external data needed");
  }
}

TEST_F(ExternalDataTest, OfAnotherLengthThanTheShapeNeeds) {
  SetField("location", "weights/w.bin");
  SetField("length", "12");
  ExpectRefusal("16 bytes of external data needed");
}

TEST_F(ExternalDataTest, NumbersThatAreNone) {
  for (const char* offset : {"-4", "many", "", "4 ", "99999999999999999999"}) {
    model_.mutable_graph()->mutable_initializer(0)->clear_external_data();
    SetField("location", "weights/w.bin");
    SetField("offset", offset);
    ExpectRefusal("offset '" + std::string(offset) + "'");
  }
}

TEST_F(ExternalDataTest, AShapeThatNoFileCanHold) {
  model_.mutable_graph()->mutable_initializer(0)->set_dims(0, int64_t{1} << 50);
  SetField("location", "weights/w.bin");
  EXPECT_NE(Refusal(), "imported") << "refused before anything is allocated";
}

}  // namespace
}  // namespace bayloom::graph
