import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';
import { LIMIT, Partner } from './partner.js';
import { Quotes } from './quotes.js';

const CALLS = 15; // of each replica

// Two replicas. They share nothing but the Redis server, as if they ran on two machines.
const boot = () => NestFactory.createApplicationContext(AppModule, { logger: ['warn', 'error'] });
const replicas = [await boot(), await boot()];
const partner = new Partner();
try {
  const url = await partner.open();
  console.log(`Two replicas ask ${CALLS} times each. The partner serves ${LIMIT} at once.\n`);
  console.log(`no lock      ${await ask((quotes) => quotes.ask(url))}`);
  console.log(`@Semaphore   ${await ask((quotes) => quotes.askInTurn(url))}`);
} finally {
  partner.close();
  await Promise.all(replicas.map((app) => app.close()));
}

async function ask(call: (quotes: Quotes) => Promise<number>): Promise<string> {
  const calls = replicas.flatMap((app) =>
    Array.from({ length: CALLS }, () => call(app.get(Quotes))),
  );
  const statuses = await Promise.all(calls);
  const count = (wanted: number) => statuses.filter((status) => status === wanted).length;
  return `${count(200)} quotes, ${count(429)} times "429 Too Many Requests"`;
}
