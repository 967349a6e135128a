// Starting points of the playground: each a formula with its numbers, and questions to answer before one looks: what is
// asked, what is said then, and what is right, a number or choices of which the first is right.

const GALLERY = [
  { name: "why x gets 40", text: `x = 2
z = 0
y = 3*x*x*x + 4*x + 1 + x*z`, questions: [
    ["x stands five times in the formula. How many red arrows will come back to x?", "Five: one for each use. Each brings what that use alone adds to the change of y.", 5],
    ["Look at 4·x alone. x grows by 0.1: by how much does 4·x grow?", "By 0.4. The other factor stands still and multiplies: the slope is 4, and the arrow from 4·x brings 4.", 0.4],
    ["Now 3·x·x·x, and only the last x grows; the others stay at 2. How fast does the product grow, for each unit of x?", "3 · 2 · 2 = 12 for each unit. The product has three factors x, so three arrows bring 12 each.", 12],
    ["12, 12, 12 and 4 come back to x, and 0 through x·z, since z is 0. What is the gradient of x?", "40. Every use moves y at the same time, and changes that happen at the same time add up.", 40],
    ["So why does x get 40?", "In a row changes multiply, side by side they add. That is the chain rule: a product along each path, and the sum over all paths. z gets only what x·z sends: x, which is 2.",
      ["each use of x sends what the factors beside it are, and the amounts add up", "40 is the largest number that flows back", "the numbers along all arrows are multiplied together"]],
    ["Drag z to 3 afterwards. What will the gradient of x be?", "43: the arrow through x·z carries the value of z. Drag z on the graph sideways, or with its slider, and see.", 43]] },
  { name: "a sine of squares", text: `a = 0.5
w = [1, 2]
y = sin(a) * exp(w @ w * 0.2)`, questions: [
    ["Where does the gradient of w point?", "Away, as long as sin(a) is positive: y grows with the length of w.", ["away from the origin, along w", "towards the origin", "across w"]]] },
  { name: "a neuron", text: `x = 0.5
w = -1.5
b = 0.25
y = tanh(w*x + b)`, questions: [
    ["Make w very large. What will happen to its gradient?", "It vanishes: tanh is flat there, and its slope 1 − y² multiplies everything that flows back.", ["it vanishes", "it grows with w", "it stays as it is"]],
    ["At which y does the most gradient pass?", "At y = 0, where the slope of tanh is 1.", 0]] },
  { name: "two neurons (relu)", text: `a = 2
w1 = 0.5
w2 = -0.25
w3 = 1
b = relu(w1*a + w3)
c = relu(w2*a + w3)
y = 4 * sin(b + c)`, questions: [
    ["Drag w2 below −0.5. What will its gradient be?", "0: the second neuron dies. Its sum is negative, relu gives 0 and passes nothing back, so nothing can bring w2 back.", 0]] },
  { name: "a matrix product", text: `A = [[1, 2], [3, 4]]
B = [[1, 0], [0, 2]]
y = sum(A @ B)`, questions: [
    ["Which elements of A have the largest influence on y?", "Those of the second column: each is multiplied by the second row of B, whose sum is 2.", ["the second column", "the first column", "the first row", "the second row"]]] },
  { name: "shared work", text: `x = 1.1
a = x*x + 0.1
b = a*a - a
c = b*b + b*a
y = c*c`, questions: [
    ["How many paths lead from x to y? Count how often each name is used.", "40: x enters a twice, a enters b three times and c once, b enters c three times, c enters y twice: 2 · (3 · 3 + 1) · 2. Click x: the page lists them. The reverse pass adds at every box instead, and takes as many steps as there are arrows.", 40]] },
  { name: "softmax with cross entropy", text: `z = [2, 1, -1]
t = [0, 1, 0]
p = softmax(z)
y = -sum(t * log(p))`, questions: [
    ["What is the gradient of the scores z?", "p − t: what the model believes minus what is true. Compare the numbers.", ["p − t", "1 / p", "log(p)", "t"]]] },
  { name: "attention on three tokens", text: `q = [[1, 0], [0.5, 1], [-1, 0.5]]
k = [[0.5, 1], [1, -0.5], [0, 1]]
v = [[1, 2], [0, -1], [3, 0.5]]
weights = softmax(q @ k.T / sqrt(2))
out = weights @ v
y = sum(out * out)`, questions: [
    ["Each row of the weights adds up to 1. What does each row of the gradient of the scores add up to?", "0: raising all scores of a row alike changes nothing.", 0]] },
  { name: "Newton's method for √a", text: `a = 2
x0 = 1.5
x1 = x0 - (x0*x0 - a) / (2*x0)
x2 = x1 - (x1*x1 - a) / (2*x1)
x3 = x2 - (x2*x2 - a) / (2*x2)`, questions: [
    ["x3 is almost √a. What is ∂x3/∂a, to two digits?", "Almost 1/(2√2) = 0.35355, the slope of the root: the method has been differentiated through all its steps.", 0.354],
    ["And ∂x3/∂x0?", "Almost 0: the method forgets where it began.", 0]] },
  { name: "an unrolled differential equation", text: `k = 1.2
h = 0.25
u = 1
u1 = u + h * (k * u * (1 - u/3))
u2 = u1 + h * (k * u1 * (1 - u1/3))
u3 = u2 + h * (k * u2 * (1 - u2/3))
u4 = u3 + h * (k * u3 * (1 - u3/3))
loss = (u4 - 2)**2`, questions: [
    ["Growth with a limit of 3, in four steps of Euler's method. u4 is below 2. Which sign has the gradient of k?", "Negative: a larger k brings u4 up, nearer to 2, and the loss down. Drag k until the loss is 0 and its gradient with it: near 1.39. This is how parameters of differential equations are fitted.", ["negative", "positive", "it is zero"]]] },
];
