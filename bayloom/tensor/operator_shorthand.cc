#include "bayloom/tensor/operator_shorthand.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/tensor/operators.h"

namespace bayloom {
namespace {

constexpr int64_t kLargestExtent = int64_t{1} << 24;
constexpr int64_t kMostElements = int64_t{1} << 31;

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// The arguments of one line, taken one after the other.
class Arguments {
 public:
  Arguments(std::string_view line, std::string_view list, std::string_view example)
      : line_(line), example_(example), arguments_(Split(list, ',')) {}

  [[noreturn]] void Refuse(const std::string& reason) const {
    throw InputError("operator '" + std::string(line_) + "': " + reason + "; try " +
                     std::string(example_));
  }

  /// The next positional argument, `count` extents joined by 'x'.
  std::vector<int64_t> Extents(const std::string& what, size_t count) {
    if (arguments_.empty()) Refuse("the " + what + " is missing");
    const std::vector<int64_t> extents = Numbers(arguments_.front(), what, 1);
    if (extents.size() != count) {
      Refuse("'" + arguments_.front() + "' is no " + what + ", which takes " +
             std::to_string(count) + (count == 1 ? " number" : " numbers joined by 'x'"));
    }
    arguments_.erase(arguments_.begin());
    return extents;
  }

  int64_t Extent(const std::string& what) { return Extents(what, 1).front(); }

  /// The next positional argument as rows and columns; one number stands for both.
  std::array<int64_t, 2> Square(const std::string& what) {
    if (arguments_.empty()) Refuse("the " + what + " is missing");
    const std::array<int64_t, 2> pair = Pair(arguments_.front(), what, 1);
    arguments_.erase(arguments_.begin());
    return pair;
  }

  bool Flag(const std::string& name) { return std::erase(arguments_, name) > 0; }

  /// The value of `name=value`, or `otherwise`.
  std::string Option(const std::string& name, const std::string& otherwise) {
    const std::string prefix = name + "=";
    const auto found = std::find_if(arguments_.begin(), arguments_.end(),
                                    [&](const std::string& a) { return a.starts_with(prefix); });
    if (found == arguments_.end()) return otherwise;
    const std::string value = found->substr(prefix.size());
    arguments_.erase(found);
    return value;
  }

  int64_t NumberOption(const std::string& name, int64_t otherwise) {
    const std::string value = Option(name, std::to_string(otherwise));
    const std::vector<int64_t> numbers = Numbers(value, name, 1);
    if (numbers.size() != 1) Refuse(name + " takes one number, not '" + value + "'");
    return numbers.front();
  }

  std::array<int64_t, 2> SquareOption(const std::string& name, int64_t otherwise) {
    return Pair(Option(name, std::to_string(otherwise)), name, std::min<int64_t>(otherwise, 1));
  }

  DType TypeOption() {
    const std::string value = Option("dtype", "float32");
    const std::optional<DType> dtype = ParseDType(value);
    if (!dtype) Refuse("'" + value + "' is no element type");
    return *dtype;
  }

  Epilogue TakeEpilogue() {
    Epilogue epilogue;
    epilogue.bias = Flag("bias");
    epilogue.residual = Flag("residual");
    epilogue.relu = Flag("relu");
    return epilogue;
  }

  void ExpectNoMore() const {
    if (!arguments_.empty()) Refuse("'" + arguments_.front() + "' is not understood");
  }

 private:
  std::vector<int64_t> Numbers(const std::string& text, const std::string& what,
                               int64_t least) const {
    std::vector<int64_t> numbers;
    for (const std::string& part : Split(text, 'x')) {
      int64_t number = 0;
      const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
      if (error != std::errc() || end != part.data() + part.size() || number < least ||
          number > kLargestExtent) {
        Refuse("'" + text + "' is no " + what + ": numbers from " + std::to_string(least) + " to " +
               std::to_string(kLargestExtent) + " are");
      }
      numbers.push_back(number);
    }
    return numbers;
  }

  std::array<int64_t, 2> Pair(const std::string& text, const std::string& what,
                              int64_t least) const {
    const std::vector<int64_t> numbers = Numbers(text, what, least);
    if (numbers.size() > 2) Refuse(what + " takes one or two numbers, not '" + text + "'");
    return {numbers.front(), numbers.back()};
  }

  std::string_view line_;
  std::string_view example_;
  std::vector<std::string> arguments_;
};

Workload ParseMatmul(Arguments& arguments) {
  const int64_t m = arguments.Extent("M");
  const int64_t n = arguments.Extent("N");
  const int64_t k = arguments.Extent("K");
  const int64_t batch = arguments.NumberOption("batch", 1);
  const DType dtype = arguments.TypeOption();
  const Epilogue epilogue = arguments.TakeEpilogue();
  arguments.ExpectNoMore();
  if (batch == 1) return MatmulWorkload(m, n, k, dtype, epilogue);
  if (epilogue.bias || epilogue.residual || epilogue.relu) {
    arguments.Refuse("a batch of products takes no bias, residual or relu");
  }
  return BatchMatmulWorkload(batch, m, n, k, dtype);
}

Workload ParseConvolution(Arguments& arguments, bool depthwise) {
  const std::vector<int64_t> image = arguments.Extents("image HxWxC", 3);
  Conv2dShape shape;
  shape.height = image[0];
  shape.width = image[1];
  shape.in_channels = image[2];
  shape.out_channels = depthwise ? image[2] : arguments.Extent("number of output channels");
  shape.kernel = arguments.Square("kernel");
  shape.batch = arguments.NumberOption("batch", 1);
  shape.groups = depthwise ? image[2] : arguments.NumberOption("groups", 1);
  shape.options.stride = arguments.SquareOption("stride", 1);
  shape.options.dilation = arguments.SquareOption("dilation", 1);
  shape.options.pad_before = shape.options.pad_after = arguments.SquareOption("pad", 0);
  shape.dtype = arguments.TypeOption();
  shape.epilogue = arguments.TakeEpilogue();
  arguments.ExpectNoMore();
  if (shape.in_channels % shape.groups != 0 || shape.out_channels % shape.groups != 0) {
    arguments.Refuse("both numbers of channels must be multiples of the " +
                     std::to_string(shape.groups) + " groups");
  }
  return Conv2dWorkload(shape);
}

struct OperatorKind {
  std::string_view name;
  std::string_view example;
  Workload (*parse)(Arguments&);
};

constexpr OperatorKind kOperators[] = {
    {"matmul", "matmul:512,512,512,bias,relu", ParseMatmul},
    {"conv2d", "conv2d:56x56x64,128,3x3,stride=2,pad=1,bias,relu",
     [](Arguments& a) { return ParseConvolution(a, false); }},
    {"depthwise", "depthwise:56x56x144,3x3,pad=1,bias,relu",
     [](Arguments& a) { return ParseConvolution(a, true); }},
};

void CheckSize(const Workload& workload, const Arguments& arguments) {
  for (const Buffer& buffer : workload.buffers) {
    // Extents are at most 2^24 each, so that a product of doubles cannot overflow.
    double elements = 1;
    for (int64_t extent : buffer.shape) elements *= static_cast<double>(extent);
    if (elements > static_cast<double>(kMostElements)) {
      arguments.Refuse("tensor '" + buffer.name + "' would have more than 2^31 elements");
    }
  }
}

}  // namespace

Workload ParseOperator(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  for (const OperatorKind& kind : kOperators) {
    if (kind.name != name) continue;
    const std::string_view list =
        colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
    Arguments arguments(text, list, kind.example);
    try {
      Workload workload = kind.parse(arguments);
      CheckSize(workload, arguments);
      return workload;
    } catch (const std::invalid_argument& error) {
      arguments.Refuse(error.what());
    }
  }
  throw InputError("operator '" + std::string(text) + "': there is no '" + std::string(name) +
                   "', only matmul, conv2d and depthwise; try " +
                   std::string(kOperators[0].example));
}

std::string OperatorExamples() {
  return "  matmul:512,512,512                                M,N,K\n"
         "  matmul:128,768,768,bias,relu                      what follows elementwise\n"
         "  matmul:128,128,64,batch=12                        twelve products of activations\n"
         "  conv2d:56x56x64,128,3x3,stride=2,pad=1,bias,relu  HxWxC,outputs,kernel\n"
         "  depthwise:56x56x144,3x3,pad=1                     HxWxC,kernel\n";
}

}  // namespace bayloom
