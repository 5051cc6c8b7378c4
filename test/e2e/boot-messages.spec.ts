import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Injectable, type ModuleMetadata } from '@nestjs/common';
import {
  LockInterceptorMissingError,
  LockModule,
  WithMutex,
  type LockModuleOptions,
} from '../../lib/index.js';
import { freePorts } from '../support/free-ports.js';
import { Apps } from './support/apps.js';
import { RecordingLogger } from './support/recording-logger.js';

const DRIVERS = ['ioredis', 'zookeeper'];
const host = '127.0.0.1';

@Injectable()
class Orders {
  @WithMutex('orders')
  async pay(): Promise<void> {}
}

@Injectable()
class Archive {
  @WithMutex('archive', { client: 'archive' })
  async store(): Promise<void> {}
}

const apps = new Apps();
let ports: number[];

beforeAll(async () => void (ports = await freePorts(3, host)));
afterEach(() => apps.close());

/** The first line of what a boot fails with; ports by their names. */
async function complaintOf(metadata: ModuleMetadata): Promise<string> {
  const booting = apps.boot(metadata, (builder) => builder.setLogger(new RecordingLogger()));
  const { name, message } = await booting.then(
    () => new Error('it boots'),
    (error: Error) => error,
  );
  const line = `${name}: ${message.split('\n')[0]}`;
  return ports.reduce((text, port, i) => text.replaceAll(`${port}`, `<port ${i + 1}>`), line);
}

const app = (...options: object[]): ModuleMetadata => ({
  imports: options.map((each) => LockModule.forRoot(each as LockModuleOptions)),
});

describe('An app without the package of its backend says', () => {
  // The packed package is tried without them, too; here they are taken away from Jest's modules.
  const remove = (driver: string) =>
    jest.unstable_mockModule(driver, () => {
      throw new Error(`Cannot find package '${driver}'`);
    });

  it.each([
    [
      { backend: 'redis', connect: { host } },
      'LockConnectionError: The backend "redis" needs the package `ioredis`, which could not be loaded. Run `npm install ioredis`, or hand a client over as the option `client`.',
    ],
    [
      { backend: 'zookeeper', connect: host },
      'LockConnectionError: The backend "zookeeper" needs the package `zookeeper`, which could not be loaded. Run `npm install zookeeper` (on Linux it compiles, so it needs make, g++ and python3, and install scripts must be allowed).',
    ],
  ])('%j', async (options, message) => {
    DRIVERS.forEach(remove);
    try {
      expect(await complaintOf(app(options))).toBe(message);
    } finally {
      for (const driver of DRIVERS) jest.unstable_unmockModule(driver);
    }
  });
});

describe('An app that cannot reach its servers', () => {
  const redis = (port?: number) => ({ host, port, disconnectTimeout: 0 });
  const connectTimeout = 1_500; // a stalled machine gets to the first attempt, too

  it('names them, and says for how long it has tried, and why that failed', async () => {
    const apart = [
      { name: 'a', backend: 'zookeeper', connect: `${host}:${ports[0]}`, connectTimeout },
      { name: 'b', backend: 'redis', connect: redis(ports[0]), connectTimeout },
      { name: 'c', backend: 'redis', nodes: ports.map(redis), connectTimeout },
    ];
    expect(await Promise.all(apart.map((options) => complaintOf(app(options))))).toEqual([
      'LockConnectionError: Lock client "a" could not connect within 1500 ms (127.0.0.1:<port 1>: no connection, -4). Check `connect` and that the servers run, or raise `connectTimeout`.',
      'LockConnectionError: Lock client "b" could not connect to Redis within 1500 ms (Error: connect ECONNREFUSED 127.0.0.1:<port 1>). Check `connect` and that the server runs, or raise `connectTimeout`.',
      expect.stringMatching(
        /^LockConnectionError: Lock client "c" could not connect to 2 of its 3 Redis servers within 1500 ms \(.*connect ECONNREFUSED 127\.0\.0\.1:<port \d>.*\)\. Check `nodes` and that the servers run, or raise `connectTimeout`\.$/,
      ),
    ]);
  });
});

describe('An app with a wrong option says which, and what to give:', () => {
  it.each([
    [
      { backend: 'postgres' },
      "LockOptionsError: Option `backend` is \"postgres\". Give 'zookeeper', 'redis' or 'embedded'.",
    ],
    [
      { connect: 'zk1:2181' },
      "LockOptionsError: Option `backend` is undefined. Give 'zookeeper', 'redis' or 'embedded'.",
    ],
    [
      { backend: 'zookeeper' },
      "LockOptionsError: Option `connect` is undefined. Give servers as 'host:port,host:port', with a chroot such as '/app' behind them if there is one.",
    ],
    [
      { backend: 'zookeeper', connect: 'zk1:2181', sessionTimeout: '30s' },
      'LockOptionsError: Option `sessionTimeout` is "30s". Give milliseconds above 0 and below 2^31.',
    ],
    [
      { backend: 'redis', connect: { host }, watchdogTimeout: '30s' },
      'LockOptionsError: Option `watchdogTimeout` is "30s". Give whole milliseconds from 100 to 2^31 - 1.',
    ],
    [
      { wait: '5s' },
      'LockOptionsError: Option `wait` is "5s". Give milliseconds above 0, or \'forever\' (tryAcquire does not wait).',
    ],
    [
      { shutdownTimeout: 0 },
      'LockOptionsError: Option `shutdownTimeout` is 0. Give milliseconds above 0.',
    ],
    [
      { name: '' },
      'LockOptionsError: Option `name` is "". Give a name that is not empty, or none.',
    ],
  ])('%j', async (options, message) => {
    expect(await complaintOf(app(options))).toBe(message);
  });
});

describe('An app says how to name its clients', () => {
  it('when it has two without a name', async () => {
    expect(await complaintOf(app({}, {}))).toBe(
      "LockClientDuplicateError: Two lock clients are called \"default\". LockModule is global: import it once per client, and name each additional client: LockModule.forRoot({ name: 'other' }), injected with @InjectLockClient('other').",
    );
  });

  it('when a method asks for one that does not exist', async () => {
    expect(await complaintOf({ ...app({}), providers: [Archive] })).toBe(
      'LockClientUnknownError: There is no lock client "archive", which Archive.store asks for; registered: "default". Register it with LockModule.forRoot({ name: \'archive\' }), or name one of those.',
    );
  });
});

describe('An app without LockModule', () => {
  it.each([
    ['provider', { providers: [Orders] }],
    ['controller', { controllers: [Orders] }],
  ])(
    'asks for it, by the name of the class, when a %s has a locked method',
    async (_, metadata) => {
      expect(await complaintOf(metadata)).toBe(
        'Error: Nest can\'t resolve dependencies of the Orders. Please make sure that the "Symbol(nestjs-interlock:interceptor (is LockModule.forRoot() imported?))" property is available in the current context.',
      );
    },
  );

  it('refuses the call of a locked method of an instance that Nest did not make', async () => {
    const orders = new Orders();
    await apps.boot({ providers: [{ provide: Orders, useValue: orders }] });
    const error = await orders.pay().catch((error: unknown) => error);
    expect(error).toBeInstanceOf(LockInterceptorMissingError);
    expect((error as Error).message).toBe(
      'Orders.pay was not run: its instance has no LockInterceptor to take the lock. Let Nest create the instance, in an app or TestingModule that imports LockModule, and call the method on it.',
    );
  });

  it('says that it takes forRoot to import it', async () => {
    expect(await complaintOf({ imports: [LockModule] })).toContain(
      'import LockModule.forRoot() once in the root module; LockModule itself cannot be imported',
    );
  });
});
