import { once } from 'node:events';
import { request, type IncomingMessage, type Server } from 'node:http';
import http2 from 'node:http2';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import {
  Catch,
  VersioningType,
  type ArgumentsHost,
  type CallHandler,
  type ExceptionFilter,
  type INestApplication,
  type NestInterceptor,
} from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { map } from 'rxjs';
import { LockOptionsError, type Lease } from '../../lib/index.js';
import {
  LockInspector,
  LockInspectorModule,
  type LockInspectorOptions,
} from '../../lib/inspector/index.js';
import { eventually } from '../support/time.js';
import { clientOf, RecordingLogger, useApps } from './support/apps.js';

/** What many apps do with all answers. */
class Wrap implements NestInterceptor {
  intercept(_: unknown, next: CallHandler) {
    return next.handle().pipe(map((data: unknown) => ({ data })));
  }
}

/** What the responses of both adapters have. */
interface ServerAnswer {
  status(code: number): { send(body: object): unknown };
}

@Catch()
class AllErrors implements ExceptionFilter {
  catch(error: { getStatus?(): number }, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<ServerAnswer>();
    response.status(error.getStatus?.() ?? 500).send({ error: 'no' });
  }
}

const ALLOW = { canActivate: () => true };

const ADAPTERS = [
  { name: 'Express', adapter: () => new ExpressAdapter() },
  { name: 'Fastify', adapter: () => new FastifyAdapter() },
];

describe.each(ADAPTERS)('Requests to the inspector on $name', ({ adapter }) => {
  const apps = useApps();
  const logger = new RecordingLogger();
  let app: INestApplication;
  let port: string;
  let lease: Lease;

  async function serve(
    options: LockInspectorOptions,
    prepare: (nest: INestApplication) => unknown = () => {},
  ): Promise<void> {
    const imports = [LockInspectorModule.forRoot({ guards: [ALLOW], ...options })];
    app = await apps.serve({ imports, adapter: adapter(), logger, prepare });
    ({ port } = new URL(await app.getUrl()));
    lease = await clientOf(app).mutex('seat').acquire();
  }

  /** Sends any headers, which `fetch` does not. */
  function send(path: string, headers: object = {}, body?: unknown): Promise<IncomingMessage> {
    const method = body === undefined ? 'GET' : 'POST';
    const host = { host: `127.0.0.1:${port}`, 'content-type': 'application/json' };
    const options = { port, path, method, headers: { ...host, ...headers } };
    return new Promise((resolve, reject) => {
      const sent = request({ hostname: '127.0.0.1', ...options }, resolve).on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  async function get(path: string, headers?: object): Promise<[status?: number, body?: string]> {
    const response = await send(path, headers);
    return [response.statusCode, await text(response)];
  }

  async function release(headers: object, path = '/locks/release'): Promise<[number?, string?]> {
    const [client] = (await app.get(LockInspector).snapshot()).clients;
    const { name, holders } = client!.locks[0]!;
    const body = { client: 'default', name, ids: holders[0]!.ids };
    const response = await send(path, { 'x-requested-with': 'nestjs-interlock', ...headers }, body);
    return [response.statusCode, await text(response)];
  }

  /** Status, and the first snapshot, of a stream; ends it. */
  async function watch(path: string, headers?: object): Promise<[status?: number, event?: string]> {
    const response = await send(path, headers);
    let events = '';
    for await (const chunk of response.setEncoding('utf8')) {
      events += chunk;
      if (/^data: \{.*\n\n/m.test(events)) break;
    }
    return [response.statusCode, /^data: (\{.*)$/m.exec(events)?.[1]];
  }

  it('are answered alike below a prefix, with versions, interceptors that wrap and filters', async () => {
    await serve({ releaseGuards: [] }, (nest) => {
      nest.setGlobalPrefix('api');
      nest.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' });
      nest.useGlobalInterceptors(new Wrap());
      nest.useGlobalFilters(new AllErrors());
    });
    const [status, page] = await get('/api/locks');
    expect([status, page!.slice(0, 15)]).toEqual([200, '<!doctype html>']);
    const seen = { clients: [{ name: 'default', locks: [{ key: 'seat' }] }] };
    const [found, snapshot] = await get('/api/locks/snapshot');
    expect([found, JSON.parse(snapshot!)]).toMatchObject([200, seen]);
    const [watched, event] = await watch('/api/locks/events');
    expect([watched, JSON.parse(event!)]).toMatchObject([200, seen]);
    const refused = await release({ 'x-requested-with': '' }, '/api/locks/release');
    expect(refused).toEqual([403, '{"error":"no"}']);
    expect(await release({}, '/api/locks/release')).toEqual([200, '{"released":true}']);
  });

  it('release nothing for another site, or by a name that could be rebound', async () => {
    await serve({});
    const here = `127.0.0.1:${port}`;
    for (const headers of [
      { host: 'rebind.evil', origin: 'http://rebind.evil' },
      { host: `rebind.evil:${port}`, origin: `http://rebind.evil:${port}` },
      { host: 'rebind.evil' },
      { host: 'localhost.evil', origin: 'http://localhost.evil' },
      { host: '127.0.0.1.evil' },
      { host: '127.0.0.1@evil' },
      { origin: 'http://rebind.evil' },
      { origin: 'http://10.0.0.1' },
      { origin: `http://127.0.0.1:1` },
      { origin: `http://${here}@evil` },
      { origin: 'null' },
      { origin: '' },
      { origin: `http://${here}`, 'sec-fetch-site': 'cross-site' },
      { origin: `http://${here}`, 'sec-fetch-site': 'same-site' },
    ]) {
      const [status, body] = await release(headers);
      expect([headers, status]).toEqual([headers, 403]);
      expect(body).toContain('`hosts`');
    }
    expect(lease.isHeld).toBe(true);
    const own = { origin: `http://${here}`, 'sec-fetch-site': 'same-origin' };
    expect(await release(own)).toEqual([200, '{"released":true}']);
  });

  it('reach the page by the hosts of the option only', async () => {
    await serve({ hosts: ['Locks.example.com', 'ops:8443'] });
    for (const path of ['/locks', '/locks/snapshot', '/locks/events'])
      for (const host of ['rebind.evil', `127.0.0.1:${port}`, 'ops', 'ops:1', 'xlocks.example.com'])
        expect([path, host, (await get(path, { host }))[0]]).toEqual([path, host, 403]);
    for (const host of ['locks.example.com', 'locks.example.com:9', 'LOCKS.example.com.'])
      expect([host, (await get('/locks', { host }))[0]]).toEqual([host, 200]);
    expect((await watch('/locks/events', { host: 'ops:8443' }))[0]).toBe(200);
    expect((await release({ host: 'rebind.evil', origin: 'http://rebind.evil' }))[0]).toBe(403);
    // A proxy may have changed the host, which no browser lets a page do to the origin.
    const proxied = { host: 'backend:3000', origin: 'https://locks.example.com' };
    expect((await release(proxied))[0]).toBe(200);
  });

  it('of another site get no snapshot, even where the app allows all origins', async () => {
    await serve({}, (nest) => nest.enableCors({ origin: true, credentials: true }));
    for (const path of ['/locks/snapshot', '/locks/events']) {
      for (const headers of [{ origin: 'http://evil' }, { 'sec-fetch-site': 'cross-site' }])
        expect([path, (await get(path, headers))[0]]).toEqual([path, 403]);
    }
    expect((await get('/locks', { 'sec-fetch-site': 'cross-site' }))[0]).toBe(200); // a link
    expect((await get('/locks/snapshot', { 'sec-fetch-site': 'same-origin' }))[0]).toBe(200);
  });

  it('of an operator leave their user in the log', async () => {
    await serve({ userOf: (its: { headers: { user: string } }) => its.headers.user });
    const told = logger.fromNowOn();
    expect((await release({ user: 'alice "root"' }))[0]).toBe(200);
    expect(told().at(-1)).toBe(
      'warn: Lock "/locks/seat" of client "default" was released by force by "alice \\"root\\""',
    );
  });

  it('release nothing when the user is not known', async () => {
    await serve({ userOf: async () => Promise.reject(new Error('session expired')) });
    expect((await release({}))[0]).toBe(500);
    expect(lease.isHeld).toBe(true);
  });

  it('watch up to a number of pages at a time', async () => {
    await serve({ watchers: 2 });
    const open = await Promise.all([send('/locks/events'), send('/locks/events')]);
    const [status, body] = await get('/locks/events');
    expect(status).toBe(503);
    expect(body).toContain('`watchers`');
    open[0].destroy();
    await eventually('another one may watch', async () => {
      const [again] = await watch('/locks/events');
      return again === 200;
    });
    open[1].destroy();
  });

  it('that end before a guard has let them in take no place', async () => {
    const asked: ((isIn: boolean) => void)[] = [];
    const canActivate = () => new Promise<boolean>((resolve) => asked.push(resolve));
    await serve({ watchers: 1, guards: [{ canActivate }] });
    const accepted = once(app.getHttpServer() as Server, 'connection') as Promise<[Socket]>;
    const left = request({ hostname: '127.0.0.1', port, path: '/locks/events' });
    left.on('error', () => {}).end();
    const [socket] = await accepted;
    await eventually('the guard is asked', () => asked.length === 1);
    const closed = once(socket, 'close');
    left.destroy();
    await closed;
    asked[0]!(true);
    const next = watch('/locks/events');
    await eventually('the guard is asked again', () => asked.length === 2);
    asked[1]!(true);
    expect((await next)[0]).toBe(200);
  });

  it('that are queued behind a stream of their connection take no place', async () => {
    await serve({ watchers: 2 });
    const socket = connect(Number(port), '127.0.0.1');
    const one = `GET /locks/events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
    socket.write(one.repeat(3));
    await once(socket, 'data');
    socket.destroy();
    await eventually('both places are free', async () => {
      const open = await Promise.all([send('/locks/events'), send('/locks/events')]);
      open.forEach((each) => each.destroy());
      return open.every(({ statusCode }) => statusCode === 200);
    });
  });

  it('keep no connection open while the app closes', async () => {
    await serve({ releaseGuards: [{ canActivate: () => false }] });
    const open = async () => {
      const socket = connect(Number(port), '127.0.0.1');
      await once(app.getHttpServer() as Server, 'connection');
      return socket;
    };
    const watching = await open();
    /** As a browser opens them ahead: closing servers wait for them, as they have had no request. */
    const idle = [await open(), await open(), await open(), await open()] as const;
    const ask = async (socket: Socket, method: string, path: string) => {
      socket.write(`${method} /locks${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
      const [head] = (await once(socket.setEncoding('utf8'), 'data')) as [string];
      expect(head).toMatch(/\nconnection: close\r/i);
      return Number(head.split(' ')[1]);
    };
    try {
      expect(await ask(watching, 'GET', '/events')).toBe(200);
      const ended = once(watching.resume(), 'end');
      const closed = apps.close(app);
      await ended;
      expect(await ask(idle[0], 'GET', '/events')).toBe(503);
      await ask(idle[1], 'GET', '');
      await ask(idle[2], 'GET', '/snapshot');
      await ask(idle[3], 'POST', '/release');
      await closed;
    } finally {
      for (const each of [watching, ...idle]) each.destroy();
    }
  });

  it('for the headers of the stream alone are answered at once', async () => {
    await serve({});
    const { status } = await fetch(`http://127.0.0.1:${port}/locks/events`, { method: 'HEAD' });
    expect(status).toBe(200);
  });
});

describe('The inspector', () => {
  const apps = useApps();

  it('sends its events over HTTP/2', async () => {
    const adapter = new FastifyAdapter({ http2: true });
    const imports = [LockInspectorModule.forRoot({ guards: [] })];
    const app = await apps.serve({ imports, adapter });
    const session = http2.connect(await app.getUrl());
    try {
      const stream = session.request({ ':path': '/locks/events' });
      const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders];
      expect(headers[':status']).toBe(200);
      const [event] = (await once(stream.setEncoding('utf8'), 'data')) as [string];
      expect(event).toMatch(/^event: now\n/);
    } finally {
      session.destroy();
    }
  });

  it.each([[[]], ['locks.example.com'], [['https://locks.example.com']], [['a/b']], [[7]], [['']]])(
    'refuses %j as hosts',
    (hosts) => {
      const options = { guards: [ALLOW], hosts } as LockInspectorOptions;
      expect(() => LockInspectorModule.forRoot(options)).toThrow(LockOptionsError);
    },
  );
});
