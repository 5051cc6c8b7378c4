import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Injectable, type INestApplication } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Agent, get, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { WithMultiLock, WithMutex } from '../../lib/index.js';
import { eventually } from '../support/time.js';
import { useApps } from './support/apps.js';

const RESTARTS = 10;
const CLIENTS = 6;

@Injectable()
class Orders {
  @WithMutex('stock')
  async reserve(): Promise<void> {
    await sleep(2);
  }

  @WithMutex('ledger')
  async charge(): Promise<void> {
    await sleep(2);
  }

  @WithMultiLock(['stock', 'ledger'])
  async ship(): Promise<void> {
    await sleep(2);
  }
}

/** What became of the requests that had begun. */
const begun = { underWay: 0, done: 0, failures: [] as unknown[] };

@Controller('order')
class OrdersController {
  constructor(private readonly orders: Orders) {}

  @Get()
  async order(): Promise<string> {
    begun.underWay++;
    try {
      await this.orders.reserve();
      await sleep(5);
      await this.orders.charge();
      await this.orders.ship();
      begun.done++;
      return 'shipped';
    } catch (error) {
      begun.failures.push(error);
      throw error;
    } finally {
      begun.underWay--;
    }
  }
}

/** A replica, and the connections to it that the load balancer keeps open. */
class Replica {
  /** Requests that are not answered yet. */
  underWay = 0;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #port: number;

  constructor(readonly app: INestApplication) {
    this.#port = ((app.getHttpServer() as Server).address() as AddressInfo).port;
  }

  /** Resolves to the answer, or to `undefined` if the request did not get through. */
  async order(): Promise<string | undefined> {
    this.underWay++;
    return this.#send().finally(() => this.underWay--);
  }

  #send(): Promise<string | undefined> {
    return new Promise((resolve) => {
      const url = `http://127.0.0.1:${this.#port}/order`;
      const request = get(url, { agent: this.#agent }, (response) => {
        let answer = `${response.statusCode} `;
        response.setEncoding('utf8').on('data', (text: string) => (answer += text));
        // By 503, Fastify itself turns away what comes too late to begin; a refused lock would be a 500, and among the failures.
        response.on('end', () => resolve(response.statusCode === 503 ? undefined : answer));
      });
      request.on('error', () => resolve(undefined));
    });
  }

  /** Lets go of the connections: as nothing follows on them, the server need not wait until they time out. */
  leave(): void {
    this.#agent.destroy();
  }
}

describe.each([
  ['Express', () => new ExpressAdapter()],
  ['Fastify', () => new FastifyAdapter()],
] as const)('An app on %s that is replaced under load', (_, makeAdapter) => {
  const apps = useApps();
  const start = async () => {
    const parts = { providers: [Orders], controllers: [OrdersController], adapter: makeAdapter() };
    return new Replica(await apps.serve(parts));
  };

  it('finishes each request that had begun, ten times', async () => {
    Object.assign(begun, { underWay: 0, done: 0, failures: [] });
    let current = await start();
    let isOver = false;
    const answers = new Set<string>();
    const load = Array.from({ length: CLIENTS }, async () => {
      while (!isOver) answers.add((await current.order()) ?? 'again');
    });
    let drained = 0;

    for (let i = 0; i < RESTARTS; i++) {
      const [old, successor] = [current, await start()];
      await eventually('requests are under way', () => begun.underWay >= CLIENTS / 2);
      current = successor;
      drained += begun.underWay;
      const closing = apps.close(old.app);
      await eventually('it does not listen', () => !old.app.getHttpServer().listening);
      await eventually('its requests are answered', () => old.underWay === 0);
      old.leave();
      await closing;
    }
    isOver = true;
    await Promise.all(load);

    expect(begun.failures).toEqual([]);
    expect(drained).toBeGreaterThanOrEqual(RESTARTS);
    answers.delete('again'); // it came too late to begin
    expect([...answers]).toEqual(['200 shipped']);
  });
});
