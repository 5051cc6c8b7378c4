import 'reflect-metadata';
import { setTimeout as pause } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';
import { PriceCache, PRODUCTS } from './price-cache.js';

const READS = 20;

// Two replicas. They share nothing but the Redis server, as if they ran on two machines.
const boot = () => NestFactory.createApplicationContext(AppModule, { logger: ['warn', 'error'] });
const replicas = [await boot(), await boot()];
const [one, two] = replicas.map((app) => app.get(PriceCache)) as [PriceCache, PriceCache];
try {
  await one.rebuild();
  console.log(`A replica rebuilds the cache of ${PRODUCTS} prices, while both read it.\n`);
  const unlocked = read(
    () => one.read(),
    () => two.read(),
  );
  await one.rebuild();
  console.log(`no lock                 ${await unlocked}`);
  const locked = read(
    () => one.readWhole(),
    () => two.readWhole(),
  );
  await one.rebuildAlone();
  console.log(`@ReadLock, @WriteLock   ${await locked}`);
} finally {
  await Promise.all(replicas.map((app) => app.close()));
}

/** Reads again and again on both, and tells what was seen. */
async function read(...readers: (() => Promise<number>)[]): Promise<string> {
  const seen = await Promise.all(
    readers.map(async (reader) => {
      const counts: number[] = [];
      while (counts.length < READS) counts.push(await pause(2).then(reader));
      return counts;
    }),
  );
  const parts = seen.flat().filter((count) => count < PRODUCTS).length;
  return `${seen.flat().length} reads, ${parts} of them saw a part of the prices`;
}
