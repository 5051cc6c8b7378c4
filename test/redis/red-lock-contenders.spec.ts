import { describe, expect, it } from '@jest/globals';
import { CriticalSection } from '../integration/support/critical-section.js';
import { onRedLock } from './red-lock-stage.js';

const EACH = 20;

describe.each([3, 5])('With %i servers', (count) => {
  const stage = onRedLock(count);

  it('20 contenders of three clients are served one after the other', async () => {
    const { servers, key } = stage();
    const clients = await stage().clients(3);
    const section = new CriticalSection();
    const contend = async (visitor: string, client: (typeof clients)[number]) => {
      const lease = await client.mutex(key).acquire({ wait: 25_000 });
      section.enter(visitor);
      const seen = Number(await servers.all[0]!.command('GET', 'counter')); // outside the lock's own keys
      await servers.all[0]!.command('SET', 'counter', seen + 1);
      section.leave();
      await lease.release();
    };
    const visitors = Array.from({ length: EACH }, (_, i) => `${i}`);
    await Promise.all(visitors.map((visitor, i) => contend(visitor, clients[i % 3]!)));
    expect([section.most, [...section.visitors].sort()]).toEqual([1, [...visitors].sort()]);
    expect(Number(await servers.all[0]!.command('GET', 'counter'))).toBe(EACH);
    await servers.all[0]!.command('DEL', 'counter');
    await stage().isEmpty();
  });

  it('concurrent contenders, in any order of the servers, do not hinder each other for long', async () => {
    const { nodes } = stage().servers;
    const rotated = nodes.map((_, i) => [...nodes.slice(i), ...nodes.slice(0, i)]);
    const clients = await Promise.all(
      rotated.slice(0, 3).map((order) => stage().client({ nodes: order })),
    );
    for (let round = 0; round < 10; round++) {
      const section = new CriticalSection();
      const visits = clients.map((client, i) =>
        client.mutex(`${stage().key} ${round}`).using(
          () => {
            section.enter(`${i}`);
            section.leave();
          },
          { wait: 20_000 },
        ),
      );
      await Promise.all(visits);
      expect([section.most, section.visitors.length]).toEqual([1, 3]);
    }
    await stage().isEmpty();
  });

  it('at most one of several single attempts is granted, and nothing is left of the others', async () => {
    const clients = await stage().clients(3);
    for (let round = 0; round < 20; round++) {
      const asked = clients.map((client) => client.mutex(stage().key).tryAcquire());
      const granted = (await Promise.all(asked)).filter((lease) => lease !== undefined);
      expect(granted.length).toBeLessThanOrEqual(1);
      await Promise.all(granted.map((lease) => lease.release()));
      await stage().isEmpty();
    }
  });
});
