import type { ZooKeeperLockClient } from '../../../lib/zookeeper/zookeeper-lock-client.js';
import { AtomicCommands } from './atomic-commands.js';
import { BarrierCommands } from './barrier-commands.js';
import { CountCommands } from './count-commands.js';
import { DoubleBarrierCommands } from './double-barrier-commands.js';
import { LatchCommands } from './latch-commands.js';
import type { CommandedActor } from './listen.js';
import { SelectorCommands } from './selector-commands.js';
import { ValueCommands } from './value-commands.js';

/**
 * What this process has other than locks, by specification: `latch#id:/a`, `selector#id:/a`, `count:/a`, `value:/a`, `long:/a`,
 * `integer:/a`, `barrier:/a`, `doubleBarrier#3#member:/a` for three. The same specification is the same object, for all actors.
 */
export class Recipes {
  private readonly recipes = new Map<string, CommandedActor>();

  constructor(private readonly client: ZooKeeperLockClient) {}

  get(specification: string): CommandedActor {
    const known = this.recipes.get(specification) ?? this.make(specification);
    this.recipes.set(specification, known);
    return known;
  }

  private make(specification: string): CommandedActor {
    const { client } = this;
    const [, recipe, first = '', path = ''] =
      /^(\w+)(?:#([^#:]*))?(?:#[^:]*)?:(.+)$/.exec(specification) ?? [];
    switch (recipe) {
      case 'latch':
        return new LatchCommands(client.leaderLatch(path, { id: first }));
      case 'selector':
        return new SelectorCommands((take) => client.leaderSelector(path, take, { id: first }));
      case 'count':
        return new CountCommands((seed) => client.sharedCount(path, seed));
      case 'value':
        return new ValueCommands((seed) => client.sharedValue(path, seed));
      case 'long':
        return new AtomicCommands(client.atomicLong(path), BigInt);
      case 'integer':
        return new AtomicCommands(client.atomicInteger(path), Number);
      case 'barrier':
        return new BarrierCommands(client.barrier(path));
      case 'doubleBarrier':
        return new DoubleBarrierCommands(client.doubleBarrier(path, Number(first)));
      default:
        throw new Error(`No such recipe: ${specification}`);
    }
  }
}
