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
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import request from 'supertest';
import { clientOf } from './support/apps.js';
import { LOCK_KINDS, type LockKind } from './support/lock-kinds.js';
import { LockedApp } from './support/locked-app.js';
import { Room } from './support/room.js';

@Injectable()
class RoleGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const { role } = context.switchToHttp().getRequest().headers;
    return role === this.reflector.get('role', context.getHandler());
  }
}

/** The controllers of an app that locks by that decorator. */
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
const cases = PLATFORMS.flatMap((platform) =>
  LOCK_KINDS.flatMap((kind) => PATHS.map((path) => ({ ...platform, ...kind, kind, path }))),
);
const title = 'On $platform, a handler with @$decorator of the controller "$path"';

describe.each(cases)(title, ({ Adapter, kind, path }) => {
  const controllers = controllersThat(kind);
  let app: LockedApp;
  const get = (seat: string, role = 'clerk') =>
    request(app.nest.getHttpServer()).get(`/${path}/${seat}`).set('role', role);

  beforeAll(async () => {
    const metadata = { controllers: Object.values(controllers) };
    app = await LockedApp.init(kind, metadata, { adapter: new Adapter() });
    await app.nest.listen(0, '127.0.0.1');
  });
  afterAll(() => app?.[Symbol.asyncDispose]());

  it('holds the lock of its transformed arguments, and keeps status, header and body', async () => {
    const response = await app.held('seat:8', () => get('7'));

    expect(response.status).toBe(202);
    expect(response.headers['x-hall']).toBe('blue');
    expect(response.body).toEqual({ seat: 7 });
  });

  it('is still guarded, by its metadata', async () => {
    await get('7', 'guest').expect(403);
  });

  it('takes no lock for a request that a pipe refuses', async () => {
    const keys: string[] = [];
    clientOf(app.nest).on('acquired', ({ key }) => void keys.push(key));
    await get('seven').expect(400);
    expect(keys).toEqual([]);
  });

  it('keeps its name and length', () => {
    const { book } = controllers[path].prototype;
    expect([book.name, book.length]).toEqual(['book', 1]);
  });
});
