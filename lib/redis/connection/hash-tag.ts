/** The part of a name that decides about its slot: what is between the first `{` and the next `}`, or all of it. */
export function hashTag(name: string): string {
  const open = name.indexOf('{');
  const close = open < 0 ? -1 : name.indexOf('}', open + 1);
  return close > open + 1 ? name.slice(open + 1, close) : name;
}
