import { ModuleMocker } from 'jest-mock';
import type { PlantedIn } from './schedules.js';

/** Jest's, also where Jest is not. */
export const mocks = new ModuleMocker(globalThis);

export interface PlantedBug {
  readonly bug: string;
  readonly plant?: () => void;
  /** What the judge says of it. */
  readonly violation: RegExp;
  /** The first schedule of each kind that is known to catch it: the first thousand were tried. */
  readonly seeds: Readonly<Partial<Record<PlantedIn, number>>>;
}

type Method = (...args: unknown[]) => unknown;

/** Replaces a method until the mocks are restored; `bug` receives the real one, bound to its object, and that object. */
export function replace<T extends object, K extends keyof T>(
  owner: T,
  name: K,
  bug: (real: T[K], self: T) => T[K],
): void {
  const real = owner[name] as Method;
  const spy = mocks.spyOn(owner as Record<string, Method>, name as string);
  spy.mockImplementation(function (this: unknown, ...args) {
    const self = this as T;
    return (bug(real.bind(self) as T[K], self) as Method)(...args);
  });
}
