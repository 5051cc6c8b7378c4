/** The children in the order of the queue: see `predecessorOf`. */
export function sortedChildren(
  children: readonly string[],
  sortKey: (child: string) => string,
): string[] {
  const keyed = children.map((name) => ({ name, key: sortKey(name) }));
  keyed.sort((a, b) => (a.key < b.key || (a.key === b.key && a.name < b.name) ? -1 : 1));
  return keyed.map(({ name }) => name);
}
