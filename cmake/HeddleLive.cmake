# What checks running programs: the plug-in, the runtime and the compiler wrappers, side by side as users find them
# (bin/heddle-clang++ looks for ../lib and ../include).
include(ExternalProject)

add_subdirectory("${CMAKE_SOURCE_DIR}/pass" "${CMAKE_BINARY_DIR}/pass")

ExternalProject_Add(heddle_runtime
  SOURCE_DIR "${CMAKE_SOURCE_DIR}/runtime"
  BINARY_DIR "${CMAKE_BINARY_DIR}/runtime"
  CMAKE_ARGS -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_ASM_COMPILER=clang-19 -DCMAKE_BUILD_TYPE=None
    "-DCMAKE_LIBRARY_OUTPUT_DIRECTORY=${CMAKE_BINARY_DIR}/lib"
  BUILD_ALWAYS ON
  INSTALL_COMMAND "")

file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
configure_file("${CMAKE_SOURCE_DIR}/tools/heddle-clang++" "${CMAKE_BINARY_DIR}/bin/heddle-clang++" COPYONLY)
foreach(header IN ITEMS heddle.h parallel.h parallel_work.h thread_safety.h)
  configure_file("${CMAKE_SOURCE_DIR}/include/heddle/${header}" "${CMAKE_BINARY_DIR}/include/heddle/${header}" COPYONLY)
endforeach()
file(CREATE_LINK heddle-clang++ "${CMAKE_BINARY_DIR}/bin/heddle-clang" SYMBOLIC)
