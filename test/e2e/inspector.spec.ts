import { describe, expect, it } from '@jest/globals';
import {
  Injectable,
  Module,
  type CanActivate,
  type ExecutionContext,
  type INestApplication,
} from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import {
  LockInspector,
  LockInspectorModule,
  type LockInspectorOptions,
  type LockInspectorSnapshot,
} from '../../lib/inspector/index.js';
import {
  LockTimeoutError,
  type Leadership,
  type LockClient,
  type ZooKeeperLockClient,
} from '../../lib/index.js';
import { eventually } from '../support/time.js';
import { useCleanup } from '../support/fixtures.js';
import { clientOf, useApps } from './support/apps.js';

/** What a browser's EventSource does: reads the snapshots of the inspector as they come. */
class EventStream {
  /** How many have come. */
  count = 0;
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>;
  readonly #snapshots: LockInspectorSnapshot[] = [];
  #tell?: () => void;

  private constructor(
    response: Response,
    private readonly controller: AbortController,
  ) {
    this.ended = this.#read(response).catch(() => {});
  }

  static async open(url: string): Promise<EventStream> {
    const controller = new AbortController();
    return new EventStream(await fetch(url, { signal: controller.signal }), controller);
  }

  /** The next one. */
  async next(): Promise<LockInspectorSnapshot> {
    while (this.#snapshots.length === 0) await new Promise<void>((tell) => (this.#tell = tell));
    return this.#snapshots.shift()!;
  }

  async close(): Promise<void> {
    this.controller.abort();
    await this.ended;
  }

  async #read(response: Response): Promise<void> {
    let text = '';
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      const events = (text + chunk).split('\n\n');
      text = events.pop()!;
      for (const event of events) this.#take(event);
    }
  }

  #take(event: string): void {
    const [, data] = /^data: (\{.*)$/m.exec(event) ?? [];
    if (data === undefined) return;
    this.count += 1;
    this.#snapshots.push(JSON.parse(data) as LockInspectorSnapshot);
    this.#tell?.();
  }
}

/** Lets in requests by the role that they claim, to look or to do more. */
@Injectable()
class RoleGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers, method } = context.switchToHttp().getRequest();
    return headers.role === 'admin' || (headers.role === 'staff' && method === 'GET');
  }
}

interface Candidate {
  start(): void;
  close(): Promise<void>;
  readonly leadership?: Leadership;
}

/** Stands for the election `cron` by a latch, or by a selector that leads until it is interrupted. */
function candidate(
  locks: LockClient,
  recipe: 'leaderLatch' | 'leaderSelector',
  id: string,
): Candidate {
  if (recipe === 'leaderLatch') {
    const latch = locks.leaderLatch('cron', { id });
    return {
      start: () => latch.start(),
      close: () => latch.close(),
      get leadership() {
        return latch.leadership;
      },
    };
  }
  let leadership: Leadership | undefined;
  const lead = (given: Leadership) => {
    leadership = given;
    return new Promise((resolve) => given.signal.addEventListener('abort', resolve));
  };
  const selector = locks.leaderSelector('cron', lead, { id });
  return {
    start: () => selector.start(),
    close: () => selector.close(),
    get leadership() {
      return leadership;
    },
  };
}

/** Waits until the election `cron` is shown with these participants, the leader first. */
function electionOf(inspector: LockInspector, participants: readonly string[]) {
  return eventually(`${participants.join()} are shown`, async () => {
    const [client] = (await inspector.snapshot()).clients;
    const election = client!.locks.find(({ key }) => key === 'cron');
    const shown = [...(election?.holders ?? []), ...(election?.queue ?? [])];
    expect(shown.map(({ participant }) => participant)).toEqual(participants);
    return election?.holders.length === 1 && election;
  });
}

const ADAPTERS = [
  { name: 'Express', adapter: () => new ExpressAdapter() },
  { name: 'Fastify', adapter: () => new FastifyAdapter() },
];

describe.each(ADAPTERS)('The inspector on $name', ({ adapter }) => {
  const cleanup = useCleanup();
  const apps = useApps();
  let locks: LockClient;
  let base: string;
  let app: INestApplication;

  async function serve(options: LockInspectorOptions, prefix = ''): Promise<void> {
    app = await apps.serve({
      imports: [LockInspectorModule.forRoot(options)],
      adapter: adapter(),
      prepare: (nest) => prefix && nest.setGlobalPrefix(prefix),
    });
    locks = clientOf(app);
    base = `${await app.getUrl()}${prefix}/locks`;
  }

  async function openStream(): Promise<EventStream> {
    return cleanup(await EventStream.open(`${base}/events`), (each) => each.close());
  }
  const get = (path: string, role = '') => fetch(base + path, { headers: { role } });
  const release = (body: object, headers: Record<string, string> = {}) =>
    fetch(`${base}/release`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-requested-with': 'nestjs-interlock',
        ...headers,
      },
      body: JSON.stringify(body),
    });

  it('refuses every request when no guards are configured', async () => {
    await serve({});
    for (const path of ['', '/snapshot', '/events']) {
      const response = await get(path);
      expect([path, response.status]).toEqual([path, 403]);
      expect(await response.text()).toContain('guards');
    }
    expect((await release({})).status).toBe(403);
  });

  it('shows the locks only to requests that the guards let in, and releases only for those that may release', async () => {
    await serve({ guards: [RoleGuard] });
    const lease = await locks.mutex('seat').acquire();
    for (const path of ['', '/snapshot', '/events']) {
      expect((await get(path)).status).toBe(403);
      const allowed = await get(path, 'staff');
      expect([path, allowed.status]).toEqual([path, 200]);
      await allowed.body!.cancel();
    }
    const [client] = (await app.get(LockInspector).snapshot()).clients;
    const { name, holders } = client!.locks[0]!;
    const body = { client: 'default', name, ids: holders[0]!.ids };
    expect((await release(body, { role: 'staff' })).status).toBe(403);
    expect(lease.isHeld).toBe(true);

    const released = await release(body, { role: 'admin' });
    expect([released.status, await released.json()]).toEqual([200, { released: true }]);
    expect(lease.isHeld).toBe(false);
    const again = await release(body, { role: 'admin' });
    expect(await again.json()).toEqual({ released: false });
  });

  it('lets every request look where that is configured, but release nothing', async () => {
    await serve({ guards: [] });
    const page = await get('');
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('data-may-release="false"');
    expect((await release({})).status).toBe(403);
  });

  it('asks the guards of releases too, where there are any', async () => {
    await serve({ guards: [], releaseGuards: [RoleGuard] });
    expect(await (await get('')).text()).toContain('data-may-release="true"');
    expect((await release({ client: '', name: '', ids: [] })).status).toBe(403);
    const body = { client: '', name: '', ids: [] };
    expect((await release(body, { role: 'admin' })).status).toBe(200);
  });

  it('gives guards what their modules export', async () => {
    @Injectable()
    class Secrets {
      readonly token = 'sesame';
    }
    @Module({ providers: [Secrets], exports: [Secrets] })
    class SecretsModule {}
    @Injectable()
    class TokenGuard implements CanActivate {
      constructor(private readonly secrets: Secrets) {}

      canActivate(context: ExecutionContext): boolean {
        return context.switchToHttp().getRequest().headers.role === this.secrets.token;
      }
    }
    await serve({ guards: [TokenGuard], imports: [SecretsModule] });
    expect((await get('', 'staff')).status).toBe(403);
    expect((await get('', 'sesame')).status).toBe(200);
  });

  it('releases nothing for a form of another site, or a request that makes no sense', async () => {
    await serve({ guards: [RoleGuard] });
    const admin = { role: 'admin' };
    const foreign = await release({}, { ...admin, 'x-requested-with': '' });
    expect(foreign.status).toBe(403);
    for (const body of [{}, { client: 'default', name: '/locks/a', ids: '/locks/a/b' }, []])
      expect((await release(body, admin)).status).toBe(400);
  });

  it('releases nothing but what is held', async () => {
    await serve({ guards: [RoleGuard] });
    const lease = await locks.mutex('seat').acquire();
    const waiting = locks.mutex('seat').acquire();
    const inspector = app.get(LockInspector);
    const [lock] = await eventually('it waits', async () => {
      const [client] = (await inspector.snapshot()).clients;
      return client!.locks[0]!.queue.length > 0 && client!.locks;
    });
    const waiter = lock!.queue[0]!.ids;
    expect(await inspector.release('default', lock!.name, waiter)).toBe(false);
    expect(await inspector.release('default', '/locks', [lock!.name])).toBe(false);
    expect(await inspector.release('other', lock!.name, lock!.holders[0]!.ids)).toBe(false);
    expect(lease.isHeld).toBe(true);
    await lease.release();
    await (await waiting).release();
  });

  it('allows its page nothing from elsewhere', async () => {
    await serve({ guards: [] });
    const { headers } = await get('');
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'sha256-\S+'; style-src 'sha256-\S+'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('works below a global prefix', async () => {
    await serve({ guards: [] }, '/internal');
    expect((await get('')).status).toBe(200);
    expect((await get('/snapshot')).status).toBe(200);
  });

  it('sends the state at once, and again when it changes, but not otherwise', async () => {
    await serve({ guards: [] });
    const stream = await openStream();
    expect(await stream.next()).toMatchObject({ clients: [{ name: 'default', locks: [] }] });

    const lease = await locks.mutex('seat').acquire({ method: 'Seats.take' });
    const [lock] = (await stream.next()).clients[0]!.locks;
    expect(lock).toMatchObject({
      key: 'seat',
      name: '/locks/seat',
      kind: 'mutex',
      holders: [{ pid: process.pid, method: 'Seats.take', fencingToken: expect.any(String) }],
      queue: [],
    });
    expect(lock!.holders[0]!.fencingToken).toBe(String(await lease.fencingToken()));
    await lease.release();
    expect(await stream.next()).toMatchObject({ clients: [{ locks: [] }] });
    expect(stream.count).toBe(3);
  });

  it('ends the stream when the app closes, which does not wait for it', async () => {
    await serve({ guards: [] });
    const stream = await openStream();
    await stream.next();
    await apps.close(app);
    await stream.ended;
  });

  it('shows a queue in its order, each with its method, and what was lost or timed out', async () => {
    await serve({ guards: [] });
    const inspector = app.get(LockInspector);
    const holder = await locks.mutex('seat').acquire({ method: 'first' });
    const queued: Promise<{ release(): Promise<void> }>[] = [];
    for (const method of ['second', 'third']) {
      queued.push(locks.mutex('seat').acquire({ method }));
      await eventually('it waits', () => locks.status().waiting === queued.length);
    }
    await expect(locks.mutex('seat').acquire({ wait: 5 })).rejects.toThrow(LockTimeoutError);
    const lock = await eventually('all stand in the queue', async () => {
      const [client] = (await inspector.snapshot()).clients;
      const [found] = client!.locks;
      return found?.queue.every(({ ids }) => ids.length > 0) && found;
    });
    expect(lock).toMatchObject({
      holders: [{ method: 'first' }],
      queue: [{ method: 'second' }, { method: 'third' }],
      timedOut: 1,
      lost: 0,
    });
    await inspector.release('default', lock.name, lock.holders[0]!.ids);
    expect(holder.isHeld).toBe(false);
    await eventually('the loss is counted', async () => {
      const [client] = (await inspector.snapshot()).clients;
      return client!.locks[0]?.lost === 1 && client!.processes[0]!.lost === 1;
    });
    for (const each of queued) await (await each).release();
    await holder.release();
  });

  it('shows no barriers and no counters, which have no holder', async () => {
    await serve({ guards: [] });
    const client = locks as ZooKeeperLockClient;
    const members = [1, 2].map(() => client.doubleBarrier('gate', 2));
    await Promise.all(members.map((member) => member.enter()));
    await client.barrier('door').setBarrier();
    await client.atomicLong('count').increment();
    const lease = await client.mutex('seat').acquire();
    const [shown] = (await app.get(LockInspector).snapshot()).clients;
    expect(shown!.locks.map(({ key }) => key)).toEqual(['seat']);
    await lease.release();
    await Promise.all(members.map((member) => member.leave()));
  });

  it.each(['leader latch', 'leader selector'])(
    'shows the leader by a %s and its followers in order, and takes the leadership away',
    async (kind) => {
      await serve({ guards: [] });
      const inspector = app.get(LockInspector);
      const candidates = ['web-1', 'web-2', 'web-3'].map((id) => {
        return candidate(locks, kind === 'leader latch' ? 'leaderLatch' : 'leaderSelector', id);
      });
      for (const each of candidates) cleanup(each, () => each.close());
      for (const [i, { start }] of candidates.entries()) {
        start();
        await eventually('it stands for election', () => {
          const { held, waiting } = locks.status();
          return held + waiting === i + 1;
        });
      }
      const first = await electionOf(inspector, ['web-1', 'web-2', 'web-3']);
      expect(first).toMatchObject({ key: 'cron', name: '/locks/cron', kind, lost: 0 });
      const [leader] = candidates as [Candidate];
      const before = leader.leadership!;
      const fencingToken = String(await before.fencingToken());
      expect(first.holders).toMatchObject([{ pid: process.pid, fencingToken }]);

      const { ids } = first.holders[0]!;
      expect(await inspector.release('default', first.name, ids)).toBe(true);
      expect(before.signal.aborted).toBe(true);
      const order = kind === 'leader latch' ? ['web-2', 'web-3', 'web-1'] : ['web-2', 'web-3'];
      const second = await electionOf(inspector, order);
      expect(Number(second.holders[0]!.fencingToken)).toBeGreaterThan(Number(fencingToken));
      expect(second.lost).toBe(1);
    },
  );
});

describe('The inspector as a service alone', () => {
  const apps = useApps();

  it('has no page', async () => {
    const app = await apps.serve({ imports: [LockInspectorModule.forRoot({ path: false })] });
    expect((await fetch(`${await app.getUrl()}/locks`)).status).toBe(404);
    expect(await app.get(LockInspector).snapshot()).toMatchObject({
      clients: [{ name: 'default', health: 'up', problems: [], locks: [], omitted: 0 }],
    });
  });

  it.each([
    ...[{ every: 10 }, { limit: 0 }, { scan: -1 }, { answerWithin: NaN }],
    ...[{ watchers: 0 }, { processes: 0.5 }, { reportSize: 1_000 }, { reportSize: 1e6 }],
  ])('refuses %j', (options) => {
    const [name] = Object.keys(options);
    expect(() => LockInspectorModule.forRoot(options)).toThrow(`\`${name}\``);
  });

  it.each([
    [{ guard: [] }, 'Give `guards`'],
    [{ enviroment: 'production' }, 'Give `environment`'],
    [{ colour: 'red' }, 'one of `path`, `app`'],
    [{ app: 7 }, 'Option `app` is 7. Give a string'],
  ])('does not accept %j', (options, advice) => {
    const given = options as LockInspectorOptions;
    expect(() => LockInspectorModule.forRoot(given)).toThrow(advice);
  });
});
