import { LuaMachine } from '../../../../lib/testing/redis/lua/lua-machine.js';

/** Compiled scripts are kept. */
export const machine = new LuaMachine();

/** Runs what has become of each script. */
export function corrupted(corrupt: (source: string) => string): Pick<LuaMachine, 'run'> {
  return {
    run: (sha1, source, ...rest) => {
      const changed = corrupt(source);
      return machine.run(changed === source ? sha1 : changed, changed, ...rest);
    },
  };
}
