/**
 * A watch has fired. `disconnected` is ours: the connection was lost and the watch with it, so look again.
 * Do not rely on more than "look again": `changed` may stand for deleted and created anew.
 */
export interface WatchEvent {
  readonly type: 'created' | 'deleted' | 'changed' | 'child' | 'disconnected';
  readonly path: string;
}

export type Watcher = (event: WatchEvent) => void;
