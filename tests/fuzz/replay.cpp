// In place of libFuzzer: runs the inputs of the given files and folders, in order of their names,
// each once as it is and then cut short and with single bytes changed.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

#include "tests/fuzz/fuzz_check.h"

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(const fs::path &path) {
  if (!fs::is_directory(path))
    return {path};
  std::vector<fs::path> files;
  for (const fs::directory_entry &entry : fs::recursive_directory_iterator(path))
    if (entry.is_regular_file())
      files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

void run_input(const std::vector<std::uint8_t> &bytes) {
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

// A few variants of the input, so that not only what is well-formed is seen.
void run_variants(std::vector<std::uint8_t> bytes) {
  constexpr std::size_t variants = 16;
  const std::size_t stride = bytes.size() / variants + 1;
  for (std::size_t at = 0; at < bytes.size(); at += stride) {
    run_input({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at)});
    const std::uint8_t byte = bytes[at];
    for (const std::uint8_t other : {'\0', '9', '"', '{', '\xff'}) {
      bytes[at] = other;
      run_input(bytes);
    }
    bytes[at] = byte;
  }
}

} // namespace

int main(int argc, char **argv) {
  std::size_t count = 0;
  for (int i = 1; i < argc; ++i) {
    for (const fs::path &path : files_of(argv[i])) {
      std::ifstream file(path, std::ios::binary);
      const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
      if (!file) {
        std::cerr << "cannot read " << path << '\n';
        return 1;
      }
      run_input(bytes);
      run_variants(bytes);
      ++count;
    }
  }
  std::cout << count << " inputs\n";
  return count == 0 ? 1 : 0;
}
