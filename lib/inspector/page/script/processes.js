import { element, plural } from './element.js';
import { plainText } from './shown-text.js';

export const tableOf = (className, columns) => {
  const headers = columns.map((column) => {
    const header = element('th', '', column);
    header.scope = 'col';
    return header;
  });
  const body = element('tbody', '');
  const head = element('thead', '', element('tr', '', ...headers));
  return { table: element('table', className, head, body), body };
};

/** The processes that report, folded. */
export const processesView = () => {
  const summary = element('summary', '');
  const { table, body } = tableOf('processes', [
    'Process',
    'Held',
    'Kept',
    'Waiting',
    'Lost',
    'Timed out',
  ]);
  return {
    element: element('details', '', summary, element('div', 'wide', table)),
    update({ name, processes }) {
      summary.textContent = plural(processes.length, 'process');
      table.setAttribute('aria-label', `Processes of ${name}`);
      body.replaceChildren(
        ...processes.map(({ host, pid, held, kept, waiting, lost, timedOut }) =>
          element(
            'tr',
            '',
            element('td', '', plainText(`${host} · ${pid}`)),
            ...[held, kept, waiting, lost, timedOut].map((count) =>
              element('td', 'number', String(count)),
            ),
          ),
        ),
      );
    },
  };
};
