// SPDX-License-Identifier: MIT
//
// The annotations of pointers in Windows programs, defined away. Where another header has defined
// them, they are left alone.
#pragma once

#if !defined(_In_) && !defined(_In_reads_)
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wreserved-macro-identifier"
#endif
#define _In_
#define _In_opt_
#define _In_z_
#define _In_opt_z_
#define _Inout_
#define _Inout_opt_
#define _Out_
#define _Out_opt_
#define _Outptr_
#define _Outptr_opt_
#define _Outptr_result_maybenull_
#define _COM_Outptr_
#define _COM_Outptr_opt_
#define _COM_Outptr_result_maybenull_
#define _Maybenull_
#define _Notnull_
#define _Null_terminated_
#define _Check_return_
#define _Must_inspect_result_
#define _Ret_maybenull_
#define _Ret_notnull_
#define _Use_decl_annotations_
#define _In_reads_(...)
#define _In_reads_opt_(...)
#define _In_reads_bytes_(...)
#define _In_reads_bytes_opt_(...)
#define _In_range_(...)
#define _Inout_updates_(...)
#define _Inout_updates_bytes_(...)
#define _Out_writes_(...)
#define _Out_writes_opt_(...)
#define _Out_writes_bytes_(...)
#define _Out_writes_bytes_opt_(...)
#define _Out_writes_all_(...)
#define _Out_writes_to_(...)
#define _Field_size_(...)
#define _Field_size_opt_(...)
#define _Field_size_bytes_(...)
#define _Field_size_bytes_opt_(...)
#define _Inexpressible_(...)
#define _Success_(...)
#define _When_(...)
#define _Always_(...)
#define __analysis_assume(...)
#ifdef __clang__
#pragma clang diagnostic pop
#endif
#endif
