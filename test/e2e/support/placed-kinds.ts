import { LOCK_KINDS, type LockKind } from './lock-kinds.js';

/** A decorator, and where LockModule stands among the imports: modules that explore others see what is there by then. */
export interface PlacedKind extends LockKind {
  readonly position: 'first' | 'last';
}

/** Every decorator, with LockModule as the first and as the last import. */
export const PLACED_KINDS: PlacedKind[] = LOCK_KINDS.flatMap((kind) =>
  (['first', 'last'] as const).map((position) => ({ ...kind, position })),
);
