# SPDX-License-Identifier: MIT
# The table of names that other libraries have for the operators, as C++: the page, the command line
# and Python read the same file.

# sheaf_json_field(<variable> <json> <usual> <path>...): a field, or what is usual where there is none.
function(sheaf_json_field variable json usual)
  string(JSON value ERROR_VARIABLE missing GET "${json}" ${ARGN})
  if(missing)
    set(value "${usual}")
  endif()
  set(${variable} "${value}" PARENT_SCOPE)
endfunction()

# sheaf_json_words(<variable> <json> <field>): a list as "a b", an object as "key=value key=value".
function(sheaf_json_words variable json field)
  set(words "")
  string(JSON kind ERROR_VARIABLE missing TYPE "${json}" ${field})
  if(NOT missing)
    string(JSON count LENGTH "${json}" ${field})
    math(EXPR last "${count} - 1")
    foreach(i RANGE ${last})
      if(count EQUAL 0)
        break()
      endif()
      if(kind STREQUAL "OBJECT")
        string(JSON key MEMBER "${json}" ${field} ${i})
        string(JSON word GET "${json}" ${field} ${key})
        set(word "${key}=${word}")
      else()
        string(JSON word GET "${json}" ${field} ${i})
      endif()
      string(APPEND words "${word} ")
    endforeach()
    string(STRIP "${words}" words)
  endif()
  set(${variable} "${words}" PARENT_SCOPE)
endfunction()

# sheaf_name_row(<variable> <json of a name> <dialect>): a row of kNames.
function(sheaf_name_row variable name dialect)
  set(row "")
  foreach(field id slug op call)
    sheaf_json_field(value "${name}" "" ${field})
    string(APPEND row "R\"~(${value})~\", ")
  endforeach()
  string(APPEND row "R\"~(${dialect})~\", ")
  foreach(at 0 1)
    sheaf_json_field(value "${name}" "" rule ${at})
    string(APPEND row "\"${value}\", ")
  endforeach()
  foreach(field takes may fixed words)
    sheaf_json_words(value "${name}" ${field})
    string(APPEND row "R\"~(${value})~\", ")
  endforeach()
  sheaf_json_field(needs "${name}" "{}" needs)
  sheaf_json_words(value "${needs}" index_types)
  sheaf_json_field(off_axis "${needs}" "" off_axis)
  string(APPEND row "\"${value}\", \"${off_axis}\"")
  foreach(field index_rank data_rank)
    sheaf_json_field(least "${needs}" -1 ${field} 0)
    sheaf_json_field(most "${needs}" -1 ${field} 1)
    string(APPEND row ", ${least}, ${most}")
  endforeach()
  foreach(field unsigned_axis scalar_is_vector)
    sheaf_json_field(value "${needs}" OFF ${field})
    if(value)
      string(APPEND row ", true")
    else()
      string(APPEND row ", false")
    endif()
  endforeach()
  set(${variable} "    {${row}},\n" PARENT_SCOPE)
endfunction()

# sheaf_names_table(<file of names> <C++ file>): writes names() and sentences().
function(sheaf_names_table from to)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${from}")
  file(READ "${from}" json)
  set(rows "")
  set(count 0)
  string(JSON dialects LENGTH "${json}" dialects)
  math(EXPR last_dialect "${dialects} - 1")
  foreach(d RANGE ${last_dialect})
    string(JSON dialect GET "${json}" dialects ${d} name)
    string(JSON list GET "${json}" dialects ${d} names)
    string(JSON names LENGTH "${list}")
    math(EXPR last_name "${names} - 1")
    foreach(n RANGE ${last_name})
      string(JSON name GET "${list}" ${n})
      sheaf_name_row(row "${name}" "${dialect}")
      string(APPEND rows "${row}")
      math(EXPR count "${count} + 1")
    endforeach()
  endforeach()
  set(sentences "")
  string(JSON texts LENGTH "${json}" says)
  math(EXPR last_text "${texts} - 1")
  foreach(t RANGE ${last_text})
    string(JSON key MEMBER "${json}" says ${t})
    string(JSON text GET "${json}" says ${key})
    string(APPEND sentences "    {\"${key}\", R\"~(${text})~\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT "${to}" CONTENT "// Written by CMake from web/model/names.json.
#include \"pictures/names.h\"

namespace sheaf::pictures {
namespace {

constexpr Name kNames[] = {
@rows@};
constexpr Sentence kSentences[] = {
@sentences@};

}  // namespace

std::span<const Name> names() { return kNames; }
std::span<const Sentence> sentences() { return kSentences; }

}  // namespace sheaf::pictures
" @ONLY)
endfunction()
