"""PyTorch's names that lead to `adjoint.torch`, which has them: those that `hints` and `hints_of_jax` have no row for.

Of a tensor's methods (and of functions of `ad` that are none), what is here under the same name or in a row for functions is said
first. Of what changes a tensor in place the form of its name says it.
"""

from __future__ import annotations

__all__ = ["IN_PLACE", "METHODS", "NAMES"]

METHODS = """
    addbmm addcdiv addcmul addmv addr aminmax angle arccosh arcsinh arctan2 arctanh as_strided as_strided_scatter atan2 baddbmm
    bernoulli bincount bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor byte cdouble
    cfloat chalf char cholesky cholesky_inverse cholesky_solve concat conj_physical copysign corrcoef cov cross cummax cummin
    deg2rad det diag diag_embed diagflat diagonal_scatter diff digamma dist dsplit einsum erfinv exp2 fix fliplr flipud
    float_power fmax fmin frexp full_like gcd geqrf ger greater greater_equal heaviside histc histogram hsplit hypot i0 igamma
    igammac index_copy index_fill index_put index_reduce inner inverse is_conj is_cpu is_distributed is_inference is_ipu
    is_maia is_meta is_mkldnn is_mps is_mtia is_neg is_nested is_nonzero is_pinned is_quantized is_same_size is_shared
    is_signed is_sparse is_sparse_csr is_vulkan is_xpu isneginf isposinf isreal istft kron kthvalue layout lcm ldexp less
    less_equal lgamma logaddexp logaddexp2 logcumsumexp logdet logical_xor logit lu lu_solve mH masked_scatter matrix_exp
    matrix_power matrix_transpose median mode msort multinomial mvlgamma nan_to_num nanmean nanmedian nanquantile narrow_copy
    new new_empty new_empty_strided nextafter not_equal one_hot ones_like orgqr ormqr pad pinverse polygamma positive power qr
    quantile rad2deg renorm resolve_conj resolve_neg retains_grad rot90 scatter_reduce select_scatter sgn short sinc
    slice_scatter slogdet split_with_sizes stack stft storage_offset sum_to_size svd take_along_dim tensordot to_dense
    to_sparse to_sparse_coo to_sparse_csr triangular_solve unfold unique unique_consecutive unsafe_chunk unsafe_split
    unsafe_split_with_sizes vdot vecdot vsplit where xlogy zeros_like
""".split()
IN_PLACE = """
    abs_ absolute_ acos_ acosh_ add_ addbmm_ addcdiv_ addcmul_ addmm_ addmv_ addr_ apply_ arccos_ arccosh_ arcsin_ arcsinh_
    arctan2_ arctan_ arctanh_ asin_ asinh_ atan2_ atan_ atanh_ baddbmm_ bernoulli_ bitwise_and_ bitwise_left_shift_
    bitwise_not_ bitwise_or_ bitwise_right_shift_ bitwise_xor_ cauchy_ ceil_ clamp_ clamp_max_ clamp_min_ clip_ conj_physical_
    copy_ copysign_ cos_ cosh_ cumprod_ cumsum_ deg2rad_ digamma_ div_ divide_ eq_ erf_ erfc_ erfinv_ exp2_ exp_ expm1_
    exponential_ fill_ fill_diagonal_ fix_ float_power_ floor_ floor_divide_ fmod_ frac_ gcd_ ge_ geometric_ greater_
    greater_equal_ gt_ heaviside_ hypot_ i0_ igamma_ igammac_ index_add_ index_copy_ index_fill_ index_put_ index_reduce_ lcm_
    ldexp_ le_ lerp_ less_ less_equal_ lgamma_ log10_ log1p_ log2_ log_ log_normal_ logical_and_ logical_not_ logical_or_
    logical_xor_ logit_ lt_ map2_ map_ masked_fill_ masked_scatter_ mul_ multiply_ mvlgamma_ nan_to_num_ ne_ neg_ negative_
    nextafter_ normal_ not_equal_ polygamma_ pow_ put_ rad2deg_ random_ reciprocal_ relu_ remainder_ renorm_ resize_
    resize_as_ round_ rsqrt_ scatter_ scatter_add_ scatter_reduce_ set_ sgn_ sigmoid_ sign_ sin_ sinc_ sinh_ sqrt_ square_
    squeeze_ sub_ subtract_ swapaxes_ swapdims_ t_ tan_ tanh_ transpose_ tril_ triu_ true_divide_ trunc_ uniform_ unsqueeze_
    xlogy_ zero_
""".split()
FUNCTIONS = """
    BFloat16Tensor BoolTensor ByteTensor CharTensor GradScaler HalfTensor IntTensor ShortTensor addbmm addmv addmv_ addr
    adjoint alias_copy aminmax arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ are_deterministic_algorithms_enabled
    as_strided as_strided_copy as_strided_scatter autocast baddbmm bartlett_window binomial blackman_window broadcast_tensors
    bucketize cartesian_prod celu_ chain_matmul cholesky_inverse cholesky_solve clamp_ clamp_max clamp_max_ clamp_min
    clamp_min_ clone combinations complex conj_physical conj_physical_ constant_pad_nd deg2rad_ detach detach_copy
    diagonal_copy diagonal_scatter dist empty_permuted empty_strided exp2_ expand_copy fill fill_ fix_ frac frac_ frexp
    frombuffer gcd_ geqrf get_autocast_cpu_dtype get_autocast_dtype get_default_device get_deterministic_debug_mode
    get_float32_matmul_precision get_num_interop_threads get_rng_state hamming_window hann_window histc histogramdd i0_ igammac
    index_copy index_fill index_put index_put_ index_reduce initial_seed inverse is_anomaly_enabled is_autocast_cpu_enabled
    is_autocast_enabled is_complex is_conj is_deterministic_algorithms_warn_only_enabled is_distributed is_floating_point
    is_inference is_inference_mode_enabled is_neg is_nonzero is_same_size is_signed is_warn_always_enabled isneginf isposinf
    isreal istft kaiser_window layout lcm_ ldexp ldexp_ logdet logit_ lu_unpack masked_scatter matrix_exp memory_format mode
    movedim msort multinomial mvlgamma narrow narrow_copy neg_ orgqr ormqr pca_lowrank permute_copy pinverse poisson polar put
    rad2deg_ randint_like range renorm resize_as_ resolve_conj resolve_neg rrelu_ rsub scalar_tensor select_copy select_scatter
    selu_ set_default_tensor_type set_deterministic_debug_mode set_float32_matmul_precision set_flush_denormal
    set_num_interop_threads set_rng_state set_warn_always sgn sinc_ slice_scatter sparse_coo_tensor sparse_csr
    sparse_csr_tensor split_with_sizes split_with_sizes_copy spmm squeeze_copy std_mean stft svd_lowrank swapdims t_copy
    take_along_dim threshold_ transpose_copy triangular_solve tril_indices triu_indices unbind_copy unflatten unfold_copy
    unique_consecutive unravel_index unsafe_chunk unsafe_split unsafe_split_with_sizes unsqueeze_copy
    use_deterministic_algorithms var_mean view_as_complex view_as_real view_copy xlogy_ zero_
""".split()
LINALG = """
    cholesky_ex inv_ex ldl_factor ldl_factor_ex ldl_solve lu_factor_ex matrix_exp solve_ex
""".split()
SPECIAL = """
    airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v
    chebyshev_polynomial_w hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p
    modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0
    scaled_modified_bessel_k1 shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v
    shifted_chebyshev_polynomial_w spherical_bessel_j0
""".split()
STATS = """
    AbsTransform AffineTransform CatTransform Chi2 ComposeTransform ContinuousBernoulli CorrCholeskyTransform
    CumulativeDistributionTransform ExpTransform ExponentialFamily FisherSnedecor GeneralizedPareto HalfCauchy Independent
    IndependentTransform Kumaraswamy LKJCholesky LogisticNormal LowRankMultivariateNormal LowerCholeskyTransform
    MixtureSameFamily OneHotCategorical OneHotCategoricalStraightThrough Pareto PositiveDefiniteTransform PowerTransform
    RelaxedBernoulli RelaxedOneHotCategorical ReshapeTransform SigmoidTransform SoftmaxTransform SoftplusTransform
    StackTransform StickBreakingTransform TanhTransform Transform TransformedDistribution Wishart biject_to identity_transform
    register_kl transform_to
""".split()

# by the module that is asked for them: the names, and the module of `adjoint.torch` that has them
NAMES: dict[str, tuple[list[str], str]] = {
    "Tensor": (METHODS, "adjoint.torch"), "adjoint": (FUNCTIONS, "adjoint.torch"),
    "adjoint.linalg": (LINALG, "adjoint.torch.linalg"), "adjoint.special": (SPECIAL, "adjoint.torch.special"),
    "adjoint.stats": (STATS, "adjoint.torch.distributions"),
}  # fmt: skip
