import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { LockInspectorModule, type LockInspectorOptions } from '../../../lib/inspector/index.js';
import { LockModule, type LockModuleOptions } from '../../../lib/index.js';

/** An app with the page of the inspector, on a free port of the loopback interface. */
export async function inspectingApp(
  clients: readonly LockModuleOptions[],
  options: LockInspectorOptions,
): Promise<{ app: INestApplication; url: string }> {
  const testing = await Test.createTestingModule({
    imports: [
      ...clients.map((each) => LockModule.forRoot(each)),
      LockInspectorModule.forRoot(options),
    ],
  }).compile();
  // A browser opens connections in advance, for which a server would wait.
  const app = testing.createNestApplication({ forceCloseConnections: true });
  await app.listen(0, '127.0.0.1');
  return { app, url: `${await app.getUrl()}/locks` };
}
