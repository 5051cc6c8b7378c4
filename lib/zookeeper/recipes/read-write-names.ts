import { sortKey } from './sort-key.js';

/** What follows the UUID in the names of a read/write lock's nodes, as in Curator. */
export const READ_NAME = '__READ__';
export const WRITE_NAME = '__WRIT__';

/** Readers and writers stand in one queue. */
export function readWriteSortKey(child: string): string {
  return sortKey(sortKey(child, READ_NAME), WRITE_NAME);
}
