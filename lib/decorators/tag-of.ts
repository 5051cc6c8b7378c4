/** The name of the built-in kind of a value: `AsyncFunction`, `Generator`, … It sees through a Proxy. */
export function tagOf(value: object): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}
