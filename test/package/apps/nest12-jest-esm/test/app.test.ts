import 'reflect-metadata';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TerminusModule } from '@nestjs/terminus';
import { Test, type TestingModule } from '@nestjs/testing';
import type { ModuleMetadata } from '@nestjs/common';
import {
  getLockClientToken,
  LockLostError,
  LockTimeoutError,
  type RedisLockClient,
} from 'nestjs-interlock';
import { LockHealthIndicator } from 'nestjs-interlock/health';
import { LockInspector, LockInspectorModule } from 'nestjs-interlock/inspector';
import { LockTelemetryModule } from 'nestjs-interlock/opentelemetry';
import { LockTesting, LockTestingModule, RedisLockTestingModule } from 'nestjs-interlock/testing';
import { AppModule, Desk } from '../src/app.js';

describe('The app', () => {
  let app: TestingModule;

  beforeAll(async () => {
    app = await Test.createTestingModule({ imports: [AppModule] }).compile();
    await app.init();
  });
  afterAll(() => app.close());

  it('lets one call at a time into a locked method', async () => {
    const desk = app.get(Desk);
    await Promise.all(Array.from({ length: 5 }, () => desk.serve('a')));
    expect(desk.mostAtDesk).toBe(1);
  });

  it('turns other callers away while the lock is held', async () => {
    const desk = app.get(Desk);
    expect(await desk.serveIfFree('a')).toBe('served');
    const lease = await desk.lockOf('a').acquire();
    expect(await desk.serveIfFree('a')).toBeUndefined();
    await expect(desk.lockOf('a').acquire({ wait: 1 })).rejects.toBeInstanceOf(LockTimeoutError);
    expect(await desk.serveIfFree('b')).toBe('served');
    await lease.release();
    expect(await desk.serveIfFree('a')).toBe('served');
  });
});

/** Uses the app together with what an entry has. */
async function withApp(more: ModuleMetadata, use: (app: TestingModule) => Promise<void>) {
  const imports = [AppModule, ...(more.imports ?? [])];
  const app = await Test.createTestingModule({ ...more, imports }).compile();
  await app.init();
  try {
    await use(app);
  } finally {
    await app.close();
  }
}

describe('The entry', () => {
  it('health reports to Terminus that the locks are up', () =>
    withApp({ imports: [TerminusModule], providers: [LockHealthIndicator] }, async (app) => {
      const result = await app.get(LockHealthIndicator).pingCheck('locks');
      expect(result.locks.status).toBe('up');
    }));

  it('inspector sees the holder of a lock', () =>
    withApp({ imports: [LockInspectorModule.forRoot({ path: false })] }, async (app) => {
      await app
        .get(Desk)
        .lockOf('a')
        .using(async () => {
          const snapshot = await app.get(LockInspector).snapshot();
          expect(snapshot.clients[0]?.locks.map(({ key }) => key)).toEqual(['desk:a']);
        });
    }));

  it('opentelemetry lets methods run without an SDK', () =>
    withApp({ imports: [LockTelemetryModule.forRoot()] }, async (app) => {
      expect(await app.get(Desk).serveIfFree('a')).toBe('served');
    }));

  it('testing takes a lock away', () =>
    withApp({ imports: [LockTestingModule] }, async (app) => {
      const lease = await app.get(Desk).lockOf('a').acquire();
      await app.get(LockTesting).loseLease('desk:a');
      expect(() => lease.assertHeld()).toThrow(LockLostError);
    }));

  it('testing has a latch of Redis', async () => {
    const redis = RedisLockTestingModule.forRoot({ backend: 'redis', connect: 'redis://none' });
    const app = await Test.createTestingModule({ imports: [redis] }).compile();
    await app.init();
    const latch = app.get<RedisLockClient>(getLockClientToken()).countDownLatch('imports');
    await latch.trySetCount(1);
    const late = expect(latch.await({ wait: 1_000 })).rejects.toBeInstanceOf(LockTimeoutError);
    await app.get(LockTesting).advance(1_000);
    await late;
    await latch.countDown();
    await latch.await();
    await app.close();
  });
});
