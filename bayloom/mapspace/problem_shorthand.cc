#include <array>
#include <charconv>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/problem.h"

namespace bayloom {
namespace {

constexpr int64_t kLargestExtent = int64_t{1} << 24;

/// What follows the colon of a short form: extents in order, then options by name.
class ShortForm {
 public:
  ShortForm(std::string_view line, std::string_view list, std::string_view example)
      : line_(line), example_(example) {
    while (!list.empty()) {
      const size_t comma = list.find(',');
      parts_.emplace_back(list.substr(0, comma));
      list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
    }
  }

  [[noreturn]] void Refuse(const std::string& reason) const {
    throw InputError("operation '" + std::string(line_) + "': " + reason + "; try " +
                     std::string(example_));
  }

  /// The next part, `count` numbers joined by 'x'.
  std::vector<int64_t> Take(const std::string& what, size_t count) {
    if (parts_.empty()) Refuse("the " + what + " is missing");
    const std::vector<int64_t> numbers = Numbers(parts_.front(), what, 1);
    if (numbers.size() != count) {
      Refuse("'" + parts_.front() + "' is no " + what + ", which is " + std::to_string(count) +
             (count == 1 ? " number" : " numbers joined by 'x'"));
    }
    parts_.erase(parts_.begin());
    return numbers;
  }

  /// The option `name=rows[xcolumns]`; one number stands for both.
  std::array<int64_t, 2> Option(const std::string& name, int64_t otherwise, int64_t least) {
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (!parts_[i].starts_with(name + "=")) continue;
      const std::vector<int64_t> numbers = Numbers(parts_[i].substr(name.size() + 1), name, least);
      if (numbers.size() > 2) Refuse(name + " takes one or two numbers");
      parts_.erase(parts_.begin() + static_cast<int64_t>(i));
      return {numbers.front(), numbers.back()};
    }
    return {otherwise, otherwise};
  }

  void ExpectNoMore() const {
    if (!parts_.empty()) Refuse("'" + parts_.front() + "' is not understood");
  }

 private:
  std::vector<int64_t> Numbers(std::string_view text, const std::string& what,
                               int64_t least) const {
    std::vector<int64_t> numbers;
    const char* at = text.data();
    const char* const end = text.data() + text.size();
    while (true) {
      int64_t number = 0;
      const auto [stop, error] = std::from_chars(at, end, number);
      if (error != std::errc() || number < least || number > kLargestExtent ||
          (stop != end && *stop != 'x')) {
        Refuse("'" + std::string(text) + "' is no " + what + ": numbers from " +
               std::to_string(least) + " to " + std::to_string(kLargestExtent) + " are");
      }
      numbers.push_back(number);
      if (stop == end) return numbers;
      at = stop + 1;
    }
  }

  std::string_view line_;
  std::string_view example_;
  std::vector<std::string> parts_;
};

Problem ParseMatmul(ShortForm& form) {
  const int64_t i = form.Take("M", 1)[0];
  const int64_t j = form.Take("N", 1)[0];
  const int64_t k = form.Take("K", 1)[0];
  const int64_t batch = form.Option("batch", 1, 1)[0];
  form.ExpectNoMore();
  return batch == 1 ? MatmulProblem(i, j, k) : BatchMatmulProblem(batch, i, j, k);
}

Problem ParseConvolution(ShortForm& form, bool depthwise) {
  const std::vector<int64_t> image = form.Take("image HxWxC", 3);
  ConvolutionShape shape;
  shape.c = image[2];
  if (!depthwise) shape.m = form.Take("number of output channels", 1)[0];
  const std::vector<int64_t> kernel = form.Take("kernel, rows x columns", 2);
  shape.r = kernel[0];
  shape.s = kernel[1];
  shape.n = form.Option("batch", 1, 1)[0];
  const auto stride = form.Option("stride", 1, 1);
  const auto dilation = form.Option("dilation", 1, 1);
  const auto pad = form.Option("pad", 0, 0);
  form.ExpectNoMore();
  const auto output = [&](int axis) {
    const int64_t span = dilation[axis] * (kernel[axis] - 1) + 1;
    const int64_t padded = image[axis] + 2 * pad[axis];
    if (span > padded) form.Refuse("the kernel does not fit into the image");
    return (padded - span) / stride[axis] + 1;
  };
  shape.p = output(0);
  shape.q = output(1);
  shape.p_stride = stride[0];
  shape.q_stride = stride[1];
  shape.r_dilation = dilation[0];
  shape.s_dilation = dilation[1];
  return depthwise ? DepthwiseProblem(shape) : Conv2dProblem(shape);
}

struct Operation {
  std::string_view name;
  std::string_view example;
  Problem (*parse)(ShortForm&);
};

constexpr Operation kOperations[] = {
    {"matmul", "matmul:512,512,512", ParseMatmul},
    {"conv2d", "conv2d:56x56x64,128,3x3,stride=2,pad=1",
     [](ShortForm& form) { return ParseConvolution(form, false); }},
    {"depthwise", "depthwise:56x56x144,3x3,pad=1",
     [](ShortForm& form) { return ParseConvolution(form, true); }},
};

}  // namespace

Problem ParseProblem(std::string_view line) {
  const size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  const std::string_view list =
      colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  for (const Operation& operation : kOperations) {
    if (operation.name != name) continue;
    ShortForm form(line, list, operation.example);
    Problem problem = operation.parse(form);
    CheckProblem(problem);
    return problem;
  }
  throw InputError("operation '" + std::string(line) +
                   "': there are matmul, conv2d and depthwise; try matmul:512,512,512");
}

}  // namespace bayloom
