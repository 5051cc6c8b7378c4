import type { Participant } from '../../../lib/core/election/election-backend.js';

/** `id=true` of the leader, `id=false` of all others, in their order. */
export function participantsText(participants: readonly Participant[]): string {
  return participants.map(({ id, isLeader }) => `${id}=${isLeader}`).join(' ');
}
