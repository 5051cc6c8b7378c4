import { isMainThread } from 'node:worker_threads';
import { LockConnectionError } from '../../core/errors/index.js';
import type { NativeHandle } from './native-handle.js';
import { NativeLink } from './native-link.js';
import type { LinkListener, OpenOptions, Transport, TransportLink } from './transport.js';

/** The driver's class, of which only the addon object inside is used. */
type Addon = new (config: object) => { readonly native: NativeHandle };

/** Opens links through the npm package `zookeeper`, the native client. Works in the main thread only. */
export class NativeTransport implements Transport {
  readonly driver = 'native';
  readonly #links = new Set<NativeLink>();
  #allClosed: () => void = () => {};

  private constructor(private readonly Addon: Addon) {}

  /**
   * Loads the driver, an optional peer dependency.
   *
   * Rejects with `LockConnectionError` if it is not installed, and in worker threads.
   */
  static async load(client?: string): Promise<NativeTransport> {
    if (!isMainThread)
      throw new LockConnectionError(
        'The native driver of the backend "zookeeper" works in the main thread only: it takes the process down when several threads load it. Use the `driver` "wire" in worker threads.',
        { client },
      );
    try {
      const { default: addon } = await import('zookeeper');
      return new NativeTransport(addon);
    } catch (cause) {
      throw new LockConnectionError(
        'The `driver` "native" needs the package `zookeeper`, which could not be loaded. Use the `driver` "wire", or run `npm install zookeeper` (on Linux it compiles, so it needs make, g++ and python3, and install scripts must be allowed).',
        { client, cause },
      );
    }
  }

  open(options: OpenOptions, listener: LinkListener): TransportLink {
    const { native } = new this.Addon({});
    const link = new NativeLink(native, listener, (closed) => this.#closed(closed));
    this.#links.add(link);
    link.open(options);
    return link;
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#allClosed = resolve;
      for (const link of this.#links) link.close();
      if (this.#links.size === 0) resolve();
    });
  }

  #closed(link: NativeLink): void {
    this.#links.delete(link);
    if (this.#links.size === 0) this.#allClosed();
  }
}
