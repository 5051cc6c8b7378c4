/** What `@RunOnce` takes: a mutex in which a run does not find itself again. */
export interface RunOnceTarget {
  readonly recipe: 'semaphoreMutex';
  /** Name of the run, or what makes it of the method's arguments. */
  readonly key: string | ((...args: never[]) => unknown);
  readonly client?: undefined;
}
