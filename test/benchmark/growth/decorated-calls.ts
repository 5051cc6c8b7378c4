import { Injectable, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import 'reflect-metadata';
import { LockModule, WithMutex } from '../../../lib/index.js';
import { type Cost, exponentOf, type Growth } from './cost.js';

@Injectable()
class Work {
  @WithMutex('one')
  async one(): Promise<void> {}

  @WithMutex('many:{0}')
  async many(_i: number): Promise<void> {}
}

@Module({ imports: [LockModule.forRoot()], providers: [Work] })
class WorkModule {}

/** N decorated calls in one turn, through the interceptor; embedded, where all of the cost is CPU time of this process. */
export async function decoratedCalls(isQuick: boolean): Promise<Growth[]> {
  Logger.overrideLogger(false);
  const app = await NestFactory.createApplicationContext(WorkModule);
  const work = app.get(Work);
  const sizes = isQuick ? [300, 3_000] : [300, 3_000, 30_000];
  try {
    return [
      await growth('decorated calls, each with its key', sizes, (i) => work.many(i)),
      await growth('decorated calls for one key', sizes, () => work.one()),
    ];
  } finally {
    await app.close();
  }
}

async function growth(
  title: string,
  sizes: readonly number[],
  call: (i: number) => Promise<void>,
): Promise<Growth> {
  const all = (n: number) => Promise.all(Array.from({ length: n }, (_, i) => call(i)));
  await all(1_000); // the code is compiled
  const costs: Cost[] = [];
  for (const n of sizes) {
    const before = process.cpuUsage();
    await all(n);
    const { user, system } = process.cpuUsage(before);
    costs.push({ n, requests: 0, work: 0, cpuMs: (user + system) / 1_000 });
  }
  const exponent = exponentOf(costs, 'cpuMs');
  return { title, backend: 'embedded', unit: 'none but CPU time', costs, exponent };
}
