import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { ParseIntPipe, type INestApplication } from '@nestjs/common';
import { WsAdapter } from '@nestjs/platform-ws';
import { MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { WebSocket } from 'ws';
import { LOCK_KINDS, type LockKind } from './support/lock-kinds.js';
import { LockedApp } from './support/locked-app.js';
import { Room } from './support/room.js';

/** The gateway of an app that locks by that decorator. */
function gatewayThat({ lock }: LockKind) {
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

  return Gateway;
}

describe.each(LOCK_KINDS)('The lock of @$decorator is held around', (kind) => {
  const providers = [gatewayThat(kind)];
  let socket: WebSocket | undefined;

  afterEach(() => socket?.close());

  async function connect(app: INestApplication): Promise<WebSocket> {
    await app.listen(0, '127.0.0.1');
    const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
    socket = new WebSocket(`ws://127.0.0.1:${port}`);
    await once(socket, 'open');
    return socket;
  }

  it.each(['lock below', 'lock above'])('a handler of a WebSocket gateway, %s', async (event) => {
    await using app = await LockedApp.init(
      kind,
      { providers },
      {
        prepare: (nest) => nest.useWebSocketAdapter(new WsAdapter(nest)),
      },
    );
    const socket = await connect(app.nest);
    const call = async () => {
      const reply = once(socket, 'message');
      socket.send(JSON.stringify({ event, data: { coins: '3' } }));
      const [text] = await reply;
      return JSON.parse(String(text)) as unknown;
    };
    expect(await app.held('till:4', call)).toEqual({ event: 'counted', data: 3 });
  });
});
