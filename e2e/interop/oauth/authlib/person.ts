/** @needs python3 */
import type { PersonAtPages } from '../person-at-pages.ts';
import { runScript } from '../script-client.ts';

/** Debian's python3-authlib: its OAuth2Session in an application with sign-in. */
const SCRIPT = new URL('person.py', import.meta.url).pathname;

/** Runs the script. The browser follows the URL that the script prints. Returns the script's output. */
export const runPerson = (asked: object, browser: PersonAtPages): Promise<unknown> =>
  runScript(['/usr/bin/python3', '-B', SCRIPT], asked, browser);
