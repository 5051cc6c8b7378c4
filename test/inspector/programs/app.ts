// A Nest app that takes locks and keeps them, as ordered: "<client> <kind> <key> <method>", "free <method>". It says 'held',
// 'waiting' and 'freed'. Kinds `latch` and `selector` stand for an election, `<method>` is their id; they report that they lead
// as 'held', and that they do no longer as 'lost'. Argument: as JSON, the options of its clients.
import { NestFactory } from '@nestjs/core';
import { once } from 'node:events';
import { LockInspectorModule } from '../../../lib/inspector/index.js';
import {
  LockClients,
  LockModule,
  type Leadership,
  type Lease,
  type Lock,
  type LockClient,
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
const registry = app.get(LockClients);
for (const name of registry.names)
  registry.get(name).on('contended', () => process.send!('waiting'));
const leases = new Map<string, Pick<Lease, 'release'>>();

const kinds: Record<string, (client: RedisLockClient, key: string) => Lock> = {
  mutex: (client, key) => client.mutex(key, { fair: true }), // on ZooKeeper it is, anyway
  read: (client, key) => client.readWriteLock(key).readLock(),
  write: (client, key) => client.readWriteLock(key).writeLock(),
  semaphore: (client, key) => client.semaphore(key, { permits: 2 }),
};

process.on('message', (message) => {
  const [client = '', kind = '', key = '', method = ''] = String(message).split(' ');
  if (client === 'free') void free(kind);
  else if (kind === 'latch') leadByLatch(registry.get(client), key, method);
  else if (kind === 'selector') leadBySelector(registry.get(client), key, method);
  else void take(kinds[kind]!(registry.get(client) as RedisLockClient, key), method);
});
process.once('disconnect', () => process.exit());
process.send!('connected');

async function take(lock: Lock, method: string): Promise<void> {
  leases.set(method, await lock.acquire({ method }));
  process.send!('held');
}

function leadByLatch(client: LockClient, key: string, id: string): void {
  const latch = client.leaderLatch(key, { id });
  latch.onLeadership(() => process.send!('held'));
  latch.onLeadershipLost(() => process.send!('lost'));
  leases.set(id, { release: () => latch.close() });
  latch.start();
}

function leadBySelector(client: LockClient, key: string, id: string): void {
  const lead = async ({ signal }: Leadership) => {
    process.send!('held');
    await once(signal, 'abort');
    process.send!('lost');
  };
  const selector = client.leaderSelector(key, lead, { id });
  leases.set(id, { release: () => selector.close() });
  selector.start();
}

async function free(method: string): Promise<void> {
  await leases.get(method)!.release();
  process.send!('freed');
}
