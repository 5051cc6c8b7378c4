import { describe, expect, it } from '@jest/globals';
import type { ApolloDriver, ApolloDriverConfig } from '@nestjs/apollo';
import { ParseIntPipe } from '@nestjs/common';
import {
  Args,
  Field,
  GraphQLModule,
  Int,
  Mutation,
  ObjectType,
  Parent,
  Query,
  ResolveField,
  Resolver,
} from '@nestjs/graphql';
import { ApolloDriverWithoutHttp } from './support/apollo-driver-without-http.js';
import { LOCK_KINDS, type LockKind } from './support/lock-kinds.js';
import { LockedApp } from './support/locked-app.js';
import { Room } from './support/room.js';

const TEXT = { type: () => String };

@ObjectType()
class Till {
  @Field(() => Int)
  id!: number;
}

/** The resolvers of an app that locks by that decorator. */
function resolverThat({ lock }: LockKind) {
  @Resolver(() => Till)
  class TillResolver {
    constructor(private readonly room: Room) {}

    @Query(() => Int)
    @lock((coins: number) => `till:${coins + 1}`)
    async lockBelow(@Args('coins', TEXT, ParseIntPipe) coins: number): Promise<number> {
      return this.room.stay(coins);
    }

    @lock((coins: number) => `till:${coins + 1}`)
    @Query(() => Int)
    async lockAbove(@Args('coins', TEXT, ParseIntPipe) coins: number): Promise<number> {
      return this.room.stay(coins);
    }

    @Mutation(() => Int)
    @lock((coins: number) => `till:${coins + 1}`)
    async mutate(@Args('coins', TEXT, ParseIntPipe) coins: number): Promise<number> {
      return this.room.stay(coins);
    }

    @Query(() => Till)
    till(): Till {
      return { id: 3 };
    }

    @ResolveField(() => Int)
    @lock(({ id }: Till) => `till:${id + 1}`)
    async coins(@Parent() { id }: Till): Promise<number> {
      return this.room.stay(id);
    }
  }

  return TillResolver;
}

describe.each(LOCK_KINDS)('The lock of @$decorator is held around', (kind) => {
  const providers = [resolverThat(kind)];
  const start = () =>
    LockedApp.init(kind, {
      imports: [
        GraphQLModule.forRoot<ApolloDriverConfig>({
          driver: ApolloDriverWithoutHttp,
          autoSchemaFile: true,
        }),
      ],
      providers,
    });

  it.each([
    ['a GraphQL query, lock below', '{ lockBelow(coins: "3") }', { lockBelow: 3 }],
    ['a GraphQL query, lock above', '{ lockAbove(coins: "3") }', { lockAbove: 3 }],
    ['a GraphQL mutation', 'mutation { mutate(coins: "3") }', { mutate: 3 }],
    ['a GraphQL field', '{ till { id coins } }', { till: { id: 3, coins: 3 } }],
  ])('%s', async (_, query, data) => {
    await using app = await start();
    const { graphQlAdapter } = app.nest.get<GraphQLModule<ApolloDriver>>(GraphQLModule);
    const call = () => graphQlAdapter.instance.executeOperation({ query });
    const { body } = await app.held('till:4', call);
    expect(body).toMatchObject({ kind: 'single', singleResult: { data } });
  });
});
