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
import { LockModule, WithMutex } from '../../lib/index.js';
import { Apps, clientOf } from './support/apps.js';
import { expectHeld } from './support/expect-held.js';
import { Room } from './support/room.js';

@Injectable()
class RoleGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const { role } = context.switchToHttp().getRequest().headers;
    return role === this.reflector.get('role', context.getHandler());
  }
}

@Controller('below')
class LockBelow {
  constructor(private readonly room: Room) {}

  @Get(':seat')
  @HttpCode(202)
  @Header('x-hall', 'blue')
  @UseGuards(RoleGuard)
  @SetMetadata('role', 'clerk')
  @WithMutex((seat: number) => `seat:${seat + 1}`)
  async book(@Param('seat', ParseIntPipe) seat: number) {
    return this.room.stay({ seat });
  }
}

@Controller('above')
class LockAbove {
  constructor(private readonly room: Room) {}

  @WithMutex((seat: number) => `seat:${seat + 1}`)
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

const CONTROLLERS = [LockBelow, LockAbove, RequestScoped];

describe.each([
  ['below', LockBelow],
  ['above', LockAbove],
  ['scoped', RequestScoped],
])('A locked handler of the controller "%s"', (path, controller) => {
  const apps = new Apps();
  let room: Room;
  let app: INestApplication;
  const get = (seat: string, role = 'clerk') =>
    request(app.getHttpServer()).get(`/${path}/${seat}`).set('role', role);

  beforeEach(async () => {
    room = new Room();
    app = await apps.serve({
      imports: [LockModule.forRoot()],
      controllers: CONTROLLERS,
      providers: [{ provide: Room, useValue: room }],
    });
  });
  afterEach(() => apps.close());

  it('holds the lock of its transformed arguments, and keeps status, header and body', async () => {
    const response = await expectHeld(clientOf(app), 'seat:8', room, () => get('7'));

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
    const { book } = controller.prototype;
    expect([book.name, book.length]).toEqual(['book', 1]);
  });
});
