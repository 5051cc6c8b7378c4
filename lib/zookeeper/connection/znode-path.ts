/** Characters that no ZooKeeper server accepts in a path: controls, surrogates and private use, specials. */
// eslint-disable-next-line no-control-regex
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f\ud800-\uf8ff\ufff0-\uffff]/;

/** Whether every server accepts `path`: absolute, no empty, `.` or `..` component, no forbidden character. */
export function isCanonicalPath(path: unknown): path is string {
  if (typeof path !== 'string' || !path.startsWith('/') || FORBIDDEN.test(path)) return false;
  return path
    .slice(1)
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..');
}

/** Path of the parent; `/` for a top-level node. */
export function parentPath(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf('/')));
}

/** Last component of the path. */
export function nodeName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
