import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  Param,
  UseFilters,
  type INestApplication,
  type LoggerService,
} from '@nestjs/common';
import { WsAdapter } from '@nestjs/platform-ws';
import { Test } from '@nestjs/testing';
import { MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import request from 'supertest';
import { WebSocket } from 'ws';
import { LockExceptionFilter } from '../../lib/index.js';
import { eventually } from '../support/eventually.js';
import { lockFailures } from './support/lock-failures.js';

@Controller()
@UseFilters(LockExceptionFilter)
class Seats {
  @Get(':code')
  fail(@Param('code') code: string): never {
    throw lockFailures[code]!;
  }
}

@WebSocketGateway()
class SeatGateway {
  @SubscribeMessage('fail')
  @UseFilters(LockExceptionFilter)
  async fail(@MessageBody() code: string): Promise<never> {
    throw lockFailures[code]!;
  }

  @SubscribeMessage('free')
  free() {
    return { event: 'free', data: 7 };
  }
}

describe('The log of LockExceptionFilter', () => {
  let app: INestApplication;
  let lines: string[];

  beforeEach(async () => {
    lines = [];
    const keep =
      (level: string) =>
      (message: unknown, ...rest: unknown[]) => {
        if (rest.at(-1) === 'LockExceptionFilter') lines.push(`${level}: ${String(message)}`);
      };
    const logger: LoggerService = {
      log: keep('log'),
      warn: keep('warn'),
      error: keep('error'),
      debug: keep('debug'),
    };
    const metadata = { controllers: [Seats], providers: [SeatGateway] };
    const module = await Test.createTestingModule(metadata).compile();
    app = module.createNestApplication({ logger });
    app.useWebSocketAdapter(new WsAdapter(app));
    await app.listen(0, '127.0.0.1');
  });
  afterEach(() => app.close());

  it.each([
    ['LOCK_TIMEOUT', 'debug'],
    ['LOCK_LOST', 'warn'],
    ['LOCK_CONNECTION', 'debug'],
  ])('has the message of %s, with the key, as %s', async (code, level) => {
    await request(app.getHttpServer()).get(`/${code}`);
    expect(lines).toEqual([`${level}: ${lockFailures[code]!.message}`]);
  });

  it('says that it does not belong on a gateway, and the socket goes on', async () => {
    const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
    const socket = new WebSocket(`ws://127.0.0.1:${port}`);
    await once(socket, 'open');
    socket.send(JSON.stringify({ event: 'fail', data: 'LOCK_TIMEOUT' }));
    await eventually('it says so', () => lines.length > 0);
    expect(lines).toEqual([
      expect.stringMatching(/^error: .* Remove LockExceptionFilter from the gateway/),
    ]);

    const answer = once(socket, 'message');
    socket.send(JSON.stringify({ event: 'free' }));
    const [text] = await answer;
    expect(JSON.parse(String(text))).toEqual({ event: 'free', data: 7 });
    socket.close();
    await once(socket, 'close');
  });
});
