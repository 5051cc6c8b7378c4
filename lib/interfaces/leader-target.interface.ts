/** What `@LeaderOnly` takes: a part of the leadership that the app has, if it has. */
export interface LeaderTarget {
  readonly recipe: 'leaderLatch';
  /** Name of the election. */
  readonly key: string;
  readonly client?: undefined;
}
