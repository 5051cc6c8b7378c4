import type { Participant } from '../../../lib/core/election/election-backend.js';
import type { LeaderLatch } from '../../../lib/core/election/leader-latch.js';
import type { LeaderSelector, TakeLeadership } from '../../../lib/core/election/leader-selector.js';
import type { AtomicValue } from '../../../lib/zookeeper/atomic/atomic-options.js';
import type { DistributedBarrier } from '../../../lib/zookeeper/barriers/distributed-barrier.js';
import type { DistributedDoubleBarrier } from '../../../lib/zookeeper/barriers/distributed-double-barrier.js';
import type { SharedCount } from '../../../lib/zookeeper/shared/shared-count.js';
import type { SharedValue } from '../../../lib/zookeeper/shared/shared-value.js';
import type { ZooKeeperLockClient } from '../../../lib/zookeeper/zookeeper-lock-client.js';
import { Deferred, eventually } from '../../support/time.js';
import { type Commands, isGranted } from './listen.js';
import { standForElection } from './worker.js';

/**
 * What this process has other than locks, by specification: `latch#id:/a`, `selector#id:/a`, `count:/a`, `value:/a`, `long:/a`,
 * `integer:/a`, `barrier:/a`, `doubleBarrier#3#member:/a` for three. The same specification is the same object, for all actors.
 */
export class Recipes {
  private readonly recipes = new Map<string, Commands | undefined>();

  constructor(private readonly client: ZooKeeperLockClient) {}

  /** Its commands; none where that specifies something else. */
  find(specification: string): Commands | undefined {
    const known = this.recipes.get(specification) ?? this.make(specification);
    this.recipes.set(specification, known);
    return known;
  }

  private make(specification: string): Commands | undefined {
    const { client } = this;
    const [, recipe, first = '', path = ''] =
      /^(\w+)(?:#([^#:]*))?(?:#[^:]*)?:(.+)$/.exec(specification) ?? [];
    switch (recipe) {
      case 'latch':
        return latchCommands(client.leaderLatch(path, { id: first }));
      case 'selector':
        return selectorCommands((take) => client.leaderSelector(path, take, { id: first }));
      case 'count':
        return countCommands((seed) => client.sharedCount(path, seed));
      case 'value':
        return valueCommands((seed) => client.sharedValue(path, seed));
      case 'long':
        return atomicCommands(client.atomicLong(path), BigInt);
      case 'integer':
        return atomicCommands(client.atomicInteger(path), Number);
      case 'barrier':
        return barrierCommands(client.barrier(path));
      case 'doubleBarrier':
        return doubleBarrierCommands(client.doubleBarrier(path, Number(first)));
      default:
        return undefined;
    }
  }
}

function latchCommands(latch: LeaderLatch): Commands {
  const events: string[] = [];
  latch.onLeadership(() => events.push('isLeader'));
  latch.onLeadershipLost(() => events.push('notLeader'));
  return {
    start: () => latch.start(),
    close: (mode) => latch.close(mode as 'SILENT' | 'NOTIFY_LEADER'),
    awaitLeadership: async (wait) =>
      (await isGranted(latch.awaitLeadership({ wait: Number(wait) }))) ? 'leader' : 'timeout',
    hasLeadership: () => latch.hasLeadership,
    electionParticipants: async () => participantsText(await latch.participants()),
    leader: async () => (await latch.leader())?.id ?? '',
    events: () => events.join(' '),
    stand: (port, name) => standForElection(latch, Number(port), name),
  };
}

/** It leads until the command `yield`. */
function selectorCommands(make: (takeLeadership: TakeLeadership) => LeaderSelector): Commands {
  /** Terms that have begun, and were not reported yet. */
  let begun = 0;
  let over = new Deferred();
  const selector = make(async ({ signal }) => {
    begun += 1;
    const { promise, resolve } = over;
    signal.addEventListener('abort', () => resolve());
    await promise;
    over = new Deferred();
  });
  return {
    start: () => selector.start(),
    requeue: () => selector.requeue(),
    interrupt: () => selector.interruptLeadership(),
    yield: () => over.resolve(),
    close: () => selector.close(),
    awaitLeadership: async (wait) => {
      try {
        await eventually('it leads', () => begun > 0, { within: Number(wait) });
      } catch {
        return 'timeout';
      }
      begun -= 1;
      return 'leader';
    },
    hasLeadership: () => selector.hasLeadership,
    electionParticipants: async () => participantsText(await selector.participants()),
    leader: async () => (await selector.leader())?.id ?? '',
  };
}

/** `id=true` for the leader, `id=false` for all others, in their order. */
function participantsText(participants: readonly Participant[]): string {
  return participants.map(({ id, isLeader }) => `${id}=${isLeader}`).join(' ');
}

function countCommands(make: (seed: number) => SharedCount): Commands {
  let count: SharedCount;
  /** What its listener received since it has started: Curator does not report the initial value either. */
  const heard: number[] = [];
  return {
    start: async (seed) => {
      count = make(Number(seed));
      await count.start();
      count.onChange((value) => heard.push(value));
    },
    get: () => count.count,
    set: (value) => count.setCount(Number(value)),
    trySet: (value) => count.trySetCount(Number(value)),
    heard: () => heard.join(' '),
  };
}

/** The bytes of the value are text. */
function valueCommands(make: (seed: Uint8Array) => SharedValue): Commands {
  let shared: SharedValue;
  const heard: string[] = [];
  return {
    start: async (seed) => {
      shared = make(Buffer.from(seed));
      await shared.start();
      shared.onChange((value) => heard.push(value.toString()));
    },
    get: () => shared.value.toString(),
    set: (value) => shared.setValue(Buffer.from(value)),
    trySet: (value) => shared.trySetValue(Buffer.from(value)),
    heard: () => heard.join(' '),
  };
}

type Outcome<N> = Promise<Omit<AtomicValue<N>, 'stats'>>;

/** `DistributedAtomicLong` or `DistributedAtomicInteger`. */
interface AtomicNumber<N> {
  get(): Promise<N>;
  increment(): Outcome<N>;
  decrement(): Outcome<N>;
  add(delta: N): Outcome<N>;
  subtract(delta: N): Outcome<N>;
  trySet(value: N): Outcome<N>;
  compareAndSet(expected: N, value: N): Outcome<N>;
  forceSet(value: N): Promise<void>;
  initialize(value: N): Promise<boolean>;
}

function atomicCommands<N extends number | bigint>(
  number: AtomicNumber<N>,
  parse: (word: string) => N,
): Commands {
  const text = async (outcome: Outcome<N>) => {
    const { succeeded, preValue, postValue } = await outcome;
    return `${succeeded} ${preValue} ${postValue}`;
  };
  return {
    get: () => number.get(),
    increment: () => text(number.increment()),
    decrement: () => text(number.decrement()),
    add: (delta) => text(number.add(parse(delta))),
    subtract: (delta) => text(number.subtract(parse(delta))),
    trySet: (value) => text(number.trySet(parse(value))),
    compareAndSet: (expected, value) => text(number.compareAndSet(parse(expected), parse(value))),
    forceSet: (value) => number.forceSet(parse(value)),
    initialize: (value) => number.initialize(parse(value)),
    /** Adds 1 that many times; resolves to how often that did not succeed, and was repeated. */
    count: async (times) => {
      let failures = 0;
      for (let n = 0; n < Number(times); n++)
        while (!(await number.increment()).succeeded) failures += 1;
      return failures;
    },
  };
}

function barrierCommands(barrier: DistributedBarrier): Commands {
  return {
    set: () => barrier.setBarrier(),
    remove: () => barrier.removeBarrier(),
    wait: (wait) => isGranted(barrier.waitOnBarrier({ wait: Number(wait) })),
  };
}

function doubleBarrierCommands(barrier: DistributedDoubleBarrier): Commands {
  return {
    enter: (wait) => isGranted(barrier.enter({ wait: Number(wait) })),
    leave: (wait) => isGranted(barrier.leave({ wait: Number(wait) })),
  };
}
