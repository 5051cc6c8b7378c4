import 'reflect-metadata';
import assert from 'node:assert/strict';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  getLockClientToken,
  InjectLockClient,
  type LockClient,
  LockKeyError,
  LockModule,
  type LockModuleOptions,
  LockTimeoutError,
  WithMutex,
} from 'nestjs-interlock';

/** Settings that may be absent: with exactOptionalPropertyTypes, only a type with `| undefined` accepts them. */
const text: string | undefined = process.env['NOT_SET'];
const ms = text === undefined ? undefined : Number(text);

@Injectable()
class Tickets {
  sold = 0;

  constructor(@InjectLockClient() readonly locks: LockClient) {}

  @WithMutex((seat: string) => `seat:${seat}`, { wait: 300, client: text, lease: ms })
  async sell(seat: string): Promise<string> {
    const before = this.sold;
    await new Promise((resolve) => setImmediate(resolve));
    this.sold = before + 1;
    return seat;
  }
}

@Module({
  imports: [LockModule.forRoot({ name: text, shutdownTimeout: ms })],
  providers: [Tickets],
})
class AppModule {}

async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['warn', 'error'] });
  const tickets = app.get(Tickets);
  assert.equal(app.get(getLockClientToken()), tickets.locks);

  await Promise.all(['A1', 'A1', 'A1'].map((seat) => tickets.sell(seat)));
  assert.equal(tickets.sold, 3);

  const lease = await tickets.locks.mutex('seat:A1').acquire({ wait: ms, method: text });
  assert.equal(await tickets.locks.mutex('seat:A1').tryAcquire(), undefined);
  const late = await tickets.sell('A1').catch((error: unknown) => error);
  assert.ok(late instanceof LockTimeoutError);
  assert.equal(late.name, 'LockTimeoutError');
  assert.match(String(late), /^LockTimeoutError: lock "seat:A1"/);
  const settings: LockModuleOptions[] = [
    { backend: 'redis', connect: 'a', client: undefined, prefix: text, connectTimeout: ms },
    { backend: 'zookeeper', connect: 'zk1', sessionTimeout: ms, basePath: text },
  ];
  for (const each of settings) assert.ok(LockModule.forRoot(each));
  await lease.release();
  assert.equal(await tickets.sell('A1'), 'A1');

  const refused = await tickets.sell('\0').catch((error: unknown) => error);
  assert.ok(refused instanceof LockKeyError);
  assert.equal(refused.name, 'LockKeyError');
  await app.close();
  console.log('ok');
}

void main();
