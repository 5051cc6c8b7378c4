import type { RedLockServers } from './red-lock-servers.js';

/** What the lock says of its holder; the other field of it is that of the holder. */
const ABOUT = 'nestjs-interlock';

/** Of one server. */
interface Seen {
  holders: readonly string[];
  /** When the lock ends by itself. */
  expiresAt: number;
  /** Those that have released it. */
  readonly gone: Set<string>;
}

/** A holder that a server has released does not come back: each asks by a name of its own, and a late copy of that is refused. */
export class RedLockReturns {
  readonly #seen: Seen[] = [];

  constructor(servers: RedLockServers, key: string, accuse: (what: string) => void) {
    servers.ports.forEach(({ server }, i) => {
      const seen: Seen = { holders: [], expiresAt: Infinity, gone: new Set() };
      this.#seen.push(seen);
      server.onChange = (_, keys) => {
        if (!keys.has(key)) return;
        const { keyspace } = server;
        const entry = keyspace.entry(key);
        const fields = entry?.type === 'hash' ? [...entry.value.keys()] : [];
        const holders = fields.filter((field) => field !== ABOUT);
        if (holders.some((it) => seen.gone.has(it)))
          accuse(`a holder of ${key} is back at server ${i + 1} after its release`);
        const isOver = keyspace.now() > seen.expiresAt;
        for (const it of seen.holders) if (!isOver && !holders.includes(it)) seen.gone.add(it);
        seen.holders = holders;
        seen.expiresAt = entry?.expiresAt ?? Infinity;
      };
    });
  }

  /** A server has lost what it had: what it does not have any more was not released. */
  lostData(): void {
    for (const seen of this.#seen) seen.holders = [];
  }
}
