// Runs PORT SEED COUNT: so many random calls on the real server at that port and on a simulated one.
import { Differential } from './differential.js';

const [port, seed, count] = process.argv.slice(2).map(Number) as [number, number, number];
const report = await new Differential(port, seed).run(count);
if (process.send) process.send(report);
else console.log(report.difference ?? report);
process.disconnect?.();
