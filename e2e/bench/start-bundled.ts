import { bundled } from '../setup/bundled.ts';

/** Commands that name functions by their source. */
const OF_SOURCE: ReadonlySet<string | undefined> = new Set(['profile', 'survivors']);

// Runs the bundle of `npm ci`, as users do: from source a server needs 25 MB more.
if (!OF_SOURCE.has(process.argv[2])) process.env['BUNDLE_UNDER_TEST'] ??= await bundled();
