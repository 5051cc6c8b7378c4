/* global document, setInterval */
import { clientSection } from './client-section.js';
import { plural } from './element.js';
import { keptList } from './kept-list.js';
import { watch } from './live.js';
import { announce, announced } from './page.js';
import { tick } from './times.js';

const BROKEN = 'What came cannot be shown.';
const [summary, clients, filter] = ['summary', 'clients', 'filter'].map((id) =>
  document.getElementById(id),
);
const wanted = () => filter.value.trim().toLowerCase();
const sections = keptList(clients, ({ name }) => name, clientSection(wanted));
let latest;

const draw = () => {
  sections(latest.clients);
  tick();
  const locks = latest.clients.flatMap((client) => client.locks);
  const sum = (of) => locks.reduce((total, lock) => total + lock[of].length, 0);
  const text = `${plural(locks.length, 'lock')}, ${plural(sum('holders'), 'holder')}, ${sum('queue')} waiting`;
  if (summary.textContent !== text) summary.textContent = text;
  if (announced() === BROKEN) announce('');
};

const receive = (data) => {
  try {
    latest = JSON.parse(data);
    draw();
  } catch {
    announce(BROKEN);
  }
};

watch(receive);
filter.addEventListener('input', () => latest && draw());
setInterval(tick, 1000);
