import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable, type INestApplication } from '@nestjs/common';
import { concat, lastValueFrom, NEVER, of, Subject, type Observable } from 'rxjs';
import {
  currentLease,
  getLockClientToken,
  LockClientClosedError,
  LockConnectionError,
  LockLostError,
  LockStream,
  WithMutex,
  type LockClient,
  type LockModuleOptions,
} from '../../lib/index.js';
import { Deferred, eventually } from '../support/time.js';
import { useRedis } from '../support/fixtures.js';
import { freePorts } from '../support/processes.js';
import { Apps, clientOf, Embedded, RecordingLogger, useApps } from './support/apps.js';
import { useDeployment } from './support/deployments.js';
import { LOCK_KINDS, type LockKind } from './support/lock-kinds.js';
import { noMoreHandlesThan, openHandles } from './support/open-handles.js';

/** A service that locks by that decorator. */
function ordersThat({ lock, decorator }: LockKind) {
  @Injectable()
  class Orders {
    @lock(`${decorator}:{0}`)
    async run<T>(_key: string, body: () => Promise<T>): Promise<T> {
      return body();
    }
  }

  return Orders;
}

/** What the caller of a locked method gets: all that the method gives, whatever becomes of its lock. */
describe.each(['embedded', 'zookeeper', 'redis'] as const)(
  'The caller of a locked method (%s) gets',
  (backend) => {
    const services = LOCK_KINDS.map(ordersThat);
    const deployment = useDeployment(backend);
    const apps = new Apps();
    const embedded = new Embedded();
    let app: INestApplication;

    beforeAll(async () => {
      await embedded.client.connect();
      const client = backend === 'embedded' ? embedded.client : undefined;
      const clients = [deployment().options(60_000)];
      app = await apps.boot({ clients, client, providers: services });
    });
    afterAll(async () => {
      await apps.end();
      await embedded.client.close();
    });

    async function die(): Promise<void> {
      embedded.server.freeze();
      embedded.server.cut(embedded.client.status().sessionId!);
      await deployment().kill(0);
    }
    async function comeBack(): Promise<void> {
      embedded.server.thaw();
      await deployment().restore();
    }
    const each = <T>(call: (service: InstanceType<(typeof services)[0]>) => Promise<T>) =>
      services.map((service) => call(app.get(service)));

    it('the very object that the method returns', async () => {
      const result = { total: 3 };
      const results = await Promise.all(each((orders) => orders.run('1', async () => result)));
      for (const given of results) expect(given).toBe(result);
    });

    it('the very error that the method throws', async () => {
      const error = new RangeError('no such order');
      const calls = each((orders) => orders.run('1', () => Promise.reject(error)));
      await Promise.all(calls.map((call) => expect(call).rejects.toBe(error)));
    });

    it('both when the server has died before the release, and the locks are free when it is back', async () => {
      const result = { total: 3 };
      const error = new RangeError('no such order');
      const goOn = new Deferred();
      let inside = 0;
      const stay = async () => {
        inside += 1;
        await goOn.promise;
        return result;
      };
      const calls = each((orders) => orders.run('1', stay));
      const failing = app
        .get(services[0]!)
        .run('2', () => stay().then(() => Promise.reject(error)));
      await eventually('all hold', () => inside === calls.length + 1);

      await die();
      goOn.resolve();
      await expect(failing).rejects.toBe(error);
      for (const given of await Promise.all(calls)) expect(given).toBe(result);

      await comeBack();
      for (const kind of LOCK_KINDS) {
        const rival = kind.rival(clientOf(app), `${kind.decorator}:1`);
        await (await rival.acquire({ wait: 20_000 })).release();
      }
    }, 60_000);
  },
);

describe('When Redis dies in mid-method', () => {
  const losses: LockLostError[] = [];

  @Injectable()
  class Import {
    readonly door = new Deferred();
    readonly lines = new Subject<string>();
    readonly signals: AbortSignal[] = [];
    left = 0;

    @WithMutex('throwing')
    async throwing(): Promise<string> {
      return this.#work();
    }

    @WithMutex('failing')
    async failing(error: unknown): Promise<string> {
      await this.#work();
      throw error;
    }

    @WithMutex('aborting', { onLost: 'abort' })
    async aborting(): Promise<string> {
      return this.#work();
    }

    @WithMutex('ignoring', { onLost: 'ignore' })
    async ignoring(): Promise<string> {
      return this.#work();
    }

    @WithMutex('told', { onLost: (error) => void losses.push(error) })
    async told(): Promise<string> {
      return this.#work();
    }

    @LockStream('stream')
    stream(): Observable<string> {
      this.signals.push(currentLease()!.signal);
      return this.lines;
    }

    @LockStream('aborted stream', { onLost: 'abort' })
    abortedStream(): Observable<string> {
      this.signals.push(currentLease()!.signal);
      return concat(of('first'), NEVER);
    }

    async #work(): Promise<string> {
      this.signals.push(currentLease()!.signal);
      await this.door.promise;
      this.left += 1;
      return 'loaded';
    }
  }

  const deployment = useDeployment('redis');
  const apps = useApps();

  it('each call ends as its `onLost` says', async () => {
    const app = await apps.boot({ clients: [deployment().options(2_000)], providers: [Import] });
    const service = app.get(Import);
    const error = new RangeError('no such file');
    const loss = expect.any(LockLostError);
    const outcome = (call: Promise<unknown>) =>
      call.then(
        (value) => ({ value }),
        (reason: unknown) => ({ reason }),
      );

    const atOnce = [outcome(service.aborting()), outcome(lastValueFrom(service.abortedStream()))];
    const later = [
      outcome(service.throwing()),
      outcome(service.failing(error)),
      outcome(service.ignoring()),
      outcome(service.told()),
      outcome(lastValueFrom(service.stream())),
    ];
    await eventually('all run', () => service.signals.length === 7);
    await deployment().kill(0);

    expect(await Promise.all(atOnce)).toEqual([{ reason: loss }, { reason: loss }]);
    await eventually('all know', () => service.signals.every(({ aborted }) => aborted));
    expect(service.left).toBe(0);
    expect(losses).toEqual([loss]);

    service.door.resolve();
    service.lines.next('line');
    service.lines.complete();
    expect(await Promise.all(later)).toEqual([
      { reason: loss },
      { reason: error },
      { value: 'loaded' },
      { value: 'loaded' },
      { reason: loss },
    ]);
    await eventually('all have left, the one that was given up too', () => service.left === 5);

    await deployment().restore(); // a client that has no connection takes long to close
    await eventually('it is connected again', () => clientOf(app).status().health === 'up');
  });
});

describe('An app that cannot reach its lock servers', () => {
  const apps = useApps();
  const host = '127.0.0.1';
  const far = { name: 'far', connectTimeout: 1_000 };
  const redisAt = (port?: number) => ({ host, port, disconnectTimeout: 0 });

  it.each([
    [
      'ZooKeeper',
      (port: number): LockModuleOptions => ({
        ...far,
        backend: 'zookeeper',
        connect: `${host}:${port}`,
      }),
      /^Lock client "far" could not connect within 1000 ms \(.+\)\. Check `connect`/,
      [/^warn: Lock client "far" cannot connect: .+; it goes on trying$/],
    ],
    [
      'Redis',
      (port: number): LockModuleOptions => ({ ...far, backend: 'redis', connect: redisAt(port) }),
      /^Lock client "far" could not connect to Redis within 1000 ms \(.*ECONNREFUSED.*\)\. Check/,
      [
        /^warn: Lock client "far": SUSPENDED \(.*ECONNREFUSED.*\)$/,
        /^warn: Lock client "far" cannot connect: .*; it goes on trying$/,
      ],
    ],
  ])(
    'warns once of the attempts that fail, then fails to boot and leaves nothing open (%s)',
    async (_, optionsOf, message, warnings) => {
      const before = openHandles();
      const [port] = await freePorts(1, host);
      const logger = new RecordingLogger();
      let other: LockClient | undefined;
      const error = await apps.bootError({
        clients: [optionsOf(port!), {}],
        providers: [
          {
            provide: 'other',
            inject: [getLockClientToken()],
            useFactory: (client: LockClient) => (other = client),
          },
        ],
        logger,
      });
      expect(error).toBeInstanceOf(LockConnectionError);
      expect(error).toMatchObject({ code: 'LOCK_CONNECTION', client: 'far' });
      expect(error.message).toMatch(message);
      const told = logger.lines.filter((line) => line.includes('"far"'));
      expect(told).toEqual(warnings.map((warning) => expect.stringMatching(warning)));

      await expect(other?.mutex('key').acquire()).rejects.toBeInstanceOf(LockClientClosedError);
      await noMoreHandlesThan(before);
    },
  );

  it('names them, and says for how long it has tried, and why that failed', async () => {
    const ports = await freePorts(3, host);
    const connectTimeout = 1_500; // a stalled machine gets to the first attempt, too
    const clients: LockModuleOptions[] = [
      { name: 'a', backend: 'zookeeper', connect: `${host}:${ports[0]}`, connectTimeout },
      { name: 'b', backend: 'redis', connect: redisAt(ports[0]), connectTimeout },
      { name: 'c', backend: 'redis', nodes: ports.map(redisAt), connectTimeout },
    ];
    const complaintOf = async (options: LockModuleOptions) => {
      const logger = new RecordingLogger();
      const { name, message } = await apps.bootError({ clients: [options], logger });
      const line = `${name}: ${message.split('\n')[0]}`;
      return ports.reduce((text, port, i) => text.replaceAll(`${port}`, `<port ${i + 1}>`), line);
    };
    expect(await Promise.all(clients.map(complaintOf))).toEqual([
      'LockConnectionError: Lock client "a" could not connect within 1500 ms (127.0.0.1:<port 1>: no connection, CONNECTIONLOSS (-4)). Check `connect` and that the servers run, or raise `connectTimeout`.',
      'LockConnectionError: Lock client "b" could not connect to Redis within 1500 ms (Error: connect ECONNREFUSED 127.0.0.1:<port 1>). Check `connect` and that the server runs, or raise `connectTimeout`.',
      expect.stringMatching(
        /^LockConnectionError: Lock client "c" could not connect to 2 of its 3 Redis servers within 1500 ms \(.*connect ECONNREFUSED 127\.0\.0\.1:<port \d>.*\)\. Check `nodes` and that the servers run, or raise `connectTimeout`\.$/,
      ),
    ]);
  });
});

describe('The log of an app', () => {
  const first = useRedis();
  const second = useRedis();
  const third = useRedis();
  const apps = useApps();

  @Injectable()
  class Orders {
    @WithMutex('order:{0}')
    async pay(_id: string): Promise<void> {}
  }

  const addressOf = ({ host, port }: { host: string; port: number }) => ({
    host,
    port,
    disconnectTimeout: 0,
    retryStrategy: () => 20,
  });
  const boot = async (options: object) => {
    const logger = new RecordingLogger();
    const clients = [{ backend: 'redis', ...options } as LockModuleOptions];
    return { app: await apps.boot({ clients, providers: [Orders], logger }), logger };
  };

  it('says that it is connected to Redis, and not that it locks in this process only', async () => {
    const { logger } = await boot({ connect: first().url });
    expect(logger.lines.filter((line) => !line.startsWith('debug'))).toEqual([
      'log: Lock client "default": CONNECTED (the servers answer)',
    ]);
  });

  it('has one line a change, and one for all attempts that fail between two', async () => {
    const { app, logger } = await boot({ connect: addressOf(first()) });
    const lines = logger.fromNowOn();
    const states: string[] = [];
    clientOf(app).on('connection', ({ state }) => states.push(state));

    for (let outage = 1; outage <= 2; outage++) {
      states.length = 0;
      await first().kill();
      await eventually('several attempts have failed', () => states.length >= 5);
      await first().restart();
      await eventually('it is back', () => states.includes('RECONNECTED'));
      await app.get(Orders).pay('7');
    }
    const outage = [
      expect.stringMatching(/^warn: Lock client "default": SUSPENDED \(.+\)$/),
      expect.stringMatching(/^warn: Lock client "default" cannot connect: .+; it goes on trying$/),
      'log: Lock client "default": RECONNECTED (the servers answer)',
    ];
    expect(lines()).toEqual([...outage, ...outage]);
  });

  it('names the server, where there are several', async () => {
    const { app, logger } = await boot({ nodes: [first(), second(), third()].map(addressOf) });
    await eventually('all are connected', () => clientOf(app).status().health === 'up');
    const lines = logger.fromNowOn();
    let failures = 0;
    clientOf(app).on('connection', () => (failures += 1));

    await second().kill();
    await eventually('several attempts have failed', () => failures >= 5);
    await second().restart();
    await eventually('it is back', () => clientOf(app).status().health === 'up');
    expect(lines()).toEqual([
      expect.stringMatching(/^warn: .+: SUSPENDED \(server 2 of 3: .+\)$/),
      expect.stringMatching(/^warn: .+ cannot connect: server 2 of 3: .+; it goes on trying$/),
      'log: Lock client "default": RECONNECTED (server 2 of 3: the servers answer)',
    ]);
  });
});
