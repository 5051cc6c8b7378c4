import type { Dice } from '../dice.js';
import type { SimulatedClient } from '../simulated-client.js';
import type { World } from '../world.js';
import type { ElectionJudge } from './election-judge.js';

/** The key that all users stand for. */
export const KEY = 'a';

/** A user of one client that runs a latch or a selector. */
export interface User {
  readonly client: SimulatedClient;
  /** Stands for election, until some time after `isOver`. */
  stand(isOver: () => boolean): Promise<void>;
}

export interface UserOptions {
  readonly world: World;
  readonly judge: ElectionJudge;
  readonly client: SimulatedClient;
  readonly dice: Dice;
  /** Random choices of its own. */
  readonly name: string;
}
