# Our own code compiles without a warning under clang 19, which every preset uses, and a new one is an error.
add_library(heddle_warnings INTERFACE)
target_compile_options(heddle_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual
  -Werror)

if(HEDDLE_SANITIZE)
  add_compile_options(-fsanitize=${HEDDLE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${HEDDLE_SANITIZE})
endif()
