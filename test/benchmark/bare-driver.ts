import { once } from 'node:events';
import ZooKeeper from 'zookeeper';
import type { NativeHandle } from '../../lib/zookeeper/connection/native-handle.js';
import { CreateMode } from '../../lib/zookeeper/connection/zookeeper-connection.js';

/** The driver without anything of ours around it: the floor of every measurement. */
export class BareDriver {
  readonly #watchers = new Map<string, () => void>();

  private constructor(
    private readonly client: InstanceType<typeof ZooKeeper>,
    private readonly handle: NativeHandle,
  ) {
    client.on('deleted', (_: unknown, path: string) => this.#watchers.get(path)?.());
  }

  static async connect(connectString: string): Promise<BareDriver> {
    const client = new ZooKeeper({
      connect: connectString,
      timeout: 30_000,
      debug_level: 0,
      host_order_deterministic: true,
      response_counter_limit: 0x7fffffff,
    });
    client.init(client.config);
    await once(client, 'connect');
    return new BareDriver(client, (client as unknown as { native: NativeHandle }).native);
  }

  create(path: string, data: Buffer, flags: number): Promise<string> {
    return new Promise((resolve, reject) => {
      this.handle.a_create(path, data, flags, (rc, message, made) =>
        rc === 0 ? resolve(made) : reject(new Error(message)),
      );
    });
  }

  delete(path: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.handle.a_delete_(path, -1, (rc, message) =>
        rc === 0 ? resolve() : reject(new Error(message)),
      );
    });
  }

  /** Resolves when the watch is set; `onDeleted` is called when the node goes. */
  watch(path: string, onDeleted: () => void): Promise<void> {
    this.#watchers.set(path, onDeleted);
    return new Promise((resolve, reject) => {
      this.handle.a_exists(path, true, (rc, message) =>
        rc === 0 ? resolve() : reject(new Error(message)),
      );
    });
  }

  close(): void {
    this.client.close();
  }
}

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
