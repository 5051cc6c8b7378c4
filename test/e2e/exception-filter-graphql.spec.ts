import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ApolloDriver, ApolloDriverConfig } from '@nestjs/apollo';
import type { INestApplication } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { Args, GraphQLModule, Query, Resolver } from '@nestjs/graphql';
import { Test } from '@nestjs/testing';
import { LockExceptionFilter, LockModule, WithMutex } from '../../lib/index.js';
import { ApolloDriverWithoutHttp } from './support/apollo-driver-without-http.js';
import { clientOf } from './support/apps.js';
import { lockFailures } from './support/lock-failures.js';

@Resolver()
class Seats {
  @Query(() => String)
  @WithMutex('seat:{0}', { wait: 50 })
  async book(@Args('seat') seat: string): Promise<string> {
    return seat;
  }

  @Query(() => String)
  fail(@Args('code') code: string): string {
    throw lockFailures[code]!;
  }
}

describe('A GraphQL app with LockExceptionFilter', () => {
  let app: INestApplication;

  beforeEach(async () => {
    const module = await Test.createTestingModule({
      imports: [
        LockModule.forRoot(),
        GraphQLModule.forRoot<ApolloDriverConfig>({
          driver: ApolloDriverWithoutHttp,
          autoSchemaFile: true,
        }),
      ],
      providers: [Seats, { provide: APP_FILTER, useClass: LockExceptionFilter }],
    }).compile();
    app = module.createNestApplication({ logger: false });
    await app.init();
  });
  afterEach(() => app.close());

  /** Its errors, and the headers of the response. */
  async function failing(query: string) {
    const { graphQlAdapter } = app.get<GraphQLModule<ApolloDriver>>(GraphQLModule);
    const { body, http } = await graphQlAdapter.instance.executeOperation({ query });
    if (body.kind !== 'single') throw new Error('The answer comes in parts.');
    const errors = (body.singleResult.errors ?? []).map(({ message, extensions }) => {
      const told = { ...extensions };
      delete told.stacktrace; // of development only
      return { message, ...told };
    });
    return { errors, retryAfter: http.headers.get('retry-after') };
  }

  it('answers with a code and when to try again, while the lock is held', async () => {
    const lease = await clientOf(app).mutex('seat:7').acquire();
    expect(await failing('{ book(seat: "7") }')).toEqual({
      errors: [
        {
          message: 'The resource is locked. Try again later.',
          code: 'LOCK_TIMEOUT',
          statusCode: 423,
          retryAfter: 1,
        },
      ],
      retryAfter: '1',
    });
    await lease.release();
    expect(await failing('{ book(seat: "7") }')).toEqual({ errors: [], retryAfter: undefined });
  });

  it.each([
    ['LOCK_LOST', 409, undefined],
    ['LOCK_CONNECTION', 503, 5],
  ])(
    'reports %s with its status, %i, and without the key',
    async (code, statusCode, retryAfter) => {
      const { errors } = await failing(`{ fail(code: "${code}") }`);
      expect(errors).toEqual([{ message: expect.any(String), code, statusCode, retryAfter }]);
      expect(JSON.stringify(errors)).not.toContain('secret');
    },
  );

  it('leaves mistakes in the program to Nest', async () => {
    const { errors } = await failing('{ fail(code: "LOCK_KEY") }');
    expect(errors).toEqual([
      { message: lockFailures.LOCK_KEY!.message, code: 'INTERNAL_SERVER_ERROR' },
    ]);
  });
});
