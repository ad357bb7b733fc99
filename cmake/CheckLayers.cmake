# cmake -DROOT=<source root> -P CheckLayers.cmake
# Fails when a folder includes a header of a folder that it must not know.
cmake_minimum_required(VERSION 3.21)

set(layers ir lang passes bench driver)
set(knows_ir ir)
set(knows_lang lang ir)
set(knows_passes passes ir)
set(knows_bench bench passes lang ir)
set(knows_driver driver bench passes lang ir)

set(errors "")
foreach(layer IN LISTS layers)
  file(GLOB_RECURSE files "${ROOT}/${layer}/*.h" "${ROOT}/${layer}/*.cpp" "${ROOT}/${layer}/*.def"
    "${ROOT}/${layer}/*.re" "${ROOT}/${layer}/*.y")
  foreach(file IN LISTS files)
    file(STRINGS "${file}" includes REGEX "^[ \t]*#[ \t]*include[ \t]*\"[a-z]+/")
    foreach(line IN LISTS includes)
      string(REGEX REPLACE "^[^\"]*\"([a-z]+)/.*" "\\1" other "${line}")
      if(other IN_LIST layers AND NOT other IN_LIST knows_${layer})
        string(APPEND errors "${file}: ${layer} must not know ${other}: ${line}\n")
      endif()
    endforeach()
  endforeach()
endforeach()
if(errors)
  message(FATAL_ERROR "${errors}")
endif()
