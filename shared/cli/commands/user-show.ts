import { counted } from '#shared/base/counted.ts';
import type { Told } from '#shared/operations/operation.ts';
import { showUser } from '#shared/operations/people/user-show.ts';
import { profileLines } from '../lines/profile-lines.ts';
import { lastUse, minute } from '../lines/last-use.ts';
import { commandOf } from '../stores/of-operation.ts';

type Shown = Told<typeof showUser.output>;

export const userShow = commandOf(showUser, {
  lines: (person) => [
    `id: ${person.id}`,
    `name: ${person.name}`,
    ...profileLines(person),
    ...(person.kerberos ?? []).map((principal) => `kerberos: ${principal}`),
    `added: ${minute(person.created_at)}`,
    ...(person.passwordless ? ['no password'] : []),
    secondFactorLine(person),
    ...(person.admin ? ['administrator'] : []),
    ...(person.disabled ? ['disabled: cannot sign in'] : []),
    ...(person.demo ? ['demo: refused in production'] : []),
    `open: ${counted(person.sign_ins, 'sign-in')}, ${counted(person.grants, 'grant')}, ${counted(person.keys, 'key')}, ${counted(person.passkeys, 'passkey')}`,
  ],
});

function secondFactorLine({ second_factor, lacks_second_factor }: Shown): string {
  if (second_factor === undefined) {
    return lacks_second_factor
      ? 'second factor: none, and one is demanded: the next sign-in leads through the set-up'
      : 'second factor: none';
  }
  const { created_at, used_at, recovery_codes } = second_factor;
  return `second factor: since ${minute(created_at)}, ${lastUse(used_at)}, recovery codes left: ${recovery_codes}`;
}
