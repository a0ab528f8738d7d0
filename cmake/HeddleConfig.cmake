# find_package(Heddle): checks programs while they run.
#
#   Heddle::instrument   linked to a target, that target is compiled and linked as heddle-clang++ would (clang 19)
#   Heddle::headers      heddle/heddle.h alone, for targets that only say what should be atomic
#   HEDDLE_EXECUTABLE    the tool: add_test(NAME t COMMAND "${HEDDLE_EXECUTABLE}" run -- $<TARGET_FILE:t>)
#   HEDDLE_SPEC          cache variable: the spec file for all that uses Heddle::instrument; empty: none
get_filename_component(_heddle_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." REALPATH)
set(_heddle_lib "${_heddle_prefix}/lib")
set(HEDDLE_EXECUTABLE "${_heddle_prefix}/bin/heddle")
set(HEDDLE_SPEC "" CACHE FILEPATH "Which functions should be atomic or deterministic, for Heddle::instrument")

if(NOT TARGET Heddle::headers)
  add_library(Heddle::headers INTERFACE IMPORTED)
  set_target_properties(Heddle::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_heddle_prefix}/include")
endif()

# The plug-in fits one version of one compiler. A project built by the wrappers has it all already.
set(_heddle_wrapped YES)
get_property(_heddle_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
foreach(_heddle_language IN LISTS _heddle_languages)
  if(_heddle_language MATCHES "^(C|CXX)$")
    if(NOT CMAKE_${_heddle_language}_COMPILER MATCHES "/heddle-clang[^/]*$")
      set(_heddle_wrapped NO)
    endif()
    if(NOT CMAKE_${_heddle_language}_COMPILER_ID STREQUAL "Clang" OR
       NOT CMAKE_${_heddle_language}_COMPILER_VERSION MATCHES "^19\\.")
      set(_heddle_wrong "Heddle::instrument needs clang 19, and this project's ${_heddle_language} compiler is \
${CMAKE_${_heddle_language}_COMPILER} (${CMAKE_${_heddle_language}_COMPILER_ID} \
${CMAKE_${_heddle_language}_COMPILER_VERSION}). Configure a new build directory with CC=clang-19 CXX=clang++-19.")
    endif()
  endif()
endforeach()

if(_heddle_wrong)
  # Whoever wants only the header is not disturbed: COMPONENTS headers.
  if(NOT Heddle_FIND_COMPONENTS STREQUAL "headers")
    set(Heddle_FOUND FALSE)
    set(Heddle_NOT_FOUND_MESSAGE "${_heddle_wrong}")
  endif()
elseif(NOT TARGET Heddle::instrument)
  add_library(Heddle::instrument INTERFACE IMPORTED)
  set_target_properties(Heddle::instrument PROPERTIES INTERFACE_LINK_LIBRARIES Heddle::headers)
  if(NOT _heddle_wrapped)
    set(_heddle_compile -D__HEDDLE__=1 -g -fstandalone-debug
      "SHELL:-Xclang -load -Xclang ${_heddle_lib}/heddle_pass.so" "-fpass-plugin=${_heddle_lib}/heddle_pass.so")
    if(HEDDLE_SPEC)
      get_filename_component(_heddle_spec "${HEDDLE_SPEC}" ABSOLUTE BASE_DIR "${CMAKE_SOURCE_DIR}")
      list(APPEND _heddle_compile "SHELL:-Xclang -mllvm -Xclang -heddle-spec=${_heddle_spec}"
        "SHELL:-Xclang -fdepfile-entry=${_heddle_spec}")
    endif()
    set_target_properties(Heddle::instrument PROPERTIES
      INTERFACE_COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:C,CXX>:${_heddle_compile}>"
      INTERFACE_LINK_OPTIONS
        "SHELL:-L${_heddle_lib} -Wl,-rpath,${_heddle_lib} -Wl,--push-state,--no-as-needed -lheddle_runtime -Wl,--pop-state")
  endif()
endif()
foreach(_heddle_name IN ITEMS prefix lib languages language wrapped wrong compile spec name)
  unset(_heddle_${_heddle_name})
endforeach()
