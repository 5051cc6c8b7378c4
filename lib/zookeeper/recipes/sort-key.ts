/** What a child is ordered by: all that follows the last `lockName`, or the whole name of a stranger's node. */
export function sortKey(child: string, lockName: string): string {
  const at = child.lastIndexOf(lockName);
  return at < 0 ? child : child.slice(at + lockName.length);
}
