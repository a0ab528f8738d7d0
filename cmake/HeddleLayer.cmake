# One CMake target per layer of src/, and a layer sees only the headers of the layers it names.
#
# `#include "trace/event.h"` is found through a directory of the build tree that holds nothing but a link named
# `trace`. A target gets that directory only by naming the layer in SEES, so an include that goes against the
# arrows of ARCHITECTURE.md does not compile.
#
#   heddle_layer(NAME SOURCES file.cpp… [SEES layer…] [NEEDS library…])
function(heddle_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;SEES;NEEDS")
  set(view "${CMAKE_BINARY_DIR}/layers/${name}")
  file(MAKE_DIRECTORY "${view}")
  file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}" "${view}/${name}" SYMBOLIC)
  add_library(heddle_${name} STATIC ${arg_SOURCES})
  target_include_directories(heddle_${name} PUBLIC "${view}")
  foreach(layer IN LISTS arg_SEES)
    target_link_libraries(heddle_${name} PUBLIC heddle_${layer})
  endforeach()
  target_link_libraries(heddle_${name} PUBLIC ${arg_NEEDS} PRIVATE heddle_warnings)
endfunction()
