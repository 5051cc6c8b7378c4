import type { LockModuleOptions } from '../../../lib/index.js';
import { Program } from '../../integration/support/program.js';

const APP = new URL('../programs/app.ts', import.meta.url);

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
