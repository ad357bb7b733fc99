# Lexers by re2c and parsers by Bison. lang/x.re becomes x.cpp, lang/x.y becomes x.cpp and x.h, in
# NIR_GENERATED_DIR/lang; sources write `#include "lang/x.h"`.

set(NIR_GENERATED_DIR "${PROJECT_BINARY_DIR}/generated")

# A hand-written file of the same name would hide the generated one from `#include "lang/x.h"`.
function(nir_check_no_clash input)
  foreach(output IN LISTS ARGN)
    if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${output}")
      message(FATAL_ERROR "${input} generates ${output}, and a file of that name stands beside it; "
                          "rename one of the two")
    endif()
  endforeach()
endfunction()

function(nir_find_generator variable program package)
  find_program(${variable} ${program})
  mark_as_advanced(${variable})
  if(NOT ${variable})
    message(FATAL_ERROR "${program} not found: install Debian's package `${package}`, "
                        "or run `./dev build`, which does it")
  endif()
endfunction()

# nir_generate(OUT_VARIABLE file.re|file.y ...): sets OUT_VARIABLE to the generated sources.
function(nir_generate out_variable)
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME folder)
  set(out_dir "${NIR_GENERATED_DIR}/${folder}")
  file(MAKE_DIRECTORY "${out_dir}")
  set(generated "")
  foreach(input IN LISTS ARGN)
    cmake_path(GET input STEM LAST_ONLY stem)
    cmake_path(GET input EXTENSION LAST_ONLY extension)
    set(source "${out_dir}/${stem}.cpp")
    set(header "${out_dir}/${stem}.h")
    if(extension STREQUAL ".re")
      nir_check_no_clash("${input}" "${stem}.cpp")
      nir_find_generator(NIR_RE2C re2c re2c)
      add_custom_command(OUTPUT "${source}"
        COMMAND "${NIR_RE2C}" -W -Werror -o "${source}" "${input}"
        DEPENDS "${input}" COMMENT "re2c ${folder}/${stem}.re" VERBATIM)
    else()
      nir_check_no_clash("${input}" "${stem}.cpp" "${stem}.h")
      nir_find_generator(NIR_BISON bison bison)
      add_custom_command(OUTPUT "${source}" "${header}"
        COMMAND "${NIR_BISON}" -Wall -Werror --header=${header} -o "${source}" "${input}"
        DEPENDS "${input}" COMMENT "bison ${folder}/${stem}.y" VERBATIM)
      list(APPEND generated "${header}")
    endif()
    # Narrowing in tables and reused names in nested blocks are the generators' own.
    set_source_files_properties("${source}" PROPERTIES
      COMPILE_OPTIONS "-Wno-conversion;-Wno-shadow;-Wno-implicit-fallthrough")
    list(APPEND generated "${source}")
  endforeach()
  set(${out_variable} "${generated}" PARENT_SCOPE)
endfunction()
