#include "tests/check/float_programs.h"

#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "bench/generator/generator_rng.h"

namespace nir {
namespace {

constexpr std::string_view float32 = "float32";
constexpr std::string_view other_dtypes[] = {"bfloat16", "float16", "float8e4", "float32r"};

struct ValueName {
  std::string name;
  std::string_view dtype;
  unsigned depth; // of the loop that holds it
  bool used = false;
};

struct TensorName {
  std::string name;
  std::string_view dtype;
  bool on_chip;
  bool written; // may be
};

class FloatProgram {
public:
  FloatProgram(std::uint64_t seed, bool dma_cast) : rng_(seed), dma_cast_(dma_cast) {}

  std::string text() {
    declare();
    load(tensors_[0]);
    memset();
    for (std::uint64_t i = 8 + rng_.below(20); i > 0; --i)
      statement();
    while (depth_ > 0)
      close_loop();
    observe();
    const std::string_view callee = "func @g {\n"
                                    "  tensor $a : float32[4, 4] dram input\n"
                                    "  tensor $b : float32[4, 4] dram output\n"
                                    "  %a = load $a : float32[4, 4]\n"
                                    "  %s = tensor_scalar %a, multiply 1.1 : float32[4, 4]\n"
                                    "  store %s -> $b\n}\n";
    return fmt::format("{}func @f{} {{\n{}\n{}}}\n", callee, rng_.one_in(8) ? " strict" : "",
                       tensors_text_, body_);
  }

private:
  std::string_view dtype() { return rng_.one_in(5) ? rng_.pick_from(other_dtypes) : float32; }

  void add_tensor(std::string name, std::string_view of, std::string_view rest) {
    tensors_text_ += fmt::format("  tensor ${} : {}[4, 4] {}\n", name, of, rest);
    tensors_.push_back({std::move(name), of, rest.starts_with("sbuf"),
                        rest.find("input") == std::string_view::npos &&
                            rest.find("const") == std::string_view::npos});
  }

  void declare() {
    add_tensor("x", float32, "dram input");
    add_tensor("y", dtype(), "dram input");
    add_tensor("z", float32, "sbuf input");
    add_tensor("k", float32, "sbuf const = splat(0.3)");
    for (int i = 0; i < 3; ++i)
      add_tensor(fmt::format("s{}", i), dtype(), "sbuf");
    for (int i = 0; i < 3; ++i)
      add_tensor(fmt::format("d{}", i), dtype(), "dram");
    tensors_text_ += "  tensor $p : float32[4, 4] psum\n";
    add_tensor("o", dtype(), "dram output");
    add_tensor("q", float32, "sbuf output");
  }

  void line(const std::string &text) {
    body_ += fmt::format("{:{}}{}\n", "", 2 * (depth_ + 1), text);
  }

  std::string marks() { return rng_.one_in(16) ? " {fixed}" : ""; }

  void define(const std::string &body, std::string_view of) {
    const std::string name = fmt::format("%v{}", next_++);
    line(fmt::format("{} = {} : {}[4, 4]", name, body, of));
    values_.push_back({name, of, depth_});
  }

  // Into a value, or now and then a tensor on chip.
  void write(const std::string &body, std::string_view of) {
    const TensorName *to = rng_.one_in(4) ? tensor(true, of, true) : nullptr;
    if (to == nullptr)
      return define(body, of);
    line(fmt::format("{} -> ${}", body, to->name));
  }

  // Of any dtype where `of` is empty; nullptr where there is none.
  const TensorName *tensor(bool on_chip, std::string_view of, bool to_write) {
    std::vector<const TensorName *> found;
    for (const TensorName &one : tensors_)
      if (one.on_chip == on_chip && (of.empty() || one.dtype == of) && (one.written || !to_write))
        found.push_back(&one);
    return found.empty() ? nullptr : rng_.pick_from(found);
  }

  struct Source {
    std::string text;
    std::string_view dtype;
  };
  // A value, or a tensor on chip.
  Source source(std::string_view of) {
    if (const TensorName *from = rng_.one_in(5) ? tensor(true, of, false) : nullptr)
      return {"$" + from->name, from->dtype};
    if (rng_.one_in(12) && (of.empty() || of == float32))
      return {"$p", float32};
    std::vector<ValueName *> found;
    for (ValueName &one : values_)
      if (of.empty() || one.dtype == of)
        found.push_back(&one);
    if (found.empty()) {
      memset();
      found.push_back(&values_.back());
    }
    ValueName &chosen = *rng_.pick_from(found);
    chosen.used = true;
    return {chosen.name, chosen.dtype};
  }

  void memset() { define("memset 0.1" + marks(), float32); }

  void load(const TensorName &from) {
    define(fmt::format("load ${}{}", from.name, marks()),
           dma_cast_ && rng_.one_in(5) ? dtype() : from.dtype);
  }

  void statement() {
    switch (rng_.below(15)) {
    case 0:
    case 1:
      return load(*tensor(false, {}, false));
    case 2: {
      const Source from = source({});
      if (const TensorName *to = tensor(false, dma_cast_ ? "" : from.dtype, true))
        line(fmt::format("store {} -> ${}", from.text, to->name));
      return;
    }
    case 3:
    case 4:
      return move();
    case 5:
    case 6:
      return pair();
    case 7:
      return write(fmt::format("tensor_copy {}{}", source({}).text, marks()), dtype());
    case 8:
      return write(fmt::format("transpose {} {{perm = [1, 0]}}", source({}).text), dtype());
    case 9:
      return reduce();
    case 10:
      return multiply();
    case 11:
      return loop();
    case 12:
      return foreign();
    case 13:
      return rng_.one_in(3) ? offload() : memset();
    default:
      return compute();
    }
  }

  void compute() {
    const std::string from = source({}).text;
    constexpr std::string_view functions[] = {"identity", "square", "tanh", "sigmoid"};
    if (rng_.one_in(2))
      write(fmt::format("activation {} {}{}", rng_.pick_from(functions), from, marks()), dtype());
    else
      write(fmt::format("tensor_scalar {}, multiply 0.7{}", from, marks()), dtype());
  }

  void move() {
    const Source from = source({});
    switch (rng_.below(3)) {
    case 0:
      return write(fmt::format("broadcast {} {{dims = [0, 1]}}", from.text), from.dtype);
    case 1:
      return write(fmt::format("reshape {}", from.text), from.dtype);
    default:
      break;
    }
    const Source second = source(from.dtype);
    const std::string whole = fmt::format("%w{}", next_++);
    line(fmt::format("{} = concat {}, {} : {}[8, 4]", whole, from.text, second.text, from.dtype));
    write(fmt::format("slice {} {{start = [2, 0], size = [4, 4]}}", whole), from.dtype);
  }

  void pair() {
    const Source a = source({});
    const Source b = source(a.dtype);
    if (rng_.one_in(3))
      return write(fmt::format("select {}, {}, {}", predicate(), a.text, b.text), dtype());
    write(fmt::format("tensor_tensor {} {}, {}{}", rng_.one_in(2) ? "add" : "multiply", a.text,
                      b.text, marks()),
          dtype());
  }

  std::string predicate() {
    const Source a = source({});
    const std::string name = fmt::format("%c{}", next_++);
    line(fmt::format("{} = tensor_tensor is_lt {}, {} : uint8[4, 4]", name, a.text,
                     source(a.dtype).text));
    return name;
  }

  void reduce() {
    const std::string name = fmt::format("%r{}", next_++);
    const std::string from = source({}).text;
    line(fmt::format("{} = tensor_reduce {} {} {{axes = [1]}} : {}[4, 1]", name,
                     rng_.one_in(2) ? "add" : "max", from, dtype()));
    define(fmt::format("tensor_scalar {}, subtract {}", source({}).text, name), dtype());
  }

  void multiply() {
    const std::string a = source({}).text;
    const std::string b = source({}).text;
    if (rng_.one_in(3) && a != "$p" && b != "$p")
      return line(fmt::format("matmul {}, {} -> $p", a, b));
    define(fmt::format("matmul {}, {}", a, b), float32);
  }

  void loop() {
    if (depth_ > 0)
      return close_loop();
    line("for %i in 0..2 {");
    ++depth_;
  }

  void close_loop() {
    std::erase_if(values_, [&](const ValueName &value) { return value.depth == depth_; });
    --depth_;
    line("}");
  }

  // A call, an opaque, a conversion to integers, …
  void foreign() {
    const TensorName *in = tensor(false, float32, false);
    const TensorName *out = tensor(false, float32, true);
    if (rng_.one_in(3) && out != nullptr && in != out)
      return line(fmt::format("call @g(${}, ${})", in->name, out->name));
    const std::string from = source({}).text;
    if (rng_.one_in(3)) {
      const std::string name = fmt::format("%n{}", next_++);
      line(fmt::format("{} = tensor_copy {} : int32[4, 4]", name, from));
      return define("tensor_copy " + name, dtype());
    }
    define(fmt::format("opaque \"code\"({})", from), dtype());
  }

  // … DMA between whole tensors.
  void offload() {
    const TensorName *from = tensor(rng_.one_in(2), {}, false);
    const TensorName *to = tensor(rng_.one_in(2), {}, true);
    const bool same = from->dtype == to->dtype;
    if (from != to)
      line(fmt::format("{} ${} -> ${}", same ? "offloaded_memcpy" : "offloaded_memcast", from->name,
                       to->name));
  }

  void observe() {
    int next = 0;
    const auto output = [&](const std::string &value, std::string_view of) {
      tensors_text_ += fmt::format("  tensor $r{} : {}[4, 4] dram output\n", next, of);
      line(fmt::format("store {} -> $r{}", value, next++));
    };
    for (const ValueName &value : values_)
      if (!value.used || rng_.one_in(6))
        output(value.name, dma_cast_ && rng_.one_in(4) ? dtype() : value.dtype);
    for (std::size_t i = 0, count = tensors_.size(); i < count; ++i)
      if (tensors_[i].written && rng_.one_in(2)) {
        const std::string_view read = tensors_[i].on_chip ? "tensor_copy" : "load";
        define(fmt::format("{} ${}", read, tensors_[i].name), tensors_[i].dtype);
        output(values_.back().name, dma_cast_ ? float32 : values_.back().dtype);
      }
  }

  Random rng_;
  bool dma_cast_;
  std::vector<TensorName> tensors_;
  std::vector<ValueName> values_;
  std::string tensors_text_;
  std::string body_;
  unsigned depth_ = 0;
  unsigned next_ = 0;
};

} // namespace

std::string float_program(std::uint64_t seed, bool dma_cast) {
  return FloatProgram(seed, dma_cast).text();
}

} // namespace nir
