# How other projects find Heddle: installed, or in this build directory as it is. In both, bin/, lib/ and include/ lie
# side by side; the wrappers, the runtime and the files here find each other by that, so the libraries are in lib/
# everywhere and an installation can be moved.
include(CMakePackageConfigHelpers)

set(package "${CMAKE_BINARY_DIR}/lib/cmake/Heddle")
foreach(file IN ITEMS HeddleConfig.cmake heddle-toolchain.cmake)
  configure_file("${CMAKE_SOURCE_DIR}/cmake/${file}" "${package}/${file}" COPYONLY)
endforeach()
write_basic_package_version_file("${package}/HeddleConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
configure_file("${CMAKE_SOURCE_DIR}/cmake/heddle.pc.in" "${CMAKE_BINARY_DIR}/lib/pkgconfig/heddle.pc" @ONLY)

install(PROGRAMS "${CMAKE_BINARY_DIR}/bin/heddle-clang++" "${CMAKE_BINARY_DIR}/bin/heddle-clang" DESTINATION bin)
install(TARGETS heddle_pass LIBRARY DESTINATION lib)
install(PROGRAMS "${CMAKE_BINARY_DIR}/lib/libheddle_runtime.so" DESTINATION lib)
install(DIRECTORY "${CMAKE_BINARY_DIR}/include/heddle" DESTINATION include)
install(DIRECTORY "${package}" DESTINATION lib/cmake)
install(FILES "${CMAKE_BINARY_DIR}/lib/pkgconfig/heddle.pc" DESTINATION lib/pkgconfig)
