# `ninja docs` writes the reference of every dialect and pass into build/docs/, from the same TableGen files that the compiler is built from.
add_custom_target(docs)
set(docsDir ${PROJECT_BINARY_DIR}/docs)

# stator_reference(<page> <.td> <mlir-tblgen action>...)
function(stator_reference page td)
  file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${td})
  add_custom_command(OUTPUT ${docsDir}/${page}.md
    COMMAND ${CMAKE_COMMAND} -E make_directory ${docsDir}
    COMMAND ${MLIR_TABLEGEN_EXE} ${ARGN} -I${PROJECT_SOURCE_DIR} -I${MLIR_INCLUDE_DIRS} ${td} -o ${docsDir}/${page}.md
    DEPENDS ${td} COMMENT "Reference of ${name}")
  add_custom_target(docs_${page} DEPENDS ${docsDir}/${page}.md)
  add_dependencies(docs docs_${page})
endfunction()

file(GLOB passFiles CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/passes/*/Passes.td)
foreach(td IN LISTS passFiles)
  get_filename_component(folder ${td} DIRECTORY)
  get_filename_component(stage ${folder} NAME)
  stator_reference(passes-${stage} ${td} -gen-pass-doc)
endforeach()
foreach(dialect Graph Plan)
  set(td ${PROJECT_SOURCE_DIR}/dialects/${dialect}/${dialect}Ops.td)
  if(EXISTS ${td})
    string(TOLOWER ${dialect} lower)
    stator_reference(dialect-${lower} ${td} -gen-dialect-doc -dialect=${lower})
  endif()
endforeach()
