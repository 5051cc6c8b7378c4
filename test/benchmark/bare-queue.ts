import { CreateMode } from '../../lib/zookeeper/connection/zookeeper-connection.js';
import type { BareDriver } from './bare-driver.js';

/** The least that the queue of a mutex takes: each node goes when the one before it has gone, nobody asks why. */
export class BareQueue {
  #head = '';
  #served?: Promise<number[]>;

  constructor(private readonly driver: BareDriver) {}

  async queue(path: string, waiters: number): Promise<void> {
    const { driver } = this;
    await driver.create(path, Buffer.alloc(0), CreateMode.PERSISTENT).catch(() => {}); // there from the last time
    const enter = () =>
      driver.create(`${path}/lock-`, Buffer.alloc(0), CreateMode.EPHEMERAL_SEQUENTIAL);
    const nodes = await Promise.all(Array.from({ length: waiters + 1 }, enter));
    this.#head = nodes[0]!;

    const grantedAt: number[] = [];
    const armed: Promise<void>[] = [];
    const released = nodes.slice(1).map(
      (node, i) =>
        new Promise<void>((resolve, reject) => {
          const passOn = () => {
            grantedAt.push(performance.now());
            driver.delete(node).then(resolve, reject);
          };
          armed.push(driver.watch(nodes[i]!, passOn));
        }),
    );
    this.#served = Promise.all(released).then(() => grantedAt);
    await Promise.all(armed);
  }

  async serve(): Promise<number[]> {
    const begin = performance.now();
    await this.driver.delete(this.#head);
    return (await this.#served!).map((at) => at - begin);
  }
}
