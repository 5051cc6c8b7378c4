/** How long who waits for a spin lock sleeps before it asks again. */
export interface BackOff {
  /** A function that tells the next delay in ms each time it is called; a new one for each acquire. */
  delays(): () => number;
}
