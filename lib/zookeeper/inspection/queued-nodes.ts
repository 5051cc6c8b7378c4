import { LEASE_NAME } from '../recipes/lease-turn.js';
import { READ_NAME, readWriteSortKey, WRITE_NAME } from '../recipes/read-write-names.js';
import { sortKey } from '../recipes/sort-key.js';
import { sortedChildren } from '../recipes/sorted-children.js';

/** A node in the directory of a lock. */
export interface QueuedNode {
  readonly name: string;
  readonly isHolder: boolean;
  readonly mode?: 'read' | 'write';
}

/** The nodes of a mutex, in their order: the first of them holds. */
export function mutexNodes(children: readonly string[]): QueuedNode[] {
  const sorted = sortedChildren(children, (child) => sortKey(child, 'lock-'));
  return sorted.map((name, i) => ({ name, isHolder: i === 0 }));
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
