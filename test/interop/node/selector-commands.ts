import type { LeaderSelector, TakeLeadership } from '../../../lib/core/election/leader-selector.js';
import { Deferred } from '../../support/deferred.js';
import { eventually } from '../../support/eventually.js';
import type { CommandedActor } from './listen.js';
import { participantsText } from './participants-text.js';

/** The commands of a leader selector, which leads until the command `yield`. */
export class SelectorCommands implements CommandedActor {
  private readonly selector: LeaderSelector;
  /** Terms that have begun, and were not reported yet. */
  private begun = 0;
  private over = new Deferred();

  constructor(makeSelector: (takeLeadership: TakeLeadership) => LeaderSelector) {
    this.selector = makeSelector(async ({ signal }) => {
      this.begun += 1;
      const { over } = this;
      signal.addEventListener('abort', () => over.resolve());
      await over.promise;
      this.over = new Deferred();
    });
  }

  async run([command, , first = '']: readonly string[]): Promise<string> {
    const { selector } = this;
    switch (command) {
      case 'start':
        selector.start();
        return 'started';
      case 'requeue':
        return String(selector.requeue());
      case 'interrupt':
        selector.interruptLeadership();
        return 'interrupted';
      case 'yield':
        this.over.resolve();
        return 'over';
      case 'close':
        await selector.close();
        return 'closed';
      case 'awaitLeadership':
        return this.awaitLeadership(Number(first));
      case 'hasLeadership':
        return String(selector.hasLeadership);
      case 'electionParticipants':
        return participantsText(await selector.participants());
      case 'leader':
        return (await selector.leader())?.id ?? '';
      default:
        throw new Error(`No such command: ${command}`);
    }
  }

  private async awaitLeadership(within: number): Promise<string> {
    try {
      await eventually('it leads', () => this.begun > 0, { within });
    } catch {
      return 'timeout';
    }
    this.begun -= 1;
    return 'leader';
  }
}
