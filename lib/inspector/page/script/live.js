/* global document, EventSource, setTimeout */
import { announce, base } from './page.js';
import { absolute, clockTime, serverTime, setServerTime } from './times.js';

const sign = document.getElementById('live');
/** Pause before a stream that was refused is asked for again, in ms; one that broke is repeated by the browser. */
const AGAIN = 5000;

const CUT = 'The connection is interrupted. What is shown may be out of date.';
const REFUSED =
  'The server refuses to send updates, so what is shown may be out of date. It may be restarting. If not, sign in, or close other pages of it. It is asked again every 5 seconds.';

let lookedAt;
let warning = '';

const showSign = (isLive) => {
  sign.className = isLive ? 'live' : 'stale';
  const last = lookedAt === undefined ? '' : clockTime(lookedAt);
  if (isLive) sign.textContent = last === '' ? 'live' : `live · ${last}`;
  else sign.textContent = last === '' ? 'not live' : `not live, last at ${last}`;
  sign.title =
    lookedAt === undefined ? '' : `The servers were last looked at on ${absolute(lookedAt)}`;
};

const warn = (text) => {
  if (warning === text) return;
  warning = text;
  announce(text);
};

/** Receives snapshots, and shows whether they come. */
export const watch = (receive) => {
  const events = new EventSource(`${base}/events`);
  const looked = (at) => {
    lookedAt = at;
    showSign(true);
  };
  events.addEventListener('now', ({ data }) => setServerTime(Number(data)));
  events.addEventListener('looked', ({ data }) => looked(Number(data)));
  events.addEventListener('message', ({ data }) => {
    looked(serverTime());
    receive(data);
  });
  events.addEventListener('open', () => {
    showSign(true);
    warn('');
  });
  events.addEventListener('error', () => {
    showSign(false);
    const isRefused = events.readyState === EventSource.CLOSED;
    warn(isRefused ? REFUSED : CUT);
    if (isRefused) setTimeout(() => watch(receive), AGAIN);
  });
};
