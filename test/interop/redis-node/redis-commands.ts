import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import type { CommandedActor } from '../node/listen.js';
import { Worker } from '../node/worker.js';
import { LatchCommands } from './latch-commands.js';
import { LockCommands } from './lock-commands.js';
import { PermitCommands } from './permit-commands.js';
import { RoundCommands } from './round-commands.js';
import { SemaphoreCommands } from './semaphore-commands.js';
import { Waiters } from './waiters.js';

/** The commands of one actor; the answers are single lines. */
export class RedisCommands implements CommandedActor {
  private readonly locks: LockCommands;
  /** Everything other than locks, by specification. */
  private readonly others = new Map<string, CommandedActor>();

  constructor(private readonly client: RedisLockClient) {
    this.locks = new LockCommands(client);
  }

  async run(words: readonly string[]): Promise<string> {
    const [command, specification = ''] = words;
    switch (command) {
      case 'sleepers':
        return String(Waiters.waiting);
      case 'rest':
        Worker.rest();
        return 'resting';
      default:
        return this.about(specification).run(words);
    }
  }

  private about(specification: string): CommandedActor {
    const known = this.others.get(specification) ?? this.make(specification);
    this.others.set(specification, known);
    return known;
  }

  /** `semaphore:a`, `permits:a`, `latch:a`, `rounds#8:a`; else a lock. */
  private make(specification: string): CommandedActor {
    const [, kind, size, name = ''] = /^(\w+)(?:#(\d+))?:(.+)$/.exec(specification) ?? [];
    switch (kind) {
      case 'semaphore':
        return new SemaphoreCommands(this.client.plainSemaphore(name));
      case 'permits':
        return new PermitCommands(this.client.semaphore(name));
      case 'latch':
        return new LatchCommands(this.client.countDownLatch(name));
      case 'rounds':
        return new RoundCommands(this.client, name, Number(size));
      default:
        return this.locks;
    }
  }
}
