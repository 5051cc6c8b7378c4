import { replyText } from './connection/redis-error.js';

/** A function that warns of why the server has refused releases: the same for every lock, so each is told once. */
export function warnOfRefusals(client: string): (error: Error) => void {
  const told = new Set<string>();
  return (error) => {
    const refusal = replyText(error);
    if (told.has(refusal)) return;
    told.add(refusal);
    process.emitWarning(
      `Redis refused lock client "${client}" to release a lock, or to wake who waits for it; it may stay taken until its lease is over: ${refusal}. Check the permissions of the user, those on channels too.`,
    );
  };
}
