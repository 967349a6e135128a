"""The epoch of mutable structure: an integer that grows whenever a module's or an optimizer's attributes change.

What a compiled step has learnt about a module (its parameters' names, its mode, a hyperparameter) holds while `current`
stands still. It lives at the bottom because those who bump it (nn, optim) sit above those who read it.
"""

current: int = 0
