import { seededRandom } from '../support/seeded-random.js';

const UUID = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;

/** 32 bits (FNV-1a). */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}

/** Random choices that are the same for the same seed. */
export class Dice {
  readonly random: () => number;
  /** Apart: however many ids are made, all else is the same. */
  readonly #bits: () => number;

  /** @param grain times are multiples of it, in milliseconds: so that things happen at the same time. 0: any number */
  constructor(
    private readonly seed: number,
    private readonly grain = 0,
  ) {
    this.random = seededRandom(seed);
    this.#bits = seededRandom(~seed);
  }

  /** Dice for a part of the whole: what is drawn there changes nothing elsewhere. */
  fork(part: string): Dice {
    return new Dice(hashOf(`${this.seed} ${part}`), this.grain);
  }

  /** A time of up to `ms`. */
  time(ms: number): number {
    const time = this.random() * ms;
    return this.grain > 0 ? Math.round(time / this.grain) * this.grain : time;
  }

  between(low: number, high: number): number {
    return low + this.random() * (high - low);
  }

  /** A whole number from `low` to `high`, both included. */
  integer(low: number, high: number): number {
    return Math.floor(this.between(low, high + 1));
  }

  chance(probability: number): boolean {
    return this.random() < probability;
  }

  /** One of the items, each as likely as it is often there. */
  pick<T>(items: readonly T[]): T {
    return items[this.integer(0, items.length - 1)]!;
  }

  /** 128 random bits in the form of a UUID. */
  id(): string {
    const word = () =>
      Math.floor(this.#bits() * 2 ** 32)
        .toString(16)
        .padStart(8, '0');
    return `${word()}${word()}${word()}${word()}`.replace(UUID, '$1-$2-$3-$4-$5');
  }
}
