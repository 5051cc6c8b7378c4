import type { Participant } from '../../../lib/core/election/election-backend.js';

/** A candidate of an election in a peer: a leader latch, or a leader selector. It executes its commands one after the other. */
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

  /** Whether it led within that many ms: a latch now, a selector in a term that was not reported yet. */
  async leads(wait = 20_000): Promise<boolean> {
    return (await this.ask('awaitLeadership', wait)) === 'leader';
  }

  async hasLeadership(): Promise<boolean> {
    return (await this.ask('hasLeadership')) === 'true';
  }

  /** All of them as this candidate sees them, the leader first. */
  async participants(): Promise<Participant[]> {
    const words = (await this.ask('electionParticipants')).split(' ').filter(Boolean);
    return words.map((word) => {
      const [id = '', isLeader] = word.split('=');
      return { id, isLeader: isLeader === 'true' };
    });
  }

  /** Id of the leader, as this candidate sees it; empty when there is none. */
  leader(): Promise<string> {
    return this.ask('leader');
  }

  /** The events that the listener of a latch received: `isLeader`, `notLeader`. */
  async events(): Promise<string[]> {
    return (await this.ask('events')).split(' ').filter(Boolean);
  }

  /** Ends the term of a selector regularly. */
  async yield(): Promise<void> {
    await this.ask('yield');
  }

  /** Ends the term of a selector by an interrupt. */
  async interrupt(): Promise<void> {
    await this.ask('interrupt');
  }

  /** Requeues a selector; false when it is queued already. */
  async requeue(): Promise<boolean> {
    return (await this.ask('requeue')) === 'true';
  }

  /**
   * Starts a latch that, while it leads, sends a claim every few ms, and reports to the observer on that port under that name.
   * Resolves when another actor has closed the latch.
   */
  async stand(port: number, name: string): Promise<void> {
    await this.ask('stand', port, name);
  }

  private ask(command: string, ...words: (string | number)[]): Promise<string> {
    return this.tell(command, this.specification, ...words);
  }
}
