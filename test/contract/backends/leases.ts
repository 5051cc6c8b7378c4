import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { LockLostError } from '../../../lib/core/errors/index.js';
import type { Lease } from '../../../lib/core/lease.js';
import type { ZooKeeperLease } from '../../../lib/zookeeper/locks/zookeeper-lease.js';
import type { StageClient } from './stage.js';

/** The lease says in every way it has that it was lost. */
export function expectLost(lease: Lease): void {
  expect(lease.isHeld).toBe(false);
  expect(lease.signal.aborted).toBe(true);
  expect(lease.signal.reason).toBeInstanceOf(LockLostError);
  expect(() => lease.assertHeld()).toThrow(LockLostError);
}

const KINDS = ['acquired', 'contended', 'released', 'lost', 'failed'] as const;

/** What a client reports of a lock. */
interface Heard {
  readonly kind: string;
  readonly key: string;
  readonly handOffs?: number;
}

/** Everything that the client reports of its locks from now on. */
export function eventsOf({ locks }: StageClient): Heard[] {
  const heard: Heard[] = [];
  for (const kind of KINDS) locks.on(kind, (event) => heard.push({ kind, ...event }));
  return heard;
}

/** Makes the lease revocable; the list grows by the lease at each call of its listener. */
export function revocationsOf(lease: ZooKeeperLease): ZooKeeperLease[] {
  const told: ZooKeeperLease[] = [];
  lease.makeRevocable((revoked) => told.push(revoked));
  return told;
}

/** What has both halves of a lock, on which leases of that kind are granted. */
interface Halves<L extends Lease> {
  readLock(): { acquire(): Promise<L> };
  writeLock(): { acquire(): Promise<L> };
}

/** Has the client take the write lock, and the read lock inside of it. */
export async function downgrade<L extends Lease>(
  { locks }: { readonly locks: { readWriteLock(key: string): Halves<L> } },
  key: string,
): Promise<{ writer: L; reader: L }> {
  const lock = locks.readWriteLock(key);
  const writer = await lock.writeLock().acquire();
  const reader = await writer.run(() => lock.readLock().acquire());
  return { writer, reader };
}

/** Readers notice when a writer is at work, and writers when any client is; in different turns, as in a database. */
export class ReadWriteRoom {
  updates = 0;
  writes = 0;
  disturbances = 0;
  mostReaders = 0;
  #readers = 0;
  #writers = 0;

  async read(): Promise<void> {
    this.#readers += 1;
    this.mostReaders = Math.max(this.mostReaders, this.#readers);
    this.#look(this.#writers);
    await nextTurn();
    this.#look(this.#writers);
    this.#readers -= 1;
  }

  async write(): Promise<void> {
    this.writes += 1;
    this.#writers += 1;
    const { updates } = this;
    this.#look(this.#readers + this.#writers - 1);
    await nextTurn();
    this.#look(this.#readers + this.#writers - 1);
    this.updates = updates + 1;
    this.#writers -= 1;
  }

  #look(others: number): void {
    if (others > 0) this.disturbances += 1;
  }
}
