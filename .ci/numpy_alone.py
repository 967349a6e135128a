"""Train a line for long enough that native code would be wanted, if there is any."""

import adjoint as ad

x = ad.linspace(-1.0, 1.0, 400_000)
w, b = ad.variable(0.0), ad.variable(0.0)
for _ in range(60):
    loss = ad.mean((w * x + b - (3 * x + 0.5)) ** 2)
    loss.backward()
    for p in (w, b):
        p.data -= 0.5 * p.grad
        p.grad = None
assert abs(w.item() - 3) < 1e-3 and abs(b.item() - 0.5) < 1e-3, (w, b)
print("a line is learnt")
