/** The outcome that a change reports. */
export interface Outcome {
  readonly succeeded: boolean;
  readonly preValue: bigint | number;
  readonly postValue: bigint | number;
}

/** What the numbers of 32 and of 64 bits have in common. */
export interface Counter {
  get(): Promise<bigint | number>;
  add(delta: number): Promise<Outcome>;
  subtract(delta: number): Promise<Outcome>;
  trySet(value: number): Promise<Outcome>;
  compareAndSet(expected: number, value: number): Promise<Outcome>;
  forceSet(value: number): Promise<void>;
  initialize(value: number): Promise<boolean>;
}
