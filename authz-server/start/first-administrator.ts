import { CLI } from '#shared/base/invocation.ts';
import type { House } from '#shared/operations/operation.ts';
import { makeAdministratorLink } from '#shared/operations/people/first-administrator.ts';
import { createRegistrationLinks } from '#shared/people/registration.ts';
import { admittedBy } from '#shared/config/production.ts';
import { administratorNow } from '#shared/people/administrator-now.ts';

/** Seconds within which only one start of all processes makes a link: the time for which the link is valid. */
const ONE_IN = 3600;

/**
 * In production only: returns lines that lead to the first administrator, for the parent process to print. `terminal`:
 * a person reads the lines and no program stores them, so they may contain the link itself. A process that restarts, or
 * starts beside others, does not replace a printed link, and no start replaces the link of `admin link`.
 */
export async function firstAdministrator(
  parts: Pick<House, 'config' | 'stores' | 'random' | 'clock' | 'recorder'>,
  terminal: boolean,
): Promise<readonly string[]> {
  const { stores } = parts;
  if ((await administratorNow(stores, admittedBy(parts.config))) !== undefined) return [];
  const command = [
    'No administrator can sign in yet. This prints a link with which the first makes an account:',
    `  ${CLI} admin link`,
    '',
  ];
  const hasLink = await createRegistrationLinks(parts).hasFirst();
  if (
    !terminal ||
    hasLink ||
    !(await stores.replay.unique('first-administrator', 'link', ONE_IN))
  ) {
    return command;
  }
  const { link } = await makeAdministratorLink(parts);
  return [
    'The first administrator makes an account with this link. It works once, for one hour:',
    `  ${link}`,
    '',
  ];
}
