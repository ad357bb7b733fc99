#include "driver/docs/doc_tables.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "driver/cli/markdown_table.h"
#include "driver/docs/doc_numerics.h"
#include "driver/docs/doc_rooms.h"
#include "ir/core/module.h"
#include "ir/diagnostics/diagnostic.h"
#include "ir/isa/target.h"
#include "passes/core/pass.h"
#include "passes/pipeline/opt_levels.h"
#include "passes/pipeline/pipeline.h"

namespace nir {

namespace passes {
#define PASS(identifier) extern const PassInfo pass_##identifier;
#include "passes/pipeline/passes.def"
#undef PASS
} // namespace passes

namespace {

// The passes that come with the library. The registry may hold more: a program's own.
constexpr const PassInfo *documented_passes[] = {
#define PASS(identifier) &passes::pass_##identifier,
#include "passes/pipeline/passes.def"
#undef PASS
};

std::string operands_text(const OpcodeInfo &row) {
  if (row.max_operands < 0)
    return fmt::format("{} or more", row.min_operands);
  return row.min_operands == row.max_operands
             ? fmt::format("{}", row.min_operands)
             : fmt::format("{} to {}", row.min_operands, row.max_operands);
}

std::string result_text(ResultForm form) {
  switch (form) {
  case ResultForm::Either:
    return "value or `->`";
  case ResultForm::ValueOnly:
    return "value";
  case ResultForm::DstOnly:
    return "`->`";
  case ResultForm::AnyOrBare:
    return "value, `->` or bare";
  case ResultForm::Bare:
    return "bare";
  }
  return {};
}

std::string family_text(const OpcodeInfo &row) {
  struct Family {
    std::uint16_t trait;
    std::string_view name;
  };
  constexpr std::array<Family, 6> families{{{op_trait::Engine, "engine"},
                                            {op_trait::Mover, "mover"},
                                            {op_trait::Generator, "generator"},
                                            {op_trait::Dma, "DMA"},
                                            {op_trait::Offloaded, "offloaded"},
                                            {op_trait::NeverDead, "never dead"}}};
  for (const Family &family : families)
    if (row.has(family.trait))
      return std::string(family.name);
  return {};
}

std::string attribute_names(std::span<const AttrKey> keys) {
  std::vector<std::string_view> names;
  for (AttrKey key : keys)
    names.push_back(info(key).name);
  return code_list(names);
}

std::string opcodes() {
  MarkdownTable table({"opcode", "family", "operands", "result", "own attributes", "meaning"});
  for (const OpcodeInfo &row : all_opcodes())
    table.add({code(row.mnemonic), family_text(row), operands_text(row), result_text(row.result),
               attribute_names(row.attributes), std::string(row.doc)});
  return table.text();
}

std::string functions() { return code_list(all_activation_fns()) + '\n'; }

std::string operators() {
  MarkdownTable table({"operator", "integers only", "reduces"});
  for (std::string_view name : all_alu_ops()) {
    const AluOp op = *find_alu_op(name);
    table.add({code(name), is_integer_only(op) ? "yes" : "", may_reduce(op) ? "yes" : ""});
  }
  return table.text();
}

std::string kind_text(AttrKind kind) {
  switch (kind) {
  case AttrKind::Flag:
    return "flag";
  case AttrKind::Float32:
    return "float32";
  case AttrKind::Int:
    return "integer";
  case AttrKind::IntList:
    return "integer list";
  case AttrKind::String:
    return "string";
  }
  return {};
}

std::string default_text(const AttrInfo &row) {
  switch (row.default_kind) {
  case AttrDefault::None:
    return "required";
  case AttrDefault::Optional:
    return "absent";
  case AttrDefault::Text:
    return row.default_text == "ones" ? "all 1" : code(row.default_text);
  }
  return {};
}

std::string takers_text(AttrKey key) {
  const auto marks = mark_attributes();
  if (std::ranges::find(marks, key) != marks.end())
    return "every instruction";
  std::vector<std::string_view> takers;
  for (const OpcodeInfo &row : all_opcodes())
    if (std::ranges::find(row.attributes, key) != row.attributes.end())
      takers.push_back(row.mnemonic);
  return code_list(takers);
}

std::string attributes() {
  MarkdownTable table({"attribute", "kind", "default", "meaning", "taken by"});
  for (const AttrInfo &row : all_attributes())
    table.add({code(row.name), kind_text(row.kind), default_text(row), std::string(row.doc),
               takers_text(row.key)});
  return table.text();
}

std::string yes_no(bool value) { return value ? "yes" : "no"; }

std::string targets() {
  constexpr std::int64_t kib = 1024;
  MarkdownTable table({"target", "partitions", "sbuf a partition", "psum a partition", "`dma-cast`",
                       "`x4-matmul`", "default"});
  for (const Target &target : all_targets())
    table.add({code(target.name), fmt::format("{}", target.partitions),
               fmt::format("{} KiB", target.sbuf_bytes_per_partition / kib),
               fmt::format("{} KiB", target.psum_bytes_per_partition / kib),
               yes_no(target.dma_cast), yes_no(target.x4_matmul),
               target.name == default_target().name ? "yes" : ""});
  return table.text();
}

std::string target_features() {
  MarkdownTable table({"feature", "meaning"});
  for (const TargetFeature &feature : all_target_features())
    table.add({code(feature.name), std::string(feature.doc)});
  return table.text();
}

std::string matmul_operands() {
  MarkdownTable::Row header{"operand"};
  for (const Target &target : all_targets())
    header.push_back(code(target.name));
  MarkdownTable table(std::move(header));
  for (DType dtype : all_dtypes()) {
    MarkdownTable::Row row{code(dtype2str(dtype))};
    for (const Target &target : all_targets()) {
      const auto wanted = target.matmul_operand_dtype(dtype);
      row.push_back(wanted ? code(dtype2str(*wanted)) : "error");
    }
    table.add(std::move(row));
  }
  return table.text();
}

std::string passes_table() {
  MarkdownTable table({"pass", "description", "options"});
  for (const PassInfo *pass : documented_passes) {
    std::vector<std::string_view> options;
    for (const PassOption &option : pass->options)
      options.push_back(option.name);
    table.add({code(pass->name), std::string(pass->description), code_list(options)});
  }
  return table.text();
}

std::string values_text(const PassOption &option) {
  switch (option.kind) {
  case PassOption::Flag:
    return "flag";
  case PassOption::Choice:
    return code_list(option.choices);
  case PassOption::Number:
    return "number";
  }
  return {};
}

std::string pass_table(const PassInfo &pass) {
  std::string out = fmt::format("{}: {}.\n", code(pass.name), pass.description);
  if (!pass.options.empty()) {
    MarkdownTable table({"option", "values", "default", "meaning"});
    for (const PassOption &option : pass.options)
      table.add({code(option.name), values_text(option), code(option.default_value),
                 std::string(option.doc)});
    out += '\n' + table.text();
  }
  if (!pass.statistics.empty()) {
    MarkdownTable table({"statistic", "unit"});
    for (const PassStatistic &statistic : pass.statistics)
      table.add({std::string(statistic.name), std::string(statistic.unit)});
    out += '\n' + table.text();
  }
  return out;
}

std::string opt_levels() {
  MarkdownTable table({"level", "pipeline"});
  for (unsigned level = 0; level <= max_opt_level; ++level)
    table.add({fmt::format("`-O{}`", level), code(opt_level_pipeline(level))});
  return table.text();
}

std::string layout() {
  MarkdownTable table({"object", "bytes", "what it holds"});
  const auto add = [&table](std::string_view name, std::size_t bytes, std::string_view what) {
    table.add({code(name), fmt::format("{}", bytes), std::string(what)});
  };
  add("Value", sizeof(Value), "head of the use-list, type, name, kind, three bytes of its class");
  add("Use", sizeof(Use), "value, access, next use, link to the pointer that points here, index");
  add("Stmt", sizeof(Stmt), "a `Value`; previous, next, block, order, source position");
  add("Instruction", sizeof(Instruction),
      "a `Stmt`; number of uses, attributes, autocast mark, flags; its uses follow in memory");
  add("Loop", sizeof(Loop), "a `Stmt`; block, bounds, trips, depth, a jump pointer up the nest");
  add("Tensor", sizeof(Tensor), "a `Value`; function, previous, next, source position, init");
  add("Block", sizeof(Block), "first and last statement, loop, function");
  add("Type", sizeof(Type), "element count, dtype, rank; the dimensions follow in memory");
  add("Name", sizeof(Name), "a number, or the index of an interned string");
  add("RelPtr<T>", sizeof(RelPtr<Value>), "a distance in units of four bytes");
  return table.text();
}

// A private tool of this repository: it knows where the sources are.
std::string rooms() { return doc_rooms(NIR_SOURCE_DIR); }

struct TableEntry {
  std::string_view name;
  std::string (*text)();
};

constexpr std::array<TableEntry, 20> tables{{
    {"opcodes", opcodes},
    {"functions", functions},
    {"operators", operators},
    {"attributes", attributes},
    {"targets", targets},
    {"target-features", target_features},
    {"matmul-operands", matmul_operands},
    {"dtypes", doc_dtypes},
    {"float-formats", doc_float_formats},
    {"casts-to-float8", doc_casts_to_float8},
    {"integer-copies", doc_integer_copies},
    {"holds", doc_holds},
    {"survives", doc_survives},
    {"promotion", doc_promotion},
    {"associativity", doc_associativity},
    {"merge", doc_merge},
    {"passes", passes_table},
    {"opt-levels", opt_levels},
    {"layout", layout},
    {"rooms", rooms},
}};

constexpr std::string_view pass_prefix = "pass ";
constexpr std::string_view begin_mark = "<!-- generated: ";
constexpr std::string_view mark_end = " -->";
constexpr std::string_view end_mark = "<!-- end generated -->";

// The NAME of a line that begins a block.
std::optional<std::string_view> block_name(std::string_view line) {
  if (!line.starts_with(begin_mark) || !line.ends_with(mark_end))
    return std::nullopt;
  line.remove_prefix(begin_mark.size());
  line.remove_suffix(mark_end.size());
  return line;
}

} // namespace

tl::expected<std::string, std::string> doc_table(std::string_view name) {
  for (const PassInfo *pass : documented_passes)
    if (name.starts_with(pass_prefix) && name.substr(pass_prefix.size()) == pass->name)
      return pass_table(*pass);
  const auto entry = std::ranges::find(tables, name, &TableEntry::name);
  if (entry != tables.end())
    return entry->text();
  const std::vector<std::string> names = doc_table_names();
  const std::vector<std::string_view> words(names.begin(), names.end());
  return tl::unexpected(fmt::format("unknown table '{}'{}", name, did_you_mean(name, words)));
}

std::vector<std::string> doc_table_names() {
  std::vector<std::string> names;
  for (const TableEntry &entry : tables)
    names.emplace_back(entry.name);
  for (const PassInfo *pass : documented_passes)
    names.push_back(fmt::format("{}{}", pass_prefix, pass->name));
  return names;
}

tl::expected<std::string, std::string> update_doc_tables(std::string_view markdown) {
  std::string out;
  std::size_t number = 0;
  std::size_t block_line = 0; // 0: outside
  const auto fail = [](std::size_t line, std::string_view message) {
    return tl::unexpected(fmt::format("{}: {}", line, message));
  };
  while (!markdown.empty()) {
    const std::size_t end = markdown.find('\n');
    const std::string_view line = markdown.substr(0, end);
    const std::size_t length = end == std::string_view::npos ? markdown.size() : end + 1;
    ++number;
    if (line == end_mark) {
      if (block_line == 0)
        return fail(number, "end of a generated block that has no beginning");
      block_line = 0;
    }
    if (block_line == 0)
      out += markdown.substr(0, length);
    if (const auto name = block_name(line)) {
      if (block_line != 0)
        return fail(number, "generated block inside another one");
      const auto text = doc_table(*name);
      if (!text)
        return fail(number, text.error());
      out += *text;
      block_line = number;
    }
    markdown.remove_prefix(length);
  }
  if (block_line != 0)
    return fail(block_line, "generated block without an end");
  return out;
}

} // namespace nir
