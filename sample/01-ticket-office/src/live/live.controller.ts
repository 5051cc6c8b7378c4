import { readFile } from 'node:fs/promises';
import { Controller, Get, Header } from '@nestjs/common';
import { InjectLockClient, type ZooKeeperLockClient } from 'nestjs-interlock';
import { SHOW_LOCK } from '../office/ticket-office.service.js';
import { RUSH_LOCK } from '../rush/rush.service.js';
import { SeatStore } from '../seats/seat-store.js';
import type { LiveView } from './live-view.js';

const PAGE = new URL('../../public/index.html', import.meta.url);

@Controller()
export class LiveController {
  constructor(
    private readonly store: SeatStore,
    @InjectLockClient() private readonly locks: ZooKeeperLockClient,
  ) {}

  @Get()
  @Header('content-type', 'text/html; charset=utf-8')
  page(): Promise<string> {
    return readFile(PAGE, 'utf8');
  }

  @Get('live')
  @Header('cache-control', 'no-store')
  async live(): Promise<LiveView> {
    const [{ tickets }, sales, rushes] = await Promise.all([
      this.store.load(),
      this.locks.mutex(SHOW_LOCK).participants(),
      this.locks.mutex(RUSH_LOCK).participants(),
    ]);
    return { tickets, queue: sales.map(numberOf), isRushing: rushes.length > 0 };
  }
}

/** The name of a node in the queue ends with ten digits. */
function numberOf(path: string): number {
  return Number(path.slice(-10));
}
