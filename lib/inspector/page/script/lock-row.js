import { element, unlessBroken } from './element.js';
import { folded, keptList } from './kept-list.js';
import { partyView } from './party.js';
import { plainText, shownText } from './shown-text.js';
import { partyKey } from './snapshot.js';

/** How many holders and waiters a row shows unasked, and how many more with a click. */
const FEW_HOLDERS = 10;
const FEW_WAITERS = 3;
const STEP = 50;

const partiesView = (tag, few, client, isHolder) => {
  const list = element(tag, '');
  const show = keptList(list, ({ party }) => partyKey(party), partyView(client, isHolder));
  const fold = folded(show, few, STEP);
  return {
    cell: element('td', '', list, element('div', 'folds', ...fold.buttons)),
    update(lock, parties) {
      fold.update(parties.map((party) => ({ lock, party })));
    },
  };
};

/** The row of a lock. Its holders and waiters keep their elements. */
export const lockRow = (client) => () => {
  const head = element('th', '');
  head.scope = 'row';
  const holders = partiesView('ul', FEW_HOLDERS, client, true);
  const queue = partiesView('ol', FEW_WAITERS, client, false);
  const row = element('tr', '', head, holders.cell, queue.cell);
  let drawn;
  const cells = [
    [holders, 'Held by', 'holders'],
    [queue, 'Queue', 'queue'],
  ];
  const draw = (lock) => {
    const { key, name, kind, lost, timedOut } = lock;
    const state = JSON.stringify([key, name, kind, lost, timedOut]);
    if (state !== drawn) head.replaceChildren(...headOf(lock));
    head.title = plainText(name);
    drawn = state;
    for (const [view, label, of] of cells) {
      const parties = lock[of];
      view.cell.className = parties.length > 0 ? of : `${of} empty`;
      view.cell.dataset.label = parties.length > 1 ? `${label} (${parties.length})` : label;
      view.update(lock, parties);
    }
  };
  return {
    element: row,
    update: (lock) =>
      unlessBroken(
        () => draw(lock),
        () => {
          head.textContent = 'This lock cannot be shown.';
          drawn = undefined;
        },
      ),
  };
};

const headOf = ({ key, kind, lost, timedOut }) => {
  const troubles = [
    lost > 0 ? element('span', 'down', `${lost} lost`) : undefined,
    timedOut > 0 ? element('span', 'degraded', `${timedOut} timed out`) : undefined,
  ].filter(Boolean);
  const small = element('small', '', kind, ...troubles.flatMap((trouble) => [' · ', trouble]));
  return [shownText('key', key), small];
};
