/** Result of a change of an atomic number. */
export interface AtomicOutcome {
  readonly succeeded: boolean;
  readonly preValue: string;
  readonly postValue: string;
}

/** A user of a distributed atomic number in a peer. It executes its commands one after the other. */
export class NumberActor {
  constructor(
    /** `long:/a` or `integer:/a`. */
    private readonly specification: string,
    private readonly tell: (...words: (string | number)[]) => Promise<string>,
  ) {}

  get(): Promise<string> {
    return this.ask('get');
  }

  change(
    how: 'increment' | 'decrement' | 'add' | 'subtract' | 'trySet' | 'compareAndSet',
    ...operands: string[]
  ): Promise<AtomicOutcome> {
    return this.ask(how, ...operands).then((answer) => {
      const [succeeded, preValue = '', postValue = ''] = answer.split(' ');
      return { succeeded: succeeded === 'true', preValue, postValue };
    });
  }

  async forceSet(value: string): Promise<void> {
    await this.ask('forceSet', value);
  }

  /** False where there is a number already. */
  async initialize(value: string): Promise<boolean> {
    return (await this.ask('initialize', value)) === 'true';
  }

  /** Adds 1 that many times; resolves to how often that did not succeed, and was repeated. */
  async count(times: number): Promise<number> {
    return Number(await this.ask('count', times));
  }

  private ask(command: string, ...words: (string | number)[]): Promise<string> {
    return this.tell(command, this.specification, ...words);
  }
}
