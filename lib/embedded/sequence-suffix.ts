/** A sequence number as the servers write it behind a name: ten characters, or eleven where the sign needs one more. */
export function sequenceSuffix(sequence: number): string {
  const digits = String(Math.abs(sequence));
  return sequence < 0 ? `-${digits.padStart(9, '0')}` : digits.padStart(10, '0');
}
