import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  Header,
  Injectable,
  Param,
  Res,
  UseFilters,
  type Provider,
} from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { Args, Query, Resolver } from '@nestjs/graphql';
import { ClientProxyFactory, MessagePattern } from '@nestjs/microservices';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { WsAdapter } from '@nestjs/platform-ws';
import { MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { lastValueFrom } from 'rxjs';
import request from 'supertest';
import {
  ElectionClosedError,
  LockAbortedError,
  LockClientClosedError,
  LockConnectionError,
  LockExceptionFilter,
  LockInterceptorMissingError,
  LockDeadlockError,
  LockKeyError,
  LockLostError,
  LockNotHeldError,
  LockOptionsError,
  LockQueueFullError,
  LockTimeoutError,
  LockUpgradeError,
  WithMutex,
  type LockError,
} from '../../lib/index.js';
import { eventually } from '../support/time.js';
import { useCleanup } from '../support/fixtures.js';
import { clientOf, errorOf, RecordingLogger, useApp, useApps } from './support/apps.js';
import { ask, execute, graphql, openSocket, tcpService } from './support/transports.js';

const about = { key: 'patient:secret', client: 'default' };

/** Errors of a lock with a secret key, by their codes. */
const FAILURES: Readonly<Record<string, LockError>> = {
  LOCK_TIMEOUT: new LockTimeoutError(2_400, {
    ...about,
    holder: { id: '1', mode: 'alone', method: 'Secrets.secret', host: 'secret' },
  }),
  LOCK_ABORTED: new LockAbortedError(about),
  LOCK_DEADLOCK: new LockDeadlockError([], about),
  LOCK_LOST: new LockLostError('its session is over', about),
  LOCK_NOT_HELD: new LockNotHeldError(about),
  LOCK_UPGRADE: new LockUpgradeError(about),
  LOCK_CONNECTION: new LockConnectionError('secret.example:2181 does not answer.', about),
  LOCK_QUEUE_FULL: new LockQueueFullError('maxWaiters', 200_000, about),
  LOCK_CLIENT_CLOSED: new LockClientClosedError(about),
  LOCK_ELECTION_CLOSED: new ElectionClosedError(about),
  LOCK_KEY: new LockKeyError('', 'it is empty', about),
  LOCK_OPTIONS: new LockOptionsError('wait', -1, 'milliseconds above 0', about),
  LOCK_INTERCEPTOR_MISSING: new LockInterceptorMissingError('Seats.book'),
};

function fail(code: string): never {
  throw FAILURES[code]!;
}

@Injectable()
class Seats {
  @WithMutex((seat: string) => `seat:${seat}`, { wait: 1_000 })
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
    fail(code);
  }

  @Get('tickets.csv')
  @Header('Content-Type', 'text/csv')
  tickets(): never {
    fail('LOCK_TIMEOUT');
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

describe.each([
  ['Express', () => new ExpressAdapter()],
  ['Fastify', () => new FastifyAdapter()],
])('An app on %s with LockExceptionFilter', (_, adapter) => {
  const apps = useApps();
  const serve = async (providers: Provider[] = [filtered]) => {
    const app = await apps.serve({
      controllers: [SeatController],
      providers: [Seats, ...providers],
      adapter: adapter(),
      logger: new RecordingLogger(),
    });
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

  it('answers 409 while the lock is held, where its options say so', async () => {
    const useValue = new LockExceptionFilter({ lockedStatus: 409 });
    const { app, get } = await serve([{ provide: APP_FILTER, useValue }]);
    await using _ = await clientOf(app).mutex('seat:7').acquire();
    const { status, headers, body } = await get('/seats/7');
    expect([status, headers['retry-after']]).toEqual([409, '1']);
    expect(body).toMatchObject({ statusCode: 409, error: 'Conflict', code: 'LOCK_TIMEOUT' });
    const aborted = await get('/fail/LOCK_ABORTED');
    expect(aborted.status).toBe(409);
    expect((await get('/fail/LOCK_CONNECTION')).status).toBe(503);
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
    ['LOCK_QUEUE_FULL', 503, 'Service Unavailable', '5'],
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

  it('answers in JSON where the route has another content type', async () => {
    const { get } = await serve();
    const { status, headers, body } = await get('/tickets.csv');
    expect([status, headers['content-type']]).toEqual([423, 'application/json; charset=utf-8']);
    expect(body).toMatchObject({ statusCode: 423, code: 'LOCK_TIMEOUT' });
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
  it.each([200, '423', null])('refuses the status %p', (lockedStatus) => {
    const options = { lockedStatus } as never;
    expect(() => new LockExceptionFilter(options)).toThrow(LockOptionsError);
  });

  it.each([0, -1, 1.5, NaN])('refuses to let callers wait for %d s', (retryAfter) => {
    expect(() => new LockExceptionFilter({ retryAfter })).toThrow(LockOptionsError);
  });
});

describe('A GraphQL app with LockExceptionFilter', () => {
  @Resolver()
  class SeatResolver extends Seats {
    @Query(() => String)
    override async book(@Args('seat') seat: string): Promise<string> {
      return super.book(seat);
    }

    @Query(() => String)
    fail(@Args('code') code: string): string {
      return fail(code);
    }
  }

  const app = useApp(() => ({
    imports: [graphql()],
    providers: [SeatResolver, filtered],
    logger: new RecordingLogger(),
  }));

  /** Its errors, and the headers of the response. */
  async function failing(query: string) {
    const { errors = [], headers } = await execute(app.nest, query);
    const told = errors.map(({ message, extensions }) => {
      const rest = { ...extensions };
      delete rest.stacktrace; // of development only
      return { message, ...rest };
    });
    return { errors: told, retryAfter: headers.get('retry-after') };
  }

  it('answers with a code and when to try again, while the lock is held', async () => {
    const lease = await app.client.mutex('seat:7').acquire();
    expect(await failing('{ book(seat: "7") }')).toEqual({
      errors: [
        {
          message: 'The resource is locked. Try again later.',
          code: 'LOCK_TIMEOUT',
          statusCode: 423,
          retryAfter: 1,
        },
      ],
      retryAfter: '1',
    });
    await lease.release();
    expect(await failing('{ book(seat: "7") }')).toEqual({ errors: [], retryAfter: undefined });
  });

  it.each([
    ['LOCK_LOST', 409, undefined],
    ['LOCK_CONNECTION', 503, 5],
  ])(
    'reports %s with its status, %i, and without the key',
    async (code, statusCode, retryAfter) => {
      const { errors } = await failing(`{ fail(code: "${code}") }`);
      expect(errors).toEqual([{ message: expect.any(String), code, statusCode, retryAfter }]);
      expect(JSON.stringify(errors)).not.toContain('secret');
    },
  );

  it('leaves mistakes in the program to Nest', async () => {
    const { errors } = await failing('{ fail(code: "LOCK_KEY") }');
    expect(errors).toEqual([
      { message: FAILURES.LOCK_KEY!.message, code: 'INTERNAL_SERVER_ERROR' },
    ]);
  });
});

describe('A microservice with LockExceptionFilter', () => {
  const apps = useApps();
  const cleanup = useCleanup();

  @Controller()
  class SeatService {
    @MessagePattern('fail')
    async fail(code: string): Promise<never> {
      fail(code);
    }
  }

  it.each([
    ['without it', []],
    ['with it as a global filter', [filtered]],
  ])('answers as Nest does, %s', async (_, providers) => {
    const service = await tcpService();
    const app = await apps.boot({
      clients: [],
      controllers: [SeatService],
      providers,
      logger: new RecordingLogger(),
      prepare: (nest) => nest.connectMicroservice(service, { inheritAppConfig: true }),
    });
    await app.startAllMicroservices();
    const client = cleanup(ClientProxyFactory.create(service), (each) => each.close());
    expect(await errorOf(lastValueFrom(client.send('fail', 'LOCK_TIMEOUT')))).toEqual({
      status: 'error',
      message: 'Internal server error',
    });
  });
});

describe('The log of LockExceptionFilter', () => {
  @Controller()
  @UseFilters(LockExceptionFilter)
  class Failing {
    @Get(':code')
    fail(@Param('code') code: string): never {
      fail(code);
    }
  }

  @WebSocketGateway()
  class SeatGateway {
    @SubscribeMessage('fail')
    @UseFilters(LockExceptionFilter)
    async fail(@MessageBody() code: string): Promise<never> {
      fail(code);
    }

    @SubscribeMessage('free')
    free() {
      return { event: 'free', data: 7 };
    }
  }

  let logger: RecordingLogger;
  const app = useApp(() => {
    logger = new RecordingLogger('LockExceptionFilter');
    return {
      clients: [],
      controllers: [Failing],
      providers: [SeatGateway],
      logger,
      prepare: (nest) => nest.useWebSocketAdapter(new WsAdapter(nest)),
    };
  });

  it.each([
    ['LOCK_TIMEOUT', 'debug'],
    ['LOCK_LOST', 'warn'],
    ['LOCK_CONNECTION', 'debug'],
  ])('has the message of %s, with the key, as %s', async (code, level) => {
    await request(app.nest.getHttpServer()).get(`/${code}`);
    expect(logger.lines).toEqual([`${level}: ${FAILURES[code]!.message}`]);
  });

  it('says that it does not belong on a gateway, and the socket goes on', async () => {
    const socket = await openSocket(app.nest);
    socket.send(JSON.stringify({ event: 'fail', data: 'LOCK_TIMEOUT' }));
    await eventually('it says so', () => logger.lines.length > 0);
    expect(logger.lines).toEqual([
      expect.stringMatching(/^error: .* Remove LockExceptionFilter from the gateway/),
    ]);

    expect(await ask(socket, { event: 'free' })).toEqual({ event: 'free', data: 7 });
    socket.close();
    await once(socket, 'close');
  });
});
