import { describe, expect, it } from '@jest/globals';
import { type Cache, CACHE_MANAGER, CacheModule } from '@nestjs/cache-manager';
import { Inject, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Keyv } from 'keyv';
import { LockModule, WithMutex } from '../../lib/index.js';
import { Deferred } from '../support/time.js';

/** As the recipe of docs/how-to.md. */
@Injectable()
class Reports {
  compute: (id: string) => Promise<string> = async () => '';

  constructor(@Inject(CACHE_MANAGER) private readonly cache: Cache) {}

  @WithMutex('report:{0}', { wait: 30_000 })
  async report(id: string): Promise<string> {
    return this.cache.wrap(`report:${id}`, () => this.compute(id), 60_000);
  }
}

/** Two replicas with one store, but caches of their own: only the lock keeps them from computing at the same time. */
async function replicas() {
  const store = new Map();
  const boot = async () => {
    const stores = [new Keyv({ store })];
    @Module({
      imports: [LockModule.forRoot(), CacheModule.register({ stores })],
      providers: [Reports],
    })
    class AppModule {}

    return NestFactory.createApplicationContext(AppModule, { logger: false });
  };
  return [await boot(), await boot()] as const;
}

describe('A result that is computed under a lock and kept in the cache', () => {
  it('is computed once, also by callers of other replicas that came meanwhile; a failure is not kept', async () => {
    const apps = await replicas();
    const all = apps.map((app) => app.get(Reports));
    const computed: string[] = [];
    const begun = new Deferred();
    const goOn = new Deferred();
    for (const reports of all)
      reports.compute = async (id) => {
        computed.push(id);
        begun.resolve();
        await goOn.promise;
        if (computed.length === 1) throw new Error('the first one fails');
        return `report ${id}`;
      };
    const calls = Array.from({ length: 10 }, (_, i) => all[i % 2]!.report('7'));
    await begun.promise;
    goOn.resolve();
    const outcomes = await Promise.allSettled(calls);
    const results = outcomes.map((it) => (it.status === 'fulfilled' ? it.value : 'failed'));
    expect(results.toSorted()).toEqual(['failed', ...Array<string>(9).fill('report 7')]);
    expect(computed).toEqual(['7', '7']);
    await Promise.all(apps.map((app) => app.close()));
  });
});
