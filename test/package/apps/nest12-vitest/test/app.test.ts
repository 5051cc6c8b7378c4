import 'reflect-metadata';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Test, type TestingModule } from '@nestjs/testing';
import { LockTimeoutError } from 'nestjs-interlock';
import { LockTesting } from 'nestjs-interlock/testing';
import { AppModule, Desk } from '../src/app.js';

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

it('says what a simulated Redis needs', async () => {
  const client = new LockTesting().createRedisClient();
  await expect(client).rejects.toThrow('Run `npm install --save-dev fengari`.');
});
