#include "bench/generator/naming.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "bench/generator/generator.h"
#include "ir/print/printer.h"
#include "ir/verify/verifier.h"
#include "lang/nir/parser/parser.h"

namespace nir {
namespace {

std::unique_ptr<Module> named(std::string_view shape, Naming naming) {
  auto module = generate({.shape = shape, .size = 3000, .seed = 3});
  rename(*module, naming, RenameScope::Numbered);
  return module;
}

std::set<std::string> names_of(const Module &module) {
  std::set<std::string> names;
  for (const Function *function : module.functions())
    for (const Stmt &stmt : function->statements())
      if (!stmt.name().empty())
        names.insert(module.names().str(stmt.name()));
  return names;
}

TEST(NamingTest, HasAWordForEach) {
  EXPECT_EQ(find_naming("numbers"), Naming::Numbers);
  EXPECT_EQ(find_naming("short"), Naming::Short);
  EXPECT_EQ(find_naming("hlo"), Naming::Hlo);
  EXPECT_EQ(find_naming("long"), std::nullopt);
}

TEST(NamingTest, EveryShapeReadsBackAsPrinted) {
  for (const ShapeInfo &shape : all_shapes())
    for (const Naming naming : {Naming::Numbers, Naming::Short, Naming::Hlo}) {
      const auto module = named(shape.name, naming);
      DiagnosticEngine diagnostics;
      EXPECT_TRUE(verify(*module, VerifyLevel::Structure, diagnostics)) << shape.name;
      const SourceFile file("generated", to_string(*module));
      const auto read = parse(file, diagnostics);
      ASSERT_NE(read, nullptr) << shape.name;
      EXPECT_TRUE(to_string(*read) == file.text()) << shape.name;
    }
}

TEST(NamingTest, NumbersAreWhatShapesHave) {
  const auto plain = generate({.shape = "functions", .size = 3000, .seed = 3});
  EXPECT_EQ(to_string(*named("functions", Naming::Numbers)), to_string(*plain));
}

TEST(NamingTest, ShortNamesAreALetterAndANumber) {
  const auto names = names_of(*named("roundtrip", Naming::Short));
  EXPECT_TRUE(names.contains("a17") && names.contains("b17") && names.contains("c17"));
}

TEST(NamingTest, HloNamesAreUniqueInTheModuleAndOfAllKinds) {
  const auto module = named("functions", Naming::Hlo);
  std::size_t values = 0;
  for (const Function *function : module->functions())
    for (const Stmt &stmt : function->statements())
      values += stmt.name().empty() ? 0u : 1u;
  const auto names = names_of(*module);
  EXPECT_EQ(names.size(), values);
  const auto count = [&names](std::string_view part) {
    std::size_t found = 0;
    for (const std::string &name : names)
      found += name.find(part) != std::string::npos ? 1u : 0u;
    return found;
  };
  EXPECT_GT(count("convert."), 0u);
  EXPECT_GT(count("jit(f)/"), 0u);
  EXPECT_GT(count("_add_fusion."), 0u);
  EXPECT_GT(count(".clone"), 0u);
  EXPECT_LT(count(".clone"), values / 16);
}

} // namespace
} // namespace nir
