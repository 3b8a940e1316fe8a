// SPDX-License-Identifier: MIT
//
// What `sheaf port` says about operators against what CreateOperator does: every operator that
// DirectML has a number for.
#include "porting/rules.h"

#include "compat/machine.h"
#include "sheaf/directml_operators.h"

using namespace compat;

namespace {

struct NamedOperator {
  const char* name;
  int number;
};
#define SHEAF_NAMED_OPERATOR(name, number) {"DML_OPERATOR_" #name, number},
constexpr NamedOperator kAllOperators[] = {SHEAF_DML_OPERATORS(SHEAF_NAMED_OPERATOR)};
#undef SHEAF_NAMED_OPERATOR

TEST(Porting, KnowsEveryOperatorThatCanBeCreated) {
  const Messages quiet;
  Machine machine;
  int created = 0;
  for (const auto& [name, number] : kAllOperators) {
    // Without a descriptor nothing is created; the refusal says whether the operator is known.
    const DML_OPERATOR_DESC desc{static_cast<DML_OPERATOR_TYPE>(number), nullptr};
    void* none = nullptr;
    EXPECT_EQ(machine.dml->CreateOperator(&desc, __uuidof(IDMLOperator), &none), E_INVALIDARG);
    const bool known =
        std::string(SheafDmlLastErrorText()).find("no such operator") == std::string::npos;
    created += known ? 1 : 0;
    sheaf::cli::Ruling ruling{};
    ASSERT_TRUE(sheaf::cli::rule_on_word(name, ruling)) << name;
    const bool runs = ruling.fate == sheaf::cli::Fate::kRuns;
    EXPECT_EQ(runs, known || number == 0) << name;  // 0 is what programs compare with
  }
  EXPECT_GE(created, 20);
}

}  // namespace
