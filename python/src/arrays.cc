// SPDX-License-Identifier: MIT
#include "arrays.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "errors.h"
#include "support/text.h"

namespace sheaf::python {
namespace {

bool holds_indices(Role role) { return role == Role::kIndices || role == Role::kSegments; }

std::string text_of(nb::handle object) { return nb::str(object).c_str(); }

std::string text_of(PyArray_Descr* descr) {
  return text_of(nb::handle(reinterpret_cast<PyObject*>(descr)));
}

// Types that packages add to NumPy (ml_dtypes) have numbers of their own, given at run time.
DType added_dtype(PyArray_Descr* descr) {
  thread_local std::unordered_map<int, DType> known;
  const auto found = known.find(descr->type_num);
  if (found != known.end()) {
    return found->second;
  }
  const std::string name = text_of(descr);
  const DType type = name == "bfloat16"        ? bf16
                     : name == "float8_e4m3fn" ? f8e4m3
                     : name == "float8_e5m2"   ? f8e5m2
                     : name == "int4"          ? i4
                     : name == "uint4"         ? u4
                     : name == "int2"          ? i2
                     : name == "uint2"         ? u2
                                               : opaque(PyDataType_ELSIZE(descr));
  known.emplace(descr->type_num, type);
  return type;
}

DType sized_integer(bool is_signed, int64_t bytes) {
  switch (bytes) {
    case 1: return is_signed ? i8 : u8;
    case 2: return is_signed ? i16 : u16;
    case 4: return is_signed ? i32 : u32;
    default: return is_signed ? i64 : u64;
  }
}

// Strides in elements. False if one is not a whole number of them.
bool read_strides(PyArrayObject* array, TensorSpec& spec) {
  const npy_intp* strides = PyArray_STRIDES(array);
  const int64_t bytes = spec.dtype.bytes();
  bool whole = true;
  for (int d = 0; d < spec.rank(); ++d) {
    spec.strides.push_back(strides[d] / bytes);
    whole = whole && (strides[d] % bytes == 0 || spec.sizes[d] <= 1);
  }
  tidy_strides(spec);
  return whole || PyArray_SIZE(array) == 0;
}

// Sizes and strides. False if a stride is not a whole number of elements.
bool read_numpy_layout(PyArrayObject* array, TensorSpec& spec) {
  const npy_intp* sizes = PyArray_DIMS(array);
  spec.sizes.clear();
  spec.strides.clear();
  for (int d = 0; d < PyArray_NDIM(array); ++d) {
    spec.sizes.push_back(sizes[d]);
  }
  if (!PyArray_IS_C_CONTIGUOUS(array)) {
    return read_strides(array, spec);
  }
  for (int d = 0; d < spec.rank(); ++d) {  // the common case, without divisions
    spec.strides.push_back(1);
  }
  for (int d = spec.rank() - 2; d >= 0; --d) {
    spec.strides[d] = spec.strides[d + 1] * std::max<int64_t>(1, spec.sizes[d + 1]);
  }
  return true;
}

// The bytes of elements that are too large for the library, with a last dimension of their own.
void read_bytes_layout(PyArrayObject* array, TensorSpec& spec) {
  spec.dtype = u8;
  spec.sizes.clear();
  spec.strides.clear();
  for (int d = 0; d < PyArray_NDIM(array); ++d) {
    spec.sizes.push_back(PyArray_DIM(array, d));
    spec.strides.push_back(PyArray_STRIDE(array, d));
  }
  spec.sizes.push_back(PyArray_ITEMSIZE(array));
  spec.strides.push_back(1);
  tidy_strides(spec);
}

nb::object native_copy(PyArrayObject* array) {
  PyArray_Descr* const native = PyArray_DescrNewByteorder(PyArray_DESCR(array), NPY_NATIVE);
  nb::object copy = nb::steal(PyArray_CastToType(array, native, 0));  // takes the reference
  if (!copy.is_valid()) {
    throw nb::python_error();
  }
  return copy;
}

Snapshot snapshot_of(PyArrayObject* array) {
  Snapshot snapshot;
  snapshot.address = PyArray_DATA(array);
  snapshot.known = true;
  for (int d = 0; d < PyArray_NDIM(array); ++d) {
    snapshot.sizes.push_back(PyArray_DIM(array, d));
    snapshot.strides.push_back(PyArray_STRIDE(array, d));
  }
  return snapshot;
}

void view_numpy(View& view, nb::object object, const Argument& argument) {
  PyArrayObject* array = as_array(object.ptr());
  PyArray_Descr* const descr = PyArray_DESCR(array);
  if (holds_indices(argument.role)) {
    if (PyTypeNum_ISINTEGER(descr->type_num) && !PyArray_ISNBO(descr->byteorder)) {
      view_numpy(view, native_copy(array), argument);
      return;
    }
  } else if (PyDataType_ELSIZE(descr) > kMaxElementBytes && !PyDataType_REFCHK(descr)) {
    view.large_bytes = PyDataType_ELSIZE(descr);
  }
  if (view.large_bytes != 0) {
    read_bytes_layout(array, view.tensor.spec);
  } else {
    view.tensor.spec.dtype = dtype_from_numpy(descr, argument);
    view.whole_strides = read_numpy_layout(array, view.tensor.spec);
  }
  if (argument.role == Role::kOutput) {
    if (!PyArray_ISWRITEABLE(array)) {
      refuse_read_only(object, argument);
    }
  } else if (!view.whole_strides) {  // a field of a packed record: only a copy has element strides
    object = nb::steal(PyArray_NewCopy(array, NPY_CORDER));
    if (!object.is_valid()) {
      throw nb::python_error();
    }
    view_numpy(view, std::move(object), argument);
    return;
  }
  view.tensor.data = PyArray_DATA(array);
  view.dtype = nb::borrow(reinterpret_cast<PyObject*>(PyArray_DESCR(array)));
  view.as_read = snapshot_of(array);
  view.object = std::move(object);
}

bool numpy_changed(const View& view) {
  PyArrayObject* array = as_array(view.object.ptr());
  const Snapshot& before = view.as_read;
  const auto same = [&](const Dims& dims, const npy_intp* now) {
    return std::equal(dims.begin(), dims.end(), now);
  };
  return PyArray_DATA(array) != before.address || PyArray_NDIM(array) != before.sizes.size() ||
         PyArray_DESCR(array) != view.descr() || !same(before.sizes, PyArray_DIMS(array)) ||
         !same(before.strides, PyArray_STRIDES(array));
}

nb::object with_dtype_of(const Elements& like, nb::handle values) {
  const nb::object dtype = like.descr != nullptr
                               ? nb::borrow(reinterpret_cast<PyObject*>(like.descr))
                               : nb::object(nb::str(like.dtype.name().c_str()));
  return nb::module_::import_("sheaf._interop").attr("converted")(values, dtype);
}

// Lists, numbers, objects with the buffer protocol: whatever NumPy makes an array of.
void view_converted(View& view, nb::handle object, const Argument& argument) {
  // NumPy's own scalars have the buffer protocol but are numbers.
  const bool buffer =
      PyObject_CheckBuffer(object.ptr()) != 0 && PyArray_CheckScalar(object.ptr()) == 0;
  if (argument.role == Role::kOutput && !buffer) {
    raise_dtype(refusal_text(cat(argument.call, ": out is no array"),
                             cat("it is ", text_of(object.type())),
                             "an array, or an object with the buffer protocol"));
  }
  // A memoryview is bytes to NumPy, where bytes themselves would be a string.
  const nb::object source =
      buffer ? nb::steal(PyMemoryView_FromObject(object.ptr())) : nb::borrow(object);
  nb::object array;
  if (argument.like != nullptr && !buffer) {
    array = with_dtype_of(*argument.like, object);
  } else if (source.is_valid()) {
    array = nb::steal(PyArray_FromAny(source.ptr(), nullptr, 0, 0, 0, nullptr));
  }
  if (!array.is_valid()) {
    throw nb::python_error();
  }
  const bool nothing_in_it =
      PyArray_SIZE(as_array(array.ptr())) == 0 && PySequence_Check(object.ptr()) != 0;
  if (holds_indices(argument.role) && nothing_in_it) {  // NumPy calls [] float64
    array = nb::steal(PyArray_Cast(as_array(array.ptr()), NPY_INT64));
  }
  view_numpy(view, std::move(array), argument);
}

void refuse_masked(nb::handle object, const Argument& argument) {
  if (nb::isinstance(object, nb::module_::import_("numpy.ma").attr("MaskedArray"))) {
    raise_dtype(refusal_text(cat(argument.call, ": masked array"),
                             cat("the mask of ", to_string(argument.role), " would be lost"),
                             "two calls, for x.data and for x.mask"));
  }
}

nb::object raw_numpy_array(void* memory, int rank, const npy_intp* sizes,
                           const npy_intp* byte_strides, int64_t element_bytes) {
  nb::object array =
      nb::steal(PyArray_New(&PyArray_Type, rank, sizes, NPY_VOID, byte_strides, memory,
                            static_cast<int>(element_bytes), NPY_ARRAY_WRITEABLE, nullptr));
  if (!array.is_valid()) {
    throw nb::python_error();
  }
  return array;
}

}  // namespace

const char* to_string(Role role) {
  switch (role) {
    case Role::kData: return "data";
    case Role::kIndices: return "indices";
    case Role::kUpdates: return "updates";
    case Role::kOutput: return "out";
    case Role::kSegments: return "segments";
    case Role::kWeights: return "weights";
    case Role::kStored: return "stored";
    case Role::kScales: return "scales";
    case Role::kZeros: return "zeros";
  }
  return "";
}

void refuse_read_only(nb::handle object, const Argument& argument) {
  raise_argument(refusal_text(cat(argument.call, ": out is read-only"),
                              cat("this ", text_of(nb::getattr(object.type(), "__name__")),
                                  " does not let its memory be written to"),
                              "an out that does, or none: the result is returned"));
}

void refuse_large_elements(const View& view) {
  if (view.large_bytes != 0) {
    raise_argument(refusal_text("plan: elements are too large",
                                cat("an array has elements of ", view.large_bytes,
                                    " bytes, but a plan has at most ", kMaxElementBytes),
                                "the function that makes no plan, such as sheaf.gather"));
  }
}

bool same_meaning(const View& a, const View& b) {
  PyArray_Descr* of_a = a.descr();
  PyArray_Descr* of_b = b.descr();
  return of_a == nullptr || of_b == nullptr || of_a == of_b || PyArray_EquivTypes(of_a, of_b) != 0;
}

DType dtype_from_numpy(PyArray_Descr* descr, const Argument& argument) {
  if (PyDataType_REFCHK(descr) || descr->type_num < 0) {
    raise_dtype(refusal_text(cat(argument.call, ": unsupported dtype ", text_of(descr)),
                             cat(to_string(argument.role), " holds references, not plain bytes"),
                             "x.astype(dtype) with a dtype of fixed size"));
  }
  if (!PyArray_ISNBO(descr->byteorder)) {
    return opaque(PyDataType_ELSIZE(descr));
  }
  switch (descr->type_num) {
    case NPY_BOOL: return boolean;
    case NPY_HALF: return f16;
    case NPY_FLOAT: return f32;
    case NPY_DOUBLE: return f64;
    case NPY_CFLOAT: return c64;
    case NPY_CDOUBLE: return c128;
    case NPY_DATETIME:
    case NPY_TIMEDELTA: return i64;
    default: break;
  }
  if (PyTypeNum_ISINTEGER(descr->type_num)) {
    return sized_integer(PyTypeNum_ISSIGNED(descr->type_num), PyDataType_ELSIZE(descr));
  }
  if (descr->type_num >= NPY_USERDEF) {
    return added_dtype(descr);
  }
  return opaque(PyDataType_ELSIZE(descr));  // records, strings of fixed size, long double
}

void view_array(View& view, nb::handle object, const Argument& argument) {
  view.role = argument.role;
  try {
    if (PyArray_CheckExact(object.ptr())) {
      view_numpy(view, nb::borrow(object), argument);
    } else if (PyArray_Check(object.ptr())) {
      refuse_masked(object, argument);
      view_numpy(view, nb::borrow(object), argument);
    } else if (array_type_of(object).has_dlpack) {
      view_dlpack(view, object, argument);
    } else {
      view_converted(view, object, argument);
    }
  } catch (nb::python_error& error) {
    refuse_unreadable(error, argument);
  }
}

void refuse_unreadable(nb::python_error& error, const Argument& argument) {
  raise_as_refusal(
      error, cat(argument.call, ": ", to_string(argument.role), " cannot be read as an array"),
      "numbers, or an array of NumPy, PyTorch, JAX or another library with DLPack");
}

void refuse_if_changed(const View& view, std::string_view call) {
  if (!view.as_read.known) {
    return;
  }
  if (view.is_numpy() ? numpy_changed(view) : dlpack_changed(view)) {
    raise_argument(refusal_text(
        cat(call, ": ", to_string(view.role), " changed during the call"),
        "code that the call itself ran gave it other memory, another shape or another dtype",
        "arguments whose methods leave the other arguments alone"));
  }
}

void tidy_strides(TensorSpec& spec) {
  int64_t contiguous = 1;
  for (int d = spec.rank() - 1; d >= 0; --d) {
    if (spec.sizes[d] > 1) {
      if (__builtin_mul_overflow(contiguous, spec.sizes[d], &contiguous)) {
        return;  // only around an empty dimension, where no stride matters
      }
    } else {
      spec.strides[d] = contiguous;
    }
  }
}

void stretch(View& view, const Dims& sizes) {
  const TensorSpec& spec = view.tensor.spec;
  const int missing = sizes.size() - spec.rank();
  if (missing < 0) {
    return;
  }
  Dims strides(sizes.size(), 0);
  for (int d = missing; d < sizes.size(); ++d) {
    const int64_t size = spec.sizes[d - missing];
    if (size != sizes[d] && size != 1) {
      return;
    }
    strides[d] = size == 1 ? 0 : spec.strides[d - missing];
  }
  view.tensor.spec = TensorSpec(spec.dtype, sizes, strides);
  tidy_strides(view.tensor.spec);
}

nb::object raw_numpy_view(const Tensor& tensor) {
  const TensorSpec& spec = tensor.spec;
  npy_intp sizes[kMaxRank];
  npy_intp strides[kMaxRank];
  for (int d = 0; d < spec.rank(); ++d) {
    sizes[d] = spec.sizes[d];
    strides[d] = spec.strides[d] * spec.dtype.bytes();
  }
  return raw_numpy_array(tensor.data, spec.rank(), sizes, strides, spec.dtype.bytes());
}

nb::object raw_numpy_view(const View& view) {
  if (!view.is_numpy() || view.copy.is_valid() || view.large_bytes != 0) {
    return raw_numpy_view(view.tensor);
  }
  npy_intp sizes[kMaxRank];
  npy_intp strides[kMaxRank];
  std::copy(view.as_read.sizes.begin(), view.as_read.sizes.end(), sizes);
  std::copy(view.as_read.strides.begin(), view.as_read.strides.end(), strides);
  return raw_numpy_array(view.tensor.data, view.rank(), sizes, strides,
                         view.tensor.spec.dtype.bytes());
}

View flattened(const View& view, Placement& placement, std::string_view call) {
  const TensorSpec& spec = view.tensor.spec;
  if (view.rank() == 1) {
    return view;
  }
  if (view.on_gpu()) {
    View flat;
    view_array(flat, view.object.attr("reshape")(-1),
               {"reshape", Role::kData, nullptr, &placement});
    return flat;
  }
  View flat = view;
  const int64_t elements = element_count(spec.sizes);
  if (spec.strides != contiguous_strides(spec.sizes)) {
    const nb::object raw = raw_numpy_view(view);
    refuse_if_changed(view, call);
    nb::object copy = nb::steal(PyArray_Ravel(as_array(raw.ptr()), NPY_CORDER));
    if (!copy.is_valid()) {
      nb::python_error error;  // no memory for the copy
      refuse_unreadable(error, {call, view.role});
    }
    flat.tensor.data = PyArray_DATA(as_array(copy.ptr()));
    flat.copy = std::move(copy);
  }
  flat.tensor.spec = view.large_bytes == 0
                         ? TensorSpec(spec.dtype, {elements})
                         : TensorSpec(u8, {elements / view.large_bytes, view.large_bytes});
  return flat;
}

}  // namespace sheaf::python
