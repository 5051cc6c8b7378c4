export type { EmbeddedLockOptions } from './embedded-lock-options.js';
