import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, ParseIntPipe, Scope } from '@nestjs/common';
import {
  ClientProxyFactory,
  EventPattern,
  MessagePattern,
  Payload,
  Transport,
  type ClientProxy,
} from '@nestjs/microservices';
import { lastValueFrom } from 'rxjs';
import { Deferred } from '../support/deferred.js';
import { freePorts } from '../support/free-ports.js';
import { LOCK_KINDS, type LockKind } from './support/lock-kinds.js';
import { LockedApp } from './support/locked-app.js';
import { Room } from './support/room.js';

/** The controllers of a microservice that locks by that decorator. */
function controllersThat({ lock }: LockKind) {
  @Controller()
  class Till {
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
  class RequestTill {
    constructor(private readonly room: Room) {}

    @MessagePattern('request-scoped')
    @lock((coins: number) => `till:${coins + 1}`)
    async count(@Payload('coins', ParseIntPipe) coins: number): Promise<number> {
      return this.room.stay(coins);
    }
  }

  return { Till, RequestTill };
}

describe.each(LOCK_KINDS)('The lock of @$decorator is held around', (kind) => {
  const controllers = controllersThat(kind);

  let client: ClientProxy;

  afterEach(() => void client?.close());

  async function start(): Promise<LockedApp> {
    const [port] = await freePorts(1, '127.0.0.1');
    const service = { transport: Transport.TCP, options: { host: '127.0.0.1', port } } as const;
    const metadata = { controllers: Object.values(controllers) };
    const app = await LockedApp.init(kind, metadata, {
      prepare: (nest) => nest.connectMicroservice(service),
    });
    await app.nest.startAllMicroservices();
    client = ClientProxyFactory.create(service);
    return app;
  }

  it.each(['lock below', 'lock above', 'request-scoped'])(
    'a @MessagePattern handler, %s',
    async (pattern) => {
      await using app = await start();
      const call = () => lastValueFrom(client.send<number>(pattern, { coins: '3' }));
      expect(await app.held('till:4', call)).toBe(3);
    },
  );

  it('an @EventPattern handler', async () => {
    await using app = await start();
    const call = async () => {
      await lastValueFrom(client.emit('event', { coins: '3' }), { defaultValue: undefined });
      return app.nest.get(controllers.Till).counted.promise;
    };
    expect(await app.held('till:4', call)).toBe(3);
  });
});
