import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { LockModule, LockTimeoutError, Semaphore, type LockClient } from '../../lib/index.js';
import { eventually } from '../support/eventually.js';
import { Deferred } from '../support/deferred.js';
import { Apps, clientOf } from './support/apps.js';

@Injectable()
class Renderer {
  running = 0;
  most = 0;
  done = 0;

  @Semaphore('render', { permits: 3 })
  async render(until: Promise<void>): Promise<void> {
    this.running += 1;
    this.most = Math.max(this.most, this.running);
    await until;
    this.running -= 1;
    this.done += 1;
  }

  @Semaphore('render', { permits: 3, onBusy: 'skip' })
  async renderNow(): Promise<string | undefined> {
    return 'rendered';
  }

  @Semaphore('render', { permits: 3, wait: 1_000 })
  async nested(depth: number): Promise<number> {
    return depth > 1 ? this.nested(depth - 1) : depth;
  }

  @Semaphore((page: number) => `page:${page}`, { permits: 1, onBusy: 'skip' })
  async renderPage(_page: number, until: Promise<void>): Promise<string | undefined> {
    await until;
    return 'rendered';
  }
}

describe('A method with @Semaphore', () => {
  const apps = new Apps();
  let renderer: Renderer;
  let client: LockClient;

  beforeEach(async () => {
    const app = await apps.boot({ imports: [LockModule.forRoot()], providers: [Renderer] });
    renderer = app.get(Renderer);
    client = clientOf(app);
  });
  afterEach(() => apps.close());

  const available = () => client.semaphore('render', { permits: 3 }).availablePermits();

  it('runs as many calls at a time as there are permits, and all in the end', async () => {
    const until = new Deferred();
    const calls = Array.from({ length: 10 }, () => renderer.render(until.promise));
    await eventually('all permits are taken', () => renderer.running === 3);
    expect(await renderer.renderNow()).toBeUndefined();
    expect(await available()).toBe(0);

    until.resolve();
    await Promise.all(calls);
    expect(renderer).toMatchObject({ running: 0, most: 3, done: 10 });
    expect(await available()).toBe(3);
  });

  it('shares its permits with callers that take them by hand', async () => {
    const two = await client.semaphore('render', { permits: 3 }).acquire({ permits: 2 });
    expect(await renderer.renderNow()).toBe('rendered');
    const third = await client.semaphore('render', { permits: 3 }).acquire();
    expect(await renderer.renderNow()).toBeUndefined();
    await Promise.all([two.release(), third.release()]);
  });

  it('takes one more permit for a nested call', async () => {
    expect(await renderer.nested(3)).toBe(1);
    await expect(renderer.nested(4)).rejects.toBeInstanceOf(LockTimeoutError);
    expect(await available()).toBe(3);
  });

  it('has the permits of its key', async () => {
    const until = new Deferred();
    const first = renderer.renderPage(1, until.promise);
    await eventually(
      'page 1 is rendered',
      async () => (await client.semaphore('page:1', { permits: 1 }).availablePermits()) === 0,
    );
    expect(await renderer.renderPage(1, until.promise)).toBeUndefined();
    const second = renderer.renderPage(2, until.promise);
    until.resolve();
    expect(await Promise.all([first, second])).toEqual(['rendered', 'rendered']);
  });
});
