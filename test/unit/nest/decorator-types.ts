/*
 * Checked by the compiler, never run: what the types of the decorators take, and what they refuse. Each decorator of a
 * method is checked by itself.
 */
import { Observable, of } from 'rxjs';
import {
  LeaderOnly,
  type Leadership,
  LockDefaults,
  type LockLostError,
  LockStream,
  OnLeadership,
  OnLeadershipLost,
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
  @WithMutex('literal', { onBusy: 'skip', wait: 100 })
  @WithMutex('literal', { lease: 1_000 })
  @WithMutex('literal', { onLost: 'throw' })
  @WithMutex('literal', { fair: true, fenced: true, maxHold: 1_000, signal: AbortSignal.abort() })
  @Semaphore('literal', { permits: 3, fair: true })
  @WithMultiLock([{ key: 'literal', fair: true }, 'other'], { maxHold: 1_000 })
  @ReadLock('literal', { onLost: 'abort' })
  @WriteLock('literal', { onLost: 'ignore' })
  @Semaphore('literal', { permits: 3, lease: 1_000 })
  @WithMultiLock(['literal'], { lease: 1_000 })
  @RunOnce('report', { atMost: 60_000 })
  async nothing() {}

  @WithMutex((id: string) => `order:${id}`, {
    signal: (id) => (id ? undefined : AbortSignal.abort()),
  })
  @Semaphore((id: string) => id, { permits: 3, onLost: (error, id) => void [error.key, id.length] })
  async prefixOfTheArguments(_id: string, _amount: number) {}

  @WithMutex(() => 'constant')
  @WithMutex((id: string) => id, { onLost: (error, id) => void [error.key, id.length] })
  @WithMultiLock((id: string) => [id, { key: 'prices', recipe: 'readLock' }], { onBusy: 'skip' })
  async text(_id: string) {}

  @WithMutex((id?: string) => id ?? 'none')
  async defaultArgument(_id = 'none') {}

  @WithMutex('order:{0.id}')
  @WithMutex(({ id }: { id: string }) => `order:${id}`)
  @WithMultiLock(['literal', 'order:{0.id}'])
  @WithMultiLock([
    { key: 'literal', client: 'other' },
    { key: ({ id }: Order) => id, recipe: 'readLock' },
    { key: 'render', recipe: 'semaphore', permits: 3 },
  ])
  async partOfAnArgument(_order: Order) {}

  @ReadLock(({ id }: { id: string }) => `order:${id}`, { wait: 100 })
  @RunOnce(({ id }: Order) => id, { atMost: 60_000 })
  @WithMultiLock(['literal', ({ id }: Order) => id, ({ id }: Order, amount: number) => id + amount])
  async orderAndAmount(_order: Order, _amount: number) {}

  @WithMultiLock((from: Order, to: Order) => [from.id, to.id], {
    onBusy: (_error, from, to) => from.total + to.total,
  })
  async transfer(_from: Order, _to: Order, amount: number) {
    return amount;
  }

  @WithMultiLock((...ids: string[]) => ids)
  async any(..._ids: string[]) {}

  @WithMutex((id: string) => id)
  async generic<T>(_id: string, value: T): Promise<T> {
    return value;
  }

  @WithMutex('literal', { onBusy: 'skip' })
  @ReadLock('literal', { onBusy: 'skip' })
  @WriteLock('other', { onBusy: 'skip' })
  @Semaphore('literal', { permits: 3, onBusy: 'skip' })
  async numberOrNothing(): Promise<number | undefined> {
    return 1;
  }

  @RunOnce('report:{0}', { atMost: 60_000, atLeast: 1_000, client: 'other' })
  @RunOnce('report:{0}', { atMost: 60_000, occurrence: { cron: '0 3 * * *', timeZone: 'UTC' } })
  @RunOnce('report:{0}', { atMost: 60_000, occurrence: (now) => now })
  async onceForEach(_id: string): Promise<number | undefined> {
    return 1;
  }

  @WithMutex((id: string) => id, { onBusy: (error, id) => error.waitedMs + id.length })
  @WriteLock((id: string) => id, { onBusy: (error, id) => error.waitedMs + id.length })
  async insteadWithArguments(_id: string) {
    return 1;
  }

  @WithMutex('order:{0}', { onBusy: (error, id) => error.waitedMs + Number(id) })
  @ReadLock('order:{0}', { onLost: (error, id) => void [error.key, id] })
  @Semaphore('order:{0}', { permits: 3, onBusy: (error, ...ids) => error.waitedMs + ids.length })
  async insteadWithoutTypes(_id: string) {
    return 1;
  }

  @WithMutex('literal', { onBusy: async () => 0, wait: 100 })
  @WithMutex('literal', {
    onBusy: () => {
      throw new Error('the shop is closed');
    },
  })
  async insteadLaterOrNot() {
    return 1;
  }

  @LockStream('literal', { onLost: 'abort' })
  abortedStream() {
    return of(1);
  }

  @LockStream((id: string) => id, { onBusy: () => 'busy' })
  @LockStream((id: string) => id, { recipe: 'readLock', onBusy: 'skip' })
  @LockStream('live', { recipe: 'semaphore', permits: 100, onBusy: () => 'busy' })
  stream(id: string): Observable<string> {
    return of(id);
  }

  @LockStream((id: string) => id)
  @LockStream('literal', { as: 'generator' })
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

  @LockStream('literal', { as: 'generator' })
  iterator(events: AsyncIterable<string>): AsyncIterableIterator<string> {
    return events[Symbol.asyncIterator]() as AsyncIterableIterator<string>;
  }

  @LockStream('literal')
  async *returningGenerator() {
    yield 1;
    return 'the end';
  }
}

export class AcceptedGeneric<T extends Order, Id extends string> {
  @WithMutex((order: { id: string }) => order.id)
  @WithMutex(({ id }: Order) => id, { onLost: (_error, { total }) => void total })
  @ReadLock((order: Order) => order.id)
  @WithMultiLock((order: Order) => [order.id])
  @RunOnce((order: Order) => order.id, { atMost: 60_000 })
  async save(_order: T, _amount: number): Promise<void> {}

  @WithMutex((id: string) => id)
  async remove(_id: Id): Promise<void> {}

  @LockStream((order: Order) => order.id)
  stream(_order: T) {
    return of(1);
  }

  @LockStream((order: Order) => order.id)
  async *generator(order: T) {
    yield order;
  }
}

export class AcceptedGenericResults<T extends Order, K extends keyof T, V> {
  @WithMutex('literal')
  @WithMutex(({ id }: Order) => id, { onLost: 'abort' })
  @WithMutex('order:{0.id}', { wait: 100 })
  @ReadLock('literal')
  @WriteLock('literal', { onBusy: 'throw' })
  @Semaphore('literal', { permits: 3 })
  @WithMultiLock(['literal', 'other'])
  async whole(order: T): Promise<T> {
    return order;
  }

  @WithMutex('literal')
  @WithMutex('literal', { onBusy: 'skip' })
  @ReadLock('literal', { onBusy: () => undefined })
  @Semaphore('literal', { permits: 3, onBusy: 'skip' })
  @WithMultiLock((order: Order) => [order.id], { onBusy: 'skip' })
  @RunOnce('order:{0.id}', { atMost: 60_000 })
  @LeaderOnly('jobs')
  async wholeOrNothing(order: T): Promise<T | undefined> {
    return order;
  }

  @WithMutex('literal')
  async part(order: T): Promise<Partial<T>> {
    return order;
  }

  @ReadLock('literal')
  async field(order: T, key: K): Promise<T[K]> {
    return order[key];
  }

  @RunOnce('literal', { atMost: 60_000 })
  async fieldOrNothing(order: T, key: K): Promise<T[K] | undefined> {
    return order[key];
  }

  @WithMutex('literal')
  async list(order: T): Promise<[T[], Map<K, V>]> {
    return [[order], new Map()];
  }

  @WithMutex('literal')
  async anything(value: V): Promise<V> {
    return value;
  }

  @WithMutex('literal', { onBusy: 'skip' })
  @LeaderOnly('jobs')
  async anythingOrNothing(value: V): Promise<V | undefined> {
    return value;
  }

  @WithMutex('literal', { onBusy: (error) => error.waitedMs })
  async wholeOrNumber(order: T): Promise<T | number> {
    return order;
  }

  @LockStream('literal', { onBusy: 'skip' })
  stream(order: T): Observable<T> {
    return of(order);
  }

  @LockStream('literal', { onBusy: () => 'busy' })
  async *generator(order: T): AsyncGenerator<T | string, T | undefined> {
    yield order;
    return order;
  }
}

export class RefusedGenericResults<T extends Order, V> {
  // @ts-expect-error a skipped call gives undefined, and the method promises an order
  @WithMutex('literal', { onBusy: 'skip' })
  // @ts-expect-error also for a reader
  @ReadLock('literal', { onBusy: 'skip' })
  // @ts-expect-error also for one of several
  @Semaphore('literal', { permits: 3, onBusy: 'skip' })
  // @ts-expect-error also for several locks
  @WithMultiLock(['literal'], { onBusy: 'skip' })
  // @ts-expect-error also for a run that was done elsewhere
  @RunOnce('report', { atMost: 60_000 })
  // @ts-expect-error also where another replica leads
  @LeaderOnly('jobs')
  // @ts-expect-error the method promises an order
  @WithMutex('literal', { onBusy: () => 'busy' })
  async whole(order: T): Promise<T> {
    return order;
  }

  // @ts-expect-error it may be anything but undefined
  @WithMutex('literal', { onBusy: 'skip' })
  async anything(value: V): Promise<V> {
    return value;
  }

  // @ts-expect-error the generator promises orders
  @LockStream('literal', { onBusy: () => 'busy' })
  async *generator(order: T) {
    yield order;
  }
}

export class AcceptedTemplates<T extends Order> {
  @WithMutex('order:{0.id}:{0.total}:{1}')
  @ReadLock('{order}:{0.id}', { onBusy: (error) => error.waitedMs })
  @Semaphore('{{1}}', { permits: 3, wait: 100 })
  @WithMultiLock(['order:{0.id}', { key: 'ledger:{1}', recipe: 'readLock' }, ({ id }: Order) => id])
  async several(_order: Order, _ledger: bigint) {
    return 1;
  }

  @WithMutex('order:{0.id}')
  @RunOnce('order:{0.id.length}', { atMost: 60_000 })
  async generic(_order: T): Promise<void> {}

  @WithMutex('order:{0.customer.names.0}')
  async nested(_order: { customer: { names: string[] } }) {}

  @WithMutex('order:{0}')
  @WithMutex('order:{1.id}')
  async optional(_id?: string, _order?: Order) {}

  @WithMutex('order:{0}:{1}')
  async rest(..._ids: string[]) {}

  @WithMutex('order:{0.id}')
  async untypedRest(..._args: any[]) {} // eslint-disable-line @typescript-eslint/no-explicit-any -- they may be anything

  @WithMutex('order:{0}')
  async unknown<V>(_id: unknown, _value: V) {}

  @WithMutex('order:{0.anything}:{1}')
  async untyped(_order: any, _id: any) {} // eslint-disable-line @typescript-eslint/no-explicit-any -- it may be anything

  @WithMutex('no placeholder: {id} {} {0.} {-1} {a.0}')
  async otherBraces() {}

  @WithMutex('order:{0.id}' as string)
  async notLiteral() {}

  @LockStream('order:{0.id}')
  stream(order: Order) {
    return of(order);
  }
}

export class RefusedTemplates<T extends Order, U> {
  // @ts-expect-error the method has no second argument
  @WithMutex('order:{1}')
  // @ts-expect-error also not as one of several
  @WriteLock('order:{0.id}:{1}')
  // @ts-expect-error an order has no such field
  @WithMutex('order:{0.nope}')
  // @ts-expect-error the method has no second argument
  @Semaphore('order:{1.id}', { permits: 3 })
  // @ts-expect-error an order has no such field
  @WithMultiLock(['order:{0.id}', 'order:{0.nope}'])
  // @ts-expect-error an order has no such field
  @WithMultiLock([{ key: 'order:{0.nope}', recipe: 'readLock' }])
  // @ts-expect-error an order has no such field
  @RunOnce('order:{0.nope}', { atMost: 60_000 })
  async order(_order: Order): Promise<void> {}

  // @ts-expect-error the property may be absent
  @WithMutex('order:{0.id}')
  // @ts-expect-error no such property in it
  @WithMutex('order:{0.lines.0.nope}')
  // @ts-expect-error a number has no such property
  @WithMutex('order:{1.nope}')
  async parts(_order: { id?: string; lines: { sku: string }[] }, _amount: number) {}

  // @ts-expect-error an order has no such field
  @WithMutex('order:{0.nope}')
  async generic(_order: T): Promise<void> {}

  // @ts-expect-error it may be anything
  @WithMutex('order:{0.id}')
  async anything(_order: U): Promise<void> {}

  // @ts-expect-error an order has no such field
  @LockStream('order:{0.nope}')
  stream(order: Order) {
    return of(order);
  }
}

export class RefusedGeneric<T extends Order, U> {
  // @ts-expect-error an order has no such field
  @WithMutex((order: { name: string }) => order.name)
  // @ts-expect-error nor a second argument
  @WithMutex((order: Order, id: string) => order.id + id)
  async save(_order: T): Promise<void> {}

  // @ts-expect-error it may be anything
  @WithMutex((order: Order) => order.id)
  async anything(_order: U): Promise<void> {}

  // @ts-expect-error an order has no such field
  @LockStream((order: { name: string }) => order.name)
  stream(_order: T) {
    return of(1);
  }
}

export class Refused {
  // @ts-expect-error static methods are given no client
  @WithMutex('literal')
  // @ts-expect-error also not of a write lock
  @WriteLock('literal')
  static async static() {}

  // @ts-expect-error a property is not a method
  @WithMutex('literal')
  property = async () => {};

  // @ts-expect-error a getter is not a method
  @WithMutex('literal')
  get getter() {
    return 1;
  }

  // @ts-expect-error the method is synchronous
  @WithMutex('literal')
  // @ts-expect-error also for a reader
  @ReadLock('literal')
  sync() {
    return 1;
  }

  // @ts-expect-error no such policy
  @WithMutex('literal', { onBusy: 'ignore' })
  // @ts-expect-error no such policy
  @WithMutex('literal', { onLost: 'skip' })
  // @ts-expect-error a number is wanted
  @WithMutex('literal', { lease: '1s' })
  // @ts-expect-error the key takes an argument, the method none
  @WithMutex((id: string) => id)
  // @ts-expect-error a promise is for @WithMutex
  @LockStream('literal')
  // @ts-expect-error for how long at most?
  @RunOnce('report')
  // @ts-expect-error for how long at most?
  @RunOnce('report', { atLeast: 1_000 })
  // @ts-expect-error an occurrence is a time
  @RunOnce('report', { atMost: 60_000, occurrence: () => 'now' })
  // @ts-expect-error it does not wait
  @RunOnce('report', { atMost: 60_000, wait: 100 })
  // @ts-expect-error how many?
  @Semaphore('literal')
  // @ts-expect-error how many?
  @Semaphore('literal', { wait: 100 })
  // @ts-expect-error a number is wanted
  @Semaphore('literal', { permits: '3' })
  // @ts-expect-error one key is no list
  @WithMultiLock('literal')
  // @ts-expect-error readers have no such order
  @ReadLock('literal', { fair: true })
  // @ts-expect-error a semaphore has no token of its own
  @Semaphore('literal', { permits: 3, fenced: true })
  // @ts-expect-error readers have no such order
  @WithMultiLock([{ key: 'literal', recipe: 'readLock', fair: true }])
  // @ts-expect-error a signal is wanted
  @WithMutex('literal', { signal: () => 'soon' })
  // @ts-expect-error no such recipe
  @WithMultiLock([{ key: 'literal', recipe: 'lock' }])
  // @ts-expect-error how many?
  @WithMultiLock([{ key: 'literal', recipe: 'semaphore' }])
  async nothing() {}

  // @ts-expect-error the key takes a number, the method a text
  @WithMutex((id: number) => `order:${id}`)
  // @ts-expect-error the key takes a number, the method a text
  @WriteLock((id: number) => `order:${id}`)
  // @ts-expect-error the name takes a number, the method a text
  @RunOnce((id: number) => `report:${id}`, { atMost: 60_000 })
  // @ts-expect-error the key of one takes a number, the method a text
  @WithMultiLock(['literal', (id: number) => `order:${id}`])
  // @ts-expect-error the policy takes a number, the method a text
  @WithMutex((id: string) => id, { onLost: (_error, id: number) => id })
  // @ts-expect-error a key is known at once
  @WithMutex(async (id: string) => id)
  async text(_id: string) {}

  // @ts-expect-error the argument may be absent
  @WithMutex((id: string) => id)
  async optionalArgument(_id?: string) {}

  // @ts-expect-error one key is no list
  @WithMultiLock(({ id }: Order) => id)
  // @ts-expect-error the method has no second argument
  @WithMultiLock((from: Order, to: Order) => [from.id, to.id])
  async order(_order: Order) {}

  // @ts-expect-error numbers are no keys
  @WithMultiLock((id: number) => [id])
  async listOfNumbers(_id: number) {}

  // @ts-expect-error a skipped call gives undefined, and the method promises a number
  @WithMutex('literal', { onBusy: 'skip' })
  // @ts-expect-error also for a reader
  @ReadLock('literal', { onBusy: 'skip' })
  // @ts-expect-error also for one of several
  @Semaphore('literal', { permits: 3, onBusy: 'skip' })
  // @ts-expect-error also for a run that was done elsewhere
  @RunOnce('report', { atMost: 60_000 })
  // @ts-expect-error the method promises a number
  @WithMutex('literal', { onBusy: () => 'busy' })
  async number() {
    return 1;
  }

  // @ts-expect-error an Observable is for @LockStream
  @WithMutex('literal')
  // @ts-expect-error how many?
  @LockStream('literal', { recipe: 'semaphore' })
  // @ts-expect-error a mutex has no permits
  @LockStream('literal', { permits: 3 })
  // @ts-expect-error no such stream
  @LockStream('literal', { as: 'promise' })
  observable() {
    return of(1);
  }

  // @ts-expect-error a generator is no stream
  @LockStream('literal')
  *syncGenerator() {
    yield 1;
  }

  // @ts-expect-error an async generator is for @LockStream
  @WithMutex('literal')
  // @ts-expect-error the generator promises numbers
  @LockStream('literal', { onBusy: () => 'busy' })
  async *numbers() {
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
}

@LockDefaults({ client: 'other', wait: 'forever', lease: 1_000, onBusy: 'throw', onLost: 'abort' })
@LockDefaults({
  onBusy: (error, ...args) => [error.waitedMs, args.length],
  onLost: (error, ...args) => [error.key, args.length],
})
export abstract class WithDefaults {}

// @ts-expect-error no such policy
@LockDefaults({ onBusy: 'ignore' })
// @ts-expect-error permits are for one semaphore
@LockDefaults({ permits: 3 })
// @ts-expect-error what the arguments are differs from method to method
@LockDefaults({ onBusy: (_error, id: string) => id })
export class WithWrongDefaults {}

export class AcceptedOfElections {
  @LeaderOnly('jobs')
  async run() {}

  @LeaderOnly('jobs', { client: 'other', onLost: 'abort' })
  async withResult(): Promise<number | undefined> {
    return 1;
  }

  @LeaderOnly('jobs', { onLost: (error, id: string) => void [error.key, id.length] })
  async watched(_id: string, _amount: number) {}

  @OnLeadership('jobs')
  begin(_leadership: Leadership) {}

  @OnLeadership('jobs', { client: 'other' })
  async beginLater() {}

  @OnLeadership('jobs')
  protected part({ signal }: Pick<Leadership, 'signal'>) {
    return signal;
  }

  @OnLeadershipLost('jobs')
  end(_reason?: LockLostError) {}

  @OnLeadershipLost('jobs')
  async endLater(_reason: Error | undefined) {}
}

export class RefusedOfElections {
  // @ts-expect-error a call elsewhere resolves to undefined
  @LeaderOnly('jobs')
  async promised(): Promise<number> {
    return 1;
  }

  // @ts-expect-error returns no promise
  @LeaderOnly('jobs')
  sync(): void {}

  // @ts-expect-error the name is a text
  @LeaderOnly(() => 'jobs')
  // @ts-expect-error it waits for nothing
  @LeaderOnly('jobs', { wait: 5 })
  async nothing() {}

  // @ts-expect-error of instances only
  @OnLeadership('jobs')
  static begin() {}

  // @ts-expect-error gets a Leadership
  @OnLeadership('jobs')
  other(_leadership: string) {}

  // @ts-expect-error there may be no reason
  @OnLeadershipLost('jobs')
  end(_reason: LockLostError) {}

  // @ts-expect-error not a method
  @OnLeadership('jobs')
  property = () => {};
}
