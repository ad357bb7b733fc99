# Lexers by re2c and parsers by Bison. What they make stands in NIR_GENERATED_DIR under the path of
# its source, and sources include it by that path.

set(NIR_GENERATED_DIR "${PROJECT_BINARY_DIR}/generated")

function(nir_find_generator variable program package)
  find_program(${variable} ${program})
  mark_as_advanced(${variable})
  if(NOT ${variable})
    message(FATAL_ERROR "${program} not found: install Debian's package `${package}`, "
                        "or run `./dev build`, which does it")
  endif()
endfunction()

# Narrowing in tables and reused names in nested blocks are the generators' own.
function(nir_generated source)
  set_source_files_properties("${source}" PROPERTIES
    COMPILE_OPTIONS "-Wno-conversion;-Wno-shadow;-Wno-implicit-fallthrough")
  cmake_path(GET source PARENT_PATH folder)
  file(MAKE_DIRECTORY "${folder}")
endfunction()

# nir_re2c(OUT_VARIABLE file.re): sets OUT_VARIABLE to the lexer made of it, x.re to x.cpp. `file` is
# relative to the source root, as everywhere here.
function(nir_re2c out_variable file)
  nir_find_generator(NIR_RE2C re2c re2c)
  cmake_path(REPLACE_EXTENSION file LAST_ONLY cpp OUTPUT_VARIABLE made)
  set(source "${NIR_GENERATED_DIR}/${made}")
  nir_generated("${source}")
  add_custom_command(OUTPUT "${source}"
    COMMAND "${NIR_RE2C}" -W -Werror -o "${source}" "${PROJECT_SOURCE_DIR}/${file}"
    DEPENDS "${PROJECT_SOURCE_DIR}/${file}" COMMENT "re2c ${file}" VERBATIM)
  set(${out_variable} "${source}" PARENT_SCOPE)
endfunction()

# nir_bison(OUT_VARIABLE file.y HEADER header.h): sets OUT_VARIABLE to the parser made of it, x.y to
# x.cpp, and to `header` with its kinds of tokens.
function(nir_bison out_variable file)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "HEADER" "")
  nir_find_generator(NIR_BISON bison bison)
  cmake_path(REPLACE_EXTENSION file LAST_ONLY cpp OUTPUT_VARIABLE made)
  set(source "${NIR_GENERATED_DIR}/${made}")
  set(header "${NIR_GENERATED_DIR}/${arg_HEADER}")
  # A file written by hand would hide the generated one from `#include`.
  if(EXISTS "${PROJECT_SOURCE_DIR}/${arg_HEADER}")
    message(FATAL_ERROR "${file} generates ${arg_HEADER}, and a file of that name is in the sources")
  endif()
  nir_generated("${source}")
  nir_generated("${header}")
  add_custom_command(OUTPUT "${source}" "${header}"
    COMMAND "${NIR_BISON}" -Wall -Werror --header=${header} -o "${source}" "${PROJECT_SOURCE_DIR}/${file}"
    DEPENDS "${PROJECT_SOURCE_DIR}/${file}" COMMENT "bison ${file}" VERBATIM)
  set(${out_variable} "${header}" "${source}" PARENT_SCOPE)
endfunction()
