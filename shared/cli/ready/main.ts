/** `countersign server ready` without options: the check of a container runs it every few seconds. */
import { readiness } from './readiness.ts';

const { lines, failed } = await readiness(process.env);
process.stdout.write(`${lines.join('\n')}\n`);
process.exitCode = Number(failed);
