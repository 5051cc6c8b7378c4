import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BadGatewayException, ConflictException, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { WithMutex } from 'nestjs-interlock';
import type { Sale } from '../office/sale.js';
import { SeatStore } from '../seats/seat-store.js';
import { SEATS } from '../seats/show.js';
import type { RushResult } from './rush-result.js';

const CUSTOMERS = 300;

/** The lock that keeps a second rush out while one is under way. */
export const RUSH_LOCK = 'rush';

@Injectable()
export class RushService {
  constructor(
    private readonly store: SeatStore,
    private readonly host: HttpAdapterHost,
  ) {}

  /** Opens the sale anew and sends all customers at once. With several processes, they spread over all of them. */
  @WithMutex(RUSH_LOCK, {
    onBusy: () => {
      throw new ConflictException('A rush is already under way.');
    },
  })
  async run(locked: boolean, latency: number): Promise<RushResult> {
    await this.store.open(latency);
    const start = performance.now();
    const sales = await Promise.all(Array.from({ length: CUSTOMERS }, () => this.buy(locked)));
    const ms = performance.now() - start;

    const sold = sales.filter(({ seat }) => seat !== null).length;
    const waits = sales.map(({ waitedMs }) => waitedMs);
    const result = {
      locked,
      sold,
      oversold: Math.max(0, sold - SEATS),
      ms,
      meanWaitMs: waits.reduce((sum, wait) => sum + wait, 0) / CUSTOMERS,
      longestWaitMs: Math.max(...waits),
    };
    await this.store.record(result);
    return result;
  }

  private async buy(locked: boolean): Promise<Sale> {
    const server: Server = this.host.httpAdapter.getHttpServer();
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/purchases?locked=${locked}`;
    const response = await fetch(url, { method: 'POST' }).catch(() => undefined);
    if (!response?.ok) throw new BadGatewayException('A customer got no answer.');
    return response.json() as Promise<Sale>;
  }
}
