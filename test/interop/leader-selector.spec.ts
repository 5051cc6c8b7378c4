import { expect, it } from '@jest/globals';
import { describeWithCurator } from './support/describe-with-curator.js';

describeWithCurator('A leader selector', (stage) => {
  const selector = (id: string) => `selector#${id}:${stage.path}`;

  it.each(stage.ways)('takes turns with the other side where $title first', async (way) => {
    const [first, second] = [way.first(), way.second()];
    const [a, b] = [first.election(selector('a')), second.election(selector('b'))];
    await a.start();
    expect(await a.leads()).toBe(true);
    await b.start();
    await stage.stranger.queue(stage.path, 2);
    for (let round = 0; round < 3; round++) {
      expect(await b.leads(100)).toBe(false);
      await a.yield();
      expect(await b.leads()).toBe(true);
      await stage.stranger.queue(stage.path, 1);
      expect(await a.requeue()).toBe(true);
      await stage.stranger.queue(stage.path, 2);
      expect(await a.leads(100)).toBe(false);
      await b.yield();
      expect(await a.leads()).toBe(true);
      await stage.stranger.queue(stage.path, 1);
      expect(await b.requeue()).toBe(true);
      await stage.stranger.queue(stage.path, 2);
    }
    await b.close();
    await a.close();
    expect(await stage.stranger.queue(stage.path, 0)).toEqual([]);
  });

  it.each(stage.ways)('has the same leader and participants where $title', async (way) => {
    const [first, second] = [way.first(), way.second()];
    const [a, b] = [first.election(selector('a')), second.election(selector('b'))];
    await a.start();
    expect(await a.leads()).toBe(true);
    await b.start();
    await stage.stranger.queue(stage.path, 2);
    for (const one of [a, b]) {
      expect(await one.participants()).toEqual([
        { id: 'a', isLeader: true },
        { id: 'b', isLeader: false },
      ]);
      expect(await one.leader()).toBe('a');
    }
    await b.close();
    await a.close();
  });

  it.each(stage.ways)('passes leadership on when it is interrupted where $title', async (way) => {
    const [first, second] = [way.first(), way.second()];
    const [a, b] = [first.election(selector('a')), second.election(selector('b'))];
    await a.start();
    expect(await a.leads()).toBe(true);
    await b.start();
    await stage.stranger.queue(stage.path, 2);
    await a.interrupt();
    expect(await b.leads()).toBe(true);
    expect([await a.hasLeadership(), await b.hasLeadership()]).toEqual([false, true]);
    await b.close();
    await a.close();
  });

  it.each(stage.ways)('is a mutex with the same path where $title', async (way) => {
    const [first, second] = [way.first(), way.second()];
    const [leader, holder] = [first.election(selector('a')), second.actor()];
    await leader.start();
    expect(await leader.leads()).toBe(true);
    expect(await holder.acquire(`mutex:${stage.path}`, { wait: 300 })).toBe(false);
    await leader.close();
    expect(await holder.acquire(`mutex:${stage.path}`)).toBe(true);
    await holder.release(`mutex:${stage.path}`);
  });
});
