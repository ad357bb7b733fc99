# cmake -DCHECK=<CheckLayers.cmake> -DWORK_DIR=<folder> -P RunLayersTest.cmake
cmake_minimum_required(VERSION 3.21)

set(good_rooms "# comment\nir/low | | below\nir/high | ir/low | above\n")
set(good_low "#include <vector>\n#include \"ir/low/b.h\"\n")
set(good_high "\n#include \"ir/low/a.h\"\n")

# Makes a tree and runs the check on it: it must succeed where `expected` is empty, else fail with a
# message that has the text.
function(try name expected rooms low high)
  set(root "${WORK_DIR}/${name}")
  file(REMOVE_RECURSE "${root}")
  file(WRITE "${root}/cmake/rooms.txt" "${rooms}")
  file(WRITE "${root}/ir/low/a.h" "${low}")
  file(WRITE "${root}/ir/high/a.cpp" "${high}")
  foreach(file IN LISTS ARGN)
    file(WRITE "${root}/${file}" "")
  endforeach()
  execute_process(COMMAND "${CMAKE_COMMAND}" -DROOT=${root} -P "${CHECK}"
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(expected STREQUAL "")
    if(NOT status EQUAL 0)
      message(SEND_ERROR "${name}: refused: ${output}")
    endif()
    return()
  endif()
  string(REGEX REPLACE "[ \n]+" " " output "${output}") # CMake breaks lines where it likes
  string(FIND "${output}" "${expected}" at)
  if(status EQUAL 0 OR at EQUAL -1)
    message(SEND_ERROR "${name}: expected '${expected}', status ${status}: ${output}")
  endif()
endfunction()

try(good "" "${good_rooms}" "${good_low}" "${good_high}")
try(upward "ir/low/a.h:2: error: ir/low must not include ir/high (ir/high/b.h): by cmake/rooms.txt it may include no other room"
  "${good_rooms}" "#pragma once\n#include \"ir/high/b.h\"\n" "${good_high}")
try(undeclared "ir/high/a.cpp:2: error: ir/high must not include ir/low (ir/low/a.h)"
  "ir/low | | below\nir/high | | above\n" "${good_low}" "${good_high}")
try(unneeded "cmake/rooms.txt: error: ir/high includes nothing of ir/low"
  "${good_rooms}" "${good_low}" "")
try(no_room "ir/loose.h:1: error: stands in no room of cmake/rooms.txt"
  "${good_rooms}" "${good_low}" "${good_high}" ir/loose.h)
try(wrong_order "ir/low uses ir/high, which does not stand above it"
  "ir/low | ir/high | below\nir/high | | above\n" "${good_low}" "${good_high}")
try(bad_row "no row 'room | rooms that it may include | what it is for'"
  "ir/low below\n" "${good_low}" "${good_high}")
