import type { Log } from '#shared/base/log.ts';
import type { SecondFactors } from '#shared/stores/credentials/second-factors.ts';
import type { Directory, Person } from '../directory.ts';
import type { Verifiers } from '../verifiers.ts';
import { isPasswordEnough, type SecondFactorRule } from './need.ts';

interface Askable {
  readonly directory: Directory;
  readonly verifiers: Verifiers;
}

/**
 * Wraps the look-ups of schemes that check only a password. A person who needs a second factor gets the same answer
 * as for a wrong password, after the same work. Only the log has the reason: for Basic and Negotiate after the
 * password or ticket was checked, for the other schemes at the beginning.
 */
export function passwordAlone(
  { directory, verifiers }: Askable,
  rule: SecondFactorRule,
  secondFactors: Pick<SecondFactors, 'get'>,
  log: Pick<Log, 'info'>,
): Askable {
  async function enough(person: Person | undefined): Promise<boolean> {
    const isEnough = await isPasswordEnough(rule, secondFactors, person);
    if (person !== undefined && !isEnough) {
      const reason = 'this scheme knows only a password, and the person needs a second factor';
      log.info('second-factor.missing', { subject: person.id, reason });
    }
    return isEnough;
  }
  return {
    directory: {
      find: (id) => directory.find(id),
      async authenticate(...asked) {
        const person = await directory.authenticate(...asked);
        return (await enough(person)) ? person : undefined;
      },
    },
    verifiers: {
      async find(kind, realm, who) {
        const found = await verifiers.find(kind, realm, who);
        return (await enough(found?.person)) ? found : undefined;
      },
      async kerberos(principal) {
        const person = await verifiers.kerberos(principal);
        return (await enough(person)) ? person : undefined;
      },
    },
  };
}
