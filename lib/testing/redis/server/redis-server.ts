import { createHash } from 'node:crypto';
import type { LuaMachine } from '../lua/lua-machine.js';
import { commandOf, countWords } from './find-command.js';
import { type Concern, concernOf } from './keys-of.js';
import { Keyspace } from './keyspace.js';
import { integerOf } from './numbers.js';
import { CommandError, ErrorReply, Errors, fail, OK, type Reply, StatusReply } from './reply.js';
import { Channels, type Session } from './session.js';

/** Of what is no command of the keyspace: how many words it has with its name; negative: at least so many. */
const ARITIES: Readonly<Record<string, number>> = {
  time: 1,
  eval: -3,
  evalsha: -3,
  script: -2,
  config: 4,
  publish: 3,
  spublish: 3,
  pubsub: -2,
  subscribe: -2,
  ssubscribe: -2,
  wait: 3,
  asking: 1,
};

/** Those that scripts may use. */
const OF_SCRIPTS: readonly string[] = ['time', 'publish', 'spublish', 'pubsub'];

type ServerCommand = (session: Session, args: readonly string[]) => Reply;

/** What a script has done so far. */
interface ScriptRun {
  /** Whether the server had no memory when it began. */
  readonly isShort: boolean;
  hasWritten: boolean;
  /** How many commands it has called. */
  calls: number;
}

/** A Redis server, without its connections. Time stands still while it carries out a command. */
export class SimulatedServer {
  readonly keyspace: Keyspace;
  readonly channels = new Channels();
  role: 'primary' | 'replica' = 'primary';
  /** `full`: it refuses what needs memory; `busy`: everything; `loading`: all but `INFO`. */
  trouble: 'none' | 'full' | 'busy' | 'loading' = 'none';
  /** Called before each command. */
  onCommand: () => void = () => {};
  /** Called with the keys that a command has changed. */
  onChange: (session: Session, keys: ReadonlySet<string>) => void = () => {};
  /** Called with each script that was run: how many elements its keys had before, and how many commands it has called. */
  onScript: (elements: number, calls: number) => void = () => {};
  /** Called with each message: replicas get them too. */
  onPublish: (channel: string, text: string, isSharded: boolean) => void = () => {};
  /** Of a node of a cluster: throws if it is not for this node to carry that out. */
  checkSlot?: (concern: Concern, isAsking: boolean) => void;
  /** Answers `WAIT`. */
  acknowledged: (session: Session) => number = () => 0;
  #scripts = new Map<string, string>();
  readonly #own: Readonly<Record<string, ServerCommand>>;

  /** @param now milliseconds since 1970 */
  constructor(
    private readonly machine: Pick<LuaMachine, 'run'>,
    now: () => number,
    private readonly runId = '0'.repeat(40),
  ) {
    this.keyspace = new Keyspace(now);
    this.#own = {
      ping: () => new StatusReply('PONG'),
      info: () => this.#info(),
      time: () => this.#time(),
      eval: (session, [source, ...rest]) => this.#eval(session, source!, rest),
      evalsha: (session, [sha1, ...rest]) => {
        const source = this.#scripts.get(sha1!.toLowerCase()) ?? fail(Errors.noScript);
        return this.#run(session, sha1!.toLowerCase(), source, rest);
      },
      script: (_, [command, source]) => this.#script(command!.toLowerCase(), source),
      config: (_, [, , value]) => this.#limitMemory(Number(value)),
      publish: (_, [channel, text]) => this.#publish(channel!, text!, false),
      spublish: (_, [channel, text]) => this.#publish(channel!, text!, true),
      pubsub: (_, [kind, ...channels]) => this.#countSubscribers(kind!, channels),
      subscribe: (session, channels) => this.channels.subscribe(session, channels, false),
      ssubscribe: (session, channels) => this.channels.subscribe(session, channels, true),
      unsubscribe: (session, channels) => this.channels.unsubscribe(session, channels, false),
      sunsubscribe: (session, channels) => this.channels.unsubscribe(session, channels, true),
      wait: (session) => this.acknowledged(session),
      asking: (session) => {
        session.isAsking = true;
        return OK;
      },
    };
  }

  /** Begins again; with no data, unless it keeps them. */
  restart(keepsData: boolean): void {
    if (!keepsData) this.keyspace.clear();
    this.#scripts = new Map();
    this.trouble = 'none';
  }

  /** Knows that script from now on. */
  learn(sha1: string, source: string): void {
    this.#scripts.set(sha1, source);
  }

  execute(session: Session, [name, ...args]: readonly string[]): Reply {
    this.onCommand();
    try {
      return this.#execute(session, name!.toLowerCase(), args);
    } catch (error) {
      if (error instanceof CommandError) return new ErrorReply(error.message);
      throw error;
    } finally {
      if (name?.toLowerCase() !== 'asking') session.isAsking = false;
      this.#tellChanges(session);
    }
  }

  #execute(session: Session, name: string, args: readonly string[]): Reply {
    if (this.trouble === 'busy') fail(Errors.busy);
    if (this.trouble === 'loading' && name !== 'info') fail(Errors.loading);
    this.checkSlot?.(concernOf(name, args), session.isAsking);
    const own = this.#own[name];
    if (own) countWords(name, ARITIES[name] ?? -1, args, false);
    if (own) return own(session, args);
    const command = commandOf(name, args);
    if (this.role === 'replica' && command.effect) fail(Errors.readOnly);
    if (this.trouble === 'full' && command.effect === 'grow') fail(Errors.full);
    return command.run(this.keyspace, args);
  }

  #eval(session: Session, source: string, rest: readonly string[]): Reply {
    return this.#run(session, this.#load(source), source, rest);
  }

  #load(source: string): string {
    const sha1 = createHash('sha1').update(source, 'latin1').digest('hex');
    this.#scripts.set(sha1, source);
    return sha1;
  }

  #run(session: Session, sha1: string, source: string, [count, ...rest]: readonly string[]): Reply {
    const keys = integerOf(count!);
    if (keys > rest.length) fail("ERR Number of keys can't be greater than number of args");
    const run: ScriptRun = { isShort: this.trouble === 'full', hasWritten: false, calls: 0 };
    const call = (words: readonly string[]) => this.#call(session, run, words);
    const [names, operands] = [rest.slice(0, keys), rest.slice(keys)];
    const elements = names.reduce((sum, name) => sum + this.keyspace.sizeOf(name), 0);
    try {
      return this.machine.run(sha1, source, names, operands, call);
    } finally {
      this.onScript(elements, run.calls);
    }
  }

  /** A command of a script. */
  #call(session: Session, run: ScriptRun, [word, ...args]: readonly string[]): Reply {
    const name = word!.toLowerCase();
    run.calls += 1;
    this.#checkSlotOfScript(session, concernOf(name, args));
    if (OF_SCRIPTS.includes(name)) {
      countWords(name, ARITIES[name]!, args, true);
      return this.#own[name]!(session, args);
    }
    const command = commandOf(name, args, true);
    if (this.role === 'replica' && command.effect) fail(Errors.readOnly);
    if (run.isShort && !run.hasWritten && command.effect === 'grow') fail(Errors.full);
    run.hasWritten ||= command.effect !== undefined;
    return command.run(this.keyspace, args);
  }

  #checkSlotOfScript(session: Session, concern: Concern): void {
    try {
      this.checkSlot?.(concern, session.isAsking);
    } catch {
      fail('ERR Script attempted to access a non local key in a cluster node');
    }
  }

  #script(command: string, source = ''): Reply {
    if (command === 'load') return this.#load(source);
    if (command !== 'flush') fail(Errors.syntax);
    this.#scripts = new Map();
    return OK;
  }

  /** `CONFIG SET maxmemory`: no limit, or one that is exceeded. */
  #limitMemory(bytes: number): Reply {
    this.trouble = bytes > 0 ? 'full' : 'none';
    return OK;
  }

  #time(): Reply {
    const now = this.keyspace.now();
    const seconds = Math.floor(now / 1_000);
    return [String(seconds), String(Math.floor((now - seconds * 1_000) * 1_000))];
  }

  #info(): Reply {
    const role = this.role === 'primary' ? 'master' : 'slave';
    const lines = ['redis_version:7.0.15', 'redis_mode:standalone', `run_id:${this.runId}`];
    const loading = `loading:${this.trouble === 'loading' ? 1 : 0}`;
    return [...lines, loading, `role:${role}`, 'cluster_enabled:0', ''].join('\r\n');
  }

  #publish(channel: string, text: string, isSharded: boolean): number {
    this.onPublish(channel, text, isSharded);
    return this.channels.publish(channel, text, isSharded);
  }

  /** `PUBSUB NUMSUB` and `PUBSUB SHARDNUMSUB`. */
  #countSubscribers(kind: string, names: readonly string[]): Reply {
    const isSharded = kind.toLowerCase() === 'shardnumsub';
    if (!isSharded && kind.toLowerCase() !== 'numsub') fail(Errors.syntax);
    return names.flatMap((name) => [name, this.channels.count(name, isSharded)]);
  }

  #tellChanges(session: Session): void {
    const { changed } = this.keyspace;
    if (changed.size === 0) return;
    this.onChange(session, changed);
    changed.clear();
  }
}
