import type { INestApplication } from '@nestjs/common';
import { LockInspectorModule, type LockInspectorOptions } from '../../../lib/inspector/index.js';
import type { LockModuleOptions } from '../../../lib/index.js';
import type { Apps } from '../../e2e/support/apps.js';
import { Program } from '../../faults/support/program.js';

const APP = new URL('../programs/app.ts', import.meta.url);

/** An app with the page of the inspector, on a free port of the loopback interface. */
export async function inspectingApp(
  apps: Apps,
  clients: readonly LockModuleOptions[],
  options: LockInspectorOptions,
): Promise<{ app: INestApplication; url: string }> {
  const app = await apps.serve({
    clients,
    imports: [LockInspectorModule.forRoot(options)],
    forceCloseConnections: true, // a browser opens connections in advance, for which a server would wait
  });
  return { app, url: `${await app.getUrl()}/locks` };
}

/** Processes of one application. */
export class Team {
  private constructor(readonly members: readonly Program[]) {}

  /** Starts so many, with these lock clients. */
  static async start(count: number, clients: readonly LockModuleOptions[]): Promise<Team> {
    const args = [JSON.stringify(clients)];
    const members = Array.from({ length: count }, () => new Program(APP, args));
    await Promise.all(members.map((member) => member.next()));
    return new Team(members);
  }

  /** Has one take a lock: `<client> <kind> <key> <method>`; resolves when it holds it, or waits. */
  async order(member: number, what: string): Promise<unknown> {
    this.members[member]!.tell(what);
    return this.next(member);
  }

  /** The next news of one: 'held', 'waiting', 'freed'. */
  next(member: number): Promise<unknown> {
    return this.members[member]!.next();
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map((member) => member.stop()));
  }
}
