/* Checked by the compiler, never run: what the types of the lock decorators take, and what they refuse. */
import { Observable, of } from 'rxjs';
import { LockStream, WithMutex } from '../../../lib/index.js';

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

  @LockStream((id: string) => id, { onBusy: () => 'busy' })
  stream(id: string): Observable<string> {
    return of(id);
  }
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

  // @ts-expect-error a promise is for @WithMutex
  @LockStream('literal')
  async promise() {}

  // @ts-expect-error an Observable is for @LockStream
  @WithMutex('literal')
  observable() {
    return of(1);
  }
}
