// Any bytes are refused with a located error, or are a pipeline whose text says all of it.

#include "passes/pipeline/pipeline.h"

#include "tests/fuzz/fuzz_check.h"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  using namespace nir;
  using fuzz::require;
  const std::string text = fuzz::text_of(data, size);
  const auto pipeline = parse_pipeline(text);
  if (!pipeline) {
    require(pipeline.error().begin <= text.size(), "an error lies inside the text");
    require(!render(pipeline.error(), text).empty(), "an error says something");
    return 0;
  }
  const std::string printed = to_string(*pipeline);
  const auto again = parse_pipeline(printed);
  require(again.has_value(), "what is printed is accepted");
  require(to_string(*again) == printed, "there is one text of a pipeline");
  return 0;
}
