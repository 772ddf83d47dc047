import { bundled } from '../setup/bundled.ts';

/** Those that name functions by their source. */
const OF_SOURCE: ReadonlySet<string | undefined> = new Set(['profile', 'survivors']);

// As users start them, who have what `npm ci` has bundled: from source a server takes 25 MB more.
if (!OF_SOURCE.has(process.argv[2])) process.env['BUNDLE_UNDER_TEST'] ??= await bundled();
