#pragma once

#include <vector>

#include "ir/core/module.h"
#include "lang/nir/parser/literals.h"

namespace nir::lang {

// Reads the init of a const tensor straight into bytes.
class InitReader {
public:
  InitReader(Literals &literals, Errors &errors) : literals_(literals), errors_(errors) {}

  // `type` is that of the tensor, nullptr where it was an error: then nothing is checked.
  void begin(const Type *type);

  void splat(const Token &number);
  void element(const Token &number); // of a dense init
  void dense(const Token &keyword, const Token &close);
  void hex(const Token &string);

  // Whether there was one; its content then is what `take` gives.
  bool present() const { return present_; }
  ConstData take() { return std::move(data_); }

private:
  void append(const Token &number);

  Literals &literals_;
  Errors &errors_;
  const Type *type_ = nullptr;
  std::int64_t num_elements_ = 0; // read so far
  bool present_ = false;
  ConstData data_;
};

} // namespace nir::lang
