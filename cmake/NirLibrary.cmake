# nir_library(NAME [SOURCES file...] [INTERNAL])
#
# Adds the static library nir_NAME (alias nir::NAME) from SOURCES, with the source root as include
# directory. Unless INTERNAL it is installed with its folder's headers and exported as nir::NAME.
function(nir_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "INTERNAL" "" "SOURCES")
  set(target nir_${name})
  add_library(${target} STATIC ${arg_SOURCES})
  add_library(nir::${name} ALIAS ${target})
  nir_warnings(${target})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/nir>)
  if(arg_INTERNAL)
    return()
  endif()

  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  install(TARGETS ${target} EXPORT nirTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/nir/${name}
    FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
  set_property(GLOBAL PROPERTY NIR_HAS_EXPORTS TRUE)
endfunction()
