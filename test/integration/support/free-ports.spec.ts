import { afterEach, describe, expect, it } from '@jest/globals';
import { freePorts } from '../../support/free-ports.js';

const HOST = '127.0.0.1';

describe('Free ports', () => {
  const worker = process.env.JEST_WORKER_ID;
  afterEach(() => void (process.env.JEST_WORKER_ID = worker));

  const rangeOf = async (id: string) => {
    process.env.JEST_WORKER_ID = id;
    const ports = await freePorts(50, HOST);
    return { lowest: Math.min(...ports), highest: Math.max(...ports) };
  };

  it('are different each time, although the earlier ones have no listener', async () => {
    const all = new Set<number>();
    for (let round = 0; round < 10; round++)
      for (const port of await freePorts(50, HOST)) all.add(port);
    expect(all.size).toBe(500);
  });

  it('are different in each worker', async () => {
    const [first, second] = [await rangeOf('1'), await rangeOf('2')];
    expect(first.highest).toBeLessThan(second.lowest);
  });
});
