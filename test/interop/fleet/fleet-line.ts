import type { FleetReport } from './fleet-report.js';

/** A report in one line, unless there is more to report. */
export function fleetLine(ground: string, report: FleetReport): string {
  const { recipe, accident, grants, faults, losses, failures, before, after } = report;
  const counts = Object.entries(grants).map(([worker, count]) => `${worker} ${count}`);
  const sum = Object.values(grants).reduce((a, b) => a + b, 0);
  return [
    `${ground}, ${recipe}, ${accident}:`.padEnd(45),
    `${sum} grants (${counts.join(', ')})`,
    `${faults.length} faults${faults.map((fault) => `\n  ${fault}`).join('')}`,
    `${losses} lost, ${failures} failed`,
    before === after ? 'nothing left behind' : `LEFT BEHIND:\n${before}\nNOW\n${after}`,
  ].join(' | ');
}
