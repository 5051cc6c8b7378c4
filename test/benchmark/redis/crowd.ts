import { alternately } from '../alternately.js';
import { mediansOf } from '../medians-of.js';
import { peerRow, type Row } from '../row.js';
import type { RedisContestants } from './redis-contestant.js';

const CALLERS = 1_000;

/** Many callers of one process who all want one lock, and let it go at once: until all were served. */
export async function crowd(contestants: RedisContestants): Promise<Row[]> {
  const measured = await alternately(
    contestants,
    (contestant) => contestant.cycles({ keys: 1, lanes: CALLERS, count: CALLERS }),
    { rounds: 1, warmUp: 0 }, // some take most of a minute for it
  );
  const took = mediansOf(measured, ({ took }) => took);
  return [peerRow(`${CALLERS} callers on one key, until all were served`, 'ms', took)];
}
