import type { SharedValue } from '../../../lib/zookeeper/shared/shared-value.js';
import type { CommandedActor } from './listen.js';

/** The commands of a shared value with bytes that are text. */
export class ValueCommands implements CommandedActor {
  private value?: SharedValue;
  /** What its listener received since it has started: Curator does not report the initial value either. */
  private readonly heard: string[] = [];

  constructor(private readonly make: (seed: Uint8Array) => SharedValue) {}

  async run([command, , first = '']: readonly string[]): Promise<string> {
    switch (command) {
      case 'start':
        this.value = this.make(Buffer.from(first));
        await this.value.start();
        this.value.onChange((value) => this.heard.push(value.toString()));
        return 'started';
      case 'get':
        return this.value!.value.toString();
      case 'set':
        await this.value!.setValue(Buffer.from(first));
        return 'set';
      case 'trySet':
        return String(await this.value!.trySetValue(Buffer.from(first)));
      case 'heard':
        return this.heard.join(' ');
      default:
        throw new Error(`No such command: ${command}`);
    }
  }
}
