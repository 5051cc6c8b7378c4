import { afterEach, describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  Injectable,
  Param,
  Res,
  UseFilters,
  type INestApplication,
  type ModuleMetadata,
} from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import request from 'supertest';
import {
  LockExceptionFilter,
  LockModule,
  LockOptionsError,
  LockTimeoutError,
  WithMutex,
} from '../../lib/index.js';
import { clientOf } from './support/apps.js';
import { lockFailures } from './support/lock-failures.js';

@Injectable()
class Seats {
  @WithMutex((seat: string) => `seat:${seat}`, { wait: 50 })
  async book(seat: string): Promise<string> {
    return seat;
  }
}

/** Its first part comes before the failure. */
interface Started {
  raw?: Started;
  write(part: string): void;
}

@Controller()
class SeatController {
  constructor(private readonly seats: Seats) {}

  @Get('seats/:seat')
  book(@Param('seat') seat: string): Promise<string> {
    return this.seats.book(seat);
  }

  @Get('fail/:code')
  fail(@Param('code') code: string): never {
    throw lockFailures[code]!;
  }

  @Get('started')
  async start(@Res() response: Started): Promise<void> {
    (response.raw ?? response).write('one');
    throw new LockTimeoutError(50);
  }

  @Get('wordy')
  @UseFilters(new LockExceptionFilter({ retryAfter: 60, exposeMessage: true }))
  tell(): never {
    throw new LockTimeoutError(2_400, { key: 'seat:7', client: 'default' });
  }
}

const filtered = { provide: APP_FILTER, useClass: LockExceptionFilter };
const TOLD_BY_NEST = { statusCode: 500, message: 'Internal server error' };

const apps: INestApplication[] = [];
afterEach(() => Promise.all(apps.splice(0).map((app) => app.close())));

describe.each([
  ['Express', () => new ExpressAdapter()],
  ['Fastify', () => new FastifyAdapter()],
])('An app on %s with LockExceptionFilter', (_, adapter) => {
  const serve = async (providers: ModuleMetadata['providers'] = [filtered]) => {
    const module = await Test.createTestingModule({
      imports: [LockModule.forRoot()],
      controllers: [SeatController],
      providers: [Seats, ...providers],
    }).compile();
    const app = module.createNestApplication(adapter(), { logger: false });
    apps.push(app);
    await app.listen(0, '127.0.0.1');
    const get = (path: string) => request(app.getHttpServer()).get(path);
    return { app, get };
  };

  it('answers 423 while the lock is held, and as always when it is free', async () => {
    const { app, get } = await serve();
    const lease = await clientOf(app).mutex('seat:7').acquire();
    const { status, headers, body } = await get('/seats/7');
    expect(status).toBe(423);
    expect(headers['retry-after']).toBe('1');
    expect(headers['content-type']).toMatch(/^application\/json/);
    expect(body).toEqual({
      statusCode: 423,
      message: 'The resource is locked. Try again later.',
      error: 'Locked',
      code: 'LOCK_TIMEOUT',
    });

    await lease.release();
    await get('/seats/7').expect(200, '7');
  });

  it('answers 503 while the app shuts down', async () => {
    const { app, get } = await serve();
    clientOf(app).refuse();
    const { status, headers, body } = await get('/seats/7');
    expect([status, headers['retry-after']]).toEqual([503, '5']);
    expect(body).toMatchObject({ error: 'Service Unavailable', code: 'LOCK_CLIENT_CLOSED' });
  });

  it.each([
    ['LOCK_TIMEOUT', 423, 'Locked', '3'],
    ['LOCK_ABORTED', 423, 'Locked', '5'],
    ['LOCK_LOST', 409, 'Conflict', undefined],
    ['LOCK_NOT_HELD', 409, 'Conflict', undefined],
    ['LOCK_UPGRADE', 409, 'Conflict', undefined],
    ['LOCK_CONNECTION', 503, 'Service Unavailable', '5'],
    ['LOCK_CLIENT_CLOSED', 503, 'Service Unavailable', '5'],
    ['LOCK_ELECTION_CLOSED', 503, 'Service Unavailable', '5'],
  ])('answers %s with %i, and does not reveal the key', async (code, statusCode, error, after) => {
    const { get } = await serve();
    const { status, headers, body, text } = await get(`/fail/${code}`);
    expect(status).toBe(statusCode);
    expect(headers['retry-after']).toBe(after);
    expect(body).toEqual({ statusCode, message: expect.any(String), error, code });
    expect(text).not.toContain('secret');
  });

  it.each(['LOCK_KEY', 'LOCK_OPTIONS', 'LOCK_INTERCEPTOR_MISSING'])(
    'leaves %s to Nest: it is a mistake in the program',
    async (code) => {
      const { get } = await serve();
      await get(`/fail/${code}`).expect(500, TOLD_BY_NEST);
    },
  );

  it('sends the message of the error, and another number of seconds, where its options say so', async () => {
    const { get } = await serve([]);
    const { status, headers, body } = await get('/wordy');
    expect([status, headers['retry-after']]).toEqual([423, '60']);
    const { message } = new LockTimeoutError(2_400, { key: 'seat:7', client: 'default' });
    expect(body).toEqual({ statusCode: 423, message, error: 'Locked', code: 'LOCK_TIMEOUT' });
  });

  it('ends a response that has begun', async () => {
    const { get } = await serve();
    const { status, text } = await get('/started');
    expect([status, text]).toEqual([200, 'one']);
  });

  it('is not installed by default', async () => {
    const { get } = await serve([]);
    await get('/fail/LOCK_TIMEOUT').expect(500, TOLD_BY_NEST);
  });
});

describe('LockExceptionFilter', () => {
  it.each([0, -1, 1.5, NaN])('refuses to let callers wait for %d s', (retryAfter) => {
    expect(() => new LockExceptionFilter({ retryAfter })).toThrow(LockOptionsError);
  });
});
