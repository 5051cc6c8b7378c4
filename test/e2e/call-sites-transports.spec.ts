import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  Header,
  HttpCode,
  Injectable,
  Param,
  ParseIntPipe,
  Scope,
  SetMetadata,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
  type INestApplication,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  Args,
  Field,
  Int,
  Mutation,
  ObjectType,
  Parent,
  Query,
  ResolveField,
  Resolver,
} from '@nestjs/graphql';
import { ClientProxyFactory, EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { WsAdapter } from '@nestjs/platform-ws';
import { MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { lastValueFrom } from 'rxjs';
import request from 'supertest';
import { useCleanup } from '../support/fixtures.js';
import { Deferred } from '../support/time.js';
import { Apps, clientOf, Room, useApps } from './support/apps.js';
import { LOCK_KINDS, type LockKind } from './support/lock-kinds.js';
import { ask, execute, graphql, openSocket, tcpService } from './support/transports.js';

@Injectable()
class RoleGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const { role } = context.switchToHttp().getRequest().headers;
    return role === this.reflector.get('role', context.getHandler());
  }
}

/** HTTP controllers of an app that locks by that decorator. */
function controllersThat({ lock }: LockKind) {
  @Controller('below')
  class LockBelow {
    constructor(private readonly room: Room) {}

    @Get(':seat')
    @HttpCode(202)
    @Header('x-hall', 'blue')
    @UseGuards(RoleGuard)
    @SetMetadata('role', 'clerk')
    @lock((seat: number) => `seat:${seat + 1}`)
    async book(@Param('seat', ParseIntPipe) seat: number) {
      return this.room.stay({ seat });
    }
  }

  @Controller('above')
  class LockAbove {
    constructor(private readonly room: Room) {}

    @lock((seat: number) => `seat:${seat + 1}`)
    @Get(':seat')
    @HttpCode(202)
    @Header('x-hall', 'blue')
    @UseGuards(RoleGuard)
    @SetMetadata('role', 'clerk')
    async book(@Param('seat', ParseIntPipe) seat: number) {
      return this.room.stay({ seat });
    }
  }

  @Controller({ path: 'scoped', scope: Scope.REQUEST })
  class RequestScoped extends LockBelow {}

  return { below: LockBelow, above: LockAbove, scoped: RequestScoped };
}

const PLATFORMS = [
  { platform: 'Express', Adapter: ExpressAdapter },
  { platform: 'Fastify', Adapter: FastifyAdapter },
];
const PATHS = ['below', 'above', 'scoped'] as const;
const handlers = PLATFORMS.flatMap((platform) =>
  LOCK_KINDS.flatMap((kind) => PATHS.map((path) => ({ ...platform, ...kind, path }))),
);
const title = 'On $platform, a handler with @$decorator of the controller "$path"';

describe.each(handlers)(title, ({ Adapter, path, ...kind }) => {
  const controllers = controllersThat(kind);
  const apps = new Apps();
  let app: INestApplication;
  const get = (seat: string, role = 'clerk') =>
    request(app.getHttpServer()).get(`/${path}/${seat}`).set('role', role);

  beforeAll(async () => {
    app = await apps.serve({ controllers: Object.values(controllers), adapter: new Adapter() });
  });
  afterAll(() => apps.end());

  it('holds the lock of its transformed arguments, and keeps status, header and body', async () => {
    const client = clientOf(app);
    const response = await apps.held(client, kind.rival(client, 'seat:8'), () => get('7'));

    expect(response.status).toBe(202);
    expect(response.headers['x-hall']).toBe('blue');
    expect(response.body).toEqual({ seat: 7 });
  });

  it('is still guarded, by its metadata', async () => {
    await get('7', 'guest').expect(403);
  });

  it('takes no lock for a request that a pipe refuses', async () => {
    const keys: string[] = [];
    clientOf(app).on('acquired', ({ key }) => void keys.push(key));
    await get('seven').expect(400);
    expect(keys).toEqual([]);
  });

  it('keeps its name and length', () => {
    const { book } = controllers[path].prototype;
    expect([book.name, book.length]).toEqual(['book', 1]);
  });
});

const TEXT = { type: () => String };

@ObjectType()
class Till {
  @Field(() => Int)
  id!: number;
}

/** What an app that locks by that decorator serves beside HTTP; the lock has the number of coins in its key, and one more. */
function handlersThat({ lock }: LockKind) {
  @WebSocketGateway()
  class Gateway {
    constructor(private readonly room: Room) {}

    @SubscribeMessage('lock below')
    @lock((coins: number) => `till:${coins + 1}`)
    async lockBelow(@MessageBody('coins', ParseIntPipe) coins: number) {
      return this.room.stay({ event: 'counted', data: coins });
    }

    @lock((coins: number) => `till:${coins + 1}`)
    @SubscribeMessage('lock above')
    async lockAbove(@MessageBody('coins', ParseIntPipe) coins: number) {
      return this.room.stay({ event: 'counted', data: coins });
    }
  }

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

  @Controller()
  class TillService {
    readonly counted = new Deferred<number>();

    constructor(private readonly room: Room) {}

    @MessagePattern('lock below')
    @lock((coins: number) => `till:${coins + 1}`)
    async lockBelow(@Payload('coins', ParseIntPipe) coins: number): Promise<number> {
      return this.room.stay(coins);
    }

    @lock((coins: number) => `till:${coins + 1}`)
    @MessagePattern('lock above')
    async lockAbove(@Payload('coins', ParseIntPipe) coins: number): Promise<number> {
      return this.room.stay(coins);
    }

    @EventPattern('event')
    @lock((coins: number) => `till:${coins + 1}`)
    async count(@Payload('coins', ParseIntPipe) coins: number): Promise<void> {
      this.counted.resolve(await this.room.stay(coins));
    }
  }

  @Controller({ scope: Scope.REQUEST })
  class RequestTillService {
    constructor(private readonly room: Room) {}

    @MessagePattern('request-scoped')
    @lock((coins: number) => `till:${coins + 1}`)
    async count(@Payload('coins', ParseIntPipe) coins: number): Promise<number> {
      return this.room.stay(coins);
    }
  }

  return { Gateway, TillResolver, TillService, RequestTillService };
}

describe.each(LOCK_KINDS)('The lock of @$decorator is held around', (kind) => {
  const { Gateway, TillResolver, TillService, RequestTillService } = handlersThat(kind);
  const apps = useApps();
  const cleanup = useCleanup();
  const held = <T>(app: INestApplication, call: () => PromiseLike<T> | T) =>
    apps.held(clientOf(app), kind.rival(clientOf(app), 'till:4'), call);

  it.each(['lock below', 'lock above'])('a handler of a WebSocket gateway, %s', async (event) => {
    const app = await apps.serve({
      providers: [Gateway],
      prepare: (nest) => nest.useWebSocketAdapter(new WsAdapter(nest)),
    });
    const socket = cleanup(await openSocket(app), (each) => each.close());
    const call = () => ask(socket, { event, data: { coins: '3' } });
    expect(await held(app, call)).toEqual({ event: 'counted', data: 3 });
  });

  it.each([
    ['a GraphQL query, lock below', '{ lockBelow(coins: "3") }', { lockBelow: 3 }],
    ['a GraphQL query, lock above', '{ lockAbove(coins: "3") }', { lockAbove: 3 }],
    ['a GraphQL mutation', 'mutation { mutate(coins: "3") }', { mutate: 3 }],
    ['a GraphQL field', '{ till { id coins } }', { till: { id: 3, coins: 3 } }],
  ])('%s', async (_, query, data) => {
    const app = await apps.boot({ imports: [graphql()], providers: [TillResolver] });
    expect(await held(app, () => execute(app, query))).toMatchObject({ data });
  });

  async function startService() {
    const service = await tcpService();
    const app = await apps.boot({
      controllers: [TillService, RequestTillService],
      prepare: (nest) => nest.connectMicroservice(service),
    });
    await app.startAllMicroservices();
    const client = cleanup(ClientProxyFactory.create(service), (each) => each.close());
    return { app, client };
  }

  it.each(['lock below', 'lock above', 'request-scoped'])(
    'a @MessagePattern handler, %s',
    async (pattern) => {
      const { app, client } = await startService();
      const call = () => lastValueFrom(client.send<number>(pattern, { coins: '3' }));
      expect(await held(app, call)).toBe(3);
    },
  );

  it('an @EventPattern handler', async () => {
    const { app, client } = await startService();
    const call = async () => {
      await lastValueFrom(client.emit('event', { coins: '3' }), { defaultValue: undefined });
      return app.get(TillService).counted.promise;
    };
    expect(await held(app, call)).toBe(3);
  });
});
