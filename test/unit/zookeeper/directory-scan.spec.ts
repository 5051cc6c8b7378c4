import { describe, expect, it } from '@jest/globals';
import type { ZooKeeperConnection } from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { DirectoryScan } from '../../../lib/zookeeper/inspection/directory-scan.js';

/** A scan of a directory with these children, and the number of its listings. */
function scanOf(children: string[]) {
  const seen = { listings: 0 };
  const connection = {
    exists: () => Promise.resolve({ numChildren: children.length }),
    getChildren: () => {
      seen.listings += 1;
      return Promise.resolve([...children]);
    },
  } as unknown as ZooKeeperConnection;
  return { scan: new DirectoryScan(connection, '/locks'), seen, children };
}

const named = (count: number) => Array.from({ length: count }, (_, i) => `order:${i}`);

describe('The scan of a directory', () => {
  it('goes over all children in rounds, with one listing for each', async () => {
    const { scan, seen, children } = scanOf(named(25));
    const slices = [await scan.next(500, 10), await scan.next(500, 10), await scan.next(500, 10)];
    expect(slices.map(({ names }) => names.length)).toEqual([10, 10, 5]);
    expect(slices.flatMap(({ names }) => names)).toEqual(named(25));
    expect(seen.listings).toBe(1);
    children.push('new');
    expect((await scan.next(500, 26)).names).toContain('new');
    expect(seen.listings).toBe(2);
  });

  it('returns no more than there is room for, and goes on from there', async () => {
    const { scan } = scanOf(named(3));
    expect((await scan.next(2, 10)).names).toEqual(['order:0', 'order:1']);
    expect((await scan.next(0, 10)).names).toEqual([]);
    expect((await scan.next(2, 10)).names).toEqual(['order:2']);
  });

  it('lists no directory with more children than 20 for each that it may examine', async () => {
    const { scan, seen, children } = scanOf(named(201));
    expect(await scan.next(500, 10)).toEqual({ names: [], unlisted: 201 });
    expect(seen.listings).toBe(0);
    children.pop();
    expect((await scan.next(500, 10)).names).toHaveLength(10);
  });

  it('sends nothing when it is disabled', async () => {
    const { scan, seen } = scanOf(named(3));
    expect(await scan.next(500, 0)).toEqual({ names: [], unlisted: 0 });
    expect(seen.listings).toBe(0);
  });
});
