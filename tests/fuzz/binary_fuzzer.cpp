// Any bytes behind a header that fits them are refused with a reason, or are a module whose binary
// form says all of it, with rules checked or without. A text is first brought into binary form.

#include "ir/binary/binary_format.h"
#include "ir/binary/binary_reader.h"
#include "ir/binary/binary_writer.h"
#include "ir/print/printer.h"
#include "ir/verify/verifier.h"
#include "lang/nir/parser/parser.h"
#include "passes/instrument/structural_hash.h"
#include "passes/manager/pass_manager.h"
#include "tests/fuzz/fuzz_check.h"

namespace {

using namespace nir;
using fuzz::require;

// The bytes behind a good header; a text is first written in binary form.
std::string file_of(std::string input) {
  namespace header = binary::header;
  if (!is_binary_module(input)) {
    const SourceFile file("fuzz.nir", std::move(input));
    DiagnosticEngine diagnostics;
    const auto module = parse(file, diagnostics);
    return module == nullptr ? std::string() : to_binary(*module);
  }
  const std::string payload = input.substr(std::min(input.size(), header::Size));
  std::string file(header::Size, '\0');
  std::ranges::copy(binary::magic, file.begin());
  binary::store(file.data() + header::Version, binary::version);
  binary::store(file.data() + header::Fingerprint, binary::table_fingerprint());
  binary::store(file.data() + header::PayloadSize, std::uint64_t{payload.size()});
  binary::store(file.data() + header::Checksum, binary::checksum_of(payload));
  return file + payload;
}

void check(const std::string &file, bool verified) {
  DiagnosticEngine diagnostics;
  const auto module = read_binary(file, diagnostics, {.verify = verified});
  require((module == nullptr) == diagnostics.has_errors(), "what is refused has an error");
  if (module == nullptr)
    return;
  const std::string text = to_string(*module);
  const std::string bytes = to_binary(*module);
  DiagnosticEngine refused;
  const auto again = read_binary(bytes, refused, {.verify = verified});
  require(again != nullptr, "what is written is accepted");
  require(to_binary(*again) == bytes, "writing what was written changes nothing");
  require(to_string(*again) == text, "the text of what was written is the same");
  if (!verified)
    return;
  require(structural_hash(*again) == structural_hash(*module), "the bytes say all of a module");
  DiagnosticEngine broken;
  require(verify(*module, VerifyLevel::Structure, broken), "what is accepted is well-formed");
  const SourceFile printed("printed.nir", text);
  require(parse(printed, broken) != nullptr, "what is accepted has a text");
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string file = file_of(fuzz::text_of(data, size));
  if (file.empty())
    return 0;
  check(file, true);
  check(file, false);
  return 0;
}
