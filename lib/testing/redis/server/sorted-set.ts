import type { Bound } from './numbers.js';

interface Scored {
  readonly member: string;
  readonly score: number;
}

/** Members by their scores, those of one score by their bytes. */
export class SortedSet {
  readonly #scores = new Map<string, number>();
  readonly #order: Scored[] = [];

  get size(): number {
    return this.#order.length;
  }

  score(member: string): number | undefined {
    return this.#scores.get(member);
  }

  /** Its place in the order of the scores. */
  rank(member: string): number | undefined {
    const score = this.#scores.get(member);
    return score === undefined ? undefined : this.#place(score, member);
  }

  set(member: string, score: number): void {
    this.delete(member);
    this.#scores.set(member, score);
    this.#order.splice(this.#place(score, member), 0, { member, score });
  }

  delete(member: string): boolean {
    const score = this.#scores.get(member);
    if (score === undefined) return false;
    this.#scores.delete(member);
    this.#order.splice(this.#place(score, member), 1);
    return true;
  }

  slice(from: number, to: number): readonly Scored[] {
    return this.#order.slice(from, to);
  }

  between(low: Bound, high: Bound): readonly Scored[] {
    return this.#order.filter(({ score }) => {
      const isAbove = low.isExclusive ? score > low.score : score >= low.score;
      return isAbove && (high.isExclusive ? score < high.score : score <= high.score);
    });
  }

  copy(): SortedSet {
    const copy = new SortedSet();
    for (const scored of this.#order) {
      copy.#scores.set(scored.member, scored.score);
      copy.#order.push(scored);
    }
    return copy;
  }

  /** Where it stands, or would. */
  #place(score: number, member: string): number {
    let [low, high] = [0, this.#order.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#order[middle]!;
      const isBefore = other.score < score || (other.score === score && other.member < member);
      if (isBefore) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
