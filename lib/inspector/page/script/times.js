/* global document */
import { element } from './element.js';

let ahead = 0; // of our clock, the server's

export const serverTime = () => Date.now() + ahead;
export const setServerTime = (now) => (ahead = now - Date.now());

const duration = (ms) => {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const parts = [
    [Math.floor(seconds / 86400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ];
  const first = parts.findIndex(([count]) => count > 0);
  if (first < 0) return '0 s';
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
};

/** The date and time here, and in UTC as logs have it; empty if there is no such time. */
export const absolute = (at) => {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return '';
  return `${date.toLocaleString()} (${date.toISOString()})`;
};

export const clockTime = (at) => new Date(at).toLocaleTimeString();

/** A duration that grows with each tick, with its start on hover. */
export const timed = (since, word) => {
  const time = element('span', 'time');
  time.dataset.since = since;
  time.dataset.word = word;
  time.title = absolute(since);
  return time;
};

export const tick = () => {
  for (const time of document.querySelectorAll('.time')) {
    const text = `${time.dataset.word} ${duration(serverTime() - time.dataset.since)}`;
    if (time.textContent !== text) time.textContent = text;
  }
};
