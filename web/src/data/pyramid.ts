/** Finds the largest of a range of values in logarithmic time, so that a chart of any length is drawn as quickly. */
export class Pyramid {
  private readonly levels: Uint32Array[] = [];

  /** Sign -1 finds the smallest. Unknown values are never found. */
  constructor(
    private readonly values: Float64Array,
    private readonly n: number,
    private readonly sign: 1 | -1 = 1,
  ) {
    let below: Uint32Array | null = null;
    for (let length = n >> 2; length > 0; length >>= 2) {
      const level: Uint32Array = new Uint32Array(length);
      for (let i = 0; i < length; i++) {
        const first = i << 2;
        let best: number = below ? below[first] : first;
        for (let k = 1; k < 4; k++) {
          best = this.better(best, below ? below[first + k] : first + k);
        }
        level[i] = best;
      }
      this.levels.push(level);
      below = level;
    }
  }

  private better(a: number, b: number): number {
    const x = this.values[a] * this.sign;
    const y = this.values[b] * this.sign;
    return y > x || Number.isNaN(x) ? b : a;
  }

  /** The index of the largest value from one index up to, not with, another; -1 for an empty range or none known. */
  best(from: number, to: number): number {
    to = Math.min(to, this.n);
    let found = -1;
    const take = (i: number) => {
      if (!Number.isNaN(this.values[i])) found = found < 0 ? i : this.better(found, i);
    };
    while (from < to) {
      let level = -1;
      while (level + 1 < this.levels.length) {
        const size = 1 << (2 * (level + 2));
        if (from % size !== 0 || from + size > to) break;
        level++;
      }
      if (level < 0) {
        take(from++);
      } else {
        const size = 1 << (2 * (level + 1));
        take(this.levels[level][from / size]);
        from += size;
      }
    }
    return found;
  }
}
