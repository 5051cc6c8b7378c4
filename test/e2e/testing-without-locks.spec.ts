import { describe, expect, it } from '@jest/globals';
import { Injectable, type Provider } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { from, lastValueFrom, of, throwError, toArray, type Observable } from 'rxjs';
import { currentLease, LOCK_INTERCEPTOR, LockStream, WithMutex } from '../../lib/index.js';
import { withoutLocks } from '../../lib/testing/index.js';

@Injectable()
class Reports {
  @WithMutex('report:{0}')
  async write(id: string): Promise<string> {
    return `${id} ${currentLease() === undefined ? 'without' : 'with'} a lease`;
  }

  @WithMutex('failing')
  async fail(error: Error): Promise<never> {
    throw error;
  }

  @LockStream('report:{0}')
  follow(id: string): Observable<string> {
    return of(`${id} begins`, `${id} ends`);
  }

  @LockStream('report:{0}')
  async *lines(id: string): AsyncGenerator<string> {
    yield `${id} begins`;
    yield `${id} ends`;
  }

  @LockStream('failing')
  failLater(error: Error): Observable<never> {
    return throwError(() => error);
  }
}

const proceed = (_plan: unknown, _args: unknown, run: () => unknown) => run();

describe.each<{ how: string; provider: Provider }>([
  { how: '`withoutLocks`', provider: withoutLocks },
  {
    how: 'an interceptor of its own',
    provider: { provide: LOCK_INTERCEPTOR, useValue: { around: proceed, stream: proceed } },
  },
])('A class with locked methods in a test without LockModule, with $how', ({ provider }) => {
  async function reports(): Promise<Reports> {
    const module = await Test.createTestingModule({ providers: [Reports, provider] }).compile();
    return module.get(Reports);
  }

  it('runs them, and their errors are the same objects', async () => {
    const error = new Error('of the user');
    expect(await (await reports()).write('1')).toBe('1 without a lease');
    await expect((await reports()).fail(error)).rejects.toBe(error);
  });

  it('streams', async () => {
    const stream = (await reports()).follow('1').pipe(toArray());
    expect(await lastValueFrom(stream)).toEqual(['1 begins', '1 ends']);
    expect(await lastValueFrom(from((await reports()).lines('1')).pipe(toArray()))).toEqual([
      '1 begins',
      '1 ends',
    ]);
    const error = new Error('of the user');
    await expect(lastValueFrom((await reports()).failLater(error))).rejects.toBe(error);
  });
});
