import type { Participant } from '../../../lib/core/election/election-backend.js';

/** One candidate of an election in a peer: a leader latch, or a leader selector. It does its commands one after the other. */
export class ElectionActor {
  constructor(
    /** `latch#id:/a` or `selector#id:/a`; no `id`: Curator's default, none. */
    private readonly specification: string,
    private readonly tell: (...words: (string | number)[]) => Promise<string>,
  ) {}

  async start(): Promise<void> {
    await this.ask('start');
  }

  /** @param mode of a latch */
  async close(mode: 'SILENT' | 'NOTIFY_LEADER' = 'SILENT'): Promise<void> {
    await this.ask('close', mode);
  }

  /** Whether it led within so many ms: a latch now, a selector in a term that nobody was told of. */
  async leads(wait = 20_000): Promise<boolean> {
    return (await this.ask('awaitLeadership', wait)) === 'leader';
  }

  async hasLeadership(): Promise<boolean> {
    return (await this.ask('hasLeadership')) === 'true';
  }

  /** All of them as this one sees them, the leader first. */
  async participants(): Promise<Participant[]> {
    const words = (await this.ask('electionParticipants')).split(' ').filter(Boolean);
    return words.map((word) => {
      const [id = '', isLeader] = word.split('=');
      return { id, isLeader: isLeader === 'true' };
    });
  }

  /** Id of who leads, as this one sees it; empty when nobody does. */
  leader(): Promise<string> {
    return this.ask('leader');
  }

  /** What the listener of a latch has been told: `isLeader`, `notLeader`. */
  async events(): Promise<string[]> {
    return (await this.ask('events')).split(' ').filter(Boolean);
  }

  /** Ends the term of a selector as it wants to. */
  async yield(): Promise<void> {
    await this.ask('yield');
  }

  /** Ends the term of a selector by an interrupt. */
  async interrupt(): Promise<void> {
    await this.ask('interrupt');
  }

  /** Has a selector stand once more; false when it does already. */
  async requeue(): Promise<boolean> {
    return (await this.ask('requeue')) === 'true';
  }

  /**
   * Starts a latch that, as long as it leads, claims so every few ms, and tells the observer on that port under that name.
   * Resolves when another actor has closed the latch.
   */
  async stand(port: number, name: string): Promise<void> {
    await this.ask('stand', port, name);
  }

  private ask(command: string, ...words: (string | number)[]): Promise<string> {
    return this.tell(command, this.specification, ...words);
  }
}
