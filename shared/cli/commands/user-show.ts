import { counted } from '#shared/base/counted.ts';
import { personNamed } from '#shared/people/people.ts';
import { strongWays } from '#shared/people/second-factor/lacks.ts';
import type { SecondFactorRecord } from '#shared/stores/credentials/second-factors.ts';
import type { Command } from '../arguments/command.ts';
import { lastUse, minute } from '../lines/last-use.ts';
import { profileLines } from '../arguments/profile-options.ts';
import { secondFactorDemand } from '../stores/second-factor-demand.ts';
import { withStores } from '../stores/with-stores.ts';

export const userShow: Command = {
  name: 'user show',
  store: 'opens',
  summary:
    'show the profile and the second factor of a person, and count sign-ins, grants, keys and passkeys',
  operands: ['NAME'],
  run: ({ operands: [asked = ''] }, shell) =>
    withStores(shell, async (stores, config) => {
      const { people, artefacts, publicKeys, passkeys, secondFactors } = stores;
      const person = await personNamed(people, asked);
      const { id, name, profile, kerberos, disabled = false, demo, created_at } = person;
      const passwordless = person.password_hash === undefined || undefined;
      const open = {
        sign_ins: await artefacts.countByAccount('SignIn', id),
        grants: await artefacts.countByAccount('Access', id),
        keys: (await publicKeys.of({ kind: 'person', id })).length,
        passkeys: (await passkeys.of(id)).length,
      };
      const factor = await secondFactors.get(id);
      const { lacks_second_factor } = await strongWays(stores, secondFactorDemand(config), person);
      const second_factor = factor && {
        created_at: factor.created_at,
        used_at: factor.used_at,
        recovery_codes: factor.recovery.length,
      };
      return {
        json: {
          id,
          name,
          ...profile,
          kerberos,
          passwordless,
          disabled,
          demo,
          created_at,
          ...open,
          second_factor,
          lacks_second_factor,
        },
        lines: [
          `id: ${id}`,
          `name: ${name}`,
          ...profileLines(profile),
          ...(kerberos ?? []).map((principal) => `kerberos: ${principal}`),
          `added: ${minute(created_at)}`,
          ...(passwordless ? ['no password'] : []),
          secondFactorLine(factor, lacks_second_factor),
          ...(disabled ? ['disabled: cannot sign in'] : []),
          ...(demo ? ['demo: refused in production'] : []),
          `open: ${counted(open.sign_ins, 'sign-in')}, ${counted(open.grants, 'grant')}, ${counted(open.keys, 'key')}, ${counted(open.passkeys, 'passkey')}`,
        ],
      };
    }),
};

function secondFactorLine(factor: SecondFactorRecord | undefined, lacks: boolean): string {
  if (factor === undefined) {
    return lacks
      ? 'second factor: none, and one is demanded: the next sign-in leads through the set-up'
      : 'second factor: none';
  }
  const { created_at, used_at, recovery } = factor;
  return `second factor: since ${minute(created_at)}, ${lastUse(used_at)}, recovery codes left: ${recovery.length}`;
}
