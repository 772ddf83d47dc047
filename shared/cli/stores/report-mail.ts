import type { Config } from '#shared/config/schema.ts';
import type { LinkKind } from '#shared/mail/kinds.ts';
import { notify } from '#shared/mail/notify.ts';
import type { PersonRecord } from '#shared/stores/people/people.ts';
import { Failure, type Report, type Shell } from '../arguments/command.ts';
import type { WholeStore } from './with-people.ts';

/** Throws `Failure` where no mail server is configured. */
export function demandMail({ mail }: Pick<Config, 'mail'>): void {
  if (mail === undefined) throw new Failure('mail is not configured: leave --mail out');
}

/**
 * Lets the message of a link wait, which the authorization server makes and sends. Throws `Failure` for somebody disabled,
 * and where no mail server is configured.
 */
export async function reportMail(
  { clock, random }: Shell,
  { stores }: WholeStore,
  config: Config,
  { person, kind, to }: { person: PersonRecord; kind: LinkKind; to: string },
): Promise<Report> {
  const { id, name, disabled } = person;
  demandMail(config);
  if (disabled) throw new Failure(`${name} is disabled: user enable ${name} comes first`);
  await notify({ config, stores, clock, random }, id, kind, 'en', { to });
  return {
    json: { id, name, mailed_to: to },
    lines: [`id: ${id}`, `name: ${name}`, `a link will be mailed to: ${to}`],
  };
}
