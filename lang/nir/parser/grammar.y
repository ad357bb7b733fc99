// The grammar (language reference, Structure). Actions are one call each: what they do is in
// ParseContext. A statement's parts are kept by the context until the statement is complete.
//
// Errors: the token stream answers an error with RESYNC (or RESYNC_BODY, where it stands behind the
// `{` of a header) once it has skipped to the next place where a statement can start, so that
// every recovery is `error RESYNC`; see token_stream.h.

%code requires {
#include "lang/nir/lexer/token.h"

namespace nir::lang {
class ParseContext;
}
}

%code {
#include "lang/nir/parser/parse_context.h"

static int nir_yylex(nir::lang::Token *token, nir::lang::ParseContext &context) {
  return context.tokens().next(*token);
}

// Only for what the parser itself cannot do, such as growing its stack.
static void nir_yyerror(nir::lang::ParseContext &context, const char *message) {
  context.report_internal(message);
}

// Goes to recovery from an action that has reported what is wrong.
#define NIR_RECOVER_FROM(offset)                                                                   \
  do {                                                                                             \
    context.tokens().resync(offset);                                                               \
    YYERROR;                                                                                       \
  } while (false)
}

%define api.header.include {"lang/nir/lexer/token_kinds.h"}
%define api.pure full
%define api.prefix {nir_yy}
%define api.token.prefix {TOK_}
%define api.value.type {nir::lang::Token}
%define parse.error custom
%define lr.type canonical-lr
%define lr.default-reduction consistent
%param {nir::lang::ParseContext &context}

%token END 0 "end of file"
%token VALUE "a value" TENSOR_NAME "a tensor" SYMBOL "an '@' name" STRING "a string"
%token INT "an integer" FLOAT "a number" TYPE "a type" WORD "a word"
%token OP_PLAIN "an opcode" OP_ACTIVATION "'activation'" OP_SCALAR "'tensor_scalar'"
%token OP_ALU "an arithmetic opcode" OP_NUMBER "'memset'"
%token MODULE "'module'" FUNC "'func'" STRICT "'strict'" TENSOR "'tensor'" FOR "'for'" IN "'in'"
%token STEP "'step'" AS "'as'" DRAM "'dram'" SBUF "'sbuf'" PSUM "'psum'" INPUT "'input'"
%token OUTPUT "'output'" CONST "'const'" SPLAT "'splat'" DENSE "'dense'" HEX "'hex'"
%token CALL "'call'" OPAQUE "'opaque'" TRUE "'true'" FALSE "'false'" INF "'inf'" NAN "'nan'"
%token ARROW "'->'" DOTDOT "'..'"
%token RESYNC RESYNC_BODY

%start module

%%

module:
  %empty
| header
| header units
| units
;

header:
  MODULE SYMBOL                    { context.module_header($2); }
| MODULE SYMBOL module_attrs       { context.module_header($2); }
;

module_attrs: open_attrs attr_list '}' { context.attributes().close($3); };

units: unit | units unit;

unit:
  function
| error RESYNC                     { context.abandon_statement(); yyerrok; }
;

function: function_header items '}' { context.end_block(); };

function_header:
  func SYMBOL '{'                  { context.begin_function($2, $3, false); }
| func SYMBOL STRICT '{'           { context.begin_function($2, $4, true); }
| func SYMBOL error resync         { context.begin_function($2, $4, false); yyerrok; }
| func SYMBOL STRICT error resync  { context.begin_function($2, $5, true); yyerrok; }
| func error resync                { context.begin_nameless_function($3); yyerrok; }
;

func: FUNC                         { context.tokens().expect_body(); };
resync: RESYNC | RESYNC_BODY;

items:
  %empty
| items tensor
| items statement
;

tensor:
  tensor_head                      { context.finish_tensor($1, $1.end); }
| tensor_head init                 { context.finish_tensor($1, $2.end); }
| tensor_name error RESYNC         { context.abandon_tensor(); yyerrok; }
| tensor_head '=' error RESYNC         { context.abandon_tensor(); yyerrok; }
| TENSOR error RESYNC              { context.abandon_nameless_tensor(); yyerrok; }
;

tensor_name: TENSOR TENSOR_NAME    { $$ = context.begin_tensor($1, $2); };
tensor_head: tensor_name ':' type space role
    {
      $$.end = $5.end;
      context.tensor_head($3);
    };

space:
  DRAM                             { context.set_space(nir::Space::Dram); }
| SBUF                             { context.set_space(nir::Space::Sbuf); }
| PSUM                             { context.set_space(nir::Space::Psum); }
;

role:
  %empty                           { $$.end = $0.end; context.set_role(nir::Role::Internal); }
| INPUT                            { context.set_role(nir::Role::Input); }
| OUTPUT                           { context.set_role(nir::Role::Output); }
| CONST                            { context.set_role(nir::Role::Const); }
;

init:
  '=' SPLAT '(' number ')'         { $$.end = $5.end; context.init().splat($4); }
| '=' DENSE '(' numbers ')'        { $$.end = $5.end; context.init().dense($2, $5); }
| '=' HEX '(' STRING ')'           { $$.end = $5.end; context.init().hex($4); }
;

numbers:
  number                           { context.init().element($1); }
| numbers ',' number               { context.init().element($3); }
;

// Statements without attributes, and the types that the lexer reads at once, have rules of their own:
// it saves the parser a step for each.
statement:
  VALUE '=' plain_body ':' TYPE    { context.finish_definition($1, $5); }
| VALUE '=' plain_body ':' spelled_type { context.finish_definition($1, $5); }
| VALUE '=' plain_body attrs ':' type { context.finish_definition($1, $6); }
| VALUE '=' bare_body ':' type     { context.finish_definition($1, $5); }
| VALUE '=' bare_body attrs ':' type { context.finish_definition($1, $6); }
| plain_body ARROW access          { context.finish_write($3); }
| plain_body attrs ARROW access    { context.finish_write($4); }
| bare_body ARROW access           { context.finish_write($3); }
| bare_body attrs ARROW access     { context.finish_write($4); }
| bare_body                        { context.finish_bare(); }
| bare_body attrs                  { context.finish_bare(); }
| loop
| unknown_opcode                   { NIR_RECOVER_FROM($1.end); }
| VALUE '=' unknown_opcode
    {
      context.abandon_definition($1);
      NIR_RECOVER_FROM($3.end);
    }
| VALUE error RESYNC               { context.abandon_definition($1); yyerrok; }
| error RESYNC                     { context.abandon_statement(); yyerrok; }
;

unknown_opcode: WORD               { context.unknown_opcode($1); };

plain_body:
  OP_PLAIN                         { context.plain_body($1); }
| OP_PLAIN operands                { context.plain_body($1); }
| OP_ACTIVATION word operands      { context.activation_body($1, $2); }
| OP_SCALAR operand ',' scalar     { context.scalar_body($1, $4, nullptr); }
| OP_SCALAR operand ',' scalar ',' scalar { context.scalar_body($1, $4, &$6); }
| OP_ALU word operands             { context.alu_body($1, $2); }
| OP_NUMBER number                 { context.number_body($1, $2); }
;

bare_body:
  CALL SYMBOL '(' ')'              { context.call_body($1, $2, $4); }
| CALL SYMBOL '(' operands ')'     { context.call_body($1, $2, $5); }
| OPAQUE STRING '(' ')'            { context.opaque_body($1, $2, $4); }
| OPAQUE STRING '(' operands ')'   { context.opaque_body($1, $2, $5); }
;

scalar:
  word number                      { context.scalar_number($2); }
| word operand
;

// Both kinds of operands are spelled out: it saves the parser a step for each.
operands:
  VALUE                            { context.value_operand($1); }
| access                           { context.access_operand($1); }
| operands ',' VALUE               { context.value_operand($3); }
| operands ',' access              { context.access_operand($3); }
;

operand:
  VALUE                            { context.value_operand($1); }
| access                           { context.access_operand($1); }
;

access:
  TENSOR_NAME                      { $$ = context.access($1, nullptr); }
| TENSOR_NAME AS word              { $$ = context.access($1, &$3); }
| TENSOR_NAME subscripts           { $$ = context.subscripted_access($1, $2, nullptr); }
| TENSOR_NAME subscripts AS word   { $$ = context.subscripted_access($1, $2, &$4); }
;

subscripts:
  '[' ']'                          { $$.end = $2.end; }
| '[' dims ']'                     { $$.end = $3.end; }
;

dims: dim | dims ',' dim;

dim:
  affine ':' int                   { context.subscripts().add_dim($1, $3, nullptr); }
| affine ':' int ':' int           { context.subscripts().add_dim($1, $3, &$5); }
;

affine:
  term                             { context.subscripts().add_term(1); }
| affine '+' term                  { context.subscripts().add_term(1); $$.end = $3.end; }
| affine '-' term                  { context.subscripts().add_term(-1); $$.end = $3.end; }
;

term:
  int                              { context.subscripts().constant_term($1); }
| VALUE                            { context.loop_term($1, nullptr); }
| VALUE '*' int                    { context.loop_term($1, &$3); $$.end = $3.end; }
| int '*' VALUE                    { context.loop_term($3, &$1); $$.end = $3.end; }
;

loop:
  loop_header items '}'            { context.end_block(); }
| for error RESYNC                 { context.abandon_statement(); yyerrok; }
| for VALUE error RESYNC           { context.abandon_statement(); yyerrok; }
;

loop_header:
  for VALUE IN int DOTDOT int '{'
    { if (!context.begin_loop($1, $2, $4, $6, nullptr, $7)) YYABORT; }
| for VALUE IN int DOTDOT int STEP int '{'
    { if (!context.begin_loop($1, $2, $4, $6, &$8, $9)) YYABORT; }
| for error RESYNC_BODY
    { if (!context.begin_failed_loop($1, nullptr, $3)) YYABORT; yyerrok; }
| for VALUE error RESYNC_BODY
    { if (!context.begin_failed_loop($1, &$2, $4)) YYABORT; yyerrok; }
;

for: FOR                           { context.tokens().expect_body(); };

type: TYPE | spelled_type;

spelled_type:
  word '[' ']'                     { $$ = context.type($1, $3); }
| word '[' ints ']'                { $$ = context.type($1, $4); }
;

ints:
  int                              { context.add_int($1); }
| ints ',' int                     { context.add_int($3); }
;

int:
  INT                              { $$ = context.integer($1); }
| '-' INT                          { $$ = context.integer(context.negated($1, $2)); }
;

number:
  unsigned_number
| '-' unsigned_number              { $$ = context.negated($1, $2); }
;

unsigned_number: INT | FLOAT | INF | NAN;

attrs:
  open_attrs attr_list '}'         { context.attributes().close($3); }
;

open_attrs: '{'                    { context.attributes().open(); };
attr_list: attr | attr_list ',' attr;

attr:
  word                             { context.attribute($1, false); }
| word '=' attr_value              { context.attribute($1, true); }
;

attr_value:
  number                           { context.attributes().push_number($1); }
| STRING                           { context.attributes().push_string($1); }
| TRUE                             { context.attributes().push_bool($1, true); }
| FALSE                            { context.attributes().push_bool($1, false); }
| word                             { context.attributes().push_word($1); }
| open_list ']'                    { context.attributes().close_list($2); }
| open_list list_items ']'         { context.attributes().close_list($3); }
;

open_list: '['  { if (!context.attributes().open_list($1)) NIR_RECOVER_FROM($1.end); };
list_items: attr_value | list_items ',' attr_value;

word: WORD | OP_PLAIN | OP_ACTIVATION | OP_SCALAR | OP_ALU | OP_NUMBER;

%%

static int yyreport_syntax_error(const yypcontext_t *parser,
                                     nir::lang::ParseContext &context) {
  nir::lang::ExpectedSymbols expected;
  yysymbol_kind_t symbols[YYNTOKENS];
  const int count = yypcontext_expected_tokens(parser, symbols, YYNTOKENS);
  for (int i = 0; i < count; ++i) expected.add(yysymbol_name(symbols[i]));
  const bool at_end = yypcontext_token(parser) == YYSYMBOL_YYEOF;
  context.tokens().report_unexpected(at_end, expected);
  return 0;
}
