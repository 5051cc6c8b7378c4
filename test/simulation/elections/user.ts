import type { Dice } from '../dice.js';
import type { SimulatedClient } from '../simulated-client.js';
import type { World } from '../world.js';
import type { ElectionJudge } from './election-judge.js';

/** The key that all stand for. */
export const KEY = 'a';

/** A user of one client, who has something stand for election. */
export interface User {
  readonly client: SimulatedClient;
  /** Stands, and at some time after `isOver` no longer. */
  stand(isOver: () => boolean): Promise<void>;
}

export interface UserOptions {
  readonly world: World;
  readonly judge: ElectionJudge;
  readonly client: SimulatedClient;
  readonly dice: Dice;
  /** Of his own. */
  readonly name: string;
}
