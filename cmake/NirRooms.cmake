# The rooms of the source tree (cmake/rooms.txt) as targets.
#
# A room is an object library nir_<room with _ for />, linked to those of the rooms that it uses. A
# library (nir::ir, nir::lang, …) is a static library of its rooms' objects, and what other targets
# and the installed package link. nir_links tries for each room whether it links with nothing but
# what it may use.

set(NIR_ROOMS_FILE "${PROJECT_SOURCE_DIR}/cmake/rooms.txt")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${NIR_ROOMS_FILE}")
include(NirRoomTable)
nir_read_rooms("${NIR_ROOMS_FILE}")

# What every room waits for: the includes are right. Else the build says which rule is broken.
file(GLOB_RECURSE sources CONFIGURE_DEPENDS "ir/*" "lang/*" "passes/*" "bench/*" "driver/*")
list(FILTER sources INCLUDE REGEX "\\.(h|cpp|def|re|y)$")
set(stamp "${PROJECT_BINARY_DIR}/layers.stamp")
add_custom_command(OUTPUT "${stamp}"
  COMMAND "${CMAKE_COMMAND}" -DROOT=${PROJECT_SOURCE_DIR} -P "${PROJECT_SOURCE_DIR}/cmake/CheckLayers.cmake"
  COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
  DEPENDS ${sources} "${NIR_ROOMS_FILE}" "${PROJECT_SOURCE_DIR}/cmake/CheckLayers.cmake"
  COMMENT "includes against cmake/rooms.txt" VERBATIM)
add_custom_target(nir_layers DEPENDS "${stamp}")

function(nir_room_target out room)
  string(REPLACE "/" "_" name "${room}")
  set(${out} "nir_${name}" PARENT_SCOPE)
endfunction()

# nir_room(ROOM [GENERATED source...]): the object library of one room.
function(nir_room room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "GENERATED")
  nir_room_target(target "${room}")
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${room}/*.cpp")
  add_library(${target} OBJECT ${sources} ${arg_GENERATED})
  nir_warnings(${target})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${target} PUBLIC fmt::fmt tl::expected Threads::Threads)
  foreach(used IN LISTS NIR_USES_${room})
    nir_room_target(used_target "${used}")
    target_link_libraries(${target} PUBLIC ${used_target})
  endforeach()
  add_dependencies(${target} nir_layers)
endfunction()

# nir_library(NAME ROOMS room... [INTERNAL] [LIBRARIES library...] [HEADERS header...])
#
# Adds the static library nir_NAME (alias nir::NAME) of the rooms' objects, on top of the LIBRARIES
# of this project. Unless INTERNAL it is exported as nir::NAME and installed with HEADERS, which are
# files, or folders whose *.h and *.def are meant, relative to the source root; an installed header
# keeps its path below include/nir.
function(nir_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "INTERNAL" "" "ROOMS;LIBRARIES;HEADERS")
  set(target nir_${name})
  set(objects "")
  foreach(room IN LISTS arg_ROOMS)
    nir_room_target(room_target "${room}")
    list(APPEND objects $<TARGET_OBJECTS:${room_target}>)
  endforeach()
  add_library(${target} STATIC ${objects})
  add_library(nir::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX EXPORT_NAME ${name})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/nir>)
  target_link_libraries(${target} PUBLIC ${arg_LIBRARIES})
  if(arg_INTERNAL)
    return()
  endif()

  install(TARGETS ${target} EXPORT nirTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  foreach(header IN LISTS arg_HEADERS)
    if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/${header}")
      install(DIRECTORY "${PROJECT_SOURCE_DIR}/${header}/"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/nir/${header}"
        FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
    else()
      cmake_path(GET header PARENT_PATH folder)
      install(FILES "${PROJECT_SOURCE_DIR}/${header}"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/nir/${folder}")
    endif()
  endforeach()
endfunction()

# Target nir_links: links each room with its own objects and those of the rooms that it may use,
# directly or through them, and with nothing else. Not part of a build; the test `rooms_link` asks.
function(nir_add_link_checks)
  set(empty_main "${PROJECT_BINARY_DIR}/empty_main.cpp")
  file(CONFIGURE OUTPUT "${empty_main}" CONTENT "int main() {}\n")
  add_library(nir_empty_main OBJECT EXCLUDE_FROM_ALL "${empty_main}")
  set(checks "")
  foreach(room IN LISTS NIR_ROOMS)
    nir_room_target(target "${room}")
    if(NOT TARGET ${target})
      continue()
    endif()
    set(objects $<TARGET_OBJECTS:nir_empty_main>)
    foreach(used IN LISTS NIR_CLOSURE_${room} ITEMS ${room})
      nir_room_target(used_target "${used}")
      list(APPEND objects $<TARGET_OBJECTS:${used_target}>)
    endforeach()
    add_executable(${target}_links EXCLUDE_FROM_ALL ${objects})
    set_target_properties(${target}_links PROPERTIES
      LINKER_LANGUAGE CXX RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/links")
    target_link_libraries(${target}_links PRIVATE fmt::fmt tl::expected Threads::Threads)
    list(APPEND checks ${target}_links)
  endforeach()
  add_custom_target(nir_links DEPENDS ${checks})
endfunction()
