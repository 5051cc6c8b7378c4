import { describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Injectable,
  Post,
  Res,
  UseGuards,
} from '@nestjs/common';
import { firstValueFrom, of, type Observable } from 'rxjs';
import {
  LockAbortedError,
  LockDefaults,
  LockOptionsError,
  LockStream,
  WithMutex,
  type LockTimeoutError,
} from '../../lib/index.js';
import { Deferred, eventually } from '../support/time.js';
import { clientOf, contention, errorOf, RecordingLogger, useApp } from './support/apps.js';

const always = new AbortController();

@Injectable()
class Orders {
  readonly closing = new AbortController();

  @WithMutex('order', { signal: (request: { signal?: AbortSignal }) => request.signal })
  async byArgument(_request: { signal?: AbortSignal }): Promise<string> {
    return 'paid';
  }

  @WithMutex('order', {
    signal(this: Orders) {
      return this.closing.signal;
    },
    onBusy: (error: LockTimeoutError) => error.message,
    wait: 60_000,
  })
  async byInstance(): Promise<string> {
    return 'paid';
  }

  @WithMutex('order', { signal: (signal: AbortSignal) => signal })
  async byRoom(_signal: AbortSignal, body: () => Promise<string>): Promise<string> {
    return body();
  }

  @WithMutex('order', { signal: always.signal })
  async fixed(): Promise<string> {
    return 'paid';
  }

  @WithMutex('order', { signal: () => ({}) as AbortSignal })
  async wrong(): Promise<void> {}

  @LockStream('order', { signal: (signal: AbortSignal) => signal })
  stream(_signal: AbortSignal): Observable<string> {
    return of('paid');
  }
}

function closed(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => controller.abort());
  if (response.destroyed) controller.abort();
  return controller.signal;
}

/** Lets a request in, or keeps it until its client has left. */
@Injectable()
class Door implements CanActivate {
  keepsIn = false;
  readonly arrived = new Deferred();

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const response = context.switchToHttp().getResponse<ServerResponse>();
    this.arrived.resolve();
    if (this.keepsIn) await once(response, 'close');
    return true;
  }
}

@Controller()
@UseGuards(Door)
class Reports {
  written = 0;

  @Post()
  @WithMutex('report', { signal: (response: ServerResponse) => closed(response) })
  async write(@Res({ passthrough: true }) _response: ServerResponse): Promise<void> {
    this.written += 1;
  }
}

@Injectable()
@LockDefaults({ signal: (given) => given as AbortSignal })
class WithDefault {
  @WithMutex('order')
  async pay(_signal: AbortSignal): Promise<void> {}
}

describe('The signal of a decorator', () => {
  const app = useApp(() => ({ providers: [Orders, WithDefault] }));
  const orders = () => app.get(Orders);

  it.each<[string, (signal: AbortSignal) => Promise<unknown>]>([
    ['of a function of the arguments', (signal) => orders().byArgument({ signal })],
    ['of the defaults of the class', (signal) => app.get(WithDefault).pay(signal)],
    ['of a stream', (signal) => firstValueFrom(orders().stream(signal))],
    [
      'of the instance, and onBusy is not asked',
      async (signal) => {
        signal.addEventListener('abort', () => orders().closing.abort());
        return orders().byInstance();
      },
    ],
  ])('ends the wait, and leaves nothing in the queue: %s', async (_, call) => {
    await using _lease = await app.client.mutex('order').acquire();
    const controller = new AbortController();
    const queued = contention(app.client, 'order');
    const outcome = errorOf(call(controller.signal));
    await queued;
    controller.abort();
    expect(await outcome).toBeInstanceOf(LockAbortedError);
    expect(app.client.status().waiting).toBe(0);
  });

  it('may be missing for a call, and has no effect once the lock is held', async () => {
    expect(await orders().byArgument({})).toBe('paid');
    const controller = new AbortController();
    const paid = app.held('order', () =>
      orders().byRoom(controller.signal, () => {
        controller.abort();
        return app.room.stay('paid');
      }),
    );
    expect(await paid).toBe('paid');
  });

  it('is refused before anything is acquired if it is aborted, or no signal', async () => {
    always.abort();
    expect(await errorOf(orders().fixed())).toBeInstanceOf(LockAbortedError);
    const error = await errorOf(orders().wrong());
    expect(error).toBeInstanceOf(LockOptionsError);
    expect(error.message).toContain('an AbortSignal, to @WithMutex of Orders.wrong');
    const define = () => WithMutex('order', { signal: 'soon' as unknown as AbortSignal });
    const descriptor = { value: async () => {} };
    expect(() => define()({ constructor: Orders } as object, 'late', descriptor)).toThrow(
      'an AbortSignal, or a function that returns one',
    );
  });

  it('ends the wait of a request whose client has left', async () => {
    const server = await app.apps.serve({
      controllers: [Reports],
      providers: [Door],
      logger: new RecordingLogger(), // Nest logs what such a request ends with
    });
    const client = clientOf(server);
    const url = await server.getUrl();
    const lease = await client.mutex('report').acquire();
    const browser = new AbortController();
    const queued = contention(client, 'report');
    const request = errorOf(fetch(url, { method: 'POST', signal: browser.signal }));
    await queued;
    browser.abort();
    await request;
    await eventually('no acquire waits', () => client.status().waiting === 0);
    await lease.release();
    expect((await fetch(url, { method: 'POST' })).status).toBe(201);
    expect(server.get(Reports).written).toBe(1);
  });

  it('ends the call of a request whose client has left while a guard was at work', async () => {
    const logger = new RecordingLogger('ExceptionsHandler');
    const server = await app.apps.serve({ controllers: [Reports], providers: [Door], logger });
    const door = server.get(Door);
    door.keepsIn = true;
    const browser = new AbortController();
    const url = await server.getUrl();
    const request = errorOf(fetch(url, { method: 'POST', signal: browser.signal }));
    await door.arrived.promise;
    browser.abort();
    await request;
    await eventually('the call has ended', () => logger.lines.length > 0);
    expect(logger.lines[0]).toContain('LockAbortedError');
    expect(server.get(Reports).written).toBe(0);
  });
});
