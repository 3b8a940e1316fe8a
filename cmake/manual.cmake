# SPDX-License-Identifier: MIT

# Completion scripts, which the program prints itself, and man pages, which help2man makes of
# --help. A program for another machine cannot be asked.
if(CMAKE_CROSSCOMPILING)
  return()
endif()

set(manual_dir "${CMAKE_BINARY_DIR}/manual")
file(MAKE_DIRECTORY "${manual_dir}")
set(manual_files)

foreach(pair bash:sheaf zsh:_sheaf fish:sheaf.fish)
  string(REPLACE ":" ";" pair "${pair}")
  list(GET pair 0 shell)
  list(GET pair 1 name)
  set(output "${manual_dir}/${shell}/${name}")
  file(MAKE_DIRECTORY "${manual_dir}/${shell}")
  add_custom_command(OUTPUT "${output}"
    COMMAND sheaf_cli completion ${shell} > "${output}"
    DEPENDS sheaf_cli VERBATIM)
  list(APPEND manual_files "${output}")
endforeach()

find_program(HELP2MAN help2man)
mark_as_advanced(HELP2MAN)
if(HELP2MAN)
  foreach(command "" gather gather_elements gather_nd scatter scatter_elements scatter_nd bag inspect
          head convert run explain check bench demo port doctor)
    set(name sheaf)
    if(command)
      set(name sheaf-${command})
    endif()
    set(output "${manual_dir}/${name}.1")
    add_custom_command(OUTPUT "${output}"
      COMMAND "${HELP2MAN}" --no-info --no-discard-stderr "--help-option=${command} --help"
        "--version-string=${name} ${PROJECT_VERSION}" "--name=gathers and scatters on tensors in files"
        --output "${output}" "$<TARGET_FILE:sheaf_cli>"
      DEPENDS sheaf_cli VERBATIM)
    list(APPEND manual_files "${output}")
  endforeach()
else()
  message(STATUS "man pages left out: no help2man")
endif()
add_custom_target(sheaf_manual ALL DEPENDS ${manual_files})

if(SHEAF_INSTALL)
  include(GNUInstallDirs)
  install(FILES "${manual_dir}/bash/sheaf"
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES "${manual_dir}/zsh/_sheaf" DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES "${manual_dir}/fish/sheaf.fish"
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  if(HELP2MAN)
    install(DIRECTORY "${manual_dir}/" DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
      FILES_MATCHING PATTERN "*.1" PATTERN bash EXCLUDE PATTERN zsh EXCLUDE PATTERN fish EXCLUDE)
  endif()
endif()
