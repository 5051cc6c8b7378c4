import { expect, it } from '@jest/globals';
import { createRequire } from 'node:module';

it.each([
  ...['common', 'core', 'cqrs', 'microservices', 'platform-express', 'platform-fastify'],
  ...['platform-ws', 'testing', 'websockets'],
])('finds version 11 of @nestjs/%s here', (name) => {
  const load = createRequire(import.meta.url);
  const { version } = load(`@nestjs/${name}/package.json`) as { version: string };
  expect(version).toMatch(/^11\./);
});
