import { LockEventEmitter } from '../../../../lib/core/internal/lock-event-emitter.js';
import { RedLockClient } from '../../../../lib/redis/red-lock/red-lock-client.js';
import { RedLockNodes } from '../../../../lib/redis/red-lock/red-lock-nodes.js';
import { RedisLockClient } from '../../../../lib/redis/redis-lock-client.js';
import type { RedisLockOptions } from '../../../../lib/redis/redis-options.js';
import { VirtualClock } from '../../../support/virtual-clock.js';
import { connectionOf } from '../connection-of.js';
import { FakeNode, type SentCommand } from '../fake-node.js';

/** A connected RedLock client of five servers that the test plays, in virtual time. */
export class RedLockOnFakes {
  readonly clock = new VirtualClock();
  readonly nodes = Array.from({ length: 5 }, (_, i) => {
    const node = new FakeNode();
    node.reply = ({ name }) =>
      (name === 'ping' ? 'PONG' : name === 'info' && `run_id:${i}`) || undefined;
    return node;
  });

  private constructor(private readonly options: RedisLockOptions) {}

  static async connect(
    options: RedisLockOptions = {},
  ): Promise<{ fakes: RedLockOnFakes; client: RedLockClient }> {
    const fakes = new RedLockOnFakes(options);
    const client = fakes.#client();
    await fakes.clock.runUntil(client.connect());
    return { fakes, client };
  }

  /** What each server was asked last, if that is a script. */
  get asked(): SentCommand[] {
    return this.nodes.map(({ last }) => last).filter(({ name }) => name === 'evalsha');
  }

  #client(): RedLockClient {
    const { clock, options } = this;
    const events = new LockEventEmitter();
    const name = 'test';
    const nodes = this.nodes.map((node) => {
      const connection = connectionOf(node, clock);
      const own = { name, connection, events: new LockEventEmitter(), clock, options };
      return { connection, client: new RedisLockClient(own) };
    });
    const servers = new RedLockNodes(name, nodes, clock, events);
    return new RedLockClient({ name, nodes: servers, events, clock, options });
  }
}
