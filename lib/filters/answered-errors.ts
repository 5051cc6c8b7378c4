import { HttpStatus } from '@nestjs/common';
import {
  ElectionClosedError,
  LockAbortedError,
  LockClientClosedError,
  LockConnectionError,
  LockLostError,
  LockNotHeldError,
  LockTimeoutError,
  LockUpgradeError,
} from '../core/index.js';

/** Kinds of answers: status, its name, and whether the same call may succeed later without more ado. */
const LOCKED = { status: 423, name: 'Locked', isPassing: true };
const CONFLICT = { status: HttpStatus.CONFLICT, name: 'Conflict', isPassing: false };
const UNAVAILABLE = {
  status: HttpStatus.SERVICE_UNAVAILABLE,
  name: 'Service Unavailable',
  isPassing: true,
};

/** The errors that a caller has an answer to, with what the caller is told. The others are mistakes in the program. */
export const ANSWERED_ERRORS = [
  { type: LockTimeoutError, ...LOCKED, message: 'The resource is locked. Try again later.' },
  {
    type: LockAbortedError,
    ...LOCKED,
    message: 'The wait for the locked resource was ended. Try again later.',
  },
  {
    type: LockLostError,
    ...CONFLICT,
    message: 'The lock of the resource was lost meanwhile. See what was done before you try again.',
  },
  {
    type: LockNotHeldError,
    ...CONFLICT,
    message: 'The lock of the resource had been given back before.',
  },
  { type: LockUpgradeError, ...CONFLICT, message: 'The resource is being read by this very call.' },
  {
    type: LockConnectionError,
    ...UNAVAILABLE,
    message: 'Locks are not available. Try again later.',
  },
  {
    type: LockClientClosedError,
    ...UNAVAILABLE,
    message: 'The service is shutting down. Try again later.',
  },
  {
    type: ElectionClosedError,
    ...UNAVAILABLE,
    message: 'The service is shutting down. Try again later.',
  },
] as const;
