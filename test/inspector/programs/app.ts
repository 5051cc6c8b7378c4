// A Nest app that takes locks and keeps them, as it is told: "<client> <kind> <key> <method>", "free <method>". It says 'held',
// 'waiting' and 'freed'. Argument: as JSON, the options of its clients.
import { NestFactory } from '@nestjs/core';
import { LockInspectorModule } from '../../../lib/inspector/index.js';
import {
  LockClientRegistry,
  LockModule,
  type Lease,
  type Lock,
  type LockModuleOptions,
  type RedisLockClient,
} from '../../../lib/index.js';

const clients = JSON.parse(process.argv[2]!) as LockModuleOptions[];
const app = await NestFactory.createApplicationContext(
  {
    module: class App {},
    imports: [
      ...clients.map((options) => LockModule.forRoot(options)),
      LockInspectorModule.forRoot({ path: false }),
    ],
  },
  { logger: ['error', 'fatal'] },
);
const registry = app.get(LockClientRegistry);
for (const name of registry.names)
  registry.get(name).on('contended', () => process.send!('waiting'));
const leases = new Map<string, Lease>();

const kinds: Record<string, (client: RedisLockClient, key: string) => Lock> = {
  mutex: (client, key) => client.mutex(key, { fair: true }), // on ZooKeeper it is, anyway
  read: (client, key) => client.readWriteLock(key).readLock(),
  write: (client, key) => client.readWriteLock(key).writeLock(),
  semaphore: (client, key) => client.semaphore(key, { permits: 2 }),
};

process.on('message', (message) => {
  const [client = '', kind = '', key = '', method = ''] = String(message).split(' ');
  if (client === 'free') void free(kind);
  else void take(kinds[kind]!(registry.get(client) as RedisLockClient, key), method);
});
process.once('disconnect', () => process.exit());
process.send!('connected');

async function take(lock: Lock, method: string): Promise<void> {
  leases.set(method, await lock.acquire({ method }));
  process.send!('held');
}

async function free(method: string): Promise<void> {
  await leases.get(method)!.release();
  process.send!('freed');
}
