/** What the tests use of `ws`, which brings no types. */
declare module 'ws' {
  export class WebSocket extends EventTarget {
    constructor(url: string);
    send(text: string): void;
    close(): void;
  }
}
