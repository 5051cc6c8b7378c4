import { once } from 'node:events';
import ZooKeeper from 'zookeeper';
import type { NativeHandle } from '../../lib/zookeeper/connection/native-handle.js';

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
