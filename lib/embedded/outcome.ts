import type { Answers } from '../zookeeper/connection/transport.js';

/** What a request came to: a code of `ReturnCode` and, for 0, the answer. */
export interface Outcome {
  readonly rc: number;
  readonly answer?: Answers[keyof Answers];
}
