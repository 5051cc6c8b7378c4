import type { Clock } from '../../../../lib/core/clock.js';
import { LockName } from '../../../../lib/redis/connection/lock-name.js';
import type { LuaMachine } from '../../../../lib/testing/redis/lua/lua-machine.js';
import { ServerPort } from '../../../../lib/testing/redis/network/server-port.js';
import { SimulatedServer } from '../../../../lib/testing/redis/server/redis-server.js';

const START = 1_700_000_000_000;

/** Independent servers, each with a clock of its own. */
export class RedLockServers {
  readonly ports: readonly ServerPort[];
  /** Why each of them is down. */
  readonly down: ReadonlyMap<ServerPort, Set<object>>;
  /** Those that have lost their memory, and are not back before all leases from before have ended. */
  readonly away = new Set<ServerPort>();

  /** @param rates for each server, how many ms pass on it while one passes in the world */
  constructor(
    private readonly clock: Clock,
    machine: Pick<LuaMachine, 'run'>,
    private readonly rates: readonly number[],
  ) {
    this.ports = rates.map((rate, i) => {
      const now = () => Math.floor(START + clock.now() * rate);
      return new ServerPort(new SimulatedServer(machine, now, String(i + 1).repeat(40)));
    });
    this.down = new Map(this.ports.map((port) => [port, new Set()]));
  }

  get majority(): number {
    return Math.floor(this.ports.length / 2) + 1;
  }

  /** How many of them keep others from the lock for so many ms, as one of these holders has it. */
  keeping(key: string, holders: readonly string[], ms: number): number {
    const kept = this.ports.filter((port, i) => {
      if (this.away.has(port)) return true;
      const { keyspace } = port.server;
      const entry = keyspace.entry(key);
      if (entry?.type !== 'hash' || !holders.some((holder) => entry.value.has(holder)))
        return false;
      return START + (this.clock.now() + ms) * this.rates[i]! <= entry.expiresAt + 1;
    });
    return kept.length;
  }

  /** Whether no one has the lock on any of them. */
  isFree(key: string): boolean {
    return this.ports.every(({ server: { keyspace } }) => keyspace.entry(key) === undefined);
  }

  /** The keys of the lock that do not end by themselves, or have not yet. */
  leftovers(key: string, when: 'now' | 'later'): string[] {
    const name = new LockName(key);
    const ends = ['nestjs-interlock:deadlocks:', name.prefixed('interlock_gone')];
    return this.ports.flatMap(({ server: { keyspace } }, i) =>
      keyspace.keys
        .filter((it) => it !== name.token)
        .filter((it) => when === 'later' || !ends.some((start) => it.startsWith(start)))
        .map((it) => `${it} of server ${i + 1}`),
    );
  }
}
