import type { LeaderLatch } from '../../../lib/core/election/leader-latch.js';
import { isGranted } from '../redis-node/is-granted.js';
import { Candidate } from './candidate.js';
import type { CommandedActor } from './listen.js';
import { participantsText } from './participants-text.js';

/** The commands of a leader latch. */
export class LatchCommands implements CommandedActor {
  private readonly events: string[] = [];

  constructor(private readonly latch: LeaderLatch) {
    latch.onLeadership(() => this.events.push('isLeader'));
    latch.onLeadershipLost(() => this.events.push('notLeader'));
  }

  async run([command, , first = '', second = '']: readonly string[]): Promise<string> {
    const { latch } = this;
    switch (command) {
      case 'start':
        latch.start();
        return 'started';
      case 'close':
        await latch.close(first as 'SILENT' | 'NOTIFY_LEADER');
        return 'closed';
      case 'awaitLeadership':
        return (await isGranted(latch.awaitLeadership({ wait: Number(first) })))
          ? 'leader'
          : 'timeout';
      case 'hasLeadership':
        return String(latch.hasLeadership);
      case 'electionParticipants':
        return participantsText(await latch.participants());
      case 'leader':
        return (await latch.leader())?.id ?? '';
      case 'events':
        return this.events.join(' ');
      case 'stand':
        await Candidate.stand(latch, Number(first), second);
        return 'closed';
      default:
        throw new Error(`No such command: ${command}`);
    }
  }
}
