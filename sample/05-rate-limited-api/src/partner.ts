import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** How many requests the partner serves at once. */
export const LIMIT = 3;

/** The partner's API: it answers 429 to those who are too many. */
export class Partner {
  private atOnce = 0;
  private readonly server = createServer((_, response) => {
    if (this.atOnce === LIMIT) {
      response.writeHead(429).end();
      return;
    }
    this.atOnce += 1;
    void pause(20).then(() => {
      this.atOnce -= 1;
      response.end('a quote');
    });
  });

  /** @returns its URL */
  async open(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}
