/** What a command is about, by which a cluster finds the node for it. */
export interface Concern {
  readonly keys: readonly string[];
  /** Channels of a shard have slots like keys, but nothing of them is moved. */
  readonly areChannels: boolean;
}

const NOTHING: Concern = { keys: [], areChannels: false };
const OF_NO_KEY = new Set([
  'ping',
  'info',
  'time',
  'script',
  'config',
  'publish',
  'pubsub',
  'wait',
]);
const OF_SEVERAL_KEYS = new Set(['del', 'exists', 'unlink']);

/** The keys of a command, or its channels. */
export function concernOf(name: string, args: readonly string[]): Concern {
  const keys = (some: readonly string[], areChannels = false): Concern => ({
    keys: some,
    areChannels,
  });
  if (OF_NO_KEY.has(name) || /^(?:asking|scan|(?:un)?subscribe)$/.test(name)) return NOTHING;
  if (name === 'eval' || name === 'evalsha') return keys(args.slice(2, 2 + Number(args[1])));
  if (name === 'ssubscribe' || name === 'sunsubscribe') return keys(args, true);
  if (name === 'spublish') return keys(args.slice(0, 1), true);
  return keys(OF_SEVERAL_KEYS.has(name) ? args : args.slice(0, 1));
}
