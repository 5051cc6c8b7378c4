import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { ClientShutdown } from '../../../lib/clients/client-shutdown.js';
import type { LockClient } from '../../../lib/index.js';
import { LockTesting } from '../../../lib/testing/index.js';
import { Deferred } from '../../support/time.js';

/** A shutdown in virtual time, of a client that waits for 100 ms. */
class Stage {
  readonly time = new LockTesting();
  readonly lines: string[] = [];
  readonly shutdown = new ClientShutdown({
    log: (line: string) => void this.lines.push(`log: ${line}`),
    warn: (line: string) => void this.lines.push(`warn: ${line.replace(/Its signal.*/, '…')}`),
  });
  readonly client: LockClient = this.time.createClient();

  async prepare(): Promise<void> {
    await this.client.connect();
    this.shutdown.add(this.client, { drainTimeout: 100 });
  }

  /** Work under a lock of that key, until the returned function is called. */
  async begin(key: string): Promise<() => void> {
    const [entered, door] = [new Deferred(), new Deferred()];
    const work = this.client.mutex(key).using(async () => {
      entered.resolve();
      await door.promise;
    });
    void work.catch(() => {});
    await entered.promise;
    return () => door.resolve();
  }

  /** How much virtual time `step` takes, in ms, until 1,000 have passed. */
  async lengthOf(step: Promise<void>): Promise<number> {
    const { now } = this.time;
    let end: number | undefined;
    void step.then(() => (end = this.time.now));
    await nextTurn(); // it begins
    while (end === undefined && this.time.now < now + 1_000) await this.time.advance(1);
    return (end ?? Infinity) - now;
  }
}

let stage: Stage;
beforeEach(async () => {
  stage = new Stage();
  await stage.prepare();
});

describe('A shutdown that waits for work in its first hook and in its last one', () => {
  it('waits in neither if there is none', async () => {
    const { shutdown } = stage;
    await stage.client.mutex('held').acquire();
    expect(await stage.lengthOf(shutdown.finish())).toBeLessThan(5);
    expect(await stage.lengthOf(shutdown.drain())).toBeLessThan(5);
    expect(stage.lines).toEqual([]);
  });

  it('waits for its `drainTimeout` in all, and says so once', async () => {
    const { shutdown, lines } = stage;
    await stage.begin('job');
    expect(await stage.lengthOf(shutdown.finish())).toBe(100);
    expect(await stage.lengthOf(shutdown.drain())).toBeLessThan(5);
    expect(lines).toEqual([
      'log: Lock client "default" waits for up to 100 ms for the end of "job"',
      'warn: Lock client "default" closes, although its work was not over after the `drainTimeout` of 100 ms: "job". …',
    ]);
  });

  it('has what is left of it for work that began meanwhile', async () => {
    const { shutdown, lines, time } = stage;
    const end = await stage.begin('job');
    const finishing = stage.lengthOf(shutdown.finish());
    await time.advance(20);
    await stage.begin('late');
    await time.advance(10);
    end();
    expect(await finishing).toBeLessThan(40);
    await time.advance(50); // other hooks
    const spent = time.now;
    expect(await stage.lengthOf(shutdown.drain())).toBe(100 - spent);
    expect(lines).toContain(
      `log: Lock client "default" waits for up to ${100 - spent} ms for the end of "late"`,
    );
  });

  it('does not wait again in a second shutdown', async () => {
    const { shutdown } = stage;
    await stage.begin('job');
    await stage.lengthOf(shutdown.finish());
    await stage.lengthOf(shutdown.drain());
    expect(await stage.lengthOf(shutdown.finish())).toBeLessThan(5);
    expect(await stage.lengthOf(shutdown.drain())).toBeLessThan(5);
  });

  it('waits for work that goes on without a pause only until it first ends', async () => {
    const { shutdown } = stage;
    let [end, next] = [await stage.begin('one'), await stage.begin('two')];
    const finishing = stage.lengthOf(shutdown.finish());
    for (let i = 0; i < 5; i++) {
      await stage.time.advance(10);
      end();
      [end, next] = [next, await stage.begin(`next ${i}`)];
    }
    expect(await finishing).toBeLessThan(30);
  });
});
