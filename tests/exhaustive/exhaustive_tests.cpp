// nir_exhaustive_tests [NAME...]: converts all 2^32 patterns with every row of digests.def, or
// those whose source or destination dtype is named, through every set of kernels that this machine
// runs. A line for each, then `N passed, N failed`; the status is 0 where nothing failed.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <xxhash.h>

#include "ir/numeric/cast_engine_kernels.h"
#include "ir/numeric/float_format.h"

namespace {

using namespace nir;

constexpr std::size_t num_slices = 16;
constexpr std::size_t slice_values = std::size_t{1} << 28;
constexpr std::size_t chunk_size = std::size_t{1} << 14;

enum class Conversion { Cast, OcpScale };

struct Row {
  DType from;
  DType to;
  Conversion conversion;
  bool saturate;
  std::string_view mode;
  uint64_t digest;
  std::array<uint64_t, num_slices> slices;
};

constexpr Row digest_rows[] = {
#define NIR_DIGESTS(from, to, conversion, saturate, mode, digest, ...)                             \
  {DType::from, DType::to, Conversion::conversion, saturate, mode, digest, {__VA_ARGS__}},
#include "tests/exhaustive/digests.def"
};

// One run over all patterns. Without kernels: by the scalar function of the row.
struct Job {
  const Row *row;
  const CastKernels *kernels;
};

void convert(const Job &job, const std::vector<uint32_t> &patterns, std::vector<uint8_t> &results) {
  const Row &row = *job.row;
  if (row.conversion == Conversion::Cast) {
    cast_array(*job.kernels, row.from, row.to, patterns.data(), results.data(), patterns.size(),
               {.saturate = row.saturate});
    return;
  }
  std::ranges::transform(patterns, results.begin(),
                         [&](uint32_t pattern) { return encode_e8m0_ocp(pattern, row.saturate); });
}

struct Digests {
  uint64_t all;
  std::array<uint64_t, num_slices> slices;
};

Digests run(const Job &job) {
  Digests digests{};
  std::vector<uint32_t> patterns(chunk_size);
  std::vector<uint8_t> results(chunk_size * sizeinbytes(job.row->to));
  XXH64_state_t all;
  XXH64_state_t slice;
  XXH64_reset(&all, 0);
  for (std::size_t index = 0; index < num_slices; ++index) {
    XXH64_reset(&slice, 0);
    for (std::size_t done = 0; done < slice_values; done += chunk_size) {
      std::iota(patterns.begin(), patterns.end(),
                static_cast<uint32_t>(index * slice_values + done));
      convert(job, patterns, results);
      XXH64_update(&slice, results.data(), results.size());
      XXH64_update(&all, results.data(), results.size());
    }
    digests.slices[index] = XXH64_digest(&slice);
  }
  digests.all = XXH64_digest(&all);
  return digests;
}

std::string differing_slices(const Row &row, const Digests &digests) {
  std::string list;
  for (std::size_t index = 0; index < num_slices; ++index) {
    if (digests.slices[index] != row.slices[index])
      list += fmt::format(" {}", index);
  }
  return list.empty() ? " none" : list;
}

std::string describe(const Job &job) {
  const Row &row = *job.row;
  return fmt::format("{} -> {} {} ({})", dtype2str(row.from), dtype2str(row.to), row.mode,
                     job.kernels ? job.kernels->name : "scalar");
}

bool is_named(const Row &row, std::span<char *const> names) {
  return names.empty() || std::ranges::any_of(names, [&](std::string_view name) {
           return name == dtype2str(row.from) || name == dtype2str(row.to);
         });
}

std::vector<Job> jobs_for(std::span<char *const> names) {
  std::vector<Job> jobs;
  for (const Row &row : digest_rows) {
    if (!is_named(row, names))
      continue;
    if (row.conversion == Conversion::OcpScale) {
      jobs.push_back({&row, nullptr});
      continue;
    }
    jobs.push_back({&row, &portable_cast_kernels()});
    if (avx2_cast_kernels())
      jobs.push_back({&row, avx2_cast_kernels()});
  }
  return jobs;
}

// Takes jobs until there are no more, from as many threads as call it.
class Runner {
public:
  explicit Runner(std::vector<Job> jobs) : jobs_(std::move(jobs)) {}

  void work() {
    for (std::size_t index = next_++; index < jobs_.size(); index = next_++) {
      const auto start = std::chrono::steady_clock::now();
      const Digests digests = run(jobs_[index]);
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
      report(jobs_[index], digests, elapsed.count());
    }
  }

  std::size_t passed() const { return passed_; }
  std::size_t failed() const { return jobs_.size() - passed_; }

private:
  void report(const Job &job, const Digests &digests, double seconds) {
    const Row &row = *job.row;
    const bool good = digests.all == row.digest && digests.slices == row.slices;
    const std::lock_guard lock(mutex_);
    passed_ += good;
    fmt::print("{} {:<48} {:6.1f} s\n", good ? "pass" : "FAIL", describe(job), seconds);
    if (!good) {
      fmt::print("     digest {:016x}, expected {:016x}; slices that differ:{}\n", digests.all,
                 row.digest, differing_slices(row, digests));
    }
    std::fflush(stdout);
  }

  std::vector<Job> jobs_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::size_t passed_ = 0;
};

} // namespace

int main(int argc, char **argv) {
  Runner runner(jobs_for(std::span(argv + 1, argv + argc)));
  std::vector<std::jthread> threads;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i)
    threads.emplace_back([&] { runner.work(); });
  runner.work();
  threads.clear(); // joins
  fmt::print("{} passed, {} failed\n", runner.passed(), runner.failed());
  return runner.failed() == 0 && runner.passed() != 0 ? 0 : 1;
}
