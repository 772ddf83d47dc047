/** @needs countersign */
const SOURCE = new URL('../../', import.meta.url).pathname;

/** The folder of what a test run or a benchmark has bundled (`e2e/setup/bundled.ts`). */
const BUNDLE = process.env['BUNDLE_UNDER_TEST'];

/**
 * The file of a server or the command line, named as from the top: bundled, which starts in half the time, or by hand
 * the source. `bundle`: another folder of such.
 */
export function entryFile(name: string, bundle = BUNDLE): string {
  return bundle === undefined ? `${SOURCE}${name}` : `${bundle}/${name.replace(/\.ts$/, '.js')}`;
}
