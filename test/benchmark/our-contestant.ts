import { createZooKeeperLockClient } from '../../lib/zookeeper/create-zookeeper-lock-client.js';
import type { ZooKeeperLockClient } from '../../lib/zookeeper/zookeeper-lock-client.js';
import type { Lease } from '../../lib/core/lease.js';
import type { Lock } from '../../lib/core/lock.js';
import type { Contestant, Recipe } from './contestant.js';
import { lockOf } from './lock-of.js';

/** This library, in this process. */
export class OurContestant implements Contestant {
  readonly #clients: ZooKeeperLockClient[] = [];
  readonly #locks = new Map<string, Lock[]>();
  #queued?: { holder: Lease; grantedAt: number[]; released: Promise<unknown> };

  constructor(private readonly connectString: string) {}

  async cycles(recipe: Recipe, path: string, lanes: number, count: number): Promise<number> {
    const [client] = await this.#connected(1);
    const id = `${recipe} ${path}`;
    if (!this.#locks.has(id)) this.#locks.set(id, []);
    const locks = this.#locks.get(id)!;
    while (locks.length < lanes) locks.push(lockOf(client!, recipe, path));

    let left = count;
    const begin = performance.now();
    await Promise.all(
      locks.slice(0, lanes).map(async (lock) => {
        while (left-- > 0) await (await lock.acquire()).release();
      }),
    );
    return performance.now() - begin;
  }

  async queue(path: string, waiters: number, sessions: number): Promise<void> {
    const clients = await this.#connected(sessions);
    const holder = await clients[0]!.mutex(path).acquire();
    const grantedAt: number[] = [];
    const passOn = async (client: ZooKeeperLockClient) => {
      const lease = await client.mutex(path).acquire();
      grantedAt.push(performance.now());
      await lease.release();
    };
    const waits = Array.from({ length: waiters }, (_, i) => passOn(clients[i % sessions]!));
    this.#queued = { holder, grantedAt, released: Promise.all(waits) };
  }

  async serve(): Promise<number[]> {
    const { holder, grantedAt, released } = this.#queued!;
    const begin = performance.now();
    await holder.release();
    await released;
    return grantedAt.map((at) => at - begin);
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
  }

  async #connected(count: number): Promise<ZooKeeperLockClient[]> {
    while (this.#clients.length < count) {
      const name = `benchmark-${this.#clients.length}`;
      const client = await createZooKeeperLockClient(name, {
        connect: this.connectString,
        literalPaths: true,
      });
      await client.connect();
      this.#clients.push(client);
    }
    return this.#clients.slice(0, count);
  }
}
