import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { EmbeddedServer } from '../../lib/embedded/embedded-server.js';
import {
  currentLease,
  getLockClientToken,
  LockLostError,
  LockModule,
  type Lease,
  type ZooKeeperLockClient,
} from '../../lib/index.js';
import { eventually } from '../support/eventually.js';
import { Apps } from './support/apps.js';
import { LOCK_KINDS, type LockKind } from './support/lock-kinds.js';
import { RecordingLogger } from './support/recording-logger.js';
import { Room } from './support/room.js';
import { connectTo } from './support/tree-client.js';

let losses: [LockLostError, string][] = [];

/** A service that locks by that decorator. */
function serviceThat({ lock }: LockKind) {
  @Injectable()
  class Import {
    lease?: Lease;

    constructor(private readonly room: Room) {}

    @lock((_file: string) => 'import', { onLost: (error, file) => losses.push([error, file]) })
    async load(file: string): Promise<string> {
      this.lease = currentLease();
      await this.lease?.fencingToken(); // from here on the node is watched
      return this.room.stay(`${file} loaded`);
    }

    @lock('import', {
      onLost: async () => {
        losses.push([new LockLostError('told'), 'failing']);
        throw new Error('the callback fails');
      },
    })
    async loadCarelessly(): Promise<string> {
      await currentLease()?.fencingToken();
      return this.room.stay('loaded');
    }
  }

  return Import;
}

describe.each(LOCK_KINDS)('A method, when an operator takes its @$decorator lock away,', (kind) => {
  const Import = serviceThat(kind);
  const apps = new Apps();
  let server: EmbeddedServer;
  let client: ZooKeeperLockClient;
  let logger: RecordingLogger;
  let room: Room;
  let loader: InstanceType<typeof Import>;

  beforeEach(async () => {
    losses = [];
    logger = new RecordingLogger();
    room = new Room();
    server = new EmbeddedServer();
    client = await connectTo(server);
    const app = await apps.boot(
      {
        imports: [LockModule.forRoot()],
        providers: [Import, { provide: Room, useValue: room }],
      },
      (builder) =>
        builder.overrideProvider(getLockClientToken()).useValue(client).setLogger(logger),
    );
    loader = app.get(Import);
  });
  afterEach(async () => {
    await apps.close();
    await client.close();
  });

  async function takeAway(): Promise<void> {
    const [holder] = await kind.participants(client, 'import');
    server.remove(holder!);
  }

  it('is notified once, with its arguments, and runs on', async () => {
    const call = loader.load('sales.csv');
    await room.entered.promise;
    await takeAway();
    await eventually('the loss is reported', () => losses.length > 0);

    const [[error, file]] = losses as [[LockLostError, string]];
    expect(error).toBeInstanceOf(LockLostError);
    const about =
      kind.decorator === 'WithMultiLock'
        ? { key: 'another + import', client: undefined } // its parts may be of several clients
        : { key: 'import', client: 'default' };
    expect(error).toMatchObject({ code: 'LOCK_LOST', ...about });
    expect(file).toBe('sales.csv');
    expect(loader.lease?.isHeld).toBe(false);
    expect(loader.lease?.signal.reason).toBe(error);

    room.open();
    expect(await call).toBe('sales.csv loaded');
    expect(losses.length).toBe(1);
  });

  it('is not notified of a loss that comes after its end', async () => {
    room.open();
    await loader.load('sales.csv');
    await client.close();
    expect(losses).toEqual([]);
  });

  it('is not harmed by a callback that fails', async () => {
    const call = loader.loadCarelessly();
    await room.entered.promise;
    await takeAway();
    await eventually('the loss is reported', () => losses.length > 0);
    room.open();
    expect(await call).toBe('loaded');
    expect(logger.lines).toContain('error: onLost of Import.loadCarelessly failed');
  });
});
