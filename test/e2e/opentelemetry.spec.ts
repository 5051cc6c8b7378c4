import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Injectable, Module, type INestApplication } from '@nestjs/common';
import { SpanStatusCode, trace } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { defer, from, lastValueFrom, type Observable } from 'rxjs';
import {
  currentLease,
  getLockClientToken,
  LeaderElections,
  LeaderOnly,
  LockAbortedError,
  LockLostError,
  LockOptionsError,
  LockStream,
  LockTimeoutError,
  WithMultiLock,
  WithMutex,
  type LeaderLatch,
  type LockClient,
} from '../../lib/index.js';
import { LockTelemetryModule, type LockTelemetryOptions } from '../../lib/opentelemetry/index.js';
import { eventually } from '../support/time.js';
import { clientOf, contention, Embedded, errorOf, Room, useApps } from './support/apps.js';
import { Telemetry } from './support/telemetry.js';

/** What the user does inside of a locked method. */
const work = () =>
  trace.getTracer('test').startActiveSpan('INSERT', async (span) => {
    await Promise.resolve();
    span.end();
  });

@Injectable()
class Orders {
  constructor(private readonly room: Room) {}

  @WithMutex('order:{0}')
  async pay(_id: string): Promise<void> {
    await work();
  }

  @WithMutex('order:{0}')
  async pack(_id: string): Promise<void> {
    await currentLease()?.fencingToken(); // from here on the node is watched
    await this.room.stay('packed');
  }

  @WithMutex('order:{0}', { wait: 50 })
  async cancel(_id: string): Promise<void> {}

  @WithMultiLock(['order:{0}', 'stock'])
  async ship(_id: string): Promise<void> {
    await work();
  }

  @LockStream('order:{0}')
  track(_id: string): Observable<void> {
    return defer(work);
  }

  @LockStream('order:{0}')
  async *list(_id: string): AsyncGenerator<void> {
    yield work();
  }

  @WithMutex('order:{0}')
  async refuse(_id: string): Promise<void> {
    throw new Error('no such order');
  }
}

const PAY = {
  'nestjs_interlock.client': 'default',
  'nestjs_interlock.recipe': 'mutex',
  'nestjs_interlock.method': 'Orders.pay',
};

const apps = useApps();
let telemetry: Telemetry;
beforeEach(() => void (telemetry = new Telemetry()));
afterEach(() => telemetry.stop());

/** An app in which all waits have spans, however short they are, unless `options` say otherwise. */
function appWith(options: LockTelemetryOptions = { minWait: 0 }) {
  return {
    imports: [LockTelemetryModule.forRoot(options)],
    providers: [Orders],
  };
}

const parentOf = (span: ReadableSpan) => span.parentSpanContext?.spanId;
const idOf = (span: ReadableSpan) => span.spanContext().spanId;
const startOf = ({ startTime: [s, ns] }: ReadableSpan) => s + ns / 1e9;
const endOf = ({ endTime: [s, ns] }: ReadableSpan) => s + ns / 1e9;

describe('Spans of an app with LockTelemetryModule', () => {
  it('show the wait and the hold of a call in the span of its caller, and its work in the hold', async () => {
    const app = await apps.boot(appWith());
    await telemetry.inSpan('POST /pay', () => app.get(Orders).pay('7'));

    const [request, acquire, hold, insert] = [
      telemetry.span('POST /pay'),
      telemetry.span('lock.acquire'),
      telemetry.span('lock.hold'),
      telemetry.span('INSERT'),
    ];
    expect(parentOf(acquire)).toBe(idOf(request));
    expect(parentOf(hold)).toBe(idOf(request));
    expect(parentOf(insert)).toBe(idOf(hold));
    for (const span of [acquire, hold]) {
      expect(span.attributes).toEqual(PAY);
      expect(span.status).toEqual({ code: SpanStatusCode.UNSET });
    }
    expect(startOf(acquire)).toBeGreaterThanOrEqual(startOf(request));
    expect(endOf(acquire)).toBeLessThanOrEqual(startOf(hold));
  });

  it.each(['track', 'list', 'ship'] as const)('show the work of %s in its hold', async (method) => {
    const app = await apps.boot(appWith());
    await telemetry.inSpan('request', async () => {
      await lastValueFrom(from(app.get(Orders)[method]('7')));
    });
    const hold = telemetry.span('lock.hold');
    expect(hold.attributes).toMatchObject({ 'nestjs_interlock.method': `Orders.${method}` });
    expect(parentOf(hold)).toBe(idOf(telemetry.span('request')));
    expect(parentOf(telemetry.span('INSERT'))).toBe(idOf(hold));
  });

  it('show a nested call, which has nothing to wait for, as another hold', async () => {
    const app = await apps.boot(appWith());
    const orders = app.get(Orders);
    await clientOf(app)
      .mutex('order:7')
      .using(() => orders.pay('7'));
    expect(telemetry.span('lock.acquire').attributes).not.toHaveProperty('nestjs_interlock.method');
    expect(telemetry.span('lock.hold').attributes).toEqual(PAY);
  });

  it('show an acquire of an injected client in the span of its caller', async () => {
    const app = await apps.boot(appWith());
    await telemetry.inSpan('job', async () => {
      const lease = await clientOf(app).semaphore('printers', { permits: 2 }).acquire();
      await lease.release();
    });
    const acquire = telemetry.span('lock.acquire');
    expect(parentOf(acquire)).toBe(idOf(telemetry.span('job')));
    expect(acquire.attributes).toEqual({
      'nestjs_interlock.client': 'default',
      'nestjs_interlock.recipe': 'semaphore',
    });
  });

  it('are as long as the wait', async () => {
    const app = await apps.boot(appWith({}));
    const held = await clientOf(app).mutex('order:7').acquire();
    const queued = contention(clientOf(app));
    const paying = telemetry.inSpan('request', () => app.get(Orders).pay('7'));
    await queued;
    const queuedAt = performance.now();
    await eventually('a while has passed', () => performance.now() > queuedAt + 60);
    await held.release();
    await paying;
    const acquire = telemetry.spans.find(({ attributes }) => attributes['nestjs_interlock.method']);
    expect(endOf(acquire!) - startOf(acquire!)).toBeGreaterThanOrEqual(0.05);
    expect(startOf(acquire!)).toBeGreaterThanOrEqual(startOf(telemetry.span('request')));
  });

  it('leave out waits that were too short to matter, but none that failed', async () => {
    const app = await apps.boot(appWith({ minWait: 60_000 }));
    await app.get(Orders).pay('7');
    expect(telemetry.spans.map(({ name }) => name)).toEqual(['INSERT', 'lock.hold']);
    const held = await clientOf(app).mutex('order:7').acquire();
    await errorOf(app.get(Orders).cancel('7'));
    await held.release();
    expect(telemetry.span('lock.acquire').attributes).toMatchObject({
      'error.type': 'LOCK_TIMEOUT',
    });
    expect((await telemetry.series('nestjs_interlock.lock.wait')).length).toBe(3);
  });

  it.each([-1, NaN, '5'])('are refused to begin at a wait of %p', (minWait) => {
    expect(() => LockTelemetryModule.forRoot({ minWait: minWait as number })).toThrow('`minWait`');
  });

  it('report that a wait was too long', async () => {
    const app = await apps.boot(appWith());
    const held = await clientOf(app).mutex('order:7').acquire();
    const failing = telemetry.inSpan('request', () => app.get(Orders).cancel('7'));
    await expect(failing).rejects.toBeInstanceOf(LockTimeoutError);
    await held.release();

    const failed = telemetry.spans.find(({ attributes }) => attributes['error.type']);
    expect(failed).toMatchObject({
      name: 'lock.acquire',
      attributes: { 'error.type': 'LOCK_TIMEOUT', 'nestjs_interlock.method': 'Orders.cancel' },
      status: { code: SpanStatusCode.ERROR },
    });
    expect(parentOf(failed!)).toBe(idOf(telemetry.span('request')));
  });

  it('report that the caller gave up, and do not call that an error', async () => {
    const app = await apps.boot(appWith());
    const held = await clientOf(app).mutex('order:7').acquire();
    const caller = new AbortController();
    const waiting = clientOf(app).mutex('order:7').acquire({ signal: caller.signal });
    caller.abort();
    await expect(waiting).rejects.toBeInstanceOf(LockAbortedError);
    await held.release();
    expect(telemetry.spans.find(({ attributes }) => attributes['error.type'])).toMatchObject({
      attributes: { 'error.type': 'LOCK_ABORTED' },
      status: { code: SpanStatusCode.UNSET },
    });
  });

  it('leave the error of a method to the method', async () => {
    const app = await apps.boot(appWith());
    await expect(app.get(Orders).refuse('7')).rejects.toThrow('no such order');
    expect(telemetry.span('lock.hold').status).toEqual({ code: SpanStatusCode.UNSET });
  });

  it.each([
    ['never have the key', { minWait: 0 }, false],
    ['have the key where that is wanted', { minWait: 0, keys: true }, true],
  ] as const)('%s', async (_, options, areShown) => {
    const app = await apps.boot(appWith(options));
    await app.get(Orders).pay('4711');
    const held = await clientOf(app).mutex('order:4711').acquire();
    await errorOf(app.get(Orders).cancel('4711'));
    await held.release();

    expect(telemetry.spans.length).toBe(5); // of pay: wait, work, hold; of the client: wait; of cancel: wait
    const texts = telemetry.spans.map(({ name, attributes, status, events }) =>
      JSON.stringify([name, attributes, status, events]),
    );
    const locks = texts.filter((text) => text.includes('lock.'));
    for (const text of locks) expect(text.includes('4711')).toBe(areShown);
  });
});

describe('An app with LockTelemetryModule, when an operator takes a lock away,', () => {
  it('reports it in the span of the hold, and counts it', async () => {
    const embedded = new Embedded();
    const { client } = embedded;
    await client.connect();
    const app = await apps.boot({ ...appWith(), client });
    const packing = telemetry.inSpan('request', () => app.get(Orders).pack('7'));
    await apps.room.entered.promise;
    embedded.remove(await client.mutex('order:7').participants());
    await eventually('the loss is counted', async () => {
      const [lost] = await telemetry.series('nestjs_interlock.lock.lost');
      return lost?.value === 1;
    });
    apps.room.open();
    await expect(packing).rejects.toBeInstanceOf(LockLostError);

    const hold = telemetry.span('lock.hold');
    expect(parentOf(hold)).toBe(idOf(telemetry.span('request')));
    expect(hold).toMatchObject({
      attributes: { 'error.type': 'LOCK_LOST', 'nestjs_interlock.method': 'Orders.pack' },
      status: { code: SpanStatusCode.ERROR },
    });
    expect(JSON.stringify([hold.attributes, hold.status])).not.toContain('order:7');
    const [held] = await telemetry.series('nestjs_interlock.lock.hold');
    expect(held).toMatchObject({ value: 1, attributes: { 'error.type': 'LOCK_LOST' } });
    await client.close();
  });
});

describe('Metrics of an app with LockTelemetryModule', () => {
  it('count a thousand keys as one series', async () => {
    const app = await apps.boot(appWith());
    const orders = app.get(Orders);
    for (let i = 0; i < 1_000; i++) await orders.pay(String(i));
    for (const name of ['nestjs_interlock.lock.wait', 'nestjs_interlock.lock.hold'])
      expect(await telemetry.series(name)).toEqual([{ attributes: PAY, value: 1_000 }]);
  }, 120_000);

  it('count the calls that had to queue, and those that were not granted in time', async () => {
    const app = await apps.boot(appWith());
    const held = await clientOf(app).mutex('order:7').acquire();
    for (let i = 0; i < 2; i++) await errorOf(app.get(Orders).cancel('7'));
    await held.release();

    const cancel = { ...PAY, 'nestjs_interlock.method': 'Orders.cancel' };
    for (const name of ['nestjs_interlock.lock.contended', 'nestjs_interlock.lock.timeouts'])
      expect(await telemetry.series(name)).toEqual([{ attributes: cancel, value: 2 }]);
    expect(await telemetry.series('nestjs_interlock.lock.wait')).toContainEqual({
      attributes: { ...cancel, 'error.type': 'LOCK_TIMEOUT' },
      value: 2,
    });
  });

  it('show what is held, for how long, and what waits now, until the app closes', async () => {
    const app = await apps.boot(appWith());
    const client = clientOf(app);
    const held = await client.mutex('order:7').acquire();
    const queued = contention(client);
    const paying = app.get(Orders).pay('7');
    await queued;

    const ofClient = { 'nestjs_interlock.client': 'default' };
    const now = async (name: string) =>
      (await telemetry.series(`nestjs_interlock.lock.${name}`))[0];
    expect(await now('held')).toEqual({ attributes: ofClient, value: 1 });
    expect(await now('waiting')).toEqual({ attributes: ofClient, value: 1 });
    const before = (await now('oldest_hold'))!.value;
    await eventually('it gets older', async () => (await now('oldest_hold'))!.value > before);

    await held.release();
    await paying;
    expect(await now('held')).toEqual({ attributes: ofClient, value: 0 });
    expect(await now('waiting')).toEqual({ attributes: ofClient, value: 0 });
    expect(await now('oldest_hold')).toEqual({ attributes: ofClient, value: 0 });

    await apps.close();
    const asked = jest.spyOn(client, 'status');
    await now('held');
    expect(asked).not.toHaveBeenCalled();
  });

  it('count what is released while the app closes, too', async () => {
    const app = await apps.boot(appWith());
    await clientOf(app).mutex('order:7').acquire();
    await clientOf(app).mutex('order:8').acquire();
    await apps.close();
    expect((await telemetry.series('nestjs_interlock.lock.wait'))[0]!.value).toBe(2);
    const held = await telemetry.series('nestjs_interlock.lock.hold');
    expect(held.reduce((sum, { value }) => sum + value, 0)).toBe(2);
  });

  it('distinguish the clients of an app', async () => {
    const app = await apps.boot({
      clients: [{}, { name: 'stock' }],
      imports: [LockTelemetryModule.forRoot()],
    });
    await clientOf(app, 'stock')
      .mutex('shelf')
      .using(async () => {});
    expect(await telemetry.series('nestjs_interlock.lock.hold')).toEqual([
      {
        attributes: { 'nestjs_interlock.client': 'stock', 'nestjs_interlock.recipe': 'mutex' },
        value: 1,
      },
    ]);
  });
});

describe('Elections in an app with LockTelemetryModule', () => {
  const ofClient = { 'nestjs_interlock.client': 'default' };
  const ofElection = { ...ofClient, 'nestjs_interlock.recipe': 'leaderLatch' };
  const series = (name: string) => telemetry.series(`nestjs_interlock.${name}`);

  /** The leader, and a follower of it, which is to lead next. */
  async function twoLeaders(app: INestApplication): Promise<[LeaderLatch, LeaderLatch]> {
    const client = clientOf(app);
    const latches = ['web-1:17', 'web-2:4'].map((id) => client.leaderLatch('cron', { id }));
    const [first, second] = latches as [LeaderLatch, LeaderLatch];
    const queued = contention(client);
    first.start();
    await first.awaitLeadership();
    second.start();
    await queued;
    return [first, second];
  }

  it('are no waits and have no spans of waits, however long a candidate has followed', async () => {
    const app = await apps.boot(appWith());
    const [first, second] = await twoLeaders(app);
    await first.close();
    await second.awaitLeadership();
    const third = clientOf(app).leaderLatch('cron', { id: 'web-3:9' });
    third.start();
    await eventually('it follows', () => clientOf(app).status().waiting === 1);
    await third.close(); // an acquire that fails
    await app.get(Orders).pay('7');

    expect(await series('lock.wait')).toEqual([{ attributes: PAY, value: 1 }]);
    expect(telemetry.span('lock.acquire').attributes).toEqual(PAY);
  });

  it('count as locks held and as acquires under way, and by themselves where they are led', async () => {
    const app = await apps.boot(appWith());
    const [first, second] = await twoLeaders(app);
    const now = async () => ({
      held: await series('lock.held'),
      waiting: await series('lock.waiting'),
      leading: await series('election.leading'),
    });
    const one = [{ attributes: ofClient, value: 1 }];
    const none = [{ attributes: ofClient, value: 0 }];
    expect(await now()).toEqual({ held: one, waiting: one, leading: one });
    await eventually('time has passed', () =>
      clientOf(app)
        .activity()
        .every(({ forMs }) => forMs > 1),
    );
    expect(await series('lock.oldest_hold')).toEqual(none); // a leader is to hold for long

    await first.close();
    await second.awaitLeadership();
    expect(await now()).toEqual({ held: one, waiting: none, leading: one });
    await second.close();
    await eventually('no participant leads', () => clientOf(app).status().held === 0);
    expect(await now()).toEqual({ held: none, waiting: none, leading: none });
  });

  it('show a run on the leader as a hold, which names its method', async () => {
    @Injectable()
    class Mailer {
      @LeaderOnly('cron')
      async send(): Promise<'sent' | undefined> {
        await work();
        return 'sent';
      }
    }
    const { imports } = appWith();
    const app = await apps.boot({ imports, providers: [Mailer] });
    await app.get(LeaderElections).of('cron').awaitLeadership();
    await telemetry.inSpan('tick', async () => {
      expect(await app.get(Mailer).send()).toBe('sent');
    });
    const hold = telemetry.span('lock.hold');
    expect(hold.attributes).toEqual({ ...ofElection, 'nestjs_interlock.method': 'Mailer.send' });
    expect(parentOf(hold)).toBe(idOf(telemetry.span('tick')));
    expect(parentOf(telemetry.span('INSERT'))).toBe(idOf(hold));
    expect(await series('lock.hold')).toEqual([]); // the app leads as before
  });

  it('have no label that is made at run time', async () => {
    const app = await apps.boot(appWith());
    const [first, second] = await twoLeaders(app);
    await Promise.all([first.close(), second.close()]);
    expect(await series('lock.contended')).toEqual([{ attributes: ofElection, value: 1 }]);
    await eventually('its end is reported', async () => {
      const held = await series('lock.hold');
      expect(held).toEqual([{ attributes: ofElection, value: expect.any(Number) }]);
      return true;
    });
  });
});

describe('An app that imports LockTelemetryModule twice', () => {
  const holds = () => telemetry.series('nestjs_interlock.lock.hold');

  it('counts a lock once, and shows it once', async () => {
    @Module({ imports: [LockTelemetryModule.forRoot({ minWait: 0 })] })
    class Feature {}

    const { imports, providers } = appWith();
    const app = await apps.boot({ imports: [...imports, Feature], providers });
    await app.get(Orders).pay('7');
    expect(await holds()).toEqual([{ attributes: PAY, value: 1 }]);
    expect(idOf(telemetry.span('lock.acquire'))).not.toBe(idOf(telemetry.span('lock.hold')));
  });

  it('counts the locks of another app of this process, too', async () => {
    const twice = () => ({
      imports: [LockTelemetryModule.forRoot(), LockTelemetryModule.forRoot()],
      providers: [Orders],
    });
    for (const app of [await apps.boot(twice()), await apps.boot(twice())])
      await app.get(Orders).pay('7');
    expect(await holds()).toEqual([{ attributes: PAY, value: 2 }]);
  });

  it.each([
    ['keys', { keys: true }],
    ['minWait', { minWait: 5 }],
  ])('does not boot with another value of `%s` in each', async (option, options) => {
    const imports = [LockTelemetryModule.forRoot(), LockTelemetryModule.forRoot(options)];
    const client = jest.fn();
    const locks = { provide: 'locks', inject: [getLockClientToken()], useFactory: client };
    const error = await apps.bootError({ imports, providers: [locks] });
    expect(error).toBeInstanceOf(LockOptionsError);
    expect(error).toMatchObject({ option });
    expect(error.message).toContain('as the other import of LockTelemetryModule in this app does');
    const [opened] = client.mock.calls[0] as [LockClient];
    expect(opened.status().state).toBe('CLOSED'); // Nest runs no hooks after a failed boot
  });
});

describe('An app with LockTelemetryModule and without LockModule', () => {
  it('does not boot', async () => {
    const imports = [LockTelemetryModule.forRoot()];
    const { message } = await apps.bootError({ clients: [], imports });
    expect(message).toMatch(/dependencies of the LockTelemetry .*LockClients/);
  });
});

describe('An app with LockTelemetryModule and without an SDK', () => {
  it('locks as ever', async () => {
    await telemetry.stop();
    const app = await apps.boot(appWith({ keys: true }));
    await app.get(Orders).pay('7');
    await app.get(Orders).ship('7');
    expect(telemetry.spans).toEqual([]);
    expect(clientOf(app).status()).toMatchObject({ held: 0, waiting: 0 });
  });
});
