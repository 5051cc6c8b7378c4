import { inspect, isDeepStrictEqual } from 'node:util';
import { Dice } from '../../dice.js';
import { LuaMachine } from '../../../../lib/testing/redis/lua/lua-machine.js';
import { SimulatedServer } from '../../../../lib/testing/redis/server/redis-server.js';
import { ErrorReply, type Reply, StatusReply } from '../../../../lib/testing/redis/server/reply.js';
import { Session } from '../../../../lib/testing/redis/server/session.js';
import { type DumpedKey, dumpOf, load } from './dump.js';
import { inOneWording, isEndOfKey } from './later-servers.js';
import { CHANNELS, RandomCommands } from './random-commands.js';
import { RandomScripts } from './random-scripts.js';
import { type Observation, RealServer, type Words } from './real-server.js';

/** Calls between two looks at all keys, and how many such groups are sent at once. */
const GROUP = 4;
const GROUPS = 10;
const INSPECTED = { depth: 9, breakLength: 160, maxArrayLength: null, maxStringLength: null };

interface RandomCall {
  /** Of the script or command. */
  readonly name: string;
  readonly words: Words;
}

export interface DifferentialReport {
  /** How many calls were compared. */
  readonly compared: number;
  /** How many of them were not answered with an error, by script or command. */
  readonly answered: readonly (readonly [name: string, count: number])[];
  readonly difference?: string;
}

/**
 * Random calls of a real server and of the simulated one. Both have the same time: a call during which the millisecond changes
 * on the real server is not compared, and the simulated one then takes over the keys of the real one.
 */
export class Differential {
  readonly #real: RealServer;
  readonly #simulated: SimulatedServer;
  readonly #session: Session;
  readonly #dice: Dice;
  readonly #scripts: RandomScripts;
  readonly #commands: RandomCommands;
  readonly #answered = new Map<string, number>();
  #isLater = false;
  #isFull = false;
  #now = 0;
  #compared = 0;
  #messages: string[] = [];
  /** What both servers had before the present group. */
  #contents: readonly DumpedKey[] = [];

  constructor(port: number, seed: number) {
    this.#real = new RealServer(port);
    this.#dice = new Dice(seed);
    this.#scripts = new RandomScripts(this.#dice);
    this.#commands = new RandomCommands(this.#dice);
    this.#simulated = new SimulatedServer(new LuaMachine(), () => this.#now);
    this.#session = new Session(([, channel, text]) => this.#messages.push(`${channel} ${text}`));
  }

  async run(count: number): Promise<DifferentialReport> {
    const { channels } = this.#simulated;
    channels.add(this.#session);
    channels.subscribe(this.#session, CHANNELS, false);
    channels.subscribe(this.#session, CHANNELS, true);
    try {
      await this.#real.open(this.#scripts.sources, CHANNELS);
      this.#isLater = !(await this.#real.version()).startsWith('7.0.');
      for (const source of this.#scripts.sources) this.#execute(['script', 'load', source]);
      while (this.#compared < count) {
        const difference = await this.#batch();
        if (difference) return this.#report(difference);
      }
      return this.#report();
    } finally {
      this.#real.close();
    }
  }

  #report(difference?: string): DifferentialReport {
    const answered = [...this.#answered];
    return { compared: this.#compared, answered, ...(difference && { difference }) };
  }

  async #batch(): Promise<string | undefined> {
    const groups = Array.from({ length: GROUPS }, () =>
      Array.from({ length: GROUP }, () => this.#next()),
    );
    const words = groups.map((calls) => calls.map((call) => call.words));
    const observations = await this.#real.observe(words);
    for (const [i, calls] of groups.entries()) {
      const difference = this.#compare(calls, observations[i]!);
      if (difference) return difference;
      this.#contents = observations[i]!.dump;
    }
    return undefined;
  }

  #next(): RandomCall {
    if (this.#dice.chance(this.#isFull ? 0.05 : 0.005)) return this.#fill();
    if (this.#dice.chance(0.3)) {
      const words = this.#commands.next();
      return { name: words[0]!, words };
    }
    const { script, keys, args } = this.#scripts.next();
    const [command, code] = this.#dice.chance(0.9)
      ? ['evalsha', script.sha1]
      : ['eval', script.source];
    const words = [command, code, String(keys.length), ...keys, ...args.map(String)];
    return { name: script.name, words };
  }

  /** Lets the server be without memory, or no more. */
  #fill(): RandomCall {
    this.#isFull = !this.#isFull;
    return { name: 'config', words: ['config', 'set', 'maxmemory', this.#isFull ? '1' : '0'] };
  }

  #compare(calls: readonly RandomCall[], real: Observation): string | undefined {
    const { times, end, dump } = real;
    this.#messages = [];
    for (const [i, { name, words }] of calls.entries()) {
      this.#now = times[i]!;
      const isEnd = this.#isLater && isEndOfKey(this.#simulated.keyspace);
      if (times[i] !== times[i + 1] || isEnd) return this.#takeOver(calls, real);
      const reply = this.#execute(words);
      this.#compared += 1;
      if (!(reply instanceof ErrorReply))
        this.#answered.set(name, (this.#answered.get(name) ?? 0) + 1);
      const [seen, right] = [this.#comparable(reply), this.#comparable(real.replies[i]!)];
      if (!isDeepStrictEqual(seen, right)) return this.#differs(calls, i, { seen, right });
    }
    const [told, rightly] = [this.#messages, real.messages].map((all) => all.map(this.#published));
    if (!isDeepStrictEqual(told, rightly))
      return this.#differs(calls, GROUP, { seen: told, right: rightly });
    if (times.at(-1) !== end || (this.#isLater && isEndOfKey(this.#simulated.keyspace)))
      return this.#takeOver([], real);
    const [seen, right] = differing(
      dumpOf(this.#simulated.keyspace).map((key) => this.#dumped(key)),
      dump.map((key) => this.#dumped(key)),
    );
    if (seen.length + right.length > 0) return this.#differs(calls, GROUP, { seen, right });
    return undefined;
  }

  #takeOver(calls: readonly RandomCall[], { dump }: Observation): undefined {
    for (const { name, words } of calls) if (name === 'config') this.#execute(words);
    load(this.#simulated.keyspace, dump);
  }

  /** Statuses are texts here, and the errors of Lua itself, which versions of Lua word in their own ways, are one. */
  #comparable(reply: Reply): unknown {
    if (reply instanceof StatusReply) return reply.text;
    if (reply instanceof ErrorReply)
      return { error: this.#text(reply.text).replace(/^ERR user_script:.*/s, 'an error of Lua') };
    if (typeof reply === 'number') return Number(reply.toPrecision(15)); // clients read long ones in their own ways
    if (typeof reply === 'string') return this.#text(reply);
    return Array.isArray(reply) ? reply.map((each) => this.#comparable(each)) : reply;
  }

  #dumped([key, type, end, parts]: DumpedKey): DumpedKey {
    return [key, type, end, this.#isLater ? parts.map(inOneWording) : parts];
  }

  #text(text: string): string {
    return this.#isLater ? inOneWording(text) : text;
  }

  /** Channel and text of a message. */
  readonly #published = (message: string): string =>
    message.replace(/[^ ]*$/, (text) => this.#text(text));

  #differs(calls: readonly RandomCall[], last: number, difference: object): string {
    const words = calls.slice(0, last + 1).map((call) => call.words);
    return inspect({ contents: this.#contents, calls: words, ...difference }, INSPECTED);
  }

  #execute(words: readonly string[]): Reply {
    return this.#simulated.execute(this.#session, words);
  }
}

/** What is not in both. */
function differing(
  dump: readonly DumpedKey[],
  other: readonly DumpedKey[],
): [DumpedKey[], DumpedKey[]] {
  const isSame = (a: DumpedKey, b?: DumpedKey) =>
    a[2] === b?.[2] &&
    a[1] === b[1] &&
    a[3].length === b[3].length &&
    a[3].every((it, i) => it === b[3][i]);
  const without = (all: readonly DumpedKey[], known: readonly DumpedKey[]) => {
    const byKey = new Map(known.map((it) => [it[0], it]));
    return all.filter((it) => !isSame(it, byKey.get(it[0])));
  };
  return [without(dump, other), without(other, dump)];
}
