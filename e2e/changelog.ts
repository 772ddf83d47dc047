/** The changelog of a release. */
const UNRELEASED = '## Unreleased\n';

/**
 * Returns the changelog with a section for this version that contains all unreleased changes. `date`: such
 * as `2026-11-23`. Throws if there are no unreleased changes, or if the version has a section already.
 */
export function released(changelog: string, version: string, date: string): string {
  const [before, after] = changelog.split(UNRELEASED);
  if (before === undefined || after === undefined)
    throw new Error('There is no section Unreleased.');
  const [changes = ''] = after.split('\n## ');
  if (!changes.includes('\n- ')) throw new Error('The section Unreleased has no line.');
  if (after.split('\n').some((line) => line.split(' ').slice(0, 2).join(' ') === `## ${version}`)) {
    throw new Error(`Version ${version} has a section already.`);
  }
  return `${before}${UNRELEASED}\n## ${version} (${date})\n${after}`;
}

/** Returns the section of a version without its heading. Undefined: there is none. */
export function notesOf(changelog: string, version: string): string | undefined {
  const section = changelog.split('\n## ').find((one) => one.split(/\s/, 1)[0] === version);
  return section && `${section.slice(section.indexOf('\n')).trim()}\n`;
}
