import { element, plural, unlessBroken } from './element.js';
import { folded, keptList } from './kept-list.js';
import { lockRow } from './lock-row.js';
import { processesView, tableOf } from './processes.js';
import { shownText } from './shown-text.js';
import { byUrgency, matches, steady } from './snapshot.js';

/** How many locks are shown unasked, and with each click. */
const PART = 50;

/** The locks of a client. @param wanted gives what they are filtered by */
export const clientSection = (wanted) => () => {
  let current;
  const title = element('div', 'title');
  const problems = element('div', '');
  const { table, body } = tableOf('locks', ['Lock', 'Held by', 'Queue']);
  const rows = keptList(
    body,
    ({ name }) => name,
    lockRow(() => current),
  );
  const fold = folded(rows, PART, PART);
  const folds = element('div', 'folds', ...fold.buttons);
  const scroll = element('div', 'scroll', table, folds);
  const nothing = element('p', 'note muted');
  const omitted = element('p', 'note muted');
  const processes = processesView();
  const section = element('section', '', title, problems, scroll, nothing, omitted);
  section.append(processes.element);

  const draw = (client) => {
    steady(client, current);
    current = client;
    title.replaceChildren(...titleOf(client));
    problems.replaceChildren(
      ...client.problems.map((problem) => element('p', 'problem', shownText('', problem))),
    );
    table.setAttribute('aria-label', `Locks of ${client.name}`);
    const locks = client.locks.filter((lock) => matches(lock, wanted())).sort(byUrgency);
    fold.update(locks);
    scroll.hidden = locks.length === 0;
    nothing.hidden = locks.length > 0;
    if (locks.length === 0)
      nothing.textContent =
        client.locks.length > 0 ? 'Nothing matches.' : 'No lock is held or waited for.';
    omitted.hidden = !(client.omitted > 0);
    omitted.textContent =
      client.omitted > 0 ? `${plural(client.omitted, 'more name')} not looked at.` : '';
    processes.update(client);
  };
  return {
    element: section,
    update: (client) =>
      unlessBroken(
        () => draw(client),
        () => problems.replaceChildren(element('p', 'problem', 'It cannot be shown.')),
      ),
  };
};

const titleOf = ({ name, health, state, backend, servers = [], prefix }) => {
  const place = [backend, servers.join(', '), prefix && `prefix ${prefix}`];
  const isPlain = state === 'CONNECTED' || state === 'RECONNECTED';
  return [
    element('h2', '', shownText('', name)),
    element('span', `health ${health}`, health),
    isPlain ? undefined : element('span', 'muted', state),
    shownText('muted place', place.filter(Boolean).join(' · ')),
  ].filter(Boolean);
};
