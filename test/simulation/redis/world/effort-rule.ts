import type { Servers } from '../network/servers.js';

/** How many commands a script may call whatever it finds. */
const BASE = 60;
/** How many more for each element of its keys. */
const PER_ELEMENT = 1;

/** The server does nothing else during a script: what that does grows with what is in its keys, and not with the square of it. */
export function watchEffort({ ports }: Servers, accuse: (what: string) => void): void {
  for (const { server } of ports)
    server.onScript = (elements, calls) => {
      if (calls > BASE + PER_ELEMENT * elements)
        accuse(`a script calls ${calls} commands for ${elements} elements`);
    };
}
