import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type INestApplicationContext, Injectable, type Type } from '@nestjs/common';
import * as nest from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { EventEmitter, on } from 'node:events';
import { Duplex, PassThrough, Readable, Writable } from 'node:stream';
import * as rxjs from 'rxjs';
import { from, lastValueFrom, type Observable, of, toArray } from 'rxjs';
import ts from 'typescript';
import * as interlock from '../../lib/index.js';
import { eventually } from '../support/time.js';
import { errorOf, isFree } from './support/apps.js';

const { currentLease, getLockClientToken, LockModule, WithMutex } = interlock;

/** What a call of a stream method may be used as. */
interface Streams {
  readonly log: string[];
  rows(): AsyncGenerator<string, string, string | undefined>;
  traced(): AsyncGenerator<string>;
  said(): AsyncGenerator<string>;
  live(): Observable<string>;
  tracedLive(): Observable<string>;
  eager(): Observable<string>;
  broken(): AsyncGenerator<string>;
  promised(): Observable<string>;
}

const SOURCE = `
import { Injectable } from '@nestjs/common';
import { currentLease, LockStream } from 'nestjs-interlock';
import { Observable, defer, from } from 'rxjs';

/** A tracing decorator, as many tools have one: a plain function in the place of the method. */
const Trace = () => (_target: object, _name: string, descriptor: any) => {
  const method = descriptor.value;
  descriptor.value = function (this: any) { return method.apply(this, arguments); };
};
const where = () => currentLease() === undefined ? 'outside' : currentLease().key;

@Injectable()
export class Streams {
  log: string[] = [];

  @LockStream('rows')
  async *rows(): AsyncGenerator<string, string, string> {
    this.log.push('begun in ' + where());
    try {
      const said = yield where();
      this.log.push(said);
      yield where();
      return 'the end';
    } finally {
      this.log.push('left in ' + where());
    }
  }

  @LockStream('rows') @Trace()
  async *traced(): AsyncGenerator<string> { yield where(); }

  @LockStream('rows', { as: 'generator' }) @Trace()
  async *said() { yield where(); }

  @LockStream('rows')
  live(): Observable<string> { return defer(() => [where()]); }

  @LockStream('rows') @Trace()
  tracedLive() { return defer(() => [where()]); }

  @LockStream('rows')
  eager(): Observable<string> {
    this.log.push('begun in ' + where());
    return from([where()]);
  }

  @LockStream('rows') @Trace()
  broken(): any { throw new RangeError('no rows'); }

  @LockStream('rows') @Trace()
  promised(): any {
    const log = this.log;
    return Promise.resolve({
      async *[Symbol.asyncIterator]() {},
      async [Symbol.asyncDispose]() { log.push('disposed of'); },
    });
  }
}`;

/** The class as a compiler with these options makes it. */
function compiled(options: ts.CompilerOptions): Type<Streams> {
  const { outputText } = ts.transpileModule(SOURCE, {
    compilerOptions: {
      module: ts.ModuleKind.CommonJS,
      experimentalDecorators: true,
      downlevelIteration: true,
      ...options,
    },
  });
  const modules: Record<string, unknown> = {
    '@nestjs/common': nest,
    'nestjs-interlock': interlock,
    rxjs,
  };
  const exports = {} as { Streams: Type<Streams> };
  // eslint-disable-next-line @typescript-eslint/no-implied-eval
  const run = new Function('exports', 'require', outputText) as (...args: unknown[]) => void;
  run(exports, (name: string) => modules[name]);
  return exports.Streams;
}

async function useApp(providers: nest.Provider[]) {
  const imports = [LockModule.forRoot()];
  const app = await Test.createTestingModule({ imports, providers }).compile();
  return app.init();
}

const isMutexFree = (app: INestApplicationContext, key: string) =>
  isFree(app.get<interlock.LockClient>(getLockClientToken()).mutex(key));

const { ES5, ES2017, ES2023 } = ts.ScriptTarget;

describe.each([
  ['ES2023', { target: ES2023, emitDecoratorMetadata: true }],
  ['ES2023, without metadata', { target: ES2023 }],
  ['ES2017', { target: ES2017, emitDecoratorMetadata: true }],
  ['ES2017, without metadata', { target: ES2017 }],
  ['ES5', { target: ES5, emitDecoratorMetadata: true }],
])('@LockStream on methods compiled to %s', (_, options) => {
  let app: INestApplicationContext;
  let streams: Streams;

  beforeAll(async () => {
    const Compiled = compiled(options);
    app = await useApp([Compiled]);
    streams = app.get(Compiled);
  });
  afterAll(() => app.close());

  it('locks an async generator from its first value to its end', async () => {
    const rows = streams.rows();
    expect(streams.log).toEqual([]);
    expect(await rows.next()).toEqual({ done: false, value: 'rows' });
    expect(currentLease()).toBeUndefined();
    expect(await isMutexFree(app, 'rows')).toBe(false);
    expect(await rows.next('go on')).toEqual({ done: false, value: 'rows' });
    expect(await rows.next()).toEqual({ done: true, value: 'the end' });
    expect(await isMutexFree(app, 'rows')).toBe(true);
    expect(streams.log.splice(0)).toEqual(['begun in rows', 'go on', 'left in rows']);
  });

  it('releases the lock of an async generator that is left', async () => {
    for await (const row of streams.rows()) if (row === 'rows') break;
    expect(streams.log.splice(0)).toEqual(['begun in rows', 'left in rows']);
    const rows = streams.rows();
    await rows.next();
    const error = new RangeError('no such row');
    await expect(rows.throw(error)).rejects.toBe(error);
    expect(streams.log.splice(0)).toEqual(['begun in rows', 'left in rows']);
    await streams.rows().return('not begun');
    expect(streams.log).toEqual([]);
    expect(await isMutexFree(app, 'rows')).toBe(true);
  });

  it.each(['traced', 'said'] as const)(
    'locks an async generator below another decorator (%s)',
    async (method) => {
      const values: string[] = [];
      for await (const value of streams[method]()) values.push(value);
      expect(values).toEqual(['rows']);
      expect(await isMutexFree(app, 'rows')).toBe(true);
    },
  );

  it('does not make an async generator look like an Observable where it is said to be none', () => {
    expect(rxjs.isObservable(streams.said())).toBe(false);
  });

  it.each(['live', 'tracedLive', 'eager'] as const)(
    'locks an Observable, and the call that makes it (%s)',
    async (method) => {
      const stream = streams[method]();
      expect(streams.log).toEqual([]);
      expect(await lastValueFrom(stream.pipe(toArray()))).toEqual(['rows']);
      expect(await isMutexFree(app, 'rows')).toBe(true);
      expect(streams.log.splice(0)).toEqual(method === 'eager' ? ['begun in rows'] : []);
    },
  );

  it('refuses to use one kind of stream as the other', async () => {
    const subscribed = await errorOf(lastValueFrom(from(streams.traced() as never)));
    expect(subscribed).toMatchObject({ code: 'LOCK_DECORATOR_TARGET', method: 'Streams.traced' });
    expect(subscribed.message).toBe(
      "@LockStream cannot lock Streams.traced: it returned an async generator, and the result was used as an Observable. Iterate it, or give the option `as: 'generator'`.",
    );
    const live = streams.tracedLive() as unknown as AsyncGenerator;
    const iterated = await errorOf(live.next());
    expect(iterated).toMatchObject({ code: 'LOCK_DECORATOR_TARGET', method: 'Streams.tracedLive' });
    expect(iterated.message).toContain('Subscribe to it');
    expect(await live.next()).toEqual({ done: true, value: undefined });
    expect(await isMutexFree(app, 'rows')).toBe(true);
  });

  it('refuses a promise of a stream, and disposes of the stream', async () => {
    const error = await errorOf(lastValueFrom(streams.promised()));
    expect(error.message).toContain('cannot lock Streams.promised: it returned no stream');
    await eventually('it is disposed of', () => streams.log.splice(0).length > 0);
    expect(await isMutexFree(app, 'rows')).toBe(true);
  });

  it('fails as a method that throws, and releases the lock', async () => {
    await expect(streams.broken().next()).rejects.toThrow(new RangeError('no rows'));
    const broken = streams.broken() as unknown as Observable<string>;
    await expect(lastValueFrom(broken)).rejects.toThrow(new RangeError('no rows'));
    expect(await isMutexFree(app, 'rows')).toBe(true);
  });
});

@Injectable()
class Service {
  @WithMutex('result')
  async run(make: () => unknown): Promise<unknown> {
    return make();
  }
}

describe('The promise of a locked method', () => {
  let app: INestApplicationContext;
  const run = (make: () => unknown) => app.get(Service).run(make);
  let ended = 0;
  beforeAll(async () => {
    app = await useApp([Service]);
  });
  afterAll(() => app.close());

  const end = async () => {
    ended += 1;
    return { done: true as const, value: undefined };
  };
  const next = () => expect('it').toBe('not called');
  /** As jest-mock-extended and @golevelup/ts-jest make them. */
  const mock = new Proxy({}, { get: (_, name) => (name === 'then' ? undefined : next) });

  it.each<[what: string, make: () => unknown, isEnded?: boolean]>([
    ['an Observable', () => of(1)],
    ['an Observable of another library', () => ({ '@@observable': next, subscribe: next })],
    ['a generator', function* () {}],
    ['an async generator', async function* () {}],
    ['a transpiled generator', () => ({ next, return: end, [Symbol.iterator]: next }), true],
    [
      'a transpiled async generator',
      () => ({ next, return: end, [Symbol.asyncIterator]: next }),
      true,
    ],
    ['an async iterable', () => ({ [Symbol.asyncIterator]: next, return: next })],
    ['a cursor', () => ({ [Symbol.asyncIterator]: next, [Symbol.asyncDispose]: end }), true],
    ['a page with a business operation', () => ({ [Symbol.asyncIterator]: next, cancel: next })],
    ['events', () => on(new EventEmitter(), 'row')],
    ['a Readable', () => new Readable({ read: next, destroy: () => void end() }), true],
    ['a Duplex', () => new Duplex({ read: next, destroy: () => void end() }), true],
    ['an old stream', () => ({ on: () => {}, pipe: next, readable: true, destroy: end }), true],
    ['a web stream', () => new ReadableStream({ cancel: () => void end() }), true],
    [
      'a stream that cannot be ended',
      () => ({ [Symbol.asyncIterator]: next, next, return: () => Promise.reject(new Error()) }),
    ],
  ])('may not be %s, which is ended', async (_, make, isEnded = false) => {
    ended = 0;
    const error = await errorOf(run(make));
    expect(error).toBeInstanceOf(interlock.LockDecoratorTargetError);
    expect(error.message).toBe(
      '@WithMutex cannot lock Service.run: it returned a stream, and the stream would do its work without the lock. Make it an async method, or use @LockStream on an Observable or an async generator. A handle that needs no lock can be returned in an object.',
    );
    expect(ended).toBe(isEnded ? 1 : 0);
    expect(await isMutexFree(app, 'result')).toBe(true);
  });

  it('may not be an Observable, whatever marks one, and whenever its symbol was defined', async () => {
    const symbols = Symbol as { observable?: symbol };
    const { observable: before } = symbols;
    const defined = Symbol('observable');
    try {
      for (const mark of [undefined, defined]) {
        symbols.observable = mark;
        for (const name of ['lift', '@@observable', ...(mark ? [mark] : [])]) {
          const error = await errorOf(run(() => ({ [name]: next, subscribe: next })));
          expect(error).toBeInstanceOf(interlock.LockDecoratorTargetError);
        }
      }
      expect(await run(() => ({ undefined: next, subscribe: next }))).toBeDefined();
    } finally {
      if (before === undefined) delete symbols.observable;
      else symbols.observable = before;
    }
  });

  it.each<[what: string, value: unknown]>([
    ['an array', [1]],
    ['text', 'text'],
    ['a Map', new Map([[1, 2]])],
    ['the entries of a Map', new Map([[1, 2]]).entries()],
    ['a Set', new Set([1])],
    ['a Buffer', Buffer.from('a')],
    ['a typed array', new Float64Array(1)],
    ['URLSearchParams', new URLSearchParams('a=b')],
    ['Headers', new Headers()],
    ['a Blob', new Blob([])],
    ['a StreamableFile', new nest.StreamableFile(Buffer.from('a'))],
    ['an event emitter', new EventEmitter()],
    ['a Writable', new Writable()],
    ['nothing', null],
    ['a function', () => 1],
    ['an object with a stream', { handle: new PassThrough() }],
    ['a mock that answers every property but `then` with a function', mock],
    ['a linked list', { next: {}, [Symbol.iterator]: () => {} }],
  ])('may be %s', async (_, value) => {
    expect(await run(() => value)).toBe(value);
  });

  it('may be that of a query, which runs in the lock where it is awaited', async () => {
    const then = (found: (rows: number[]) => void) => found([1]);
    const query = { then, [Symbol.asyncIterator]: next };
    expect(await run(() => query)).toEqual([1]);
  });
});
