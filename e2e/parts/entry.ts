const SOURCE = new URL('../../', import.meta.url).pathname;

/** The folder of what the test run has bundled (`e2e/setup/setup.ts`). */
const BUNDLE = process.env['BUNDLE_UNDER_TEST'];

/**
 * The file of a server or the command line, named as from the top: in a test run bundled,
 * which starts in half the time; by hand, as in a benchmark, the source. `bundle`: another folder of such.
 */
export function entryFile(name: string, bundle = BUNDLE): string {
  return bundle === undefined ? `${SOURCE}${name}` : `${bundle}/${name.replace(/\.ts$/, '.js')}`;
}
