import { afterEach, describe, expect, it } from '@jest/globals';
import {
  getLockClientToken,
  LockClientClosedError,
  LockConnectionError,
  LockModule,
  type LockClient,
} from '../../lib/index.js';
import { freePorts } from '../support/free-ports.js';
import { Apps } from './support/apps.js';
import { noMoreHandlesThan, openHandles } from './support/open-handles.js';
import { RecordingLogger } from './support/recording-logger.js';

const apps = new Apps();
afterEach(() => apps.close());

describe('An app that cannot reach its lock server', () => {
  it('warns once of the attempts that fail, then fails to boot and leaves nothing open', async () => {
    const before = openHandles();
    const [port] = await freePorts(1, '127.0.0.1');
    const logger = new RecordingLogger();
    let other: LockClient | undefined;

    const booting = apps.boot(
      {
        imports: [
          LockModule.forRoot({
            name: 'far',
            backend: 'zookeeper',
            connect: `127.0.0.1:${port}`,
            connectTimeout: 1_000,
          }),
          LockModule.forRoot(),
        ],
        providers: [
          {
            provide: 'other',
            inject: [getLockClientToken()],
            useFactory: (client: LockClient) => (other = client),
          },
        ],
      },
      (builder) => builder.setLogger(logger),
    );

    const error = await booting.catch((error: unknown) => error);
    expect(error).toBeInstanceOf(LockConnectionError);
    expect(error).toMatchObject({ code: 'LOCK_CONNECTION', client: 'far' });
    expect((error as Error).message).toMatch(
      /^Lock client "far" could not connect within 1000 ms \(.+\)\. Check `connect`/,
    );
    const warnings = logger.lines.filter((line) => line.startsWith('warn'));
    expect(warnings).toEqual([
      expect.stringMatching(/^warn: Lock client "far" cannot connect: .+; it goes on trying$/),
    ]);

    await expect(other?.mutex('key').acquire()).rejects.toBeInstanceOf(LockClientClosedError);
    await noMoreHandlesThan(before);
  });
});
