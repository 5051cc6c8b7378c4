/** How the replies of a server itself begin: with a code in capitals. node-redis' own errors do not. */
const CODE = /^[A-Z][A-Z\d_]+(\s|$)/;

/**
 * Whether it is what the server has answered, as opposed to an error of node-redis, after which it is unknown what was carried
 * out. A script may answer with any text, so the class decides: by its name, as the client may be of another copy of the
 * package. Where a bundler has renamed the class, at least replies that begin with a code are known.
 */
export function isErrorReply(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return classesOf(error).includes('ErrorReply') || CODE.test(error.message);
}

/** Names of its class and of those that it extends. */
function classesOf(error: Error): string[] {
  const names: string[] = [];
  let prototype = Object.getPrototypeOf(error) as object | null;
  for (; prototype !== null; prototype = Object.getPrototypeOf(prototype) as object | null)
    names.push(prototype.constructor.name);
  return names;
}
