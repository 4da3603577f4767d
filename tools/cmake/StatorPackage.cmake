# What `cmake --install` puts where, and the package that makes `find_package(Stator)` work:
#   lib/libstator.so, the plug-in beside it, bin/ tools, include/stator/, lib/cmake/Stator/ with the target stator::stator.
include(CMakePackageConfigHelpers)
set(packageDir ${CMAKE_INSTALL_LIBDIR}/cmake/Stator)

foreach(folder serialization/Base/include runtime/include)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT runtime FILES_MATCHING PATTERN "*.h")
endforeach()
if(STATOR_BUILD_COMPILER)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/compiler/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT compiler FILES_MATCHING PATTERN "*.h")
endif()

# The exported target is written by hand: CMake's own export would also name the static libraries that went into libstator.so.
if(TARGET stator_shared)
  install(TARGETS stator_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/tools/cmake/StatorConfig.cmake.in ${PROJECT_BINARY_DIR}/StatorConfig.cmake
    INSTALL_DESTINATION ${packageDir} PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
  # Before 1.0 a minor version may change the interface.
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/StatorConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/StatorConfig.cmake ${PROJECT_BINARY_DIR}/StatorConfigVersion.cmake DESTINATION ${packageDir}
    COMPONENT runtime)
endif()
if(TARGET stator_onednn)
  install(TARGETS stator_onednn LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
endif()
