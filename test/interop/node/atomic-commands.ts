import type { AtomicValue } from '../../../lib/zookeeper/atomic/atomic-options.js';
import type { CommandedActor } from './listen.js';

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

/** The commands of a distributed atomic number. */
export class AtomicCommands<N extends number | bigint> implements CommandedActor {
  constructor(
    private readonly number: AtomicNumber<N>,
    private readonly parse: (word: string) => N,
  ) {}

  async run([command, , first = '', second = '']: readonly string[]): Promise<string> {
    const { number, parse } = this;
    switch (command) {
      case 'get':
        return String(await number.get());
      case 'increment':
      case 'decrement':
        return text(await number[command]());
      case 'add':
      case 'subtract':
      case 'trySet':
        return text(await number[command](parse(first)));
      case 'compareAndSet':
        return text(await number.compareAndSet(parse(first), parse(second)));
      case 'forceSet':
        await number.forceSet(parse(first));
        return 'set';
      case 'initialize':
        return String(await number.initialize(parse(first)));
      case 'count':
        return String(await this.count(Number(first)));
      default:
        throw new Error(`No such command: ${command}`);
    }
  }

  /** Adds 1 that many times; resolves to how often that did not succeed, and was repeated. */
  private async count(times: number): Promise<number> {
    let failures = 0;
    for (let n = 0; n < times; n++)
      while (!(await this.number.increment()).succeeded) failures += 1;
    return failures;
  }
}

function text<N extends number | bigint>({
  succeeded,
  preValue,
  postValue,
}: Awaited<Outcome<N>>): string {
  return `${succeeded} ${preValue} ${postValue}`;
}
