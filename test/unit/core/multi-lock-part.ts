import type { AcquireOptions, Lock, LockIdentity, LockRecipe } from '../../../lib/core/lock.js';
import { LockOptionsError } from '../../../lib/core/errors/index.js';
import type { Lease } from '../../../lib/core/lease.js';
import { granted } from './granted.js';

/** The one client of all parts that name no other. */
const CLIENT = {};

/** A lock that grants when the test says so, and writes down its story. */
export class Part implements Lock {
  readonly identity: LockIdentity;
  /** Options of every acquire and tryAcquire so far. */
  readonly asked: AcquireOptions[] = [];
  /** Everything that was granted so far. */
  readonly grants: ReturnType<typeof granted>[] = [];
  /** What an acquire and a tryAcquire wait for; it may reject. */
  turn: (options: AcquireOptions) => Promise<void> = async () => {};
  /** What a release waits for; it may reject, which those of this library never do. */
  freeing: () => Promise<void> = async () => {};
  /** tryAcquire finds it taken. */
  isTaken = false;

  /** @param story where its grants and releases are written down */
  constructor(
    readonly key: string,
    private readonly story: string[] = [],
    recipe: LockRecipe = 'mutex',
    scope: object = CLIENT,
    client?: string,
  ) {
    this.identity = { scope, recipe, name: `/locks/${key}`, client };
  }

  async acquire(options: AcquireOptions = {}): Promise<Lease> {
    this.asked.push(options);
    await this.turn(options);
    return this.#grant();
  }

  async tryAcquire(options: AcquireOptions = {}): Promise<Lease | undefined> {
    this.asked.push(options);
    await this.turn(options);
    return this.isTaken ? undefined : this.#grant();
  }

  using<T>(): Promise<T> {
    throw new LockOptionsError('using', this.key, 'acquire: a multi-lock has a scope of its own');
  }

  #grant(): Lease {
    const grant = granted(this.identity.name, this.identity.scope);
    grant.ledger.free = async () => {
      this.story.push(`release ${this.key}`);
      await this.freeing();
    };
    this.grants.push(grant);
    this.story.push(`hold ${this.key}`);
    return grant.lease;
  }
}
