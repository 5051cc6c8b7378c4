import { sortKey } from './sort-key.js';

/**
 * The children in the order of the queue. All take part, also names that no lock made, and keys compare as UTF-16 code
 * units: as in Curator, so that every client sees the same queue. Equal keys, which only strangers make, go by the name.
 */
export function sortedChildren(children: readonly string[], lockName: string): string[] {
  const keyed = children.map((name) => ({ name, key: sortKey(name, lockName) }));
  keyed.sort((a, b) => (a.key < b.key || (a.key === b.key && a.name < b.name) ? -1 : 1));
  return keyed.map(({ name }) => name);
}
