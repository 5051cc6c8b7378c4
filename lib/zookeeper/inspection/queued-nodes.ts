import {
  leaderLatchDriver,
  READ_NAME,
  readWriteSortKey,
  standardLockInternalsDriver,
  WRITE_NAME,
} from '../recipes/lock-drivers.js';
import { LEASE_NAME } from '../recipes/lease-turn.js';
import { sortedChildren, sortKey } from '../recipes/queue-order.js';

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** A node in the directory of a lock. */
export interface QueuedNode {
  readonly name: string;
  readonly isHolder: boolean;
  readonly mode?: 'read' | 'write';
}

/** The nodes of a mutex, or of a leader selector, in their order: the first of them holds. */
export function mutexNodes(children: readonly string[]): QueuedNode[] {
  return firstHolds(sortedChildren(children, standardLockInternalsDriver.sortKey));
}

/** Are they the nodes of a leader latch? */
export function areLatches(children: readonly string[]): boolean {
  return children.some((child) => child.includes(leaderLatchDriver.lockName));
}

/** The nodes of a leader latch, in their order: the first of them leads. */
export function latchNodes(children: readonly string[]): QueuedNode[] {
  return firstHolds(sortedChildren(children, leaderLatchDriver.sortKey));
}

/** Are they the nodes of a double barrier, of which nobody holds anything? */
export function areOfBarrier(children: readonly string[]): boolean {
  return children.every((child) => child === 'ready' || UUID.test(child));
}

/** Are they the nodes of a read/write lock? */
export function areReadWrite(children: readonly string[]): boolean {
  return children.some((child) => child.includes(READ_NAME) || child.includes(WRITE_NAME));
}

/**
 * The nodes of a read/write lock, in their order. The readers ahead of all writers hold; a writer does when nobody is ahead,
 * but itself: a reader that took the writer's own number (see the downgrade).
 */
export function readWriteNodes(children: readonly string[]): QueuedNode[] {
  const sorted = sortedChildren(children, readWriteSortKey);
  const firstWriter = sorted.findIndex((child) => child.includes(WRITE_NAME));
  const isAlone = sorted
    .slice(0, Math.max(0, firstWriter))
    .every((child) => readWriteSortKey(child) === readWriteSortKey(sorted[firstWriter]!));
  const holding = firstWriter < 0 ? sorted.length : firstWriter + (isAlone ? 1 : 0);
  return sorted.map((name, i) => ({
    name,
    isHolder: i < holding,
    mode: name.includes(WRITE_NAME) ? 'write' : 'read',
  }));
}

/** The leases of a semaphore, in the order of their numbers. */
export function leaseNodes(children: readonly string[]): string[] {
  return sortedChildren(children, (child) => sortKey(child, LEASE_NAME));
}

function firstHolds(sorted: readonly string[]): QueuedNode[] {
  return sorted.map((name, i) => ({ name, isHolder: i === 0 }));
}
