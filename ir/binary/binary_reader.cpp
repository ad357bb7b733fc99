#include "ir/binary/binary_reader.h"

#include <string>

#include <fmt/format.h>

#include "ir/binary/binary_body.h"
#include "ir/binary/binary_tables.h"
#include "ir/verify/verify_rules.h"

namespace nir {
namespace {

using namespace binary;

// What is wrong with the header and the payload as a whole; empty where all is well.
std::string header_error(std::string_view bytes) {
  if (!bytes.starts_with(magic.substr(0, std::min(bytes.size(), magic.size()))))
    return fmt::format("at byte {}: the line end in the signature was changed, as copying a file "
                       "as text does",
                       signature.size());
  if (bytes.size() < header::Size)
    return fmt::format("the file is cut short: it has {} bytes, and the header alone {}",
                       bytes.size(), header::Size);
  const auto found_version = load<std::uint32_t>(bytes.data() + header::Version);
  if (found_version != version)
    return fmt::format("at byte {}: the version of the form is {}, expected {}", header::Version,
                       found_version, version);
  if (load<std::uint32_t>(bytes.data() + header::Reserved) != 0)
    return fmt::format("at byte {}: the reserved bytes of the header are not 0", header::Reserved);
  if (load<std::uint64_t>(bytes.data() + header::Fingerprint) != table_fingerprint())
    return fmt::format("at byte {}: it was written by a version whose opcodes, attributes, dtypes "
                       "or targets are others",
                       header::Fingerprint);
  const std::string_view payload = bytes.substr(header::Size);
  const auto size = load<std::uint64_t>(bytes.data() + header::PayloadSize);
  if (size > payload.size())
    return fmt::format("the file is cut short: it has {} bytes behind the header, expected {}",
                       payload.size(), size);
  if (size < payload.size())
    return fmt::format("at byte {}: bytes follow the end of the module", header::Size + size);
  const auto checksum = load<std::uint64_t>(bytes.data() + header::Checksum);
  if (const std::uint64_t found = checksum_of(payload); found != checksum)
    return fmt::format("the file is damaged: its checksum is {:#018x}, expected {:#018x}", found,
                       checksum);
  return {};
}

// The rules that concern several functions.
bool verify_calls(const std::vector<const Instruction *> &calls, DiagnosticEngine &diagnostics) {
  CallVerifier verifier;
  const StmtLocator locator;
  bool ok = true;
  for (const Instruction *inst : calls)
    ok &= verifier.verify(*inst, locator, diagnostics);
  return verify_no_recursion(calls, diagnostics) && ok;
}

bool read_payload(ByteReader &in, Module &module, DiagnosticEngine &diagnostics,
                  const BinaryReadOptions &options) {
  Tables tables(in, module, options.target);
  if (in.failed())
    return false;
  BodyReader bodies(in, module, tables, diagnostics, options.verify);
  bool ok = true;
  for (Function *function : module.functions()) {
    ok &= bodies.read(*function);
    if (in.failed())
      return false;
  }
  if (in.remaining() != 0)
    return in.fail_at(in.position(), "bytes follow the last function");
  if (options.verify && ok)
    ok = verify_calls(bodies.calls(), diagnostics);
  return ok;
}

} // namespace

bool is_binary_module(std::string_view bytes) { return bytes.starts_with(signature); }

std::unique_ptr<Module> read_binary(std::string_view bytes, DiagnosticEngine &diagnostics,
                                    const BinaryReadOptions &options) {
  if (!is_binary_module(bytes)) {
    diagnostics.error({}, "at byte 0: this is no module in binary form");
    return nullptr;
  }
  if (std::string error = header_error(bytes); !error.empty()) {
    diagnostics.error({}, std::move(error));
    return nullptr;
  }
  auto module = std::make_unique<Module>();
  ByteReader in(bytes.substr(header::Size), header::Size);
  const bool ok = read_payload(in, *module, diagnostics, options);
  if (in.failed())
    diagnostics.error({}, in.error());
  return ok ? std::move(module) : nullptr;
}

} // namespace nir
