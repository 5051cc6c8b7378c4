/* global document, fetch */
import { button, element } from './element.js';
import { announce, base, environment, hideMenus } from './page.js';
import { shownText } from './shown-text.js';
import { whereOf } from './snapshot.js';
import { timed, tick } from './times.js';

let target;

const facts = element('dl', '');
const confirm = button('danger', 'Force release', () => void release());
const cancel = button('', 'Cancel', () => dialog.close());
const question = element('h2', '', 'Force the release of this lock?');
const consequence = element(
  'p',
  '',
  'Its holder is not stopped: it may still be at work while another client gets the lock.',
);
const dialog = element('dialog', '', question, consequence, facts);
dialog.append(element('div', 'buttons', cancel, confirm));
dialog.setAttribute('aria-label', question.textContent);

/** Asks before the holder loses the lock; the key has a box of its own, so that a long one hides nothing. */
export const askForRelease = (chosen) => {
  target = chosen;
  const { client, lock, party } = chosen;
  const asker = party.participant || party.method;
  const rows = [
    ['Lock', shownText('', lock.key)],
    ['Holder', asker ? shownText('', asker) : undefined],
    [asker ? 'On' : 'Holder', shownText('', whereOf(party))],
    ['Held', party.since === undefined ? undefined : timed(party.since, 'for')],
    ['Waiting', lock.queue.length > 0 ? String(lock.queue.length) : undefined],
    ['Client', shownText('', [client.name, client.backend].filter(Boolean).join(' · '))],
    ['Environment', environment ? shownText('', environment) : undefined],
  ];
  facts.replaceChildren(
    ...rows
      .filter(([, value]) => value !== undefined)
      .flatMap(([label, value]) => [element('dt', '', label), element('dd', '', value)]),
  );
  if (!dialog.isConnected) document.body.append(dialog);
  tick();
  dialog.showModal();
  cancel.focus();
};

const release = async () => {
  const { client, lock, party } = target;
  dialog.close();
  try {
    const response = await fetch(`${base}/release`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Requested-With': 'nestjs-interlock' },
      body: JSON.stringify({ client: client.name, name: lock.name, ids: party.ids }),
    });
    const answer = await response.json().catch(() => undefined); // of an exception filter, it may be anything
    const why = typeof answer?.message === 'string' ? answer.message : response.status;
    if (response.status === 403) hideMenus();
    if (!response.ok) announce(`Not released: ${why}`);
    else announce(answer?.released ? '' : 'It no longer held that lock.');
  } catch (error) {
    announce(`Not released: ${error.message}`);
  }
};
