#include <iostream>

#include "ir/dtype.h"

int main() { std::cout << nir::dtype2str(nir::DType::Bfloat16) << '\n'; }
