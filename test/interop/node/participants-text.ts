import type { Participant } from '../../../lib/core/election/election-backend.js';

/** `id=true` for the leader, `id=false` for all others, in their order. */
export function participantsText(participants: readonly Participant[]): string {
  return participants.map(({ id, isLeader }) => `${id}=${isLeader}`).join(' ');
}
