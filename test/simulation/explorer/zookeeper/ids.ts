/**
 * Makes ids that are numbers in the order of their creation, or in the reverse order: so nodes that are ordered by their ids alone
 * come in one order or the other.
 */
export function numberedIds(order: 'rising' | 'falling' = 'rising'): () => string {
  let count = 0;
  return () => {
    count += 1;
    const digits = String(order === 'rising' ? count : 10 ** 12 - count).padStart(12, '0');
    return `00000000-0000-4000-8000-${digits}`;
  };
}
