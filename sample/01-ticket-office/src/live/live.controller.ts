import { readFile } from 'node:fs/promises';
import { Controller, Get, Header } from '@nestjs/common';
import { InjectLockClient, type RedisLockClient, type ZooKeeperLockClient } from 'nestjs-interlock';
import { SHOW_LOCK } from '../office/ticket-office.service.js';
import { RUSH_LOCK } from '../rush/rush.service.js';
import { SeatStore } from '../seats/seat-store.js';
import type { LiveView } from './live-view.js';
import { queueOf } from './queue-of.js';

const PAGE = new URL('../../public/index.html', import.meta.url);

@Controller()
export class LiveController {
  constructor(
    private readonly store: SeatStore,
    @InjectLockClient() private readonly locks: ZooKeeperLockClient | RedisLockClient,
  ) {}

  @Get()
  @Header('content-type', 'text/html; charset=utf-8')
  page(): Promise<string> {
    return readFile(PAGE, 'utf8');
  }

  @Get('live')
  @Header('cache-control', 'no-store')
  async live(): Promise<LiveView> {
    const [{ tickets, rushes }, queue, running] = await Promise.all([
      this.store.load(),
      queueOf(this.locks.mutex(SHOW_LOCK)),
      queueOf(this.locks.mutex(RUSH_LOCK)),
    ]);
    return { tickets, queue, isRushing: running.length > 0, rushes };
  }
}
