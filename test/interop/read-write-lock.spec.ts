import { expect, it } from '@jest/globals';
import { describeWithCurator } from './support/describe-with-curator.js';
import { excludingSuite } from './support/excluding.suite.js';

describeWithCurator('A read/write lock', (stage, release) => {
  const locks = () => ({ read: `read:${stage.path}`, write: `write:${stage.path}` });

  excludingSuite(stage, {
    lock: (path) => `write:${path}`,
    queue: (path) => path,
    nodesOfHolder: 1,
  });

  it('is read by both at the same time, and written by neither meanwhile', async () => {
    const { read, write } = locks();
    const [ours, theirs] = [stage.node.actor(), stage.other.actor()];
    expect(await ours.acquire(read)).toBe(true);
    expect(await theirs.acquire(read)).toBe(true);
    expect(await stage.node.actor().acquire(write, { wait: 300 })).toBe(false);
    expect(await stage.other.actor().acquire(write, { wait: 300 })).toBe(false);
    await ours.release(read);
    expect(await stage.node.actor().acquire(write, { wait: 300 })).toBe(false);
    await theirs.release(read);
    expect(await stage.node.actor().acquire(write)).toBe(true);
  });

  it.each(stage.ways)('admits no reader past a waiting writer while $title', async (way) => {
    const { read, write } = locks();
    const [reader, writer] = [way.first().actor(), way.second().actor()];
    await reader.acquire(read);
    const granted = writer.acquire(write);
    await stage.stranger.queue(stage.path, 2);
    expect(await way.first().actor().acquire(read, { wait: 300 })).toBe(false);
    expect(await way.second().actor().acquire(read, { wait: 300 })).toBe(false);
    await reader.release(read);
    expect(await granted).toBe(true);
    await writer.release(write);
  });

  // Before 5.5.0 a downgrade in Java let a queued writer in, even a Java one.
  const downgraders = stage.ways.filter(({ isNode }) => isNode || release !== '5.4.0');
  it.each(downgraders)(
    'stays closed to a queued writer when $title and downgrades',
    async (way) => {
      const { read, write } = locks();
      const [holder, writer] = [way.first().actor(), way.second().actor()];
      await holder.acquire(write);
      let isWritten = false;
      const written = writer.acquire(write).then((granted) => (isWritten = granted));
      await stage.stranger.queue(stage.path, 2);

      expect(await holder.acquire(read)).toBe(true);
      await holder.release(write);
      // Time for the writer to enter if it could.
      expect(await way.second().actor().acquire(write, { wait: 1_000 })).toBe(false);
      expect(isWritten).toBe(false);

      await holder.release(read);
      expect(await written).toBe(true);
      await writer.release(write);
    },
  );

  it('has the same readers and the same writers for both', async () => {
    const { read, write } = locks();
    const readers = [stage.node.actor(), stage.other.actor()];
    for (const reader of readers) await reader.acquire(read);
    const writers = [stage.node.actor(), stage.other.actor()];
    const granted = [];
    for (const [place, writer] of writers.entries()) {
      granted.push(writer.acquire(write));
      await stage.stranger.queue(stage.path, readers.length + place + 1);
    }
    const [ours, theirs] = [stage.node.actor(), stage.other.actor()];
    const queue = await stage.stranger.queue(stage.path, 4);
    const paths = queue.map((name) => `${stage.path}/${name}`);
    expect(await ours.participants(read)).toEqual(paths.slice(0, 2));
    expect(await theirs.participants(read)).toEqual(paths.slice(0, 2));
    expect(await ours.participants(write)).toEqual(paths.slice(2));
    expect(await theirs.participants(write)).toEqual(paths.slice(2));

    for (const reader of readers) await reader.release(read);
    for (const [place, writer] of writers.entries()) {
      expect(await granted[place]).toBe(true);
      await writer.release(write);
    }
  });
});
