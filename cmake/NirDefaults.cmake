# What holds for every target: language, build type, compiler cache, sanitizers, warnings.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
# -O2 and not the -O3 of CMake: it builds faster.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

find_program(NIR_CCACHE ccache)
mark_as_advanced(NIR_CCACHE)
if(NIR_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${NIR_CCACHE}")
endif()

# A list; the package test builds a stranger's program with the same flags.
set(NIR_SANITIZE_FLAGS "")
if(NIR_SANITIZE)
  set(NIR_SANITIZE_FLAGS -fsanitize=${NIR_SANITIZE} -fno-sanitize-recover=all)
  add_compile_options(${NIR_SANITIZE_FLAGS} -fno-omit-frame-pointer)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
  add_link_options(${NIR_SANITIZE_FLAGS})
endif()

# libFuzzer sees what an input reaches only in what is compiled for it.
if(NIR_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()

# The warnings of a target of this project. -Wno-restrict: g++ 12 reports it falsely for
# `"literal" + std::string` (GCC bug 105651).
function(nir_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
    -Wimplicit-fallthrough $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
    $<$<BOOL:${NIR_WERROR}>:-Werror>)
endfunction()

# The allocator of a program: mimalloc, where it is installed. Sanitizers bring their own.
find_package(mimalloc CONFIG QUIET)
function(nir_use_allocator target)
  if(mimalloc_FOUND AND NOT NIR_SANITIZE)
    target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/driver/tools/tool_allocator.cpp")
    target_link_libraries(${target} PRIVATE mimalloc)
  endif()
endfunction()
