/* global document, location, EventSource, fetch, confirm, setInterval */
// Everything that is shown goes through textContent: keys, hosts and methods are data of others.
(() => {
  const base = location.pathname.replace(/\/+$/, '');
  const mayRelease = document.documentElement.dataset.mayRelease === 'true';
  const byId = (id) => document.getElementById(id);
  const [summary, notice, clients, filter] = ['summary', 'notice', 'clients', 'filter'].map(byId);
  const opened = new Set();
  let latest;
  let ahead = 0; // of our clock, the server's

  const element = (tag, className, ...children) => {
    const made = document.createElement(tag);
    if (className) made.className = className;
    made.append(...children.filter((child) => child !== undefined && child !== ''));
    return made;
  };
  const plural = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`;

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

  const timed = (since, word) => {
    const time = element('span', 'time');
    time.dataset.since = since;
    time.dataset.word = word;
    const date = new Date(since);
    time.title = Number.isNaN(date.getTime()) ? '' : date.toISOString();
    return time;
  };
  const tick = () => {
    for (const time of document.querySelectorAll('.time'))
      time.textContent = `${time.dataset.word} ${duration(Date.now() + ahead - time.dataset.since)}`;
  };

  const whereOf = ({ host, pid, data, ids }) => {
    if (host !== undefined) return pid === undefined ? host : `${host} · ${pid}`;
    return data || ids[0] || 'unknown';
  };

  const release = async (client, lock, party) => {
    const asker = party.participant || party.method;
    const who = `${asker ? `${asker} on ` : ''}${whereOf(party)}`;
    const warning = 'It may still be at work, and another client gets the lock.';
    if (!confirm(`Take "${lock.key}" from ${who}? ${warning}`)) return;
    try {
      const response = await fetch(`${base}/release`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Requested-With': 'nestjs-interlock' },
        body: JSON.stringify({ client: client.name, name: lock.name, ids: party.ids }),
      });
      const answer = await response.json().catch(() => undefined); // of an exception filter, it may be anything
      const why = typeof answer?.message === 'string' ? answer.message : response.status;
      if (!response.ok) tell(`Not released: ${why}`);
      else tell(answer?.released ? '' : 'It no longer held that lock.');
    } catch (error) {
      tell(`Not released: ${error.message}`);
    }
  };

  const tell = (text) => {
    notice.textContent = text;
    notice.hidden = text === '';
  };

  const partyOf = (client, lock, party, isHolder) => {
    const where = whereOf(party);
    const name = element('div', '');
    if (party.mode) name.append(element('span', 'mode', party.mode));
    const who = party.participant || party.method;
    name.append(element('span', who ? 'method' : '', who || where));
    const facts = who && who !== where ? [where] : [];
    if (party.since !== undefined) facts.push(timed(party.since, isHolder ? 'for' : 'waits'));
    if (party.fencingToken !== undefined) facts.push(`token ${party.fencingToken}`);
    if (isHolder && party.ids.length > 1)
      facts.push(plural(party.ids.length, lock.kind === 'semaphore' ? 'permit' : 'server'));
    const detail = element('div', 'detail', ...facts.flatMap((fact) => [' · ', fact]).slice(1));
    const item = element('li', '');
    item.title = party.ids.slice(0, 20).join('\n');
    if (isHolder && mayRelease && party.ids.length > 0) {
      const button = element('button', '', 'Release');
      button.type = 'button';
      button.setAttribute('aria-label', `Release ${lock.key} from ${whereOf(party)}`);
      button.addEventListener('click', () => void release(client, lock, party));
      item.append(button);
    }
    item.append(element('div', 'who', name, detail));
    return item;
  };

  const cell = (label, className, ...children) => {
    const made = element('td', children.length > 0 ? className : 'empty', ...children);
    made.dataset.label = label;
    return made;
  };

  const rowOf = (client, lock) => {
    const key = element('th', '', lock.key, element('small', '', lock.kind));
    key.scope = 'row';
    key.title = lock.name;
    const list = (tag, parties, isHolder) =>
      parties.length > 0
        ? [element(tag, '', ...parties.map((party) => partyOf(client, lock, party, isHolder)))]
        : [];
    const troubles = [
      lock.lost > 0 ? element('div', 'down', `${lock.lost} lost`) : undefined,
      lock.timedOut > 0 ? element('div', 'degraded', `${lock.timedOut} timed out`) : undefined,
    ].filter(Boolean);
    return element(
      'tr',
      '',
      key,
      cell('Held by', '', ...list('ul', lock.holders, true)),
      cell('Queue', '', ...list('ol', lock.queue, false)),
      cell('Trouble', 'counts', ...troubles),
    );
  };

  /** What `draw` draws, or something else if that is not possible: one lock does not take the page with it. */
  const unlessBroken = (draw, otherwise) => {
    try {
      return draw();
    } catch {
      return otherwise();
    }
  };
  const brokenRow = () => element('tr', '', cell('Lock', '', 'This lock cannot be shown.'));
  const brokenSection = () =>
    element('section', '', element('p', 'problem', 'It cannot be shown.'));

  const tableOf = (className, caption, columns, rows) => {
    const headers = columns.map((column) => {
      const header = element('th', '', column);
      header.scope = 'col';
      return header;
    });
    const table = element('table', className);
    table.setAttribute('aria-label', caption);
    table.append(element('thead', '', element('tr', '', ...headers)));
    table.append(element('tbody', '', ...rows));
    return table;
  };

  const processesOf = ({ name, processes }) => {
    const rows = processes.map(({ host, pid, held, waiting, lost, timedOut }) =>
      element(
        'tr',
        '',
        element('td', '', `${host} · ${pid}`),
        ...[held, waiting, lost, timedOut].map((count) => element('td', 'number', String(count))),
      ),
    );
    const columns = ['Process', 'Held', 'Waiting', 'Lost', 'Timed out'];
    const details = element(
      'details',
      '',
      element('summary', '', plural(processes.length, 'process').replace('processs', 'processes')),
    );
    details.append(tableOf('processes', `Processes of ${name}`, columns, rows));
    details.open = opened.has(name);
    details.addEventListener('toggle', () => opened[details.open ? 'add' : 'delete'](name));
    return details;
  };

  const sectionOf = (client) => {
    const wanted = filter.value.trim().toLowerCase();
    const text = (lock) =>
      [lock, ...lock.holders, ...lock.queue]
        .flatMap(({ key, name, kind, host, method, participant, data }) => {
          return [key, name, kind, host, method, participant, data];
        })
        .join('\n')
        .toLowerCase();
    const locks = client.locks.filter((lock) => wanted === '' || text(lock).includes(wanted));
    const title = element(
      'div',
      'title',
      element('h2', '', client.name),
      element('span', `health ${client.health}`, client.health),
      element('span', 'muted', client.state),
    );
    const section = element('section', '', title);
    for (const problem of client.problems) section.append(element('p', 'problem', problem));
    if (locks.length > 0) {
      const rows = locks.map((lock) => unlessBroken(() => rowOf(client, lock), brokenRow));
      const columns = ['Lock', 'Held by', 'Queue', 'Trouble'];
      const table = tableOf('locks', `Locks of ${client.name}`, columns, rows);
      section.append(element('div', 'scroll', table));
    } else {
      const nothing =
        client.locks.length > 0 ? 'Nothing matches.' : 'No lock is held or waited for.';
      section.append(element('p', 'note muted', nothing));
    }
    if (client.omitted > 0)
      section.append(
        element('p', 'note muted', `${plural(client.omitted, 'more name')} not looked at.`),
      );
    section.append(processesOf(client));
    return section;
  };

  const draw = () => {
    const focused = document.activeElement?.getAttribute('aria-label');
    clients.replaceChildren(
      ...latest.clients.map((client) => unlessBroken(() => sectionOf(client), brokenSection)),
    );
    tick();
    if (focused)
      [...clients.querySelectorAll('button')]
        .find((button) => button.getAttribute('aria-label') === focused)
        ?.focus();
    const locks = latest.clients.flatMap((client) => client.locks);
    const sum = (of) => locks.reduce((total, lock) => total + lock[of].length, 0);
    const text = `${plural(locks.length, 'lock')}, ${plural(sum('holders'), 'holder')}, ${sum('queue')} waiting`;
    if (summary.textContent !== text) summary.textContent = text;
  };
  const show = () => {
    if (latest !== undefined) unlessBroken(draw, () => tell('What came cannot be shown.'));
  };

  const events = new EventSource(`${base}/events`);
  events.addEventListener('now', ({ data }) => (ahead = Number(data) - Date.now()));
  events.addEventListener('message', ({ data }) => {
    latest = unlessBroken(
      () => JSON.parse(data),
      () => null,
    );
    show();
  });
  events.addEventListener('open', () => tell(''));
  events.addEventListener('error', () =>
    tell(
      events.readyState === EventSource.CLOSED
        ? 'The server does not let this page in. Sign in, or close other pages of it, then load it again.'
        : 'The connection is interrupted. What is shown may be out of date.',
    ),
  );
  filter.addEventListener('input', show);
  setInterval(tick, 1000);
})();
