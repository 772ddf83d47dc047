/** @needs countersign */
const SOURCE = new URL('../../', import.meta.url).pathname;

/** The folder with the bundle of a test run or benchmark (`e2e/setup/bundled.ts`). */
const BUNDLE = process.env['BUNDLE_UNDER_TEST'];

/**
 * The file of a server or of the command line, named from the top: from the bundle, which starts in half
 * the time, or from source if a test is run by hand. `bundle`: another bundle folder.
 */
export function entryFile(name: string, bundle = BUNDLE): string {
  return bundle === undefined ? `${SOURCE}${name}` : `${bundle}/${name.replace(/\.ts$/, '.js')}`;
}
