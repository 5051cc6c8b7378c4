import type { SharedCount } from '../../../lib/zookeeper/shared/shared-count.js';
import type { CommandedActor } from './listen.js';

/** The commands of a shared count. */
export class CountCommands implements CommandedActor {
  private count?: SharedCount;
  /** What its listener received since it has started: Curator does not report the initial value either. */
  private readonly heard: number[] = [];

  constructor(private readonly make: (seed: number) => SharedCount) {}

  async run([command, , first = '']: readonly string[]): Promise<string> {
    switch (command) {
      case 'start':
        this.count = this.make(Number(first));
        await this.count.start();
        this.count.onChange((count) => this.heard.push(count));
        return 'started';
      case 'get':
        return String(this.count!.count);
      case 'set':
        await this.count!.setCount(Number(first));
        return 'set';
      case 'trySet':
        return String(await this.count!.trySetCount(Number(first)));
      case 'heard':
        return this.heard.join(' ');
      default:
        throw new Error(`No such command: ${command}`);
    }
  }
}
