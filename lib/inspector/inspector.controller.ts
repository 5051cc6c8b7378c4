import {
  BadRequestException,
  Body,
  type CanActivate,
  Controller,
  ForbiddenException,
  Get,
  Header,
  Headers,
  HttpCode,
  Inject,
  Post,
  Res,
  Sse,
  type Type,
  UseGuards,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import { endWith, ignoreElements, interval, map, merge, type Observable, takeUntil } from 'rxjs';
import { type LockInspectorOptions, REQUESTED_WITH } from './lock-inspector-options.interface.js';
import { LockInspector } from './lock-inspector.js';
import { inspectorPage } from './page/inspector-page.js';

/** Denies every request, and names the option that would allow it. */
class DenyGuard implements CanActivate {
  constructor(private readonly advice: string) {}

  canActivate(): never {
    throw new ForbiddenException(this.advice);
  }
}

/** Body of a request to release a lock by force. */
interface ReleaseRequest {
  readonly client: string;
  readonly name: string;
  readonly ids: readonly string[];
}

/** @throws BadRequestException if the body is not a release request */
function releaseRequest(body: unknown): ReleaseRequest {
  const { client, name, ids } = Object(body) as Partial<ReleaseRequest>;
  const isIds = Array.isArray(ids) && ids.every((id) => typeof id === 'string');
  if (typeof client === 'string' && typeof name === 'string' && isIds) return { client, name, ids };
  throw new BadRequestException('Send { client, name, ids } as in a snapshot, as JSON.');
}

/** Interval of pings in ms, because proxies close idle connections. */
const PING_EVERY = 15_000;

/** What the responses of Express and Fastify have in common. */
interface PageResponse {
  header(name: string, value: string): unknown;
  send(body: string): unknown;
}

const LOOK = new DenyGuard(
  'Give LockInspectorModule.forRoot() the option `guards`: they decide which requests may see the locks.',
);
const RELEASE = new DenyGuard(
  'Give LockInspectorModule.forRoot() a guard: it decides which requests may release locks by force.',
);

/** Creates the controller of the page, protected by the guards of the options. */
export function inspectorController({
  path = 'locks',
  guards,
  releaseGuards = [],
}: LockInspectorOptions): Type {
  const mayRelease = (guards?.length ?? 0) + releaseGuards.length > 0;
  const page = inspectorPage(mayRelease);

  @Controller({ path: path || '/', version: VERSION_NEUTRAL })
  @UseGuards(...(guards ?? [LOOK]))
  class LockInspectorController {
    constructor(@Inject(LockInspector) private readonly inspector: LockInspector) {}

    @Get()
    page(@Res() response: PageResponse): void {
      for (const [name, value] of Object.entries(page.headers)) response.header(name, value);
      response.send(page.html);
    }

    @Get('snapshot')
    @Header('Cache-Control', 'no-store')
    snapshot() {
      return this.inspector.snapshot();
    }

    @Sse('events')
    events(): Observable<{ type?: string; data: string | object }> {
      // The page calculates with our clock, and a late subscriber gets a snapshot taken earlier.
      const now = (snapshot: object) => ({ data: { ...snapshot, now: Date.now() } });
      const snapshots = this.inspector.changes().pipe(map(now));
      const closed = snapshots.pipe(ignoreElements(), endWith(true));
      const pings = interval(PING_EVERY).pipe(
        map(() => ({ type: 'ping', data: 'still here' })),
        takeUntil(closed),
      );
      return merge(snapshots, pings);
    }

    @Post('release')
    @HttpCode(200)
    @UseGuards(...(mayRelease ? releaseGuards : [RELEASE]))
    async release(@Headers('x-requested-with') requestedWith: unknown, @Body() body: unknown) {
      if (requestedWith !== REQUESTED_WITH)
        throw new ForbiddenException(`Send the header X-Requested-With: ${REQUESTED_WITH}.`);
      const { client, name, ids } = releaseRequest(body);
      return { released: await this.inspector.release(client, name, ids) };
    }
  }

  return LockInspectorController;
}
