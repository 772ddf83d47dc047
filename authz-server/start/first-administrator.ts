import { CLI } from '#shared/base/invocation.ts';
import type { House } from '#shared/operations/operation.ts';
import { makeAdministratorLink } from '#shared/operations/people/first-administrator.ts';
import { administratorNow } from '#shared/people/administrator-now.ts';

/** Seconds for which one start among all, of all processes, makes a link: as long as the link is valid. */
const ONE_IN = 3600;

/**
 * Production only: returns lines that lead to the first administrator, for the parent process to print. `terminal`: they are
 * read by a person and kept nowhere, so that the link itself may be among them. One that restarts, or that starts beside
 * others, makes no link in place of one that was printed.
 */
export async function firstAdministrator(
  parts: Pick<House, 'config' | 'stores' | 'random' | 'clock' | 'recorder'>,
  terminal: boolean,
): Promise<readonly string[]> {
  const { stores } = parts;
  if ((await administratorNow(stores, false)) !== undefined) return [];
  const command = [
    'No administrator can sign in yet. This prints a link with which the first makes an account:',
    `  ${CLI} admin link`,
    '',
  ];
  if (!terminal || !(await stores.replay.unique('first-administrator', 'link', ONE_IN))) {
    return command;
  }
  const { link } = await makeAdministratorLink(parts);
  return [
    'The first administrator makes an account with this link. It works once, for one hour:',
    `  ${link}`,
    '',
  ];
}
