#include "bayloom/graph/package.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "bayloom/base/subprocess.h"
#include "bayloom/graph/executor.h"
#include "bayloom/graph/package_source.h"

namespace bayloom {

// Texts of the runtime, compiled in at build time.
extern const char kRuntimeSource[];
extern const char kRuntimeHeader[];

namespace {

namespace fs = std::filesystem;

/// A folder that goes away with the object.
class ScratchFolder {
 public:
  explicit ScratchFolder(const fs::path& beside) {
    std::string pattern = (beside / ".bayloom-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      throw InputError(fmt::format("{}: cannot write there: {}", beside.string(),
                                   std::generic_category().message(errno)));
    }
    path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string Path(const std::string& name) const { return (path_ / name).string(); }

  std::string Write(const std::string& name, const char* data, size_t size) const {
    const std::string path = Path(name);
    std::ofstream file(path, std::ios::binary);
    file.write(data, static_cast<std::streamsize>(size));
    file.close();
    if (!file) throw InputError(fmt::format("{}: cannot write (disk full?)", path));
    return path;
  }
  std::string Write(const std::string& name, const std::string& text) const {
    return Write(name, text.data(), text.size());
  }

 private:
  fs::path path_;
};

void RunCompiler(std::vector<std::string> arguments) {
  const char* chosen = std::getenv("CC");
  const std::string compiler = chosen != nullptr && *chosen != '\0' ? chosen : "cc";
  arguments.insert(arguments.begin(), compiler);
  SubprocessOptions options;
  options.arguments = std::move(arguments);
  options.standard_input = ChildStream::kNull;
  Result<Subprocess> process = Subprocess::Start(options);
  if (!process) {
    throw InputError(
        fmt::format("linking needs a C compiler: {} (set CC)", process.error().message));
  }
  const ExitStatus status = *process->Wait();
  if (!status.Success()) {
    throw InputError(fmt::format("the C compiler {} failed: {}", compiler, status.Describe()));
  }
}

void MoveInto(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) throw InputError(fmt::format("{}: {}", to, error.message()));
}

bool IsIdentifier(const std::string& name) { return !name.empty() && ToIdentifier(name) == name; }

}  // namespace

std::string ToIdentifier(const std::string& text) {
  std::string name;
  for (char c : text) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) name = "_" + name;
  return name;
}

Package WritePackage(const TaskGraph& network, const std::vector<const Program*>& programs,
                     const Target& target, const std::string& directory, const std::string& name) {
  if (!IsIdentifier(name)) {
    throw InputError(fmt::format("'{}' is no C identifier: try '{}'", name, ToIdentifier(name)));
  }
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) throw InputError(fmt::format("{}: {}", directory, error.message()));
  const ScratchFolder scratch(directory);

  const NetworkPlan plan = PlanNetwork(network, programs);
  const std::vector<KernelObject> kernels = CompileTasks(network, programs, target);
  int64_t shared_bytes = 0, worker_bytes = 0;
  std::vector<std::string> arguments = {"-shared", "-fPIC", "-O2", "-std=gnu11", "-pthread"};
  for (size_t task = 0; task < kernels.size(); ++task) {
    arguments.push_back(scratch.Write(fmt::format("kernel_{}.o", task), kernels[task].object));
    shared_bytes = std::max(shared_bytes, kernels[task].shared_workspace_bytes);
    worker_bytes = std::max(worker_bytes, kernels[task].worker_workspace_bytes);
  }
  const std::string constants = scratch.Write(
      "constants.bin", reinterpret_cast<const char*>(plan.constants.data()), plan.constants.size());
  const std::string header = scratch.Write(name + ".h", PackageHeader(network, name));
  scratch.Write("bayloom_runtime.h", kRuntimeHeader);
  arguments.push_back(scratch.Write("bayloom_runtime.c", kRuntimeSource));
  arguments.push_back(scratch.Write("constants.s", ConstantsAssembly(constants, name)));
  arguments.push_back(
      scratch.Write(name + ".c", PackageSource(plan, name, shared_bytes, worker_bytes)));
  arguments.push_back("-Wl,--version-script=" + scratch.Write("visible", VersionScript(name)));
  const std::string library = scratch.Path(fmt::format("lib{}.so", name));
  // The thread pool's workers outlive a dlclose, so the code must not be unmapped by one.
  arguments.insert(arguments.end(), {"-Wl,-z,nodelete", "-lm", "-o", library});
  RunCompiler(std::move(arguments));

  Package package;
  package.library = (fs::path(directory) / fmt::format("lib{}.so", name)).string();
  package.header = (fs::path(directory) / (name + ".h")).string();
  MoveInto(library, package.library);
  MoveInto(header, package.header);
  return package;
}

}  // namespace bayloom
