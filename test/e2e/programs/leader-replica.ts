// One replica of an app with a job for each backend, every second, on the leader only. A run adds a line to a file, before it
// does anything else: so none is forgotten when the replica is killed. Arguments: the options of the clients `redis` and
// `zookeeper` in JSON; the file.
import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Cron, ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { appendFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import {
  currentLease,
  LeaderOnly,
  LockModule,
  type LockModuleOptions,
} from '../../../lib/index.js';

const [redis, zookeeper, file] = process.argv.slice(2) as [string, string, string];
const client = (options: string) => LockModule.forRoot(JSON.parse(options) as LockModuleOptions);

@Injectable()
class Jobs {
  constructor(private readonly jobs: SchedulerRegistry) {}

  @Cron('* * * * * *', { name: 'redis' })
  @LeaderOnly('tick', { client: 'redis' })
  async redis(): Promise<void> {
    await this.#run('redis');
  }

  @LeaderOnly('tick', { client: 'zookeeper' })
  @Cron('* * * * * *', { name: 'zookeeper' })
  async zookeeper(): Promise<void> {
    await this.#run('zookeeper');
  }

  async #run(backend: string): Promise<void> {
    const at = Date.now();
    const firedAt = this.jobs.getCronJob(backend).lastDate()!.getTime();
    const token = String(await currentLease()!.fencingToken());
    appendFileSync(file, `${JSON.stringify({ backend, at, firedAt, pid: process.pid, token })}\n`);
    await delay(100); // the work, so that a kill may come in the middle of it
  }
}

@Module({
  imports: [ScheduleModule.forRoot(), client(redis), client(zookeeper)],
  providers: [Jobs],
})
class AppModule {}

await NestFactory.createApplicationContext(AppModule, { logger: false });
process.once('disconnect', () => process.exit());
process.send!(process.pid);
