import {
  BadRequestException,
  Body,
  type CanActivate,
  Controller,
  type ExecutionContext,
  ForbiddenException,
  Get,
  Headers,
  HttpCode,
  Inject,
  Post,
  Req,
  Res,
  ServiceUnavailableException,
  type Type,
  UseGuards,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import { map, ReplaySubject, share } from 'rxjs';
import { endConnection, EventStream, isConnected, type PageResponse } from './event-stream.js';
import {
  LOCK_INSPECTOR_SETTINGS,
  type LockInspectorOptions,
  type LockInspectorSettings,
  REQUESTED_WITH,
} from './lock-inspector-options.interface.js';
import { LockInspector } from './lock-inspector.js';
import { inspectorPage } from './page/inspector-page.js';
import { type RequestHeaders, RequestOrigin } from './request-origin.js';

/** Denies every request, and names the option that would allow it. */
class DenyGuard implements CanActivate {
  constructor(private readonly advice: string) {}

  canActivate(): never {
    throw new ForbiddenException(this.advice);
  }
}

/** Lets every request in, but over a connection that ends with its answer if the app closes: a page would go on asking over it. */
class ClosingGuard implements CanActivate {
  constructor(@Inject(LockInspector) private readonly inspector: LockInspector) {}

  canActivate(context: ExecutionContext): true {
    if (this.inspector.isClosing) endConnection(context.switchToHttp().getResponse());
    return true;
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

const LOOK = new DenyGuard(
  'Give LockInspectorModule.forRoot() the option `guards`: they decide which requests may see the locks.',
);
const RELEASE = new DenyGuard(
  'Give LockInspectorModule.forRoot() a guard: it decides which requests may release locks by force.',
);

/**
 * Creates the controller of the page, protected by the guards of the options. It writes its answers itself, so that
 * interceptors of the app that wrap what handlers return do not change them.
 *
 * @throws LockOptionsError
 */
export function inspectorController({
  path = 'locks',
  guards,
  releaseGuards = [],
  hosts,
  userOf,
  app,
  environment,
}: LockInspectorOptions): Type {
  const mayRelease = (guards?.length ?? 0) + releaseGuards.length > 0;
  const page = inspectorPage(mayRelease, { app, environment });
  const origin = new RequestOrigin(hosts);

  @Controller({ path: path || '/', version: VERSION_NEUTRAL })
  @UseGuards(ClosingGuard, ...(guards ?? [LOOK]))
  class LockInspectorController {
    readonly #watchers = new Set<EventStream>();
    readonly #snapshots;

    constructor(
      @Inject(LockInspector) private readonly inspector: LockInspector,
      @Inject(LOCK_INSPECTOR_SETTINGS) private readonly settings: LockInspectorSettings,
    ) {
      this.#snapshots = inspector.changes().pipe(
        map((snapshot) => JSON.stringify(snapshot)), // once for all watchers
        share({ connector: () => new ReplaySubject(1) }),
      );
    }

    @Get()
    page(@Headers() headers: RequestHeaders, @Res() response: PageResponse): void {
      origin.expectVisitor(headers);
      for (const [name, value] of Object.entries(page.headers)) response.header(name, value);
      response.send(page.html);
    }

    @Get('snapshot')
    async snapshot(@Headers() headers: RequestHeaders, @Res() response: PageResponse) {
      origin.expectReader(headers);
      sendJson(response, await this.inspector.snapshot());
    }

    @Get('events')
    events(@Headers() headers: RequestHeaders, @Res() response: PageResponse): void {
      origin.expectReader(headers);
      // Otherwise its place would not become free again.
      if (!isConnected(response))
        throw new BadRequestException('Open a connection for the events alone, and keep it open.');
      // An empty stream would show the page as live for a moment.
      if (this.inspector.isClosing) throw new ServiceUnavailableException('The app is closing.');
      const { watchers } = this.settings;
      if (this.#watchers.size >= watchers)
        throw new ServiceUnavailableException(
          `${watchers} pages of the lock inspector are open, and no more are allowed. Close one, or raise the option \`watchers\` of LockInspectorModule.forRoot().`,
        );
      const stream = new EventStream(response, () => {
        this.#watchers.delete(stream);
        watching.unsubscribe();
      });
      this.#watchers.add(stream);
      const watching = this.#snapshots.subscribe({
        next: (snapshot) => stream.send(snapshot),
        error: () => stream.end(),
        complete: () => stream.end(),
      });
      watching.add(this.inspector.looks().subscribe((at) => stream.looked(at)));
    }

    @Post('release')
    @HttpCode(200)
    @UseGuards(...(mayRelease ? releaseGuards : [RELEASE]))
    async release(
      @Headers() headers: RequestHeaders,
      @Body() body: unknown,
      @Req() request: never,
      @Res() response: PageResponse,
    ) {
      if (headers['x-requested-with'] !== REQUESTED_WITH)
        throw new ForbiddenException(`Send the header X-Requested-With: ${REQUESTED_WITH}.`);
      origin.expectOperator(headers);
      const { client, name, ids } = releaseRequest(body);
      const user = await userOf?.(request);
      sendJson(response, { released: await this.inspector.release(client, name, ids, user) });
    }
  }

  return LockInspectorController;
}

function sendJson(response: PageResponse, body: object): void {
  response.header('Content-Type', 'application/json; charset=utf-8');
  response.header('Cache-Control', 'no-store');
  response.send(JSON.stringify(body));
}
