import type { Scene } from './scene.js';

/** What happens while the fleet works. */
export interface Accident {
  readonly name: string;
  /** Resolves when the fleet may rest. */
  happen(scene: Scene): Promise<void>;
}
