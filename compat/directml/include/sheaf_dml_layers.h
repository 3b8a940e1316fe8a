// SPDX-License-Identifier: MIT
//
// Descriptors of DirectML's operators that compute over whole tensors: products, convolutions,
// pooling, reductions, resampling, normalisation, recurrent networks, attention. They are declared
// so that every program compiles; CreateOperator refuses them by name. Include directml.h.
#pragma once

#include "sheaf_dml_enums.h"
#include "sheaf_dml_types.h"

struct DML_SIZE_2D {
  UINT Width, Height;
};

struct DML_CONVOLUTION_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *FilterTensor, *BiasTensor, *OutputTensor;
  DML_CONVOLUTION_MODE Mode;
  DML_CONVOLUTION_DIRECTION Direction;
  UINT DimensionCount;
  const UINT *Strides, *Dilations, *StartPadding, *EndPadding, *OutputPadding;
  UINT GroupCount;
  const DML_OPERATOR_DESC* FusedActivation;
};
struct DML_GEMM_OPERATOR_DESC {
  const DML_TENSOR_DESC *ATensor, *BTensor, *CTensor, *OutputTensor;
  DML_MATRIX_TRANSFORM TransA, TransB;
  FLOAT Alpha, Beta;
  const DML_OPERATOR_DESC* FusedActivation;
};
struct DML_REDUCE_OPERATOR_DESC {
  DML_REDUCE_FUNCTION Function;
  const DML_TENSOR_DESC *InputTensor, *OutputTensor;
  UINT AxisCount;
  const UINT* Axes;
};
struct DML_AVERAGE_POOLING_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *OutputTensor;
  UINT DimensionCount;
  const UINT *Strides, *WindowSize, *StartPadding, *EndPadding;
  BOOL IncludePadding;
};
struct DML_LP_POOLING_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *OutputTensor;
  UINT DimensionCount;
  const UINT *Strides, *WindowSize, *StartPadding, *EndPadding;
  UINT P;
};
struct DML_MAX_POOLING_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *OutputTensor;
  UINT DimensionCount;
  const UINT *Strides, *WindowSize, *StartPadding, *EndPadding;
};
struct DML_ROI_POOLING_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *ROITensor, *OutputTensor;
  FLOAT SpatialScale;
  DML_SIZE_2D PooledSize;
};
struct DML_VALUE_SCALE_2D_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *OutputTensor;
  FLOAT Scale;
  UINT ChannelCount;
  const FLOAT* Bias;
};
struct DML_UPSAMPLE_2D_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *OutputTensor;
  DML_SIZE_2D ScaleSize;
  DML_INTERPOLATION_MODE InterpolationMode;
};
struct DML_SPACE_TO_DEPTH_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *OutputTensor;
  UINT BlockSize;
};
struct DML_DEPTH_TO_SPACE_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *OutputTensor;
  UINT BlockSize;
};
struct DML_BATCH_NORMALIZATION_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *MeanTensor, *VarianceTensor, *ScaleTensor, *BiasTensor,
      *OutputTensor;
  BOOL Spatial;
  FLOAT Epsilon;
  const DML_OPERATOR_DESC* FusedActivation;
};
struct DML_MEAN_VARIANCE_NORMALIZATION_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *ScaleTensor, *BiasTensor, *OutputTensor;
  BOOL CrossChannel, NormalizeVariance;
  FLOAT Epsilon;
  const DML_OPERATOR_DESC* FusedActivation;
};
struct DML_LOCAL_RESPONSE_NORMALIZATION_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *OutputTensor;
  BOOL CrossChannel;
  UINT LocalSize;
  FLOAT Alpha, Beta, Bias;
};
struct DML_LP_NORMALIZATION_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *OutputTensor;
  UINT Axis;
  FLOAT Epsilon;
  UINT P;
};
struct DML_RNN_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *WeightTensor, *RecurrenceTensor, *BiasTensor,
      *HiddenInitTensor, *SequenceLengthsTensor, *OutputSequenceTensor, *OutputSingleTensor;
  UINT ActivationDescCount;
  const DML_OPERATOR_DESC* ActivationDescs;
  DML_RECURRENT_NETWORK_DIRECTION Direction;
};
struct DML_LSTM_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *WeightTensor, *RecurrenceTensor, *BiasTensor,
      *HiddenInitTensor, *CellMemInitTensor, *SequenceLengthsTensor, *PeepholeTensor,
      *OutputSequenceTensor, *OutputSingleTensor, *OutputCellSingleTensor;
  UINT ActivationDescCount;
  const DML_OPERATOR_DESC* ActivationDescs;
  DML_RECURRENT_NETWORK_DIRECTION Direction;
  FLOAT ClipThreshold;
  BOOL UseClipThreshold, CoupleInputForget;
};
struct DML_GRU_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *WeightTensor, *RecurrenceTensor, *BiasTensor,
      *HiddenInitTensor, *SequenceLengthsTensor, *OutputSequenceTensor, *OutputSingleTensor;
  UINT ActivationDescCount;
  const DML_OPERATOR_DESC* ActivationDescs;
  DML_RECURRENT_NETWORK_DIRECTION Direction;
  BOOL LinearBeforeReset;
};
struct DML_MAX_POOLING1_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *OutputTensor, *OutputIndicesTensor;
  UINT DimensionCount;
  const UINT *Strides, *WindowSize, *StartPadding, *EndPadding;
};
struct DML_MAX_UNPOOLING_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *IndicesTensor, *OutputTensor;
};
struct DML_DIAGONAL_MATRIX_OPERATOR_DESC {
  const DML_TENSOR_DESC* OutputTensor;
  INT Offset;
  FLOAT Value;
};
struct DML_RESAMPLE_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *OutputTensor;
  DML_INTERPOLATION_MODE InterpolationMode;
  UINT ScaleCount;
  const FLOAT* Scales;
};
struct DML_CUMULATIVE_SUMMATION_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *OutputTensor;
  UINT Axis;
  DML_AXIS_DIRECTION AxisDirection;
  BOOL HasExclusiveSum;
};
struct DML_MAX_POOLING2_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *OutputTensor, *OutputIndicesTensor;
  UINT DimensionCount;
  const UINT *Strides, *WindowSize, *StartPadding, *EndPadding, *Dilations;
};
struct DML_DEPTH_TO_SPACE1_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *OutputTensor;
  UINT BlockSize;
  DML_DEPTH_SPACE_ORDER Order;
};
struct DML_SPACE_TO_DEPTH1_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *OutputTensor;
  UINT BlockSize;
  DML_DEPTH_SPACE_ORDER Order;
};
struct DML_MEAN_VARIANCE_NORMALIZATION1_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *ScaleTensor, *BiasTensor, *OutputTensor;
  UINT AxisCount;
  const UINT* Axes;
  BOOL NormalizeVariance;
  FLOAT Epsilon;
  const DML_OPERATOR_DESC* FusedActivation;
};
struct DML_RESAMPLE1_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *OutputTensor;
  DML_INTERPOLATION_MODE InterpolationMode;
  UINT DimensionCount;
  const FLOAT *Scales, *InputPixelOffsets, *OutputPixelOffsets;
};
struct DML_MATRIX_MULTIPLY_INTEGER_OPERATOR_DESC {
  const DML_TENSOR_DESC *ATensor, *AZeroPointTensor, *BTensor, *BZeroPointTensor, *OutputTensor;
};
struct DML_QUANTIZED_LINEAR_MATRIX_MULTIPLY_OPERATOR_DESC {
  const DML_TENSOR_DESC *ATensor, *AScaleTensor, *AZeroPointTensor, *BTensor, *BScaleTensor,
      *BZeroPointTensor, *OutputScaleTensor, *OutputZeroPointTensor, *OutputTensor;
};
struct DML_CONVOLUTION_INTEGER_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *InputZeroPointTensor, *FilterTensor, *FilterZeroPointTensor,
      *OutputTensor;
  UINT DimensionCount;
  const UINT *Strides, *Dilations, *StartPadding, *EndPadding;
  UINT GroupCount;
};
struct DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *InputScaleTensor, *InputZeroPointTensor, *FilterTensor,
      *FilterScaleTensor, *FilterZeroPointTensor, *BiasTensor, *OutputScaleTensor,
      *OutputZeroPointTensor, *OutputTensor;
  UINT DimensionCount;
  const UINT *Strides, *Dilations, *StartPadding, *EndPadding;
  UINT GroupCount;
};
struct DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputGradientTensor, *OutputGradientTensor;
  UINT DimensionCount;
  const UINT *Strides, *WindowSize, *StartPadding, *EndPadding;
  BOOL IncludePadding;
};
struct DML_MAX_POOLING_GRAD_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *InputGradientTensor, *OutputGradientTensor;
  UINT DimensionCount;
  const UINT *Strides, *WindowSize, *StartPadding, *EndPadding, *Dilations;
};
struct DML_RANDOM_GENERATOR_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputStateTensor, *OutputTensor, *OutputStateTensor;
  DML_RANDOM_GENERATOR_TYPE Type;
};
struct DML_RESAMPLE_GRAD_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputGradientTensor, *OutputGradientTensor;
  DML_INTERPOLATION_MODE InterpolationMode;
  UINT DimensionCount;
  const FLOAT *Scales, *InputPixelOffsets, *OutputPixelOffsets;
};
struct DML_ADAM_OPTIMIZER_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputParametersTensor, *InputFirstMomentTensor, *InputSecondMomentTensor,
      *GradientTensor, *TrainingStepTensor, *OutputParametersTensor, *OutputFirstMomentTensor,
      *OutputSecondMomentTensor;
  FLOAT LearningRate, Beta1, Beta2, Epsilon;
};
struct DML_ARGMIN_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *OutputTensor;
  UINT AxisCount;
  const UINT* Axes;
  DML_AXIS_DIRECTION AxisDirection;
};
struct DML_ARGMAX_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *OutputTensor;
  UINT AxisCount;
  const UINT* Axes;
  DML_AXIS_DIRECTION AxisDirection;
};
struct DML_ROI_ALIGN_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *ROITensor, *BatchIndicesTensor, *OutputTensor;
  DML_REDUCE_FUNCTION ReductionFunction;
  DML_INTERPOLATION_MODE InterpolationMode;
  FLOAT SpatialScaleX, SpatialScaleY, OutOfBoundsInputValue;
  UINT MinimumSamplesPerOutput, MaximumSamplesPerOutput;
};
struct DML_LOCAL_RESPONSE_NORMALIZATION_GRAD_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *InputGradientTensor, *OutputGradientTensor;
  BOOL CrossChannel;
  UINT LocalSize;
  FLOAT Alpha, Beta, Bias;
};
struct DML_CUMULATIVE_PRODUCT_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *OutputTensor;
  UINT Axis;
  DML_AXIS_DIRECTION AxisDirection;
  BOOL HasExclusiveProduct;
};
struct DML_BATCH_NORMALIZATION_GRAD_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *InputGradientTensor, *MeanTensor, *VarianceTensor,
      *ScaleTensor, *OutputGradientTensor, *OutputScaleGradientTensor, *OutputBiasGradientTensor;
  FLOAT Epsilon;
};
struct DML_DYNAMIC_QUANTIZE_LINEAR_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *OutputTensor, *OutputScaleTensor, *OutputZeroPointTensor;
};
struct DML_ROI_ALIGN1_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *ROITensor, *BatchIndicesTensor, *OutputTensor;
  DML_REDUCE_FUNCTION ReductionFunction;
  DML_INTERPOLATION_MODE InterpolationMode;
  FLOAT SpatialScaleX, SpatialScaleY, InputPixelOffset, OutputPixelOffset, OutOfBoundsInputValue;
  UINT MinimumSamplesPerOutput, MaximumSamplesPerOutput;
  BOOL AlignRegionsToCorners;
};
struct DML_ROI_ALIGN_GRAD_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *InputGradientTensor, *ROITensor, *BatchIndicesTensor,
      *OutputGradientTensor, *OutputROIGradientTensor;
  DML_REDUCE_FUNCTION ReductionFunction;
  DML_INTERPOLATION_MODE InterpolationMode;
  FLOAT SpatialScaleX, SpatialScaleY, InputPixelOffset, OutputPixelOffset;
  UINT MinimumSamplesPerOutput, MaximumSamplesPerOutput;
  BOOL AlignRegionsToCorners;
};
struct DML_BATCH_NORMALIZATION_TRAINING_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *ScaleTensor, *BiasTensor, *FusedAddTensor, *OutputTensor,
      *OutputMeanTensor, *OutputVarianceTensor;
  FLOAT Epsilon;
  const DML_OPERATOR_DESC* FusedActivation;
};
struct DML_BATCH_NORMALIZATION_TRAINING_GRAD_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *InputGradientTensor, *MeanTensor, *VarianceTensor,
      *ScaleTensor, *OutputGradientTensor, *OutputScaleGradientTensor, *OutputBiasGradientTensor;
  FLOAT Epsilon;
};
struct DML_RESAMPLE2_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *OutputTensor;
  DML_INTERPOLATION_MODE InterpolationMode;
  DML_AXIS_DIRECTION RoundingDirection;
  UINT DimensionCount;
  const FLOAT *Scales, *InputPixelOffsets, *OutputPixelOffsets;
};
struct DML_RESAMPLE_GRAD1_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputGradientTensor, *OutputGradientTensor;
  DML_INTERPOLATION_MODE InterpolationMode;
  DML_AXIS_DIRECTION RoundingDirection;
  UINT DimensionCount;
  const FLOAT *Scales, *InputPixelOffsets, *OutputPixelOffsets;
};
struct DML_DIAGONAL_MATRIX1_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *OutputTensor;
  DML_TENSOR_DATA_TYPE ValueDataType;
  DML_SCALAR_UNION Value;
  INT DiagonalFillBegin, DiagonalFillEnd;
};
struct DML_MULTIHEAD_ATTENTION_OPERATOR_DESC {
  const DML_TENSOR_DESC *QueryTensor, *KeyTensor, *ValueTensor, *StackedQueryKeyTensor,
      *StackedKeyValueTensor, *StackedQueryKeyValueTensor, *BiasTensor, *MaskTensor,
      *RelativePositionBiasTensor, *PastKeyTensor, *PastValueTensor, *OutputTensor,
      *OutputPresentKeyTensor, *OutputPresentValueTensor;
  FLOAT Scale, MaskFilterValue;
  UINT HeadCount;
  DML_MULTIHEAD_ATTENTION_MASK_TYPE MaskType;
};
struct DML_LP_POOLING1_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *OutputTensor;
  UINT DimensionCount;
  const UINT *Strides, *WindowSize, *StartPadding, *EndPadding, *Dilations;
  UINT P;
};
struct DML_AVERAGE_POOLING1_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *OutputTensor;
  UINT DimensionCount;
  const UINT *Strides, *WindowSize, *StartPadding, *EndPadding, *Dilations;
  BOOL IncludePadding;
};
struct DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *InputScaleTensor, *InputZeroPointTensor, *OutputScaleTensor,
      *OutputZeroPointTensor, *OutputTensor;
  UINT DimensionCount;
  const UINT *Strides, *WindowSize, *StartPadding, *EndPadding, *Dilations;
  BOOL IncludePadding;
};
struct DML_MATRIX_MULTIPLY_INTEGER_TO_FLOAT_OPERATOR_DESC {
  const DML_TENSOR_DESC *ATensor, *AScaleTensor, *AZeroPointTensor, *BTensor, *BScaleTensor,
      *BZeroPointTensor, *BiasTensor, *OutputTensor;
};
struct DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *ScaleTensor, *BiasTensor, *OutputTensor;
  UINT AxisCount;
  const UINT* Axes;
  BOOL UseMean, UseVariance;
  FLOAT Epsilon;
  const DML_OPERATOR_DESC* FusedActivation;
};
struct DML_MULTIHEAD_ATTENTION1_OPERATOR_DESC {
  const DML_TENSOR_DESC *QueryTensor, *KeyTensor, *ValueTensor, *StackedQueryKeyTensor,
      *StackedKeyValueTensor, *StackedQueryKeyValueTensor, *BiasTensor, *MaskTensor,
      *RelativePositionBiasTensor, *PastKeyTensor, *PastValueTensor, *PastSequenceLengthsTensor,
      *OutputTensor, *OutputPresentKeyTensor, *OutputPresentValueTensor;
  FLOAT Scale, MaskFilterValue;
  UINT QueryHeadCount, KeyValueHeadCount;
  DML_MULTIHEAD_ATTENTION_MASK_TYPE MaskType;
};
struct DML_QUANTIZE_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  DML_QUANTIZATION_TYPE QuantizationType;
  UINT QuantizationTensorCount;
  const DML_TENSOR_DESC *QuantizationTensors, *OutputTensor;
};
struct DML_DEQUANTIZE_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  DML_QUANTIZATION_TYPE QuantizationType;
  UINT QuantizationTensorCount;
  const DML_TENSOR_DESC *QuantizationTensors, *OutputTensor;
};
struct DML_RESAMPLE3_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *OutputTensor;
  DML_INTERPOLATION_MODE InterpolationMode;
  DML_AXIS_DIRECTION RoundingDirection;
  UINT DimensionCount;
  const FLOAT *Scales, *InputPixelOffsets, *OutputPixelOffsets;
  BOOL Antialiased;
};
struct DML_FOLD_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *OutputTensor;
  UINT DimensionCount;
  const UINT *WindowSizes, *Strides, *Dilations, *StartPadding, *EndPadding;
};
struct DML_UNFOLD_OPERATOR_DESC {
  const DML_TENSOR_DESC *InputTensor, *OutputTensor;
  UINT DimensionCount;
  const UINT *WindowSizes, *Strides, *Dilations, *StartPadding, *EndPadding;
};
