// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <string>
#include <vector>

namespace bayloom::graph {

/// Where the files with a model's external data lie.
struct DataFolder {
  std::string path;  ///< the folder of the path that the model was opened by
  /// The folder of the model's file itself, if that path is a link; else empty. Caches of downloads
  /// keep all files there, and links to them where people look.
  std::string linked;
};
DataFolder DataFolderOf(const std::string& model_path);

/// The bytes of a tensor whose data lies in a file. That has to be a regular file in the model's
/// folder or below it. Links are followed if what they lead to is there as well, or is in the
/// folder that the model's own link leads to: any other file of this machine would become part of
/// what is compiled. Throws InputError.
std::vector<std::byte> ReadExternal(const onnx::TensorProto& proto, const DataFolder& folder,
                                    int64_t bytes);

}  // namespace bayloom::graph
