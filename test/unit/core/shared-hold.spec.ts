import { describe, expect, it } from '@jest/globals';
import { Tenure } from '../../../lib/core/hand-off.js';
import type { Hold } from '../../../lib/core/internal/hold.js';
import { SharedHold } from '../../../lib/core/shared-hold.js';

/** Holds of two callers, of which the later one has the first place in the line. */
function sharedByTwo() {
  const [first, second] = [{} as Hold, {} as Hold];
  const placeOf = () => ({ isLast: true, handOff: () => true, left: 0, leave: () => {} });
  const grant = { tenure: new Tenure(0), mayGoOn: () => true, newHold: () => second };
  const shared = new SharedHold(grant, first, placeOf());
  const place = Object.assign(placeOf(), { leave: () => void (place.left += 1) });
  shared.join(place);
  return { shared, first, second, place };
}

describe('A read lock that callers of one client share', () => {
  it('is released when the last of its holds is', () => {
    const { shared, first, second, place } = sharedByTwo();
    expect(shared.leave(first)).toBe(true);
    expect(place.left).toBe(0);
    expect(shared.leave(second)).toBe(false);
    expect(place.left).toBe(1);
  });

  it('is over when the last of its holds is lost', () => {
    const { shared, first, second } = sharedByTwo();
    expect(shared.lose(first)).toBe(true);
    expect(shared.holds).toEqual([second]);
    expect(shared.lose(second)).toBe(false);
  });

  it('is closed before a listener learns that one of its holds is lost', () => {
    const { shared, first, place } = sharedByTwo();
    shared.lose(first);
    expect(place.left).toBe(1);
  });

  it('is released once, by the first that leaves when all are lost', () => {
    const { shared, first, second } = sharedByTwo();
    shared.lose(first);
    shared.lose(second);
    expect([shared.leave(first), shared.leave(second)]).toEqual([false, true]);
  });
});
