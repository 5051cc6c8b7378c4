import { describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import request from 'supertest';
import { currentLease, LockClientClosedError, WithMutex, type Lease } from '../../lib/index.js';
import { clientOf, contention, Room, useApps } from './support/apps.js';
import { noMoreHandlesThan, openHandles } from './support/open-handles.js';

const apps = useApps();

@Controller('seats')
class Seats {
  lease?: Lease;

  constructor(private readonly room: Room) {}

  @Get()
  @WithMutex('seats')
  async book(): Promise<{ isHeld: boolean }> {
    this.lease = currentLease();
    await this.room.stay(undefined);
    return { isHeld: this.lease!.isHeld };
  }
}

async function serveSeats() {
  const app = await apps.serve({ controllers: [Seats] });
  return { app, room: apps.room, client: clientOf(app) };
}

describe('An app that shuts down', () => {
  it('lets requests under way keep their locks to the end', async () => {
    const { app, room, client } = await serveSeats();
    const booking = request(app.getHttpServer()).get('/seats').then();
    await room.entered.promise;
    client.on('released', () => void room.log.push('released'));
    client.on('lost', () => void room.log.push('lost'));

    const waiting = client.mutex('seats').acquire();
    const closing = apps.close(app);
    await expect(waiting).rejects.toBeInstanceOf(LockClientClosedError);
    room.open();

    expect((await booking).body).toEqual({ isHeld: true });
    await closing;
    expect(room.log).toEqual(['left', 'released']);
  });

  it('rejects the calls that wait for a lock, and those that come later', async () => {
    const { app, room, client } = await serveSeats();
    const booking = request(app.getHttpServer()).get('/seats').then();
    await room.entered.promise;
    const contended = contention(client);
    const waiting = app.get(Seats).book();
    await contended;

    const closing = apps.close(app);
    const refusal = { code: 'LOCK_CLIENT_CLOSED', key: 'seats', client: 'default' };
    await expect(waiting).rejects.toBeInstanceOf(LockClientClosedError);
    await expect(waiting).rejects.toMatchObject(refusal);
    await expect(app.get(Seats).book()).rejects.toMatchObject(refusal);
    room.open();
    await Promise.all([booking, closing]);
  });

  it('takes its locks away from work that does not end, and notifies it and its caller', async () => {
    const { app, room } = await serveSeats();
    const booking = app.get(Seats).book();
    await room.entered.promise;
    await apps.close(app);

    const lease = app.get(Seats).lease!;
    expect([lease.isHeld, lease.signal.aborted]).toEqual([false, true]);
    room.open();
    await expect(booking).rejects.toBe(lease.signal.reason);
  });

  it('locks from its first hook to its last but one', async () => {
    const log: string[] = [];

    @Injectable()
    class Worker
      implements OnModuleInit, OnModuleDestroy, BeforeApplicationShutdown, OnApplicationShutdown
    {
      @WithMutex('work')
      async work(hook: string): Promise<void> {
        log.push(hook);
      }

      onModuleInit = () => this.work('init');
      onModuleDestroy = () => this.work('destroy');
      beforeApplicationShutdown = () => this.work('before shutdown');
      onApplicationShutdown = () =>
        this.work('shutdown').catch((error: LockClientClosedError) => void log.push(error.code));
    }

    const app = await apps.boot({ providers: [Worker] });
    await apps.close(app);
    expect(log).toEqual(['init', 'destroy', 'before shutdown', 'LOCK_CLIENT_CLOSED']);
  });

  it('leaves no handle open', async () => {
    const before = openHandles();

    const { app, room, client } = await serveSeats();
    room.open();
    await request(app.getHttpServer()).get('/seats').expect(200);
    const held = await client.mutex('other').acquire({ wait: 60_000 });
    const waiting = client.mutex('other').acquire({ wait: 60_000 });
    await Promise.all([apps.close(app), expect(waiting).rejects.toMatchObject({ key: 'other' })]);

    expect(held.isHeld).toBe(false);
    await noMoreHandlesThan(before);
  });
});
