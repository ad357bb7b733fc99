#pragma once

#include <string>

namespace nir {

// Tables of docs/numerics.md, computed by the code that they describe.

std::string doc_dtypes();
std::string doc_float_formats();
std::string doc_casts_to_float8(); // some fp32 numbers in each 8-bit float
std::string doc_integer_copies();  // through fp32, and with exact_ints
std::string doc_holds();
std::string doc_survives();
std::string doc_promotion();
std::string doc_associativity(); // the smallest counterexamples
std::string doc_merge();

} // namespace nir
