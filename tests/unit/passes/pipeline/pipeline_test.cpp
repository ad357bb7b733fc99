#include "ir/support/saturating.h"
#include "passes/pipeline/opt_levels.h"
#include "passes/pipeline/pipeline.h"
#include "passes/pipeline/registry.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nir {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Nothing : public Pass {
public:
  bool run(Module &, PassContext &) override { return false; }
};

std::unique_ptr<Pass> create_nothing(const PassOptions &) { return std::make_unique<Nothing>(); }

constexpr std::array<std::string_view, 3> colours{"red", "green", "dark-blue"};
constexpr std::array<PassOption, 4> options{{
    {"loud", PassOption::Flag, "false", {}, "a flag"},
    {"colour", PassOption::Choice, "red", colours, "a choice"},
    {"count", PassOption::Number, "7", {}, "a number"},
    {"quick", PassOption::Flag, "on", {}, "a flag that is on"},
}};

constexpr PassInfo with_options{
    "test-options", "has options of all kinds", options, {}, create_nothing};
constexpr PassInfo without_options{"test-plain", "has none", {}, {}, create_nothing};

[[maybe_unused]] const bool registered = [] {
  register_pass(with_options);
  register_pass(without_options);
  return true;
}();

bool same(const PipelineNode &a, const PipelineNode &b);
bool same(const std::vector<PipelineNode> &a, const std::vector<PipelineNode> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const PipelineNode &x, const PipelineNode &y) { return same(x, y); });
}
bool same(const PipelineNode &a, const PipelineNode &b) {
  return a.pass == b.pass && a.options.given() == b.options.given() &&
         a.max_rounds == b.max_rounds && same(a.children, b.children);
}

Pipeline parsed(std::string_view text) {
  auto pipeline = parse_pipeline(text);
  if (!pipeline) {
    ADD_FAILURE() << render(pipeline.error(), text);
    return {};
  }
  return std::move(*pipeline);
}

// Parses, prints, and checks that both agree from there on.
std::string reprinted(std::string_view text) {
  const Pipeline pipeline = parsed(text);
  const std::string printed = to_string(pipeline);
  EXPECT_TRUE(same(parsed(printed).nodes, pipeline.nodes)) << printed;
  EXPECT_EQ(to_string(parsed(printed)), printed);
  return printed;
}

PipelineError error_of(std::string_view text) {
  auto pipeline = parse_pipeline(text);
  if (pipeline) {
    ADD_FAILURE() << "no error in: " << text;
    return {};
  }
  return pipeline.error();
}

// The error stands at `where`, the only place in the text with `<` and `>` around it.
void expect_error(std::string marked, std::string_view message) {
  const std::size_t begin = marked.find('<');
  marked.erase(begin, 1);
  const std::size_t end = marked.find('>');
  marked.erase(end, 1);
  const PipelineError error = error_of(marked);
  EXPECT_EQ(error.begin, begin) << marked << "\n" << error.message;
  EXPECT_EQ(error.length, end - begin) << marked << "\n" << error.message;
  EXPECT_THAT(error.message, HasSubstr(std::string(message)));
}

TEST(Pipeline, EmptyTextIsTheEmptyPipeline) {
  EXPECT_TRUE(parsed("").nodes.empty());
  EXPECT_TRUE(parsed(" \n\t\r ").nodes.empty());
  EXPECT_EQ(to_string(Pipeline{}), "");
}

TEST(Pipeline, ListsOfPassesKeepTheirOrder) {
  const Pipeline pipeline = parsed("test-plain,dce,test-plain");
  ASSERT_EQ(pipeline.nodes.size(), 3u);
  EXPECT_EQ(pipeline.nodes[0].pass, &without_options);
  EXPECT_EQ(pipeline.nodes[1].pass, find_pass("dce"));
  EXPECT_EQ(reprinted("test-plain,dce,test-plain"), "test-plain,dce,test-plain");
}

TEST(Pipeline, BlanksMayStandBetweenTokens) {
  EXPECT_EQ(
      reprinted(
          " test-plain ,\n fixpoint { max = 3 }\t( dce ,test-options { loud , count = 2 } ) "),
      "test-plain,fixpoint{max=3}(dce,test-options{loud,count=2})");
}

TEST(Pipeline, OptionsPrintAsWritten) {
  for (const std::string_view text :
       {"test-options", "test-options{loud}", "test-options{loud=true}", "test-options{loud=false}",
        "test-options{quick=off,loud=on}", "test-options{count=007,colour=dark-blue}",
        "test-options{colour=red,loud,count=18446744073709551615,quick=true}"})
    EXPECT_EQ(reprinted(text), text);
}

TEST(Pipeline, OptionsGiveValuesAndDefaults) {
  const Pipeline pipeline = parsed("test-options{loud,colour=green}");
  const PassOptions &given = pipeline.nodes[0].options;
  EXPECT_TRUE(given.flag("loud"));
  EXPECT_EQ(given.get("loud"), "true");
  EXPECT_TRUE(given.flag("quick"));
  EXPECT_EQ(given.get("colour"), "green");
  EXPECT_EQ(given.number("count"), 7u);
  const Pipeline other = parsed("test-options{quick=off,count=12}");
  EXPECT_FALSE(other.nodes[0].options.flag("quick"));
  EXPECT_FALSE(other.nodes[0].options.flag("loud"));
  EXPECT_EQ(other.nodes[0].options.get("colour"), "red");
  EXPECT_EQ(other.nodes[0].options.number("count"), 12u);
}

TEST(Pipeline, FixpointsNest) {
  EXPECT_EQ(reprinted("fixpoint(dce,fixpoint{max=2}(test-plain),dce),dce"),
            "fixpoint(dce,fixpoint{max=2}(test-plain),dce),dce");
  const Pipeline pipeline = parsed("fixpoint(fixpoint{max=2}(dce))");
  EXPECT_EQ(pipeline.nodes[0].pass, nullptr);
  EXPECT_EQ(pipeline.nodes[0].max_rounds, 0u);
  EXPECT_EQ(pipeline.nodes[0].children[0].max_rounds, 2u);
}

// Every pass that there is, each option alone with every value, and all options together.
TEST(Pipeline, EveryPassAndOptionReadsBack) {
  for (const PassInfo *pass : all_passes()) {
    const std::string name(pass->name);
    EXPECT_EQ(reprinted(name), name);
    std::string all;
    for (const PassOption &option : pass->options) {
      std::vector<std::string> values{"=" + std::string(option.default_value)};
      if (option.kind == PassOption::Flag)
        values.insert(values.end(), {"", "=true", "=false", "=on", "=off"});
      for (const std::string_view choice : option.choices)
        values.push_back("=" + std::string(choice));
      for (const std::string &value : values) {
        const std::string text = name + "{" + std::string(option.name) + value + "}";
        EXPECT_EQ(reprinted(text), text);
        EXPECT_EQ(reprinted("fixpoint{max=9}(" + text + ")"), "fixpoint{max=9}(" + text + ")");
      }
      all += (all.empty() ? "" : ",") + std::string(option.name) + values.back();
    }
    if (!all.empty()) {
      EXPECT_EQ(reprinted(name + "{" + all + "}"), name + "{" + all + "}");
    }
  }
}

TEST(Pipeline, DeepestNestingReadsBackAndDeeperIsAnError) {
  std::string text = "dce";
  for (unsigned i = 0; i < Pipeline::max_nesting; ++i)
    text = "fixpoint(" + text + ")";
  EXPECT_EQ(reprinted(text), text);
  const PipelineError error = error_of("fixpoint(" + text + ")");
  EXPECT_EQ(error.begin, 9 * Pipeline::max_nesting);
  EXPECT_EQ(error.length, 8u);
  EXPECT_EQ(error.message, "fixpoints nest deeper than 100");
}

TEST(Pipeline, EndlessNestingIsRefusedWithoutRecursion) {
  std::string text;
  for (int i = 0; i < 100'000; ++i)
    text += "fixpoint(";
  EXPECT_EQ(error_of(text).begin, 900u);
}

TEST(Pipeline, LongListsAreFine) {
  std::string text = "dce";
  for (int i = 0; i < 10'000; ++i)
    text += ",dce";
  EXPECT_EQ(reprinted(text), text);
}

TEST(Pipeline, UnknownPassesAreErrors) {
  expect_error("dce,<dcd>", "unknown pass 'dcd' (did you mean 'dce'?)");
  expect_error("<fixpont>(dce)", "unknown pass 'fixpont' (did you mean 'fixpoint'?)");
  expect_error("fixpoint(<nowhere-near-anything>)", "unknown pass 'nowhere-near-anything'");
  expect_error("<DCE>", "unknown pass 'DCE'");
}

TEST(Pipeline, UnknownOptionsAreErrors) {
  expect_error("test-options{<loudd>}", "has no option 'loudd' (did you mean 'loud'?)");
  expect_error("test-options{loud,<color>=red}", "has no option 'color' (did you mean 'colour'?)");
  expect_error("test-plain{<loud>}", "pass 'test-plain' takes no options, found 'loud'");
  expect_error("fixpoint{<mx>=3}(dce)", "fixpoint has no option 'mx'");
}

TEST(Pipeline, WrongValuesAreErrors) {
  expect_error(
      "test-options{colour=<gren>}",
      "option 'colour' of pass 'test-options' has no value 'gren', expected 'red', 'green' "
      "or 'dark-blue' (did you mean 'green'?)");
  expect_error("test-options{loud=<yes>}", "expected 'true' or 'false'");
  expect_error("test-options{count=<many>}", "expected a number");
  expect_error("test-options{count=<-1>}", "expected a number");
  expect_error("test-options{count=<+1>}", "expected a number");
  expect_error("test-options{count=<18446744073709551616>}", "expected a number");
  expect_error("test-options{count=<0x10>}", "expected a number");
}

TEST(Pipeline, MissingValuesAreErrors) {
  expect_error("test-options{<colour>}", "needs a value, expected 'red', 'green' or 'dark-blue'");
  expect_error("test-options{<count>,loud}", "needs a value, expected a number");
  expect_error("fixpoint{<max>}(dce)", "needs a value, expected a number");
  expect_error("test-options{colour=<,>loud}", "expected a value of option 'colour', found ','");
  expect_error("test-options{colour=<>", "found the end");
}

TEST(Pipeline, RoundsMustBeAtLeastOne) {
  expect_error("fixpoint{max=<0>}(dce)", "option 'max' of fixpoint must be at least 1");
  expect_error("fixpoint{max=<00>}(dce)", "must be at least 1");
  expect_error("fixpoint{max=<x>}(dce)", "expected a number");
  EXPECT_EQ(parsed("test-options{count=0}").nodes[0].options.number("count"), 0u);
}

TEST(Pipeline, OptionsMayStandOnce) {
  expect_error("test-options{loud,<loud>}", "option 'loud' of pass 'test-options' is given twice");
  expect_error("test-options{loud,count=1,<loud>=false}", "given twice");
  expect_error("fixpoint{max=1,<max>=2}(dce)", "given twice");
}

TEST(Pipeline, EmptyListsAndBracesAreErrors) {
  expect_error("fixpoint(<)>", "expected a pass name, found ')'");
  expect_error("fixpoint( \n <)>", "expected a pass name, found ')'");
  expect_error("test-options{<}>", "expected an option name, found '}'");
  expect_error("fixpoint{<}>(dce)", "expected an option name, found '}'");
}

TEST(Pipeline, CommasStandBetweenElementsOnly) {
  expect_error("dce,<>", "expected a pass name behind ',', found the end");
  expect_error("<,>dce", "expected a pass name, found ','");
  expect_error("dce,<,>dce", "expected a pass name, found ','");
  expect_error("fixpoint(dce,<)>", "expected a pass name, found ')'");
  expect_error("test-options{loud,<}>", "expected an option name, found '}'");
  expect_error("dce <d>ce", "expected ',', found 'd'");
  expect_error("fixpoint(dce <d>ce)", "expected ',' or ')', found 'd'");
}

TEST(Pipeline, BracketsMustMatch) {
  expect_error("dce<)>", "expected ',', found ')'");
  expect_error("fixpoint(dce)<)>", "expected ',', found ')'");
  expect_error("fixpoint(dce<>", "expected ')' behind the list of fixpoint, found the end");
  expect_error("test-options{loud<>", "expected ',' or '}', found the end");
  expect_error("test-options{loud<)>", "expected ',' or '}', found ')'");
  expect_error("test-options{loud}<{>loud}", "expected ',', found '{'");
}

TEST(Pipeline, OnlyFixpointTakesAList) {
  expect_error("dce<(>dce)", "pass 'dce' takes no list, only fixpoint does");
  expect_error("test-options{loud} <(>dce)", "takes no list");
  expect_error("fixpoint<>", "expected '(' and the list of fixpoint, found the end");
  expect_error("fixpoint<,>dce", "expected '(' and the list of fixpoint, found ','");
  expect_error("fixpoint{max=1}<{>max=1}(dce)", "expected '('");
}

TEST(Pipeline, OddBytesAreErrors) {
  expect_error("dce,<#>", "expected a pass name, found '#'");
  expect_error("<\xff>", "the byte 0xff");
  EXPECT_EQ(error_of(std::string_view("dce\0", 4)).message, "expected ',', found the byte 0x00");
  EXPECT_EQ(error_of(std::string_view("dce\0", 4)).begin, 3u);
}

TEST(Pipeline, ErrorsRenderWithACaretIntoTheText) {
  const std::string_view text = "dce,dcd,dce";
  EXPECT_EQ(render(error_of(text), text), "pipeline:1:5: error: unknown pass 'dcd' (did you mean "
                                          "'dce'?)\ndce,dcd,dce\n    ^~~\n");
}

TEST(Pipeline, ErrorsRenderInTheirLine) {
  const std::string_view text = "dce,\n  dcd";
  EXPECT_THAT(render(error_of(text), text), StartsWith("pipeline:2:3: error: unknown pass"));
  EXPECT_THAT(render(error_of(text), text), HasSubstr("\n  dcd\n  ^~~\n"));
}

TEST(Pipeline, ErrorsAtTheEndRender) {
  EXPECT_THAT(render(error_of("dce,"), "dce,"), HasSubstr("dce,\n    ^\n"));
}

TEST(Pipeline, OptimisationLevelsReadBack) {
  EXPECT_EQ(opt_level_pipeline(0), "");
  for (unsigned level = 0; level <= max_opt_level; ++level)
    EXPECT_EQ(reprinted(opt_level_pipeline(level)), opt_level_pipeline(level));
}

TEST(Pipeline, SingleElementsPrint) {
  const Pipeline pipeline = parsed("dce,fixpoint{max=4}(test-options{loud},dce)");
  EXPECT_EQ(to_string(pipeline.nodes[0]), "dce");
  EXPECT_EQ(to_string(pipeline.nodes[1]), "fixpoint{max=4}(test-options{loud},dce)");
}

TEST(PassRegistry, FindsBuiltInAndAddedPasses) {
  EXPECT_EQ(find_pass("test-plain"), &without_options);
  ASSERT_NE(find_pass("dce"), nullptr);
  EXPECT_EQ(find_pass("dce")->name, "dce");
  EXPECT_EQ(find_pass("fixpoint"), nullptr);
  EXPECT_EQ(find_pass(""), nullptr);
}

TEST(PassRegistry, NamesAreUniqueAndCanBeWritten) {
  std::vector<std::string_view> names;
  for (const PassInfo *pass : all_passes()) {
    EXPECT_FALSE(pass->description.empty()) << pass->name;
    EXPECT_EQ(std::count(names.begin(), names.end(), pass->name), 0) << pass->name;
    names.push_back(pass->name);
    for (const PassOption &option : pass->options)
      EXPECT_FALSE(option.doc.empty()) << pass->name << " " << option.name;
  }
}

TEST(PassRegistryDeathTest, SecondRegistrationIsAnInternalError) {
  EXPECT_DEATH(register_pass(without_options), "internal error: a pass named 'test-plain'");
}

TEST(PassRegistryDeathTest, FixpointIsNoPass) {
  static constexpr PassInfo bad{"fixpoint", "", {}, {}, create_nothing};
  EXPECT_DEATH(register_pass(bad), "internal error");
}

TEST(Saturation, SumsAndProductsStayBelowTheLimit) {
  constexpr std::uint64_t most = ~std::uint64_t{0};
  EXPECT_EQ(saturating_add(2, 3), 5u);
  EXPECT_EQ(saturating_add(most, 1), most);
  EXPECT_EQ(saturating_add(most - 1, 1), most);
  EXPECT_EQ(saturating_multiply(6, 7), 42u);
  EXPECT_EQ(saturating_multiply(most, 2), most);
  EXPECT_EQ(saturating_multiply(std::uint64_t{1} << 32, std::uint64_t{1} << 32), most);
  EXPECT_EQ(saturating_multiply(most, 0), 0u);
}

} // namespace
} // namespace nir
