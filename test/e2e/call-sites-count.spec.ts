import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

/** A place that a locked method is called from, the spec that shows that the lock is held there, and the test in it. */
type CallSite = [site: string, spec: string, ...test: string[]];

/** Where other ways to wrap a method lose the lock, or the handler. */
const CALL_SITES: CallSite[] = [
  ['a service', 'call-sites', 'a method of a service'],
  ['the service itself', 'call-sites', 'a method that the service calls on itself'],
  ["another module's onModuleInit", 'call-sites', "%s called in another module's onModuleInit"],
  ['an inherited method', 'call-sites', 'an inherited method'],
  ['useFactory', 'call-sites', 'a method of an instance that a factory made'],
  ['useValue', 'call-sites', 'a method of an instance that was given as a value'],
  ['a transient provider', 'call-sites', 'a method of a transient provider'],
  ['a request-scoped provider', 'call-sites', 'a method of a request-scoped provider'],
  ['moduleRef.create', 'call-sites', 'a method of an instance that moduleRef.create made'],
  ['@Cron above', 'call-sites-schedule', 'a @Cron method, %s', 'lock below'],
  ['@Cron below', 'call-sites-schedule', 'a @Cron method, %s', 'lock above'],
  ['@Timeout', 'call-sites-schedule', 'a %s method, lock %s', '@Timeout'],
  ['@OnEvent above', 'call-sites-events', 'an @OnEvent method, %s', 'lock.below'],
  ['@OnEvent below', 'call-sites-events', 'an @OnEvent method, %s', 'lock.above'],
  ['BullMQ process', 'call-sites-bullmq', 'the process method of a BullMQ worker'],
  ['@OnWorkerEvent', 'call-sites-bullmq', 'an @OnWorkerEvent method, lock %s', 'below', 'above'],
  ['@Get above', 'http', 'holds the lock of its transformed arguments', 'below'],
  ['@Get below', 'http', 'holds the lock of its transformed arguments', 'above'],
  ['a request-scoped controller', 'http', 'holds the lock of its transformed', 'scoped'],
  ['@MessagePattern', 'call-sites-microservice', 'a @MessagePattern handler, %s', 'lock below'],
  ['a GraphQL @Query', 'call-sites-graphql', 'a GraphQL query, lock below'],
];

/** Where apps of today have locked methods beside those, and what has to be as if there were no lock. */
const FURTHER: CallSite[] = [
  ['private fields', 'call-sites', 'a method that uses private fields'],
  ['@Interval', 'call-sites-schedule', 'a %s method, lock %s', '@Interval'],
  ['Fastify', 'http', 'On $platform, a handler with @$decorator', 'Fastify'],
  ['guards', 'http', 'is still guarded, by its metadata'],
  ['@HttpCode, @Header, pipes', 'http', 'and keeps status, header and body'],
  ['name and length', 'http', 'keeps its name and length'],
  ['a WebSocket gateway', 'call-sites-gateway', 'a handler of a WebSocket gateway, %s'],
  ['a request-scoped message', 'call-sites-microservice', '@MessagePattern', 'request-scoped'],
  ['@EventPattern', 'call-sites-microservice', 'an @EventPattern handler'],
  ['a GraphQL mutation', 'call-sites-graphql', 'a GraphQL mutation'],
  ['a GraphQL @ResolveField', 'call-sites-graphql', 'a GraphQL field'],
  ['a CQRS command', 'call-sites-cqrs', 'a CQRS command handler'],
  ['a CQRS event', 'call-sites-cqrs', 'a CQRS event handler'],
  ['a CQRS query', 'call-sites-cqrs', 'a CQRS query handler'],
  ['a plain instance: refused', 'module', 'on an instance that Nest did not make'],
];

describe('The call sites of a locked method', () => {
  it('are twenty-one', () => {
    expect(new Set(CALL_SITES.map(([site]) => site)).size).toBe(21);
  });

  it.each([...CALL_SITES, ...FURTHER])('have a test: %s', (_, spec, ...test) => {
    const text = readFileSync(new URL(`${spec}.spec.ts`, import.meta.url), 'utf8');
    for (const part of test) expect(text).toContain(part);
  });
});
