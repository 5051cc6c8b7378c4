// One replica of an app with a method for each backend, which is to run once a tick. It calls them in each tick, so many ms
// after its beginning, and reports how late it was when it knew what became of a call: skipped, or running. A timer that fires
// too late makes no call. Asked to hang, each method stays in mid-run the next time that it runs.
// Arguments: the options of the clients `redis` and `zookeeper` in JSON; length of a tick, offset, `atLeast`, longest delay,
// in ms.
import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { setTimeout as delay } from 'node:timers/promises';
import { LockLostError, LockModule, RunOnce, type LockModuleOptions } from '../../../lib/index.js';

const [redis, zookeeper, ...numbers] = process.argv.slice(2) as [string, string, ...string[]];
const [period, offset, atLeast, patience] = numbers.map(Number) as [number, number, number, number];
const atMost = 60_000;
let mustHang = false;
let startsAt = 0;

const lateness = (tick: number) => Date.now() - (startsAt + tick * period + offset);
const report = (backend: string, tick: number, ran: boolean) =>
  process.send!({ backend, tick, ran, late: lateness(tick), hangs: ran && mustHang });
const client = (options: string) => LockModule.forRoot(JSON.parse(options) as LockModuleOptions);

@Injectable()
class Reports {
  @RunOnce('report', { atMost, atLeast, client: 'redis' })
  async redis(tick: number): Promise<'written' | undefined> {
    return this.#write('redis', tick);
  }

  @RunOnce('report', { atMost, atLeast, client: 'zookeeper' })
  async zookeeper(tick: number): Promise<'written' | undefined> {
    return this.#write('zookeeper', tick);
  }

  async #write(backend: string, tick: number): Promise<'written'> {
    report(backend, tick, true);
    if (mustHang) await new Promise(() => {});
    await delay(20);
    return 'written';
  }
}

@Module({ imports: [client(redis), client(zookeeper)], providers: [Reports] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
const reports = app.get(Reports);

async function keepSchedule(): Promise<void> {
  for (let tick = 0; ; tick++) {
    await delay(Math.max(0, -lateness(tick)));
    void call('redis', tick);
    void call('zookeeper', tick);
  }
}

async function call(backend: 'redis' | 'zookeeper', tick: number): Promise<void> {
  const result =
    lateness(tick) > patience ? undefined : await reports[backend](tick).catch(standing);
  if (result === undefined) report(backend, tick, false);
}

/** On a machine that stands still, a run loses its lock: that is no end of the replica. */
function standing(error: unknown): string {
  if (error instanceof LockLostError) return 'lost';
  throw error;
}

process.on('message', (message: string) => {
  if (message === 'hang') mustHang = true;
  else {
    startsAt = Number(message);
    void keepSchedule();
  }
});
process.once('disconnect', () => process.exit());
process.send!('ready');
