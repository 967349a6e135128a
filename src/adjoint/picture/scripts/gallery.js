// Starting points of the playground: each a formula with its numbers, and questions to answer before one looks.

const GALLERY = [
  { name: "why x gets 40", text: `x = 2
z = 0
y = 3*x*x*x + 4*x + 1 + x*z`, questions: [
    ["x stands five times in the formula. Through how many arrows does gradient reach x?", "Five: one for each use. Three of them carry 12, one carries 4, one 0."],
    ["One of the three factors of x·x·x moves. By how much does 3·x·x·x move for each unit, at x = 2?", "By 3 · 2 · 2 = 12: the other factors stand still, and multiply. There are three such factors."],
    ["Why does x get 40?", "Every use of x adds what reaches it: 12 + 12 + 12 + 4 + 0 = 40. A composition multiplies along a path; several paths add up."],
    ["z is 0. Drag it: which arrow into x follows?", "The one through x·z: it carries the value of z. So ∂y/∂x = 40 + z, while ∂y/∂z stays x = 2."]] },
  { name: "a sine of squares", text: `a = 0.5
w = [1, 2]
y = sin(a) * exp(w @ w * 0.2)`, questions: [
    ["Where does the gradient of w point: towards the origin or away from it?", "Away, as long as sin(a) is positive: y grows with the length of w."]] },
  { name: "a neuron", text: `x = 0.5
w = -1.5
b = 0.25
y = tanh(w*x + b)`, questions: [
    ["Make w very large. What happens to its gradient?", "It vanishes: tanh is flat there, and its slope 1 − y² multiplies everything that flows back."],
    ["At which y does the most gradient pass?", "At y = 0, where the slope of tanh is 1."]] },
  { name: "two neurons (relu)", text: `a = 2
w1 = 0.5
w2 = -0.25
w3 = 1
b = relu(w1*a + w3)
c = relu(w2*a + w3)
y = 4 * sin(b + c)`, questions: [
    ["Drag w2 below −0.5. What happens to its gradient?", "The second neuron dies: its sum is negative, relu gives 0 and passes nothing back, so nothing can bring w2 back."]] },
  { name: "a matrix product", text: `A = [[1, 2], [3, 4]]
B = [[1, 0], [0, 2]]
y = sum(A @ B)`, questions: [
    ["Which element of A has the largest influence on y?", "Those of the second column: each is multiplied by the second row of B, whose sum is 2."]] },
  { name: "shared work", text: `x = 1.1
a = x*x + 0.1
b = a*a - a
c = b*b + b*a
y = c*c`, questions: [
    ["How many paths lead from x to y? Guess, then click x.", "They multiply at every reuse; the reverse pass adds at every box instead, and takes as many steps as there are arrows."]] },
  { name: "softmax with cross entropy", text: `z = [2, 1, -1]
t = [0, 1, 0]
p = softmax(z)
y = -sum(t * log(p))`, questions: [
    ["What is the gradient of the scores z?", "p − t: what the model believes minus what is true. Compare the numbers."]] },
  { name: "attention on three tokens", text: `q = [[1, 0], [0.5, 1], [-1, 0.5]]
k = [[0.5, 1], [1, -0.5], [0, 1]]
v = [[1, 2], [0, -1], [3, 0.5]]
weights = softmax(q @ k.T / sqrt(2))
out = weights @ v
y = sum(out * out)`, questions: [
    ["Each row of the weights adds up to 1. What does that say about the gradient of the scores, row by row?", "It adds up to 0: raising all scores of a row alike changes nothing."]] },
  { name: "Newton's method for √a", text: `a = 2
x0 = 1.5
x1 = x0 - (x0*x0 - a) / (2*x0)
x2 = x1 - (x1*x1 - a) / (2*x1)
x3 = x2 - (x2*x2 - a) / (2*x2)`, questions: [
    ["x3 is almost √2. What are ∂x3/∂a and ∂x3/∂x0?", "∂x3/∂a is almost 1/(2√2) = 0.35355, the slope of the root; ∂x3/∂x0 is almost 0: the method forgets where it began."]] },
  { name: "an unrolled differential equation", text: `k = 1.2
h = 0.25
u = 1
u1 = u + h * (k * u * (1 - u/3))
u2 = u1 + h * (k * u1 * (1 - u1/3))
u3 = u2 + h * (k * u2 * (1 - u2/3))
u4 = u3 + h * (k * u3 * (1 - u3/3))
loss = (u4 - 2)**2`, questions: [
    ["Growth with a limit of 3, in four steps of Euler's method. Which k brings u4 to 2?", "Drag k until the loss is 0 and its gradient with it: near 1.39. This is how parameters of differential equations are fitted."]] },
];
