import { expect, it } from '@jest/globals';
import { parseNumbers } from '../../../lib/redis/connection/redis-connection.js';

it.each([
  [1, 1],
  ['1', 1],
  ['-1', -1],
  [null, null],
  [
    [1, 30_000],
    [1, 30_000],
  ],
  [
    ['0', '30000'],
    [0, 30_000],
  ],
  [[], []],
])('The answer %j of a script is %j', (answer, numbers) => {
  expect(parseNumbers(answer)).toEqual(numbers);
});
