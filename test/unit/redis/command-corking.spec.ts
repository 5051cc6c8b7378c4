import { describe, expect, it } from '@jest/globals';
import { CommandCorking, type Corkable } from '../../../lib/redis/connection/command-corking.js';

/** A socket as Node's: what is written while it is corked goes out in one packet when it is not any more. */
class Socket implements Corkable {
  writableCorked = 0;
  readonly packets: number[] = [];
  #held = 0;

  cork(): void {
    this.writableCorked += 1;
  }

  uncork(): void {
    this.writableCorked -= 1;
    if (this.writableCorked > 0 || this.#held === 0) return;
    this.packets.push(this.#held);
    this.#held = 0;
  }

  write(): void {
    if (this.writableCorked > 0) this.#held += 1;
    else this.packets.push(1);
  }
}

const endOfTurn = () => new Promise(setImmediate);

function write(packets: CommandCorking, socket: Socket, commands: number): void {
  for (let left = commands; left > 0; left--) {
    packets.next(socket);
    socket.write();
  }
}

describe('Corked commands', () => {
  it.each([
    [1, [1]],
    [2, [2]],
    [3, [2, 1]],
    [15, [2, 4, 8, 1]],
    [30, [2, 4, 8, 8, 8]],
  ])('puts %i commands of a turn into packets of %j', async (commands, sizes) => {
    const [packets, socket] = [new CommandCorking(), new Socket()];
    for (let turn = 1; turn <= 2; turn++) {
      write(packets, socket, commands);
      await endOfTurn();
    }
    expect(socket.packets).toEqual([...sizes, ...sizes]);
    expect(socket.writableCorked).toBe(0);
  });

  it('holds back nothing of a turn but for its end', async () => {
    const [packets, socket] = [new CommandCorking(), new Socket()];
    write(packets, socket, 1);
    expect(socket.packets).toEqual([]);
    await endOfTurn();
    expect(socket.packets).toEqual([1]);
  });

  it('writes the first command at once where the turn before had one only', async () => {
    const [packets, socket] = [new CommandCorking(), new Socket()];
    write(packets, socket, 1);
    await endOfTurn();
    write(packets, socket, 4);
    expect(socket.packets).toEqual([1, 1, 2]);
    await endOfTurn();
    expect(socket.packets).toEqual([1, 1, 2, 1]);
    write(packets, socket, 2);
    await endOfTurn();
    expect(socket.packets).toEqual([1, 1, 2, 1, 2]);
  });

  it('leaves no socket corked that another one has come in place of', async () => {
    const packets = new CommandCorking();
    const sockets = [new Socket(), new Socket()];
    for (const socket of sockets) write(packets, socket, 3);
    await endOfTurn();
    for (const { writableCorked, packets } of sockets)
      expect([writableCorked, packets.reduce((sum, size) => sum + size)]).toEqual([0, 3]);
  });

  it('does nothing without a socket', async () => {
    const packets = new CommandCorking();
    packets.next(undefined);
    await endOfTurn();
  });
});
