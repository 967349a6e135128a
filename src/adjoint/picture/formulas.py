"""What each operation computes and how it passes gradient back, in words of mathematics: for people, not for computing.

`r` is the result, `a`, `b`, `c` the inputs in order, `r̄` what arrives. Rules that select or move elements are said in words.
"""

from __future__ import annotations

from adjoint.picture.model import Box

__all__ = ["FORMULAS", "formula"]

# operation: (what it computes, the derivative by each input); the last one stands for all further inputs
FORMULAS: dict[str, tuple[str, tuple[str, ...]]] = {
    "add": ("r = a + b", ("∂r/∂a = 1", "∂r/∂b = 1")),
    "subtract": ("r = a − b", ("∂r/∂a = 1", "∂r/∂b = −1")),
    "multiply": ("r = a · b", ("∂r/∂a = b", "∂r/∂b = a")),
    "scale": ("r = a · b", ("∂r/∂a = b", "∂r/∂b = a")),
    "divide": ("r = a / b", ("∂r/∂a = 1 / b", "∂r/∂b = −a / b²")),
    "safe_divide": ("r = a / b", ("∂r/∂a = 1 / b", "∂r/∂b = −a / b²")),
    "power": ("r = aᵇ", ("∂r/∂a = b · aᵇ⁻¹", "∂r/∂b = aᵇ · ln a")),
    "power_constant": ("r = aⁿ", ("∂r/∂a = n · aⁿ⁻¹",)),
    "remainder": ("r = a mod b", ("∂r/∂a = 1", "∂r/∂b = −⌊a / b⌋")),
    "negative": ("r = −a", ("∂r/∂a = −1",)),
    "abs": ("r = |a|", ("∂r/∂a = sign a (0 at 0)",)),
    "sign": ("r = a / |a| (0 at 0)", ("∂r/∂a = 0, of real a",)),
    "exp": ("r = eᵃ", ("∂r/∂a = eᵃ = r",)),
    "expm1": ("r = eᵃ − 1", ("∂r/∂a = eᵃ",)),
    "log": ("r = ln a", ("∂r/∂a = 1 / a",)),
    "log1p": ("r = ln(1 + a)", ("∂r/∂a = 1 / (1 + a)",)),
    "log2": ("r = log₂ a", ("∂r/∂a = 1 / (a · ln 2)",)),
    "log10": ("r = log₁₀ a", ("∂r/∂a = 1 / (a · ln 10)",)),
    "sqrt": ("r = √a", ("∂r/∂a = 1 / (2r)",)),
    "sin": ("r = sin a", ("∂r/∂a = cos a",)),
    "cos": ("r = cos a", ("∂r/∂a = −sin a",)),
    "tan": ("r = tan a", ("∂r/∂a = 1 + r²",)),
    "asin": ("r = asin a", ("∂r/∂a = 1 / √(1 − a²)",)),
    "acos": ("r = acos a", ("∂r/∂a = −1 / √(1 − a²)",)),
    "atan": ("r = atan a", ("∂r/∂a = 1 / (1 + a²)",)),
    "sinh": ("r = sinh a", ("∂r/∂a = cosh a",)),
    "cosh": ("r = cosh a", ("∂r/∂a = sinh a",)),
    "tanh": ("r = tanh a", ("∂r/∂a = 1 − r²",)),
    "asinh": ("r = asinh a", ("∂r/∂a = 1 / √(a² + 1)",)),
    "acosh": ("r = acosh a", ("∂r/∂a = 1 / √(a² − 1)",)),
    "atanh": ("r = atanh a", ("∂r/∂a = 1 / (1 − a²)",)),
    "atan2": ("r = atan2(a, b)", ("∂r/∂a = b / (a² + b²)", "∂r/∂b = −a / (a² + b²)")),
    "hypot": ("r = √(a² + b²)", ("∂r/∂a = a / r", "∂r/∂b = b / r")),
    "logaddexp": ("r = ln(eᵃ + eᵇ)", ("∂r/∂a = σ(a − b)", "∂r/∂b = σ(b − a)")),
    "sigmoid": ("r = σ(a) = 1 / (1 + e⁻ᵃ)", ("∂r/∂a = r · (1 − r)",)),
    "softplus": ("r = ln(1 + eᵃ)", ("∂r/∂a = σ(a)",)),
    "relu": ("r = max(a, 0)", ("∂r/∂a = 1 where a > 0, else 0",)),
    "erf": ("r = erf a", ("∂r/∂a = 2/√π · exp(−a²)",)),
    "erfc": ("r = erfc a", ("∂r/∂a = −2/√π · exp(−a²)",)),
    "gaussian": ("r = exp(−a²/2)", ("∂r/∂a = −a · r",)),
    "gelu": ("r = a · Φ(a)", ("∂r/∂a = Φ(a) + a · φ(a)",)),
    "gelu_derivative": ("r = Φ(a) + a · φ(a)", ("∂r/∂a = (2 − a²) · φ(a)",)),
    "silu": ("r = a · σ(a)", ("∂r/∂a = σ(a) · (1 + a · σ(−a))",)),
    "silu_derivative": ("r = σ(a) · (1 + a · σ(−a))", ("∂r/∂a = σ(a) · σ(−a) · (2 + a · (1 − 2σ(a)))",)),
    "softmax": ("r = a, which was made of b", ("none", "∂L/∂b = r · (r̄ − Σ r̄ r)", "none")),
    "standardized": ("r = a, which was made of b", ("none", "∂L/∂b = (r̄ − mean r̄ − r · mean r̄ r) / c", "none")),
    "rms_normalized": ("r = a, which was made of b", ("none", "∂L/∂b = (r̄ − r · mean r̄ r) / c", "none")),
    "batch_normalized": (
        "r = a, which is b · c, and was made of e",
        (
            *("none",) * 4,
            "∂L/∂e = c · (r̄ − mean r̄) − b · c · mean r̄ b / d²",
            "∂L/∂f = Σ r̄ b / d",
        ),
    ),
    "maximum": ("r = max(a, b)", ("1 where a is larger, ½ on a tie, else 0", "1 where b is larger, ½ on a tie, else 0")),
    "minimum": ("r = min(a, b)", ("1 where a is smaller, ½ on a tie, else 0", "1 where b is smaller, ½ on a tie, else 0")),
    "copysign": ("r = |a|, with the sign of b", ("1 where a has the sign of b, else −1", "none")),
    "nextafter": ("r = the number next to a, towards b", ("∂r/∂a = 1", "none")),
    "where": ("r = b where a, else c", ("none", "r̄ where a, else 0", "0 where a, else r̄")),
    "huber": ("r = n (a − n / 2), where n is a limited to ±b", ("n", "|a − n|")),
    "clip": ("r = a limited to [b, c]", ("1 inside the bounds, else 0", "1 where a < b", "1 where a > c")),
    "sum": ("r = Σ a", ("every summed element receives r̄",)),
    "prod": ("r = Π a", ("each element receives r̄ · the product of the others",)),
    "max": ("r = the largest of a", ("the largest element receives r̄; ties share it",)),
    "min": ("r = the smallest of a", ("the smallest element receives r̄; ties share it",)),
    "matmul": ("r = a b, the matrix product", ("ā = r̄ bᵀ", "b̄ = aᵀ r̄")),
    "permute_dims": ("r = a with its axes reordered", ("r̄ with the axes put back",)),
    "reshape": ("r = a in another shape", ("r̄ in the old shape",)),
    "broadcast_to": ("r = a, repeated", ("r̄ summed over the repetitions",)),
    "astype": ("r = a as another type", ("r̄ as the old type",)),
    "slice": ("r = a part of a", ("r̄ in its place, zeros elsewhere",)),
    "index": ("r = a part of a", ("r̄ in its place, zeros elsewhere",)),
    "gather": ("r = elements of a at given places", ("r̄ added back at those places",)),
    "concat": ("r = the inputs, joined", ("each input receives its part of r̄",)),
    "marker": ("r = a", ("r̄ as it is",)),
    "stop_gradient": ("r = a, as a constant", ("nothing flows back",)),
    "cumulative_sum": ("rᵢ = a₁ + … + aᵢ", ("āᵢ = r̄ᵢ + … + r̄ₙ",)),
}  # fmt: skip


def formula(box: Box) -> tuple[str, tuple[str, ...]]:
    """What a box computes, and its derivatives; empty where nothing is known in words."""
    computes, rules = FORMULAS.get(box.operation, ("", ()))
    if box.operation == "power_constant":
        n = box.symbol.removeprefix("^")
        computes = f"r = a^{n}"
        rules = (f"∂r/∂a = {n} · a^({n} − 1)",)
    return computes, rules
