// Array casts beside the scalar reference: elements and bytes (read and written) a second. Arrays
// fit the second-level cache, or, where the name says so, no cache.
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "ir/numeric/cast_engine_kernels.h"
#include "ir/numeric/float_format.h"
#include "ir/numeric/mx.h"

namespace {

using namespace nir;

constexpr std::size_t cached = std::size_t{1} << 16;
constexpr std::size_t large = std::size_t{1} << 25;

std::size_t bytes_of(DType dtype, std::size_t count) {
  return sizeinbytes(dtype) * count / info(dtype).lanes;
}

// Numbers around one of both signs, in any dtype.
std::vector<uint8_t> make_input(DType dtype, std::size_t count) {
  std::vector<float> values(count);
  std::minstd_rand random(1);
  std::normal_distribution<float> normal;
  for (float &value : values)
    value = normal(random);
  std::vector<uint8_t> input(bytes_of(dtype, count));
  cast_array(DType::Float32, dtype, values.data(), input.data(), count);
  return input;
}

void set_rates(benchmark::State &state, std::size_t count, std::size_t bytes) {
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(count));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes));
}

void cast_kernels(benchmark::State &state, const CastKernels &kernels, DType from, DType to,
                  std::size_t count) {
  const std::vector<uint8_t> input = make_input(from, count);
  std::vector<uint8_t> output(bytes_of(to, count));
  for (auto _ : state) {
    cast_array(kernels, from, to, input.data(), output.data(), count);
    benchmark::ClobberMemory();
  }
  set_rates(state, count, input.size() + output.size());
}

void cast_scalar(benchmark::State &state, DType from, DType to) {
  const std::vector<uint8_t> input = make_input(from, cached);
  std::vector<uint8_t> output(bytes_of(to, cached));
  for (auto _ : state) {
    for (std::size_t i = 0; i < cached; ++i) {
      uint64_t code = 0;
      std::memcpy(&code, &input[bytes_of(from, i)], sizeinbytes(from));
      code = convert_code(from, to, code);
      std::memcpy(&output[bytes_of(to, i)], &code, sizeinbytes(to));
    }
    benchmark::ClobberMemory();
  }
  set_rates(state, cached, input.size() + output.size());
}

void dequantize(benchmark::State &state, DType elements) {
  const std::vector<uint8_t> input = make_input(elements, cached);
  const std::vector<uint8_t> scales(cached / mx_block_size, 120);
  std::vector<float> output(cached);
  for (auto _ : state) {
    dequantize_mx(elements, input.data(), scales.data(), output.data(), cached);
    benchmark::ClobberMemory();
  }
  set_rates(state, cached, input.size() + scales.size() + output.size() * sizeof(float));
}

void add_cast(DType from, DType to) {
  const std::string name =
      std::string("cast/").append(dtype2str(from)).append("/").append(dtype2str(to));
  if (!is_x4_dtype(from) && !is_x4_dtype(to)) {
    benchmark::RegisterBenchmark((name + "/scalar").c_str(), cast_scalar, from, to);
  }
  const CastKernels &portable = portable_cast_kernels();
  const CastKernels &best = best_cast_kernels();
  benchmark::RegisterBenchmark((name + "/portable").c_str(), [=, &portable](auto &state) {
    cast_kernels(state, portable, from, to, cached);
  });
  if (&best == &portable)
    return;
  benchmark::RegisterBenchmark((name + "/" + best.name).c_str(), [=, &best](auto &state) {
    cast_kernels(state, best, from, to, cached);
  });
}

void add_large_cast(DType from, DType to) {
  const std::string name =
      std::string("cast_large/").append(dtype2str(from)).append("/").append(dtype2str(to));
  benchmark::RegisterBenchmark(name.c_str(), [=](auto &state) {
    cast_kernels(state, best_cast_kernels(), from, to, large);
  });
}

[[maybe_unused]] const bool registered = [] {
  for (DType dtype : all_dtypes()) {
    if (dtype == DType::Float32)
      continue;
    add_cast(DType::Float32, dtype);
    add_cast(dtype, DType::Float32);
  }
  add_cast(DType::Bfloat16, DType::Float16);
  add_cast(DType::Bfloat16, DType::Float8E4m3fn);
  add_cast(DType::Float8E5, DType::Float8E4);
  for (DType dtype : {DType::Bfloat16, DType::Float16, DType::Float8E4m3fn, DType::Float32}) {
    add_large_cast(DType::Float32, dtype);
    add_large_cast(dtype, DType::Float32);
  }
  for (DType dtype : {DType::Float4E2m1fnX4, DType::Float8E4m3fnX4, DType::Float8E5}) {
    const std::string name = std::string("dequantize_mx/").append(dtype2str(dtype));
    benchmark::RegisterBenchmark(name.c_str(), dequantize, dtype);
  }
  return true;
}();

} // namespace
