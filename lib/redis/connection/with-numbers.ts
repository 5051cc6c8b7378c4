/** The answer of a script, none of which has texts: a client with ioredis' `stringNumbers` has made texts of its numbers. */
export function withNumbers(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.every(isNumber) ? answer : answer.map(withNumbers);
  return typeof answer === 'string' ? Number(answer) : answer;
}

const isNumber = (value: unknown) => typeof value === 'number';
