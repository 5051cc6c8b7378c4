import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Deferred } from '../../support/time.js';
import {
  Actor,
  type Ask,
  BarrierActor,
  ElectionActor,
  NumberActor,
  RedisActor,
  RedisLatchActor,
  RedisPermitActor,
  RedisSemaphoreActor,
  ValueActor,
} from './actors.js';

/**
 * A process in some language that executes commands: one command per line on its standard input, one answer per line on its
 * standard output. It ends with its input, so it does not outlive this process, unless it is frozen.
 */
export class Peer {
  private readonly child: ChildProcess;
  private readonly pending = new Map<string, Deferred<string>[]>();
  private readonly ended: Promise<never>;
  private actors = 0;

  private constructor(command: string, args: readonly string[]) {
    this.child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    let errors = '';
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => (errors += text));
    this.child.stdin!.on('error', () => {}); // it has ended: `ended` reports it
    this.ended = once(this.child, 'close').then(([code, signal]) => {
      throw new Error(`${command} has ended (${code ?? signal}): ${errors}`);
    });
    this.ended.catch(() => {});
  }

  /** Resolves when it is connected to its servers. */
  static async start(command: string, args: readonly string[]): Promise<Peer> {
    const peer = new Peer(command, args);
    const ready = new Deferred<string>();
    peer.pending.set('ready', [ready]);
    createInterface({ input: peer.child.stdout! }).on('line', (line) => peer.hear(line));
    await Promise.race([ready.promise, peer.ended]);
    return peer;
  }

  /** One more owner of locks in that process. */
  readonly actor = () => new Actor(this.asking());
  /** A leader latch or selector of that process; the same specification is the same candidate. */
  readonly election = (specification: string) => new ElectionActor(specification, this.asking());
  /** A shared count or value of that process; the same specification is the same object. */
  readonly sharedValue = (specification: string) => new ValueActor(specification, this.asking());
  /** One more user of that distributed atomic number in that process. */
  readonly atomicNumber = (specification: string) => new NumberActor(specification, this.asking());
  /** One more user of that barrier, or a member of that double barrier, in that process. */
  readonly barrier = (specification: string) => new BarrierActor(specification, this.asking());
  /** One more owner of locks on Redis in that process. */
  readonly redisActor = () => new RedisActor(this.asking());
  /** One more user of that semaphore on Redis, with permits without owners, in that process. */
  readonly redisSemaphore = (name: string) =>
    new RedisSemaphoreActor(`semaphore:${name}`, this.asking());
  /** One more user of that semaphore on Redis, with leased permits, in that process. */
  readonly redisPermits = (name: string) => new RedisPermitActor(`permits:${name}`, this.asking());
  /** One more user of that latch on Redis in that process. */
  readonly redisLatch = (name: string) => new RedisLatchActor(`latch:${name}`, this.asking());

  /** Sends SIGSTOP: it keeps its connections and does nothing. */
  freeze(): void {
    this.child.kill('SIGSTOP');
  }

  /** Sends SIGCONT: it continues where it was. */
  thaw(): void {
    this.child.kill('SIGCONT');
  }

  /** Kills it. */
  async stop(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended.catch(() => {});
  }

  /** Sends a command to a new actor. */
  private asking(): Ask {
    const name = `actor${++this.actors}`;
    return (...words) => this.ask(name, words);
  }

  private ask(actor: string, words: readonly (string | number)[]): Promise<string> {
    const answer = new Deferred<string>();
    const pending = this.pending.get(actor) ?? [];
    this.pending.set(actor, [...pending, answer]);
    this.child.stdin!.write(`${[actor, ...words].join(' ')}\n`);
    return Promise.race([answer.promise, this.ended]);
  }

  /** The answers of one actor come in the order of its commands. */
  private hear(line: string): void {
    const [, actor = '', outcome, text = ''] = /^(\S+) ?(\S*) ?(.*)$/.exec(line) ?? [];
    const answer = this.pending.get(actor)?.shift();
    if (outcome === 'error') answer?.reject(new Error(text));
    else answer?.resolve(text);
  }
}

/** Two processes, and which of them comes first, for `it.each`; they exist once a test runs. */
export class Way {
  constructor(
    readonly title: string,
    readonly first: () => Peer,
    readonly second: () => Peer,
  ) {}

  peers(): [first: Peer, second: Peer] {
    return [this.first(), this.second()];
  }

  /** One more owner of locks in each. */
  actors(): [first: Actor, second: Actor] {
    return [this.first().actor(), this.second().actor()];
  }

  /** One more owner of locks on Redis in each. */
  redisActors(): [first: RedisActor, second: RedisActor] {
    return [this.first().redisActor(), this.second().redisActor()];
  }
}
