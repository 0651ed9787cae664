// Sorting without comparisons: 100,000 numbers take a few milliseconds.

const digits = 1 << 16;

/** Rows in the order of their values, ascending, unknown ones last; rows of equal values keep their order. */
export function ordered(rows: Uint32Array, values: Float64Array, descending: boolean): Uint32Array {
  const n = rows.length;
  const bits = new Uint32Array(2 * n);
  const view = new Float64Array(1);
  const halves = new Uint32Array(view.buffer);
  for (let i = 0; i < n; i++) {
    const v = values[rows[i]];
    if (Number.isNaN(v)) {
      bits[2 * i] = bits[2 * i + 1] = 0xffffffff;
      continue;
    }
    view[0] = (descending ? -v : v) + 0; // -0 sorts as 0
    const negative = halves[1] >>> 31;
    bits[2 * i] = (negative ? ~halves[0] : halves[0]) >>> 0;
    bits[2 * i + 1] = (negative ? ~halves[1] : halves[1] | 0x80000000) >>> 0;
  }
  let from = new Uint32Array(n);
  for (let i = 0; i < n; i++) from[i] = i;
  let to = new Uint32Array(n);
  const counts = new Uint32Array(digits);
  for (let pass = 0; pass < 4; pass++) {
    const word = pass >> 1;
    const shift = (pass & 1) * 16;
    counts.fill(0);
    for (let i = 0; i < n; i++) counts[(bits[2 * i + word] >>> shift) & 0xffff]++;
    if (n > 0 && counts[(bits[word] >>> shift) & 0xffff] === n) continue;
    let sum = 0;
    for (let d = 0; d < digits; d++) {
      const count = counts[d];
      counts[d] = sum;
      sum += count;
    }
    for (let i = 0; i < n; i++) {
      const item = from[i];
      to[counts[(bits[2 * item + word] >>> shift) & 0xffff]++] = item;
    }
    [from, to] = [to, from];
  }
  const result = new Uint32Array(n);
  for (let i = 0; i < n; i++) result[i] = rows[from[i]];
  return result;
}

/** The first index, of the first n, whose value is not less than v. */
export function lowerBound(values: Float64Array | Uint32Array, v: number, n = values.length): number {
  let low = 0;
  let high = n;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < v) low = middle + 1;
    else high = middle;
  }
  return low;
}
