#include "tests/check/cast_programs.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "bench/generator/generator_rng.h"

namespace nir {
namespace {

constexpr std::string_view float_dtypes[] = {"float32",  "bfloat16", "float16",       "float32r",
                                             "float8e4", "float8e5", "float8_e4m3fn", "float8e3"};
constexpr std::string_view int_dtypes[] = {"int8", "uint8", "int32", "uint16"};

enum class Shape { Whole, Half }; // [4, 8] and [2, 8]

struct ValueName {
  std::string name;
  std::string_view dtype;
  Shape shape;
  unsigned depth; // of the loop that holds it
  bool used = false;
};

struct TensorName {
  std::string name;
  std::string_view dtype;
  std::string_view space;
};

class CastProgram {
public:
  CastProgram(std::uint64_t seed, bool movers) : rng_(seed), movers_(movers) {}

  std::string text() {
    choose_dtypes();
    declare();
    for (std::uint64_t i = 8 + below(16); i > 0; --i)
      statement();
    while (depth_ > 0)
      close_loop();
    observe();
    return fmt::format("func @f{} {{\n{}\n{}}}\n", one_in(12) ? " strict" : "", tensors_text_,
                       body_);
  }

private:
  std::uint64_t below(std::uint64_t n) { return rng_.below(n); }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  template <class List> auto &pick(List &list) { return list[below(std::size(list))]; }

  void choose_dtypes() {
    dtypes_.push_back("float32");
    for (std::uint64_t i = 1 + below(2); i > 0; --i)
      dtypes_.push_back(pick(float_dtypes));
    for (std::uint64_t i = one_in(6) ? 2 : 0; i > 0; --i)
      dtypes_.push_back(pick(int_dtypes));
  }
  std::string_view dtype() { return pick(dtypes_); }

  void declare() {
    for (int i = 0; i < 2; ++i)
      add_tensor(fmt::format("in{}", i), dtype(), "dram input");
    if (std::ranges::find(dtypes_, "bfloat16") != dtypes_.end())
      add_nans();
    for (const std::string_view space : {"sbuf", "sbuf", "dram"})
      add_internal(dtype(), space);
    for (int i = 0; i < 2; ++i) {
      tensors_.push_back({fmt::format("o{}", i), dtype(), "dram"});
      add_tensor(tensors_.back().name, tensors_.back().dtype, "dram output");
    }
    for (int i = 0; i < 2; ++i) {
      const std::string_view of = i == 0 ? dtypes_[0] : dtypes_[1];
      load(Shape::Whole, fmt::format("$in{}", i), of_input(i));
      copy_to(of);
    }
  }

  // Payloads that no rewrite must keep, and that would show where bytes are seen as integers.
  void add_nans() {
    std::string bytes;
    for (int i = 0; i < 8; ++i)
      bytes += i % 2 == 0 ? "857f803f" : "c1ff0040";
    tensors_text_ +=
        fmt::format("  tensor $nans : bfloat16[2, 8] sbuf const = hex(\"{}\")\n", bytes);
    define(Shape::Half, "bfloat16", "tensor_copy $nans");
    observes_bits_ = true;
  }

  std::string_view of_input(int i) const { return input_dtypes_[static_cast<std::size_t>(i)]; }

  void add_tensor(std::string_view name, std::string_view of, std::string_view rest) {
    if (rest == "dram input")
      input_dtypes_.push_back(of);
    tensors_text_ += fmt::format("  tensor ${} : {}[4, 8] {}\n", name, of, rest);
  }

  void line(const std::string &text) {
    body_ += fmt::format("{:{}}{}\n", "", 2 * (depth_ + 1), text);
  }

  static std::string_view dims(Shape shape) { return shape == Shape::Whole ? "[4, 8]" : "[2, 8]"; }

  std::string define(Shape shape, std::string_view of, const std::string &body) {
    const std::string name = fmt::format("%v{}", next_++);
    line(fmt::format("{} = {} : {}{}", name, body, of, dims(shape)));
    values_.push_back({name, of, shape, depth_});
    return name;
  }

  void load(Shape shape, const std::string &from, std::string_view of) {
    define(shape, of, "load " + from);
  }

  void copy_to(std::string_view of) {
    ValueName &from = values_.back();
    from.used = true;
    define(from.shape, of, "tensor_copy " + from.name);
  }

  // Most often the last value that nothing has used.
  ValueName *value(Shape shape) {
    std::vector<ValueName *> candidates;
    for (ValueName &candidate : values_)
      if (candidate.shape == shape)
        candidates.push_back(&candidate);
    if (candidates.empty())
      return nullptr;
    ValueName *chosen = pick(candidates);
    if (!one_in(3))
      for (ValueName *candidate : candidates)
        if (!candidate->used)
          chosen = candidate;
    chosen->used = true;
    return chosen;
  }

  TensorName *tensor(bool on_chip) {
    std::vector<TensorName *> candidates;
    for (TensorName &candidate : tensors_)
      if ((candidate.space == "sbuf") == on_chip)
        candidates.push_back(&candidate);
    return candidates.empty() ? nullptr : pick(candidates);
  }

  std::string access(const TensorName &of, Shape shape) {
    if (shape == Shape::Whole)
      return "$" + of.name;
    if (depth_ > 0 && !one_in(4))
      return fmt::format("${}[%i{} * 2 : 2, 0 : 8]", of.name, depth_ - 1);
    return fmt::format("${}[{} : 2, 0 : 8]", of.name, 2 * below(2));
  }

  struct Source {
    std::string text;
    std::string_view dtype;
  };
  // A value, or now and then a piece of a tensor on chip; empty where there is neither.
  Source source(Shape shape) {
    TensorName *from = one_in(3) ? tensor(true) : nullptr;
    if (from != nullptr)
      return {access(*from, shape), from->dtype};
    const ValueName *chosen = value(shape);
    return chosen == nullptr ? Source{} : Source{chosen->name, chosen->dtype};
  }

  static bool is_int(std::string_view of) { return of.find("int") != std::string_view::npos; }

  std::string compute(const Source &from) {
    constexpr std::string_view functions[] = {"identity", "square", "abs", "relu", "tanh"};
    if (one_in(2))
      return "tensor_copy " + from.text;
    if (one_in(2) || is_int(from.dtype))
      return fmt::format("activation {} {}", pick(functions), from.text);
    constexpr std::string_view ops[] = {"multiply 0.75", "add 0.125", "max 0.5"};
    return fmt::format("tensor_scalar {}, {}", from.text, pick(ops));
  }

  // Marks, now and then.
  std::string marks() {
    if (one_in(20))
      return " {fixed}";
    return one_in(4) ? " {autocast = \"legalize-dtype\"}" : "";
  }

  // What passes look for, with something in the way now and then: a cast and the cast back, …
  void round_trip(Shape shape) {
    const ValueName *first = value(shape);
    if (first == nullptr)
      return;
    const Source from{first->name, first->dtype};
    const std::string_view narrow = dtype();
    const std::string name = define(shape, narrow, compute(from) + marks());
    if (one_in(3))
      define(shape, dtype(), "activation abs " + name);
    define(shape, from.dtype, "tensor_copy " + name + marks());
    values_[values_.size() - 2].used = true;
  }

  // … the same by way of a tensor that is stored in two pieces, …
  void round_trip_by_tensor() {
    const TensorName at = add_internal(dtype(), "sbuf");
    const std::string_view of = one_in(4) ? dtype() : dtypes_[0];
    for (int half = 0; half < 2; ++half) {
      const std::string from = define(Shape::Half, of, is_int(of) ? "memset 3" : "memset 0.7");
      line(fmt::format("{} -> ${}[{} : 2, 0 : 8]", compute({from, of}), at.name, 2 * half));
    }
    const std::string copy = define(Shape::Whole, of, "tensor_copy $" + at.name);
    if (one_in(4))
      write_from(source(Shape::Whole), Shape::Whole, at);
    define(Shape::Whole, of, "activation square " + copy);
  }

  // … and a memcast between two tensors.
  void store_and_memcast(Shape shape) {
    const TensorName from = add_internal(dtype(), "sbuf");
    const TensorName to = add_internal(dtype(), "sbuf");
    if (from.dtype == to.dtype)
      return;
    write_from(source(shape), shape, from);
    if (one_in(4))
      define(shape, dtype(), "tensor_copy " + access(to, shape));
    line(fmt::format("offloaded_memcast ${}{} -> ${}", from.name, marks(), to.name));
    if (one_in(4))
      write_from(source(shape), shape, from);
    define(shape, dtype(), "tensor_copy " + access(to, shape));
  }

  // A weight, of which some are loaded again, and a cast of what was loaded.
  void weight() {
    if (weights_.empty() || one_in(2)) {
      const TensorName made{fmt::format("w{}", weights_.size()), dtype(), "dram"};
      std::string init = one_in(2) ? "splat(3" : "dense(1";
      for (int i = 1; init[0] == 'd' && i < 32; ++i)
        init += fmt::format(", {}", i * 7 % 23);
      add_tensor(made.name, made.dtype, "dram const = " + init + ")");
      weights_.push_back(made);
    }
    const TensorName &from = pick(weights_);
    const Shape shape = one_in(2) ? Shape::Whole : Shape::Half;
    const std::string_view loaded = one_in(8) ? dtype() : from.dtype;
    load(shape, access(from, shape), loaded);
    copy_to(dtype());
  }

  // A sum of what may have been narrowed just before, and moved.
  void sum(Shape shape) {
    Source from = source(shape);
    if (from.text.empty() || is_int(from.dtype))
      return;
    for (std::uint64_t i = below(4); i > 0; --i) {
      from.dtype = dtype();
      if (is_int(from.dtype))
        return;
      const std::string body =
          (one_in(2) ? compute(from) : "transpose " + from.text + " {perm = [0, 1]}");
      from.text = define(shape, from.dtype, body);
      values_.back().used = true;
    }
    const std::string to = fmt::format("s{}", next_sum_++);
    const std::string_view rows = shape == Shape::Whole ? "[4, 1]" : "[2, 1]";
    tensors_text_ += fmt::format("  tensor ${} : float32{} dram output\n", to, rows);
    line(fmt::format("%{} = tensor_reduce {} {} {{axes = [1]}} : float32{}", to,
                     one_in(4) ? "multiply" : "add", from.text, rows));
    line(fmt::format("store %{} -> ${}", to, to));
  }

  TensorName add_internal(std::string_view of, std::string_view space) {
    const TensorName tensor{fmt::format("t{}", next_tensor_++), of, space};
    add_tensor(tensor.name, of, space);
    tensors_.push_back(tensor);
    return tensor;
  }

  void statement() {
    const Shape shape = depth_ > 0 || one_in(3) ? Shape::Half : Shape::Whole;
    if (movers_ && one_in(2))
      return rearrange(shape);
    switch (below(20)) {
    case 12:
    case 13:
      return round_trip(shape);
    case 14:
      return round_trip_by_tensor();
    case 15:
      return store_and_memcast(shape);
    case 16:
    case 17:
      return weight();
    case 18:
    case 19:
      return sum(shape);
    case 0:
    case 1:
    case 2:
      return define_from(source(shape), shape);
    case 3: {
      TensorName *from = tensor(true);
      if (from != nullptr)
        define_marked(shape, "tensor_copy " + access(*from, shape));
      return;
    }
    case 4:
    case 5:
      if (const TensorName *to = tensor(true))
        write_from(source(shape), shape, *to);
      return;
    case 6:
    case 7:
      return memcast();
    case 8:
      return move(shape);
    case 9:
      return binary(shape);
    case 10:
      return depth_ < 2 && one_in(2) ? open_loop() : opaque(shape);
    default:
      if (depth_ > 0)
        close_loop();
      return;
    }
  }

  // A value or, now and then, a cast of it: what casts move past must often stand next to one.
  Source cast_source(Shape shape) {
    const Source from = source(shape);
    if (from.text.empty() || one_in(3))
      return from;
    const std::string_view of = dtype();
    return {define(shape, of, "tensor_copy " + from.text + marks()), of};
  }

  // A second operand for `first`, of its dtype.
  std::string partner(const Source &first, Shape shape) {
    const std::string_view of = first.dtype;
    const Source from = cast_source(shape);
    if (from.text.empty())
      return first.text;
    if (from.dtype == of)
      return from.text;
    return define(shape, of, "tensor_copy " + from.text + marks());
  }

  // A value of another shape, which is none that `value` would find.
  std::string define_aside(std::string_view of, std::string_view dims, const std::string &body) {
    const std::string name = fmt::format("%v{}", next_++);
    line(fmt::format("{} = {} : {}{}", name, body, of, dims));
    return name;
  }

  std::string marks_of_mover() { return one_in(16) ? " {fixed}" : ""; }
  // Of what may write another dtype than it reads.
  std::string_view mostly(std::string_view of) { return one_in(4) ? dtype() : of; }

  // What only moves elements, or multiplies them, with casts around.
  void rearrange(Shape shape) {
    const Source from = cast_source(shape);
    if (from.text.empty())
      return;
    const std::string_view of = from.dtype;
    const int rows = shape == Shape::Whole ? 4 : 2;
    const std::string turned = fmt::format("[8, {}]", rows);
    switch (below(7)) {
    case 0: {
      const std::string aside = define_aside(of, turned, "reshape " + from.text + marks_of_mover());
      return finish(shape, mostly(of), fmt::format("transpose {} {{perm = [1, 0]}}", aside));
    }
    case 1: {
      const std::string_view to = mostly(of);
      const std::string aside =
          define_aside(to, turned, fmt::format("transpose {} {{perm = [1, 0]}}", from.text));
      return finish(shape, to, "reshape " + aside + marks_of_mover());
    }
    case 2: {
      const std::string aside = define_aside(
          of, "[1, 8]", fmt::format("slice {} {{start = [1, 0], size = [1, 8]}}", from.text));
      return finish(shape, of, fmt::format("broadcast {} {{dims = [0, 1]}}", aside));
    }
    case 3:
      if (shape == Shape::Whole)
        return finish(
            Shape::Half, of,
            fmt::format("slice {} {{start = [{}, 0], size = [2, 8]}}", from.text, below(3)));
      if (depth_ == 0)
        return finish(Shape::Whole, of,
                      fmt::format("concat {}, {}", from.text, partner(from, shape)));
      return;
    case 4: {
      const std::string other = partner(from, shape);
      const std::string pred = define_aside("uint8", dims(shape), "iota {dim = 1}");
      return finish(shape, mostly(of), fmt::format("select {}, {}, {}", pred, from.text, other));
    }
    case 5:
      return is_int(of) ? void() : multiply(shape, from.text);
    default:
      return finish(shape, dtype(),
                    fmt::format("tensor_tensor add {}, {}", from.text, partner(from, shape)));
    }
  }

  void multiply(Shape shape, const std::string &stationary) {
    const Source moving = cast_source(shape);
    if (moving.text.empty() || is_int(moving.dtype))
      return;
    const std::string product =
        define_aside("float32", "[8, 8]", fmt::format("matmul {}, {}", stationary, moving.text));
    finish(shape, "float32",
           fmt::format("slice {} {{start = [0, 0], size = {}}}", product, dims(shape)));
  }

  void finish(Shape shape, std::string_view of, const std::string &body) {
    define(shape, of, body);
    if (one_in(3))
      return;
    const std::string_view to = dtype();
    values_.back().used = !one_in(4);
    define(shape, to, "tensor_copy " + values_.back().name + marks());
  }

  void define_from(const Source &from, Shape shape) {
    if (from.text.empty())
      return;
    const std::string body = compute(from);
    define_marked(shape, body);
  }

  // In this order, whatever order a compiler evaluates arguments in.
  void define_marked(Shape shape, std::string body) {
    body += marks();
    const std::string_view of = dtype();
    define(shape, of, body);
  }

  void write_from(const Source &from, Shape shape, const TensorName &to) {
    if (from.text.empty())
      return;
    const std::string body = compute(from) + marks();
    line(fmt::format("{} -> {}", body, access(to, shape)));
  }

  void memcast() {
    const TensorName &from = pick(tensors_);
    const TensorName &to = pick(tensors_);
    if (from.dtype != to.dtype && from.name[0] != 'o')
      line(fmt::format("offloaded_memcast ${}{} -> ${}", from.name, marks(), to.name));
  }

  // DMA between dram and the values.
  void move(Shape shape) {
    TensorName *at = tensor(false);
    if (at == nullptr)
      return;
    if (one_in(2)) {
      const std::string_view of = one_in(3) ? dtype() : at->dtype;
      define(shape, of, "load " + access(*at, shape));
      return;
    }
    if (const ValueName *from = value(shape))
      line(fmt::format("store {} -> {}", from->name, access(*at, shape)));
  }

  void binary(Shape shape) {
    const Source a = source(shape);
    const Source b = source(shape);
    if (!a.text.empty() && !b.text.empty() && a.dtype == b.dtype)
      define(shape, dtype(), fmt::format("tensor_tensor add {}, {}", a.text, b.text));
  }

  void opaque(Shape shape) {
    if (const ValueName *from = one_in(3) ? value(shape) : nullptr)
      define(shape, dtype(), fmt::format("opaque \"code\"({})", from->name));
  }

  void open_loop() {
    line(fmt::format("for %i{} in 0..2 {{", depth_));
    ++depth_;
  }

  void close_loop() {
    std::erase_if(values_, [&](const ValueName &value) { return value.depth == depth_; });
    --depth_;
    line("}");
  }

  void observe() {
    int next = 0;
    for (const ValueName &from : values_) {
      if (from.used && !one_in(6))
        continue;
      const std::string to = fmt::format("r{}", next++);
      tensors_text_ +=
          fmt::format("  tensor ${} : {}{} dram output\n", to, from.dtype, dims(from.shape));
      line(fmt::format("store {} -> ${}", from.name, to));
      if (!observes_bits_ || from.dtype != "bfloat16")
        continue;
      tensors_text_ +=
          fmt::format("  tensor ${}.bits : int16{} dram output\n", to, dims(from.shape));
      line(fmt::format("offloaded_bitcast ${} -> ${}.bits", to, to));
    }
    for (const TensorName &from : tensors_) {
      if (from.space != "sbuf" || one_in(2))
        continue;
      const std::string to = fmt::format("r{}", next++);
      add_tensor(to, from.dtype, "dram output");
      const std::string copy = define(Shape::Whole, dtype(), "tensor_copy $" + from.name);
      define(Shape::Whole, from.dtype, "activation relu " + copy);
      line(fmt::format("store {} -> ${}", values_.back().name, to));
    }
  }

  Random rng_;
  std::vector<std::string_view> dtypes_;
  std::vector<std::string_view> input_dtypes_;
  std::vector<TensorName> tensors_;
  std::vector<ValueName> values_;
  std::vector<TensorName> weights_;
  std::string tensors_text_;
  std::string body_;
  const bool movers_;          // half of all statements rearrange
  bool observes_bits_ = false; // bfloat16 outputs as integers too
  unsigned depth_ = 0;
  unsigned next_ = 0;
  unsigned next_tensor_ = 0;
  unsigned next_sum_ = 0;
};

} // namespace

std::string cast_program(std::uint64_t seed) { return CastProgram(seed, false).text(); }
std::string mover_program(std::uint64_t seed) { return CastProgram(seed, true).text(); }

} // namespace nir
