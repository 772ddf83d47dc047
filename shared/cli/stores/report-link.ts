import type { Config } from '#shared/config/schema.ts';
import { createRecoveryLinks, LINK_LIFE, LINK_PATH } from '#shared/people/recovery-links.ts';
import type { Recovery } from '#shared/people/recovery-links.ts';
import type { PersonRecord } from '#shared/stores/people/people.ts';
import { Failure, type Report, type Shell } from '../arguments/command.ts';
import { minute } from '../lines/last-use.ts';
import type { WholeStore } from './with-people.ts';

/** Makes a link with which a person sets a password, and shows it, this once. Throws `Failure` for somebody disabled. */
export async function reportLink(
  { clock }: Shell,
  store: WholeStore,
  { issuer }: Config,
  { person: { id, name, disabled }, ...more }: Omit<Recovery, 'person'> & { person: PersonRecord },
): Promise<Report> {
  if (disabled) throw new Failure(`${name} is disabled: user enable ${name} comes first`);
  const secret = await createRecoveryLinks(store).make({ person: id, ...more });
  const link = `${issuer}${LINK_PATH}${secret}`;
  const end = clock.now() + LINK_LIFE * 1000;
  return {
    json: { id, name, link, expires_at: Math.floor(end / 1000) },
    lines: [
      `id: ${id}`,
      `name: ${name}`,
      `link: ${link}`,
      `works once, until: ${minute(end)}`,
      ...(more.secondFactor ? ['removes: the second factor, too'] : []),
    ],
  };
}
