import { LockName } from '../../../../lib/redis/connection/lock-name.js';
import type { Dice } from '../../dice.js';

/** Keys and arguments of a script, as bytes. */
export interface Operands {
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

export const HOLDERS = ['h1', 'h2', 'h3'] as const;
/** Holders of permits: 12 bytes, and how many they are. */
export const PERMIT_HOLDERS = [1, 2, 3].map(
  (count) => `permit-\0\xff-${count}\xe9${'\0\0\0'}${'\x01\x02\x03'[count - 1]}`,
);
/** As tombstones name them. */
export const ALL_HOLDERS = [
  ...HOLDERS.flatMap((holder) => [holder, `${holder}:write`]),
  ...PERMIT_HOLDERS.map((holder) => textOf(holder)),
];
const LEASES = [1, 2, 5, 50, 400, 1_000, 30_000];

/** What a holder says about itself. */
export const about = () => '{"since":1}';
/** A holder of permits as it is named in queues and keys. */
export function textOf(permitHolder: string): string {
  return Buffer.from(permitHolder, 'latin1').toString('hex');
}

/** Random operands of scripts: few locks, few holders and short leases. */
export class RandomOperands {
  #number = 1;

  constructor(private readonly dice: Dice) {}

  some(...kinds: readonly string[]) {
    const kind = this.pick(kinds);
    const key = this.chance(0.97) ? kind : this.pick(['lock', 'fair', 'read/write', 'permits']);
    return { name: new LockName(key), holder: this.pick(HOLDERS), lease: this.lease() };
  }

  /** One hold of those that a renewal is for. */
  renewed(): Operands {
    const kind = this.pick(['alone', 'write', 'read', 'permits']);
    const terms = [this.chance(0.2) ? 0 : this.lease(), kind, this.integer(0, 3), this.flag()];
    if (kind === 'permits') {
      const { name } = this.some('permits');
      const holder = this.pick(PERMIT_HOLDERS);
      return {
        keys: [name.permitTimeouts, name.extended(textOf(holder))],
        args: [holder, ...terms],
      };
    }
    const { name, holder } = this.some(kind === 'alone' ? 'lock' : 'read/write');
    const field = kind === 'write' ? `${holder}:write` : holder;
    const hold = kind === 'alone' ? name.redisKey : name.hold(field);
    return { keys: [name.redisKey, hold], args: [field, ...terms] };
  }

  request(kind: string, args: readonly (string | number)[]): Operands {
    const { name } = this.some(kind);
    const channel = kind === 'latch' ? name.latchChannel : name.semaphoreChannel;
    return {
      keys: [name.redisKey, name.requests('c1')],
      args: [...this.terms(), this.publish(), channel, ...args],
    };
  }

  /** Number, first that is not settled, life. */
  terms(): number[] {
    if (this.chance(0.7)) this.#number += 1;
    const number = Math.max(1, this.#number - this.pick([0, 0, 0, 1, 4]));
    return [number, Math.max(1, number - this.integer(0, 3)), this.pick([50, 960_000])];
  }

  permit(): string {
    const holder = this.pick(PERMIT_HOLDERS);
    return `${holder.slice(0, 12)}\0\0\0${this.pick(['\0', '\x01', '\x02'])}`;
  }

  waiters(name: LockName): string {
    return this.chance(0.7) ? name.waiters : '';
  }

  tombstone(name: LockName, holder: string): string {
    return this.chance(0.1) ? name.gone(holder) : '';
  }

  publish(): string {
    return this.pick(['publish', 'publish', 'spublish']);
  }

  lease(): number {
    return this.pick(LEASES);
  }

  flag(): string {
    return this.pick(['0', '1']);
  }

  chance(probability: number): boolean {
    return this.dice.chance(probability);
  }

  integer(low: number, high: number): number {
    return this.dice.integer(low, high);
  }

  pick<T>(items: readonly T[]): T {
    return this.dice.pick(items);
  }
}
