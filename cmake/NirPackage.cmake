# The package config: another project writes find_package(nir) and links nir::ir, nir::lang,
# nir::passes. Included last, when every library exists.

include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/nir")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/nirConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/nirConfig.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/nirConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/nirConfig.cmake" "${PROJECT_BINARY_DIR}/nirConfigVersion.cmake"
  DESTINATION "${package_dir}")
install(EXPORT nirTargets NAMESPACE nir:: DESTINATION "${package_dir}")
