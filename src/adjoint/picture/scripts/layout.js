// Where boxes go: in layers by height, crossings reduced by moving each box to the mean place of its neighbours
// (K. Sugiyama, S. Tagawa and M. Toda, 1981), as layout.py does it for graphs that Python draws.

const GAP_Y = 64, SWEEPS = 10, LEAST_WIDTH = 11; // characters: room for a number that moves
// Characters of a line in a box, as page.py leaves room for, and pixels between boxes. Where rows would be too wide for a narrow window
// to show them at a legible scale, both are less.
const MAX_LINE = 34, NARROW_LINE = 19, NARROW = 680; // pixels, as in the style sheet
const LARGE = 8.4, SMALL = 7.1; // pixels of a letter, of a box's first line and of the others
const LEAST_SCALE = 0.6;
const MAX_BENDS = 20000, SHORT = 10; // points in the layers that edges cross; where there were more, those that cross many go straight, as in layout.py
let laidNarrow = false; // whether the window was narrow when the graph was laid out
let lineRoom = MAX_LINE, gapAcross = 34, widest = Infinity; // pixels of a row, beyond which its leaves stand in several
function makeRoom(width = Infinity) {
  lineRoom = width < Infinity ? NARROW_LINE : MAX_LINE;
  gapAcross = width < Infinity ? 16 : 34;
  widest = width;
}

function sizeOf(box) { // room for the lines of text, whatever numbers come
  const isOperation = box.kind === "operation" || box.kind === "group";
  const value = box.value ? box.value.text : "";
  const named = box.name ? `${box.name} = ${value.padEnd(8)}` : value;
  const lines = [isOperation ? box.symbol : named, isOperation ? named.padEnd(LEAST_WIDTH) : "", box.gradient ? `${box.name ? box.derivative : "gradient"} = ${box.gradient.text.padEnd(7)}` : ""];
  const width = Math.max(LARGE * Math.min(lineRoom, lines[0].length), ...lines.slice(1).map((line) => SMALL * Math.min(lineRoom, line.length)));
  const heat = box.value && heatOf(box.value.shape);
  const [wide, high] = shapeRoom(box);
  return [Math.max(52, width + 22, (heat ? heat.cell * heat.columns : 0) + 20 + 2 * wide), 14 + 16 * lines.filter(Boolean).length + heatHeight(box) + high];
}

const meanOf = (values, otherwise) => (values.length ? values.reduce((a, b) => a + b, 0) / values.length : otherwise);

function layered(keys, edges, sizes, root) {
  const { rank, chains, width } = layers(keys, edges, sizes), below = new Map(), above = new Map();
  for (const key of rank.keys()) { below.set(key, []); above.set(key, []); }
  for (const chain of chains) for (let i = 1; i < chain.length; i++) { above.get(chain[i - 1]).push(chain[i]); below.get(chain[i]).push(chain[i - 1]); }
  const rows = Array.from({ length: [...rank.values()].reduce((a, b) => Math.max(a, b), 0) + 1 }, () => []);
  for (const key of depthFirst(root, below, rank)) rows[rank.get(key)].push(key);
  const order = new Map();
  for (const row_ of rows) row_.forEach((key, i) => order.set(key, i));
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const neighbours = sweep % 2 ? above : below;
    for (const row_ of sweep % 2 ? rows.slice().reverse() : rows) {
      const wish = new Map(row_.map((key) => [key, meanOf(neighbours.get(key).map((n) => order.get(n)), order.get(key))]));
      row_.sort((a, b) => wish.get(a) - wish.get(b)).forEach((key, i) => order.set(key, i));
    }
  }
  const x = across(rows, width, above, below), y = new Map();
  let at = 0;
  for (const row_ of rows.slice().reverse()) {
    const tallest = Math.max(0, ...row_.map((key) => (sizes.has(key) ? sizes.get(key)[1] : 0)));
    for (const key of row_) y.set(key, at + tallest / 2);
    at += tallest + GAP_Y;
  }
  const boxes = Object.fromEntries(keys.map((key) => [key, [x.get(key), y.get(key), ...sizes.get(key)]]));
  return { boxes, curves: chains.map((chain) => smooth(chain.map((key) => [x.get(key), y.get(key)]), sizes.get(chain[0])[1], sizes.get(chain[chain.length - 1])[1])) };
}

function layers(keys, edges, sizes) { // heights; a leaf just below its first use; a point in every layer that an edge crosses
  const rank = new Map(), inputs = new Map(keys.map((key) => [key, []])), lowest = new Map();
  for (const { source, target } of edges) inputs.get(target).push(source);
  for (const key of keys) rank.set(key, 1 + Math.max(-1, ...inputs.get(key).map((x) => rank.get(x) ?? 0)));
  for (const { source, target } of edges) lowest.set(source, Math.min(lowest.get(source) ?? Infinity, rank.get(target)));
  for (const key of keys) if (!inputs.get(key).length && lowest.has(key)) rank.set(key, lowest.get(key) - 1);
  const width = new Map(keys.map((key) => [key, sizes.get(key)[0]]));
  if (widest < Infinity) stack(rank, (key) => !inputs.get(key).length, width);
  const span = ({ source, target }) => rank.get(target) - rank.get(source) - 1;
  const most = edges.reduce((sum, edge) => sum + span(edge), 0) <= MAX_BENDS ? Infinity : SHORT;
  const chains = edges.map((edge, i) => {
    const { source, target } = edge, chain = [source];
    for (let r = rank.get(source) + 1; span(edge) <= most && r < rank.get(target); r++) { const bend = `bend ${i} ${r}`; rank.set(bend, r); width.set(bend, 8); chain.push(bend); }
    return [...chain, target];
  });
  return { rank, chains, width };
}

function stack(rank, isLeaf, width) { // leaves that make a row too wide stand below each other, in rows of their own
  const rows = [];
  for (const [key, r] of rank) (rows[r] = rows[r] || []).push(key);
  let at = 0;
  for (const own of rows) {
    const levels = [own.filter((key) => !isLeaf(key))];
    let room = levels[0].reduce((sum, key) => sum + width.get(key) + gapAcross, -gapAcross);
    for (const key of own.filter(isLeaf)) {
      const more = width.get(key) + gapAcross;
      if (room > 0 && room + more > widest) { levels.push([]); room = -gapAcross; }
      levels[levels.length - 1].push(key);
      room += more;
    }
    for (const level of levels.reverse()) { for (const key of level) rank.set(key, at); at++; }
  }
}

function depthFirst(root, below, rank) {
  const seen = new Set(), stack = [root];
  while (stack.length) {
    const key = stack.pop();
    if (seen.has(key)) continue;
    seen.add(key);
    stack.push(...(below.get(key) || []).slice().reverse());
  }
  for (const key of rank.keys()) seen.add(key);
  return seen;
}

function across(rows, width, above, below) { // each box as near to the middle of its neighbours as its row leaves room
  const x = new Map();
  for (const row_ of rows) {
    let at = 0;
    for (const key of row_) { x.set(key, at + width.get(key) / 2); at += width.get(key) + gapAcross; }
    for (const key of row_) x.set(key, x.get(key) - (at - gapAcross) / 2);
  }
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const neighbours = sweep % 2 ? above : below;
    for (const row_ of sweep % 2 ? rows.slice().reverse() : rows) {
      const wish = row_.map((key) => meanOf(neighbours.get(key).map((n) => x.get(n)), x.get(key)));
      const room = row_.slice(1).map((key, i) => (width.get(row_[i]) + width.get(key)) / 2 + gapAcross), right = wish.slice(), left = wish.slice();
      for (let i = 1; i < row_.length; i++) right[i] = Math.max(right[i], right[i - 1] + room[i - 1]);
      for (let i = row_.length - 2; i >= 0; i--) left[i] = Math.min(left[i], left[i + 1] - room[i]);
      row_.forEach((key, i) => x.set(key, (right[i] + left[i]) / 2));
    }
  }
  return x;
}

function smooth(points, sourceHeight, targetHeight) { // cubic curves, upright at each point, from box to box
  const ends = points.map((point) => point.slice());
  ends[0][1] -= sourceHeight / 2;
  ends[ends.length - 1][1] += targetHeight / 2;
  const curve = [...ends[0]];
  for (let i = 1; i < ends.length; i++) {
    const [ax, ay] = ends[i - 1], [bx, by] = ends[i], middle = (ay + by) / 2;
    curve.push(ax, middle, bx, middle, bx, by);
  }
  return curve;
}

// The layout of what is shown now: the one that came with the graph, or ours if it came with none. Where a narrow window would show
// that at no legible scale, ours with less room. Null: the graph came with layouts of other foldings.
function laidOut(result, room = innerWidth) {
  const given = graph.layouts[[...folded].sort().join(",")], small = result.boxes.size <= MOST_NARROW;
  makeRoom();
  laidNarrow = room <= NARROW;
  if (!given && Object.keys(graph.layouts).length && !(laidNarrow && small)) return null;
  const wide = given || laidInRoom(result), ends = Object.values(wide.boxes).flatMap(([x, , w]) => [x - w / 2, x + w / 2]);
  if (!laidNarrow || !small || (Math.max(...ends) - Math.min(...ends)) * LEAST_SCALE <= room) return wide;
  makeRoom(room / LEAST_SCALE - 60); // less the margins around the graph
  return laidInRoom(result);
}
const MOST_NARROW = 400; // boxes; nobody pans through more on a phone

function laidInRoom(result) {
  const keys = [...result.boxes.keys()], sizes = new Map([...result.boxes].map(([key, box]) => [key, sizeOf(box)]));
  const found = layered(keys, result.edges, sizes, result.root);
  return { boxes: found.boxes, curves: Object.fromEntries(result.edges.map((edge, i) => [edge.name, found.curves[i].map((c) => Math.round(c * 10) / 10)])) };
}
