/* Checked by the compiler, never run: what the types of the lock decorators take, and what they refuse. */
import { Observable, of } from 'rxjs';
import {
  LockDefaults,
  LockStream,
  ReadLock,
  RunOnce,
  Semaphore,
  WithMultiLock,
  WithMutex,
  WriteLock,
} from '../../../lib/index.js';

interface Order {
  id: string;
  total: number;
}

export class Accepted {
  @WithMutex('literal')
  async literal() {}

  @WithMutex('order:{0.id}')
  async template(_order: Order) {}

  @WithMutex((id: string) => `order:${id}`)
  async prefixOfTheArguments(_id: string, _amount: number) {}

  @WithMutex(({ id }: { id: string }) => `order:${id}`)
  async partOfAnArgument(_order: Order) {}

  @WithMutex(() => 'constant')
  async noneOfTheArguments(_id: string) {}

  @WithMutex((id: string) => id)
  async generic<T>(_id: string, value: T): Promise<T> {
    return value;
  }

  @WithMutex((id?: string) => id ?? 'none')
  async defaultArgument(_id = 'none') {}

  @WithMutex('literal', { onBusy: 'skip' })
  async skippable(): Promise<number | undefined> {
    return 1;
  }

  @WithMutex('literal', { onBusy: 'skip', wait: 100 })
  async skippableVoid() {}

  @WithMutex((id: string) => id, { onBusy: (error, id) => error.waitedMs + id.length })
  async insteadWithArguments(_id: string) {
    return 1;
  }

  @WithMutex('literal', { onBusy: async () => 0, wait: 100 })
  async insteadLater() {
    return 1;
  }

  @WithMutex('literal', {
    onBusy: () => {
      throw new Error('the shop is closed');
    },
  })
  async ownError() {
    return 1;
  }

  @WithMutex((id: string) => id, { onLost: (error, id) => void [error.key, id.length] })
  async watched(_id: string) {}

  @WithMutex('literal', { lease: 1_000 })
  @Semaphore('literal', { permits: 3, lease: 1_000 })
  @WithMultiLock(['literal'], { lease: 1_000 })
  async leased() {}

  @WithMutex('literal', { onLost: 'throw' })
  @ReadLock('literal', { onLost: 'abort' })
  @WriteLock('literal', { onLost: 'ignore' })
  async policies() {}

  @LockStream('literal', { onLost: 'abort' })
  abortedStream() {
    return of(1);
  }

  @LockStream((id: string) => id, { onBusy: () => 'busy' })
  stream(id: string): Observable<string> {
    return of(id);
  }

  @LockStream((id: string) => id, { recipe: 'readLock', onBusy: 'skip' })
  sharedStream(id: string): Observable<string> {
    return of(id);
  }

  @LockStream('live', { recipe: 'semaphore', permits: 100, onBusy: () => 'busy' })
  countedStream(id: string): Observable<string> {
    return of(id);
  }

  @RunOnce('report', { atMost: 60_000 })
  async once() {}

  @RunOnce('report:{0}', { atMost: 60_000, atLeast: 1_000, client: 'other' })
  async onceForEach(_id: string): Promise<number | undefined> {
    return 1;
  }

  @RunOnce(({ id }: Order) => id, { atMost: 60_000 })
  async onceForEachOrder(_order: Order, _amount: number) {}

  @LockStream((id: string) => id)
  async *generator(id: string) {
    yield id;
  }

  @LockStream((id: string) => id, { onBusy: 'skip' })
  async *skippableGenerator(id: string): AsyncGenerator<string> {
    yield id;
  }

  @LockStream((id: string) => id, { onBusy: (_error, id) => id.length })
  async *answeringGenerator(id: string): AsyncGenerator<string | number, void, boolean> {
    const isWanted = yield id;
    if (isWanted) yield id;
  }

  @LockStream('literal')
  async *returningGenerator() {
    yield 1;
    return 'the end';
  }

  @ReadLock(({ id }: { id: string }) => `order:${id}`, { wait: 100 })
  async read(_order: Order, _amount: number) {}

  @WriteLock((id: string) => id, { onBusy: (error, id) => error.waitedMs + id.length })
  async write(_id: string) {
    return 1;
  }

  @ReadLock('literal', { onBusy: 'skip' })
  @WriteLock('other', { onBusy: 'skip' })
  async skippableTwice(): Promise<number | undefined> {
    return 1;
  }

  @Semaphore((id: string) => id, { permits: 3, onLost: (error, id) => void [error.key, id.length] })
  async counted(_id: string, _amount: number) {}

  @Semaphore('literal', { permits: 3, onBusy: 'skip' })
  async countedOrSkipped(): Promise<number | undefined> {
    return 1;
  }

  @WithMultiLock((from: Order, to: Order) => [from.id, to.id], {
    onBusy: (_error, from, to) => from.total + to.total,
  })
  async transfer(_from: Order, _to: Order, amount: number) {
    return amount;
  }

  @WithMultiLock(['literal', 'order:{0.id}'])
  async several(_order: Order) {}

  @WithMultiLock(['literal', ({ id }: Order) => id, ({ id }: Order, amount: number) => id + amount])
  async severalFunctions(_order: Order, _amount: number) {}

  @WithMultiLock([
    { key: 'literal', client: 'other' },
    { key: ({ id }: Order) => id, recipe: 'readLock' },
    { key: 'render', recipe: 'semaphore', permits: 3 },
  ])
  async severalKinds(_order: Order) {}

  @WithMultiLock((...ids: string[]) => ids)
  async any(..._ids: string[]) {}

  @WithMultiLock((id: string) => [id, { key: 'prices', recipe: 'readLock' }], { onBusy: 'skip' })
  async kindsOfACall(_id: string) {}
}

export class Refused {
  // @ts-expect-error the method is synchronous
  @WithMutex('literal')
  sync() {
    return 1;
  }

  // @ts-expect-error static methods are given no client
  @WithMutex('literal')
  static async static() {}

  // @ts-expect-error a property is not a method
  @WithMutex('literal')
  property = async () => {};

  // @ts-expect-error a getter is not a method
  @WithMutex('literal')
  get getter() {
    return 1;
  }

  // @ts-expect-error the key takes a number, the method a text
  @WithMutex((id: number) => `order:${id}`)
  async otherArgument(_id: string) {}

  // @ts-expect-error the key takes an argument, the method none
  @WithMutex((id: string) => id)
  async tooFewArguments() {}

  // @ts-expect-error the argument may be absent
  @WithMutex((id: string) => id)
  async optionalArgument(_id?: string) {}

  // @ts-expect-error a key is known at once
  @WithMutex(async (id: string) => id)
  async keyLater(_id: string) {}

  // @ts-expect-error a skipped call gives undefined, and the method promises a number
  @WithMutex('literal', { onBusy: 'skip' })
  async notSkippable() {
    return 1;
  }

  // @ts-expect-error the method promises a number
  @WithMutex('literal', { onBusy: () => 'busy' })
  async otherResult() {
    return 1;
  }

  // @ts-expect-error no such policy
  @WithMutex('literal', { onBusy: 'ignore' })
  async unknownPolicy() {}

  // @ts-expect-error a number is wanted
  @WithMutex('literal', { lease: '1s' })
  async leaseAsText() {}

  // @ts-expect-error no such policy
  @WithMutex('literal', { onLost: 'skip' })
  async unknownPolicyOnLoss() {}

  // @ts-expect-error the policy takes a number, the method a text
  @WithMutex((id: string) => id, { onLost: (_error, id: number) => id })
  async policyOfOtherArgument(_id: string) {}

  // @ts-expect-error a promise is for @WithMutex
  @LockStream('literal')
  async promise() {}

  // @ts-expect-error for how long at most?
  @RunOnce('report')
  async onceWithoutEnd() {}

  // @ts-expect-error for how long at most?
  @RunOnce('report', { atLeast: 1_000 })
  async onceWithoutEndEither() {}

  // @ts-expect-error a skipped call gives undefined, and the method promises a number
  @RunOnce('report', { atMost: 60_000 })
  async onceNotSkippable() {
    return 1;
  }

  // @ts-expect-error it does not wait
  @RunOnce('report', { atMost: 60_000, wait: 100 })
  async onceAfterAll() {}

  // @ts-expect-error the name takes a number, the method a text
  @RunOnce((id: number) => `report:${id}`, { atMost: 60_000 })
  async onceOfOtherArgument(_id: string) {}

  // @ts-expect-error a generator is no stream
  @LockStream('literal')
  *syncGenerator() {
    yield 1;
  }

  // @ts-expect-error an async generator is for @LockStream
  @WithMutex('literal')
  async *mutexGenerator() {
    yield 1;
  }

  // @ts-expect-error the generator promises numbers
  @LockStream('literal', { onBusy: () => 'busy' })
  async *otherValue() {
    yield 1;
  }

  // @ts-expect-error a skipped generator returns undefined, and this one promises a text
  @LockStream('literal', { onBusy: 'skip' })
  async *notSkippableGenerator() {
    yield 1;
    return 'the end';
  }

  // @ts-expect-error the key takes a number, the generator a text
  @LockStream((id: number) => `order:${id}`)
  async *generatorOfOtherArgument(id: string) {
    yield id;
  }

  // @ts-expect-error an Observable is for @LockStream
  @WithMutex('literal')
  observable() {
    return of(1);
  }

  // @ts-expect-error the method is synchronous
  @ReadLock('literal')
  syncReader() {
    return 1;
  }

  // @ts-expect-error static methods are given no client
  @WriteLock('literal')
  static async staticWriter() {}

  // @ts-expect-error the key takes a number, the method a text
  @WriteLock((id: number) => `order:${id}`)
  async writerOfOtherArgument(_id: string) {}

  // @ts-expect-error a skipped call gives undefined, and the method promises a number
  @ReadLock('literal', { onBusy: 'skip' })
  async readerNotSkippable() {
    return 1;
  }

  // @ts-expect-error how many?
  @Semaphore('literal')
  async noPermits() {}

  // @ts-expect-error how many?
  @Semaphore('literal', { wait: 100 })
  async noPermitsEither() {}

  // @ts-expect-error a number is wanted
  @Semaphore('literal', { permits: '3' })
  async permitsAsText() {}

  // @ts-expect-error a skipped call gives undefined, and the method promises a number
  @Semaphore('literal', { permits: 3, onBusy: 'skip' })
  async countedNotSkippable() {
    return 1;
  }

  // @ts-expect-error the method has no second argument
  @WithMultiLock((from: Order, to: Order) => [from.id, to.id])
  async tooFewOrders(_from: Order) {}

  // @ts-expect-error one key is no list
  @WithMultiLock(({ id }: Order) => id)
  async noList(_order: Order) {}

  // @ts-expect-error nor is it here
  @WithMultiLock('literal')
  async literalIsNoList() {}

  // @ts-expect-error numbers are no keys
  @WithMultiLock((id: number) => [id])
  async listOfNumbers(_id: number) {}

  // @ts-expect-error the key of one takes a number, the method a text
  @WithMultiLock(['literal', (id: number) => `order:${id}`])
  async memberOfOtherArgument(_id: string) {}

  // @ts-expect-error no such recipe
  @WithMultiLock([{ key: 'literal', recipe: 'lock' }])
  async memberOfUnknownRecipe() {}

  // @ts-expect-error how many?
  @WithMultiLock([{ key: 'literal', recipe: 'semaphore' }])
  async memberWithoutPermits() {}

  // @ts-expect-error how many?
  @LockStream('literal', { recipe: 'semaphore' })
  streamWithoutPermits() {
    return of(1);
  }

  // @ts-expect-error a mutex has no permits
  @LockStream('literal', { permits: 3 })
  streamWithPermits() {
    return of(1);
  }
}

@LockDefaults({ client: 'other', wait: 'forever', lease: 1_000, onBusy: 'throw', onLost: 'abort' })
export class WithDefaults {}

@LockDefaults({
  onBusy: (error, ...args) => [error.waitedMs, args.length],
  onLost: (error, ...args) => [error.key, args.length],
})
export abstract class WithFunctions {}

// @ts-expect-error no such policy
@LockDefaults({ onBusy: 'ignore' })
export class WithUnknownPolicy {}

// @ts-expect-error permits are for one semaphore
@LockDefaults({ permits: 3 })
export class WithPermits {}

// @ts-expect-error what the arguments are differs from method to method
@LockDefaults({ onBusy: (_error, id: string) => id })
export class WithArguments {}
