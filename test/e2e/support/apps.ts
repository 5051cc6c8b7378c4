import { afterEach, beforeEach, expect } from '@jest/globals';
import type { INestApplication, LoggerService, ModuleMetadata, Type } from '@nestjs/common';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import { systemClock } from '../../../lib/core/clock.js';
import { LockEventEmitter } from '../../../lib/core/internal/lock-event-emitter.js';
import { EmbeddedServer } from '../../../lib/embedded/embedded-server.js';
import { embeddedServers, EmbeddedTransport } from '../../../lib/embedded/embedded-transport.js';
import {
  getLockClientToken,
  LockModule,
  RetryForever,
  type Lock,
  type LockClient,
  type LockModuleOptions,
  type ZooKeeperLockClient,
} from '../../../lib/index.js';
import { SessionConnection } from '../../../lib/zookeeper/connection/session-connection.js';
import { ZooKeeperLockClient as Client } from '../../../lib/zookeeper/zookeeper-lock-client.js';
import { Deferred } from '../../support/time.js';

/** What an app is made of, beside the {@link Room} of the test. */
export interface AppParts extends ModuleMetadata {
  /** The options of its lock clients. Default: one on the embedded backend. */
  readonly clients?: readonly LockModuleOptions[];
  /** Takes the place of its default client. */
  readonly client?: LockClient;
  /** Where LockModule stands among the imports: modules that explore others see what is there by then. Default: last. */
  readonly position?: 'first' | 'last';
  readonly override?: (builder: TestingModuleBuilder) => unknown;
  readonly logger?: LoggerService;
  readonly forceCloseConnections?: boolean;
  /** Default: Express. */
  readonly adapter?: AbstractHttpAdapter;
  /** Is called before the app is initialised. */
  readonly prepare?: (app: INestApplication) => unknown;
}

/** Apps that end with their test. */
export class Apps {
  /** Of this test; the door opens at its end. */
  room = new Room();
  readonly #open = new Set<INestApplication>();

  /** Builds and initialises an app. */
  async boot(parts: AppParts): Promise<INestApplication> {
    const { clients = [{}], client, override, position, ...rest } = parts;
    const { logger, adapter, prepare, forceCloseConnections, ...metadata } = rest;
    const { imports = [], providers = [] } = metadata;
    const locks = clients.map((options) => LockModule.forRoot(options));
    const builder = Test.createTestingModule({
      ...metadata,
      imports: position === 'first' ? [...locks, ...imports] : [...imports, ...locks],
      providers: [{ provide: Room, useValue: this.room }, ...providers],
    });
    if (client) builder.overrideProvider(getLockClientToken()).useValue(client);
    override?.(builder);
    if (logger) builder.setLogger(logger);
    const compiled = await builder.compile();
    const options = { forceCloseConnections };
    const app = compiled.createNestApplication(adapter ?? new ExpressAdapter(), options);
    this.#open.add(app);
    prepare?.(app);
    return app.init();
  }

  /** Boots an app that listens on a free port of the loopback interface. */
  async serve(parts: AppParts): Promise<INestApplication> {
    const app = await this.boot(parts);
    await app.listen(0, '127.0.0.1');
    return app;
  }

  /** What keeps an app from booting. */
  async bootError(parts: AppParts): Promise<Error> {
    return this.boot(parts).then(
      () => new Error('it boots'),
      (error: Error) => error,
    );
  }

  /** Closes one app, or all that are open. */
  async close(app?: INestApplication): Promise<void> {
    const closing = app === undefined ? [...this.#open] : [app];
    for (const each of closing) this.#open.delete(each);
    await Promise.all(closing.map((each) => each.close()));
  }

  /** Ends everything that is left of a test. */
  async end(): Promise<void> {
    this.room.open();
    await this.close();
    this.room = new Room();
  }

  /**
   * Expects that `call`, which stays in the room, holds the lock for as long: a contender that queues meanwhile is granted it
   * only after the room was left. Returns what the call gives.
   *
   * @param lock what the contender asks for, which excludes the lock of the call; a text means a mutex
   */
  async held<T>(
    client: LockClient,
    lock: Lock | string,
    call: () => PromiseLike<T> | T,
    room = this.room,
  ): Promise<T> {
    const rival = typeof lock === 'string' ? client.mutex(lock) : lock;
    const running = (async () => call())();
    const tooEarly = (end: unknown) => {
      if (end !== undefined) room.entered.reject(new Error('The call ended outside of the room'));
    };
    running.then(tooEarly, room.entered.reject);
    await room.entered.promise;

    const queued = contention(client, rival.key);
    const contender = rival.using(() => void room.log.push('contender'));
    await Promise.race([queued, contender]);
    room.open();
    const [result] = await Promise.all([running, contender]);
    expect(room.log).toEqual(['left', 'contender']);
    return result;
  }
}

/** For tests that boot their apps themselves. */
export function useApps(): Apps {
  const apps = new Apps();
  afterEach(() => apps.end());
  return apps;
}

/** An app that is there for a test, and what it has. */
export class TestedApp<C extends LockClient = LockClient> {
  nest!: INestApplication;

  constructor(readonly apps: Apps) {}

  get room(): Room {
    return this.apps.room;
  }

  get client(): C {
    return clientOf(this.nest) as C;
  }

  get<T>(type: Type<T>): T {
    return this.nest.get(type);
  }

  /** @see Apps.held */
  held<T>(lock: Lock | string, call: () => PromiseLike<T> | T): Promise<T> {
    return this.apps.held(this.client, lock, call);
  }

  close(): Promise<void> {
    return this.apps.close(this.nest);
  }
}

/** An app for each test, which listens where `parts` have controllers. */
export function useApp<C extends LockClient = LockClient>(parts: () => AppParts): TestedApp<C> {
  const app = new TestedApp<C>(useApps());
  beforeEach(async () => {
    const given = parts();
    app.nest = await (given.controllers ? app.apps.serve(given) : app.apps.boot(given));
  });
  return app;
}

/** The lock client of that name. */
export function clientOf(app: INestApplication, name?: string): LockClient {
  return app.get(getLockClientToken(name));
}

/** Resolves when somebody queues, for that key or any. */
export function contention(client: LockClient, key?: string): Promise<void> {
  return new Promise((resolve) => {
    const stop = client.on('contended', (event) => {
      if (key !== undefined && event.key !== key) return;
      stop();
      resolve();
    });
  });
}

/** Can it be had at this moment? */
export async function isFree(lock: Lock): Promise<boolean> {
  const lease = await lock.tryAcquire();
  await lease?.release();
  return lease !== undefined;
}

/** What a call is rejected with. */
export async function errorOf(call: Promise<unknown>): Promise<Error> {
  return call.then(
    () => new Error('it succeeds'),
    (error: Error) => error,
  );
}

/** The rejections that nothing handles while `work` is done. */
export async function unhandledDuring(work: () => Promise<unknown>): Promise<unknown[]> {
  const unhandled: unknown[] = [];
  const listener = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', listener);
  try {
    await work();
    await new Promise((resolve) => setImmediate(resolve)); // when such rejections are reported
  } finally {
    process.off('unhandledRejection', listener);
  }
  return unhandled;
}

/** Where a method under test stays until the test lets it leave. `log` says what happened, in order. */
export class Room {
  readonly log: string[] = [];
  readonly entered = new Deferred();
  readonly #door = new Deferred();

  async stay<T>(result: T): Promise<T> {
    this.entered.resolve();
    await this.#door.promise;
    this.log.push('left');
    return result;
  }

  open(): void {
    this.#door.resolve();
  }
}

/** Keeps what `LockModule`, or another context, logs, as `level: message`. */
export class RecordingLogger implements LoggerService {
  readonly lines: string[] = [];
  readonly log = this.#recorder('log');
  readonly warn = this.#recorder('warn');
  readonly error = this.#recorder('error');
  readonly debug = this.#recorder('debug');
  readonly verbose = this.#recorder('verbose');

  constructor(private readonly context = 'LockModule') {}

  /** What is logged from now on. */
  fromNowOn(): () => string[] {
    const { length } = this.lines;
    return () => this.lines.slice(length);
  }

  #recorder(level: string) {
    return (message: unknown, ...rest: unknown[]) => {
      if (rest.at(-1) === this.context) this.lines.push(`${level}: ${String(message)}`);
    };
  }
}

/** An embedded server that the test has in its hands, and a client of it. */
export class Embedded {
  readonly server = new EmbeddedServer();
  readonly client: ZooKeeperLockClient = new Client({
    name: 'default',
    connection: new SessionConnection({
      transport: new EmbeddedTransport(this.server),
      servers: embeddedServers,
      sessionTimeout: Infinity,
      clock: systemClock,
    }),
    events: new LockEventEmitter(),
    clock: systemClock,
    basePath: '/locks',
    literalPaths: true,
    connectTimeout: 1_000,
    wait: 'forever',
    retryPolicy: new RetryForever(50),
  });

  /** The session of the client ends. */
  expire(): void {
    this.server.expire(this.client.status().sessionId!);
  }

  /** What an operator does who takes a lock from its holder. */
  remove(participants: readonly string[]): void {
    this.server.remove(participants[0]!);
  }
}

/** An app on a server of its own, for each test. */
export class EmbeddedApp extends TestedApp<ZooKeeperLockClient> {
  embedded!: Embedded;
}

export function useEmbeddedApp(parts: () => AppParts): EmbeddedApp {
  const app = new EmbeddedApp(new Apps());
  beforeEach(async () => {
    app.embedded = new Embedded();
    const { client } = app.embedded;
    await client.connect();
    app.nest = await app.apps.boot({ ...parts(), client });
  });
  afterEach(async () => {
    await app.apps.end();
    await app.embedded.client.close();
  });
  return app;
}
