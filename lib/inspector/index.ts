import '../loaded-copies.js';

export { LockInspector } from './lock-inspector.js';
export { LockInspectorModule } from './lock-inspector.module.js';
export type { InspectorGuard, LockInspectorOptions } from './lock-inspector-options.interface.js';
export type {
  InspectedClient,
  InspectedLock,
  InspectedParty,
  InspectedProcess,
  LockInspectorSnapshot,
} from './lock-inspector-snapshot.interface.js';
