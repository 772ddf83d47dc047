/** @needs python3 */
import type { PersonAtPages } from '../person-at-pages.ts';
import { runScript } from '../script-client.ts';

/** Debian's python3-authlib: its OAuth2Session as an application to which people sign in. */
const SCRIPT = new URL('person.py', import.meta.url).pathname;

/** Runs the script, with the browser where it says, and returns its output. */
export const runPerson = (asked: object, browser: PersonAtPages): Promise<unknown> =>
  runScript(['/usr/bin/python3', '-B', SCRIPT], asked, browser);
