import type { Ground } from './ground.js';
import type { Scene } from './scene.js';

/** What happens while the fleet works on that ground. */
export interface Accident<G extends Ground = Ground> {
  readonly name: string;
  /** Resolves when the fleet may rest. */
  happen(scene: Scene<G>): Promise<void>;
}
