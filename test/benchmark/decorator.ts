import 'reflect-metadata';
import { Injectable, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { getLockClientToken, LockModule, WithMutex, type LockClient } from '../../lib/index.js';
import { percentile } from './percentile.js';
import { row, type Row } from './row.js';
import { sideBySide } from './side-by-side.js';

/** The most that the decorator may add to a call, in µs. */
const TARGET = 2;

@Injectable()
class Work {
  @WithMutex('decorated')
  async decorated(): Promise<void> {}
}

@Module({ imports: [LockModule.forRoot()], providers: [Work] })
class BenchmarkModule {}

/** A decorated call against the bare `mutex.using`, on the embedded backend. */
export async function decorator(): Promise<Row[]> {
  Logger.overrideLogger(false);
  const app = await NestFactory.createApplicationContext(BenchmarkModule);
  const work = app.get(Work);
  const mutex = app.get<LockClient>(getLockClientToken()).mutex('bare');
  const { decorated, bare } = await sideBySide(
    { decorated: () => work.decorated(), bare: () => mutex.using(async () => {}) },
    { rounds: 100, calls: 2_000, lanes: 1 },
  );
  await app.close();
  // The medians of whole rounds: a single call is shorter than what its clock costs.
  const [ours, floor] = [decorated, bare].map(({ rates }) => 1e6 / percentile(rates, 0.5)) as [
    number,
    number,
  ];
  return [
    row('decorated call, embedded backend', 'µs', ours, floor),
    row('what the decorator adds', 'µs', ours - floor, null, TARGET),
  ];
}
