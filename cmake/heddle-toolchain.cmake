# Builds a whole project with Heddle's checks: cmake -DCMAKE_TOOLCHAIN_FILE=…/lib/cmake/Heddle/heddle-toolchain.cmake
get_filename_component(_heddle_bin "${CMAKE_CURRENT_LIST_DIR}/../../../bin" REALPATH)
set(CMAKE_C_COMPILER "${_heddle_bin}/heddle-clang")
set(CMAKE_CXX_COMPILER "${_heddle_bin}/heddle-clang++")
unset(_heddle_bin)
