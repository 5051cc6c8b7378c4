import { expect, it } from '@jest/globals';
import { describeWithCurator } from './support/describe-with-curator.js';

describeWithCurator('A multi-lock', (stage) => {
  const parts = () => [
    `mutex:${stage.path}/a`,
    `write:${stage.path}/b`,
    `semaphoreMutex:${stage.path}/c`,
  ];
  const multiLock = () => parts().join('+');

  it.each(stage.ways)('excludes the other side as a whole while $title', async (way) => {
    const [first, second] = [way.first().actor(), way.second().actor()];
    expect(await first.acquire(multiLock())).toBe(true);
    expect(await second.acquire(multiLock(), { wait: 300 })).toBe(false);
    const granted = second.acquire(multiLock());
    await stage.stranger.queue(`${stage.path}/a`, 2);
    await first.release(multiLock());
    expect(await granted).toBe(true);
    await second.release(multiLock());
  });

  it.each(stage.ways)('excludes the other side part by part while $title', async (way) => {
    const [first, second] = [way.first().actor(), way.second().actor()];
    await first.acquire(multiLock());
    for (const part of parts()) expect(await second.acquire(part, { wait: 300 })).toBe(false);
    await first.release(multiLock());
    for (const part of parts()) expect(await second.acquire(part)).toBe(true);
  });

  it.each(stage.ways)('leaves the other parts free when one is held and $title', async (way) => {
    const [a, b, c] = parts();
    const [first, second] = [way.first().actor(), way.second().actor()];
    await first.acquire(b!);
    expect(await second.acquire(multiLock(), { wait: 300 })).toBe(false);
    expect(await first.acquire(a!)).toBe(true);
    expect(await first.acquire(c!)).toBe(true);
  });
});
