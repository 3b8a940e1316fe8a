// SPDX-License-Identifier: MIT
//
// Stands in for Microsoft's DirectML.h: the same names, values, layouts and virtual tables. All
// operators are declared; those that move data can be created. Programs that use it link to
// libdirectml and libd3d12, and so do programs that bring Microsoft's header. C++17.
// docs/directml.md is the porting guide.
#pragma once

#ifndef DIRECTML_H
#define DIRECTML_H

// Which DirectML.h this is, for code that asks.
#ifndef DML_TARGET_VERSION
#define DML_TARGET_VERSION 0x6400
#endif

#include "sheaf_dml_elementwise.h"
#include "sheaf_dml_interfaces.h"
#include "sheaf_dml_layers.h"
// after the interfaces
#include "sheaf_dml_iids.h"

#endif  // DIRECTML_H
