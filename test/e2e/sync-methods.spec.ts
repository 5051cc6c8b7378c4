import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { currentLease, LockDecoratorTargetError, WithMutex } from '../../lib/index.js';
import { useApp } from './support/apps.js';

/** As from JavaScript, where nothing says that a method returns a promise. */
const withMutex = WithMutex as (key: string) => MethodDecorator;

@Injectable()
class Counter {
  readonly keys: (string | undefined)[] = [];

  @withMutex('count')
  count(): void {
    this.keys.push(currentLease()?.key);
  }

  @withMutex('fail')
  fail(): void {
    throw new RangeError('too many');
  }
}

describe('A synchronous method without a declared result', () => {
  const app = useApp(() => ({ providers: [Counter] }));

  it('runs under its lock, and its callers get a promise', async () => {
    const counter = app.get(Counter);
    const counting: unknown = counter.count();
    expect(counting).toBeInstanceOf(Promise);
    expect(await counting).toBeUndefined();
    expect(counter.keys).toEqual(['count']);
    await expect(counter.fail()).rejects.toThrow(new RangeError('too many'));
  });

  it('is refused where it is declared to return something else', () => {
    const define = () => {
      class Wrong {
        @withMutex('key')
        count(): number {
          return 1;
        }
      }
      return Wrong;
    };
    expect(define).toThrow(LockDecoratorTargetError);
  });
});
