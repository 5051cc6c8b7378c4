import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** What the responses of Express and Fastify have in common. That of Express is the raw one. */
export interface PageResponse {
  header(name: string, value: string): unknown;
  send(body: string): unknown;
  getHeaders(): OutgoingHttpHeaders;
  readonly raw?: ServerResponse;
  /** Leaves the response to us. */
  hijack?(): unknown;
}

/** Interval of pings in ms, because proxies close idle connections. */
const PING_EVERY = 15_000;

/** A watcher that has not read for this long, in ms, is disconnected: it takes the place of another one. */
const PATIENCE = 30_000;

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store, no-transform', // compression would hold events back
  'X-Accel-Buffering': 'no',
};

const rawOf = (response: PageResponse): ServerResponse =>
  response.raw ?? (response as unknown as ServerResponse);

/**
 * Whether the end of its connection is still to come, and will be reported. It is not if the client has left already, or if the
 * response waits for another one of its connection (pipelining).
 */
export function isConnected(response: PageResponse): boolean {
  const { socket, destroyed } = rawOf(response);
  return Boolean(socket) && !destroyed;
}

/**
 * Has the connection end with this response. A server that closes waits for a connection that is kept alive for as long as
 * requests come over it.
 */
export function endConnection(response: PageResponse): void {
  // HTTP/2 forbids the header.
  if (rawOf(response).req.httpVersionMajor < 2) response.header('Connection', 'close');
}

/**
 * The stream of server-sent events to one watcher, written without Nest, as interceptors may change what handlers return.
 *
 * Invariant: at most one snapshot is in the buffers of the connection, and only the latest waits for it.
 */
export class EventStream {
  readonly #raw: ServerResponse;
  readonly #pings: NodeJS.Timeout;
  #latest?: string;
  #isBlocked = false;
  #stalled?: NodeJS.Timeout;

  /**
   * @param response one that is connected
   * @param closed called once, when the connection is closed
   */
  constructor(response: PageResponse, closed: () => void) {
    endConnection(response); // the app may close before the stream ends
    const headers = { ...response.getHeaders(), ...HEADERS };
    response.hijack?.();
    const raw = (this.#raw = rawOf(response));
    raw.on('close', () => {
      clearInterval(this.#pings);
      clearTimeout(this.#stalled);
      closed();
    });
    raw.on('error', () => {}); // its connection closes
    raw.on('drain', () => this.#drained());
    raw.setTimeout(0);
    raw.writeHead(200, headers);
    raw.flushHeaders();
    this.#pings = setInterval(() => this.#ping(), PING_EVERY).unref();
    if (raw.req.method === 'HEAD') this.end();
  }

  /** Sends the snapshot, or remembers it until the watcher has read the one before. */
  send(snapshot: string): void {
    if (this.#isBlocked) this.#latest = snapshot;
    else this.#write(`event: now\ndata: ${Date.now()}\n\n`, `data: ${snapshot}\n\n`);
  }

  /** Reports that the servers were looked at, with or without a change, at this time in ms since 1970. */
  looked(at: number): void {
    if (!this.#isBlocked) this.#write(`event: looked\ndata: ${at}\n\n`);
  }

  end(): void {
    // A watcher that does not read would keep the server from closing.
    if (this.#isBlocked) this.#raw.destroy();
    else this.#raw.end();
  }

  #ping(): void {
    if (!this.#isBlocked) this.#write('event: ping\ndata: still here\n\n');
  }

  #write(...texts: readonly string[]): void {
    if (this.#raw.writableEnded || this.#raw.destroyed) return;
    const areTaken = texts.map((text) => this.#raw.write(text));
    if (areTaken.every(Boolean)) return;
    this.#isBlocked = true;
    this.#stalled = setTimeout(() => this.#raw.destroy(), PATIENCE).unref();
  }

  #drained(): void {
    clearTimeout(this.#stalled);
    this.#isBlocked = false;
    const latest = this.#latest;
    this.#latest = undefined;
    if (latest !== undefined) this.send(latest);
  }
}
