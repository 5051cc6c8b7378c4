import { button, element, plural } from './element.js';
import { mayRelease } from './page.js';
import { openMenu } from './release-menu.js';
import { plainText, shownText } from './shown-text.js';
import { whereOf } from './snapshot.js';
import { timed } from './times.js';

const MOST_IDS = 20;

/** A holder or a waiter. It is drawn anew only when it has changed, and keeps its menu button even then. */
export const partyView = (client, isHolder) => () => {
  const who = element('div', 'who');
  const item = element('li', '', who);
  let current;
  let drawn;
  const menu = isHolder && mayRelease ? button('menu', '⋯', () => openMenu(menu, current)) : null;
  if (menu) item.append(menu);
  return {
    element: item,
    update({ lock, party }) {
      current = { client: client(), lock, party };
      const state = JSON.stringify([lock.kind, party]);
      if (state === drawn) return;
      drawn = state;
      who.replaceChildren(...linesOf(lock, party, isHolder));
      item.title = party.ids.slice(0, MOST_IDS).map(plainText).join('\n');
      if (!menu) return;
      menu.hidden = party.ids.length === 0;
      menu.setAttribute('aria-haspopup', 'menu');
      menu.setAttribute(
        'aria-label',
        plainText(`Actions for ${lock.key} held by ${whereOf(party)}`),
      );
    },
  };
};

const linesOf = (lock, party, isHolder) => {
  const where = whereOf(party);
  const asker = party.participant || party.method;
  const name = element('div', '');
  if (party.mode) name.append(element('span', 'mode', party.mode));
  name.append(shownText(asker ? 'method' : '', asker || where));
  const isSaid = !asker || asker === where || asker === `${party.host}:${party.pid}`;
  const facts = isSaid ? [] : [shownText('', where)];
  if (party.since !== undefined) facts.push(timed(party.since, isHolder ? 'for' : 'waits'));
  if (party.fencingToken !== undefined) facts.push(`token ${plainText(party.fencingToken)}`);
  if (party.handOffs > 0)
    facts.push(
      `${party.mode === 'read' ? 'shared' : 'handed on'} ${plural(party.handOffs, 'time')}`,
    );
  if (isHolder && party.ids.length > 1)
    facts.push(plural(party.ids.length, lock.kind === 'semaphore' ? 'permit' : 'server'));
  return [name, element('div', 'detail', ...facts.flatMap((fact) => [' · ', fact]).slice(1))];
};
