import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
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
import request from 'supertest';
import { LockModule } from '../../lib/index.js';
import { Apps, clientOf } from './support/apps.js';
import { expectHeld } from './support/expect-held.js';
import { LOCK_KINDS, type LockKind } from './support/lock-kinds.js';
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

const cases = LOCK_KINDS.flatMap((kind) =>
  (['below', 'above', 'scoped'] as const).map((path) => ({ ...kind, kind, path })),
);

describe.each(cases)('A handler with @$decorator of the controller "$path"', ({ kind, path }) => {
  const controllers = controllersThat(kind);
  const apps = new Apps();
  let room: Room;
  let app: INestApplication;
  const get = (seat: string, role = 'clerk') =>
    request(app.getHttpServer()).get(`/${path}/${seat}`).set('role', role);

  beforeEach(async () => {
    room = new Room();
    app = await apps.serve({
      imports: [LockModule.forRoot()],
      controllers: Object.values(controllers),
      providers: [{ provide: Room, useValue: room }],
    });
  });
  afterEach(() => apps.close());

  it('holds the lock of its transformed arguments, and keeps status, header and body', async () => {
    const client = clientOf(app);
    const response = await expectHeld(client, kind.rival(client, 'seat:8'), room, () => get('7'));

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
