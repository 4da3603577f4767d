# Compiler, linker and cache settings shared by everything.

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

set(STATOR_SANITIZE "" CACHE STRING "Value for -fsanitize=, for instance address,undefined")
if(STATOR_SANITIZE)
  add_compile_options(-fsanitize=${STATOR_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=${STATOR_SANITIZE})
  # The vptr check needs type information of classes in libMLIR that the distribution does not export.
  if(STATOR_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize=vptr,function)
  endif()
endif()

# Counts which branches run, for libFuzzer; the fuzzers themselves link it (test/fuzz).
option(STATOR_FUZZ "Build the fuzzers as libFuzzer programs; needs Clang" OFF)
if(STATOR_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()

# ccache, told to accept precompiled headers: their defines are part of the command line anyway.
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
# Instantiating the header's templates once, in the precompiled header, takes a third off each file (3.0 s to 1.9 s for a typical pass).
set(CMAKE_PCH_INSTANTIATE_TEMPLATES ON)

# lld links these binaries in 0.3 s, bfd in 1.8 s. Debian installs it beside clang, outside the usual path.
include(CheckLinkerFlag)
if(NOT DEFINED STATOR_LINKER_FLAGS)
  check_linker_flag(CXX "-fuse-ld=lld" STATOR_HAS_LLD)
  if(STATOR_HAS_LLD)
    set(STATOR_LINKER_FLAGS -fuse-ld=lld CACHE INTERNAL "")
  else()
    check_linker_flag(CXX "-B/usr/lib/llvm-22/bin;-fuse-ld=lld" STATOR_HAS_LLD_22)
    if(STATOR_HAS_LLD_22)
      set(STATOR_LINKER_FLAGS -B/usr/lib/llvm-22/bin -fuse-ld=lld CACHE INTERNAL "")
    else()
      set(STATOR_LINKER_FLAGS "" CACHE INTERNAL "")
    endif()
  endif()
endif()
add_link_options(${STATOR_LINKER_FLAGS})

# stator_add_subdirectories(<folder>...): adds those that have a CMakeLists.txt, so that a partial tree configures.
function(stator_add_subdirectories)
  foreach(folder IN LISTS ARGN)
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/CMakeLists.txt)
      add_subdirectory(${folder})
    endif()
  endforeach()
endfunction()
