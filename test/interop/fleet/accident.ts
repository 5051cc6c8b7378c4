import type { Ground } from './ground.js';
import type { Scene } from './scene.js';

/** An accident on that ground while the fleet works. */
export interface Accident<G extends Ground = Ground> {
  readonly name: string;
  /** Resolves when the fleet may rest. */
  happen(scene: Scene<G>): Promise<void>;
}
