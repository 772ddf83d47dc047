import { setImmediate } from 'node:timers/promises';
import { type AccessStore, changing } from './access/access-store.ts';
import { endGrant } from './access/grants.ts';
import { endSignIn } from './access/sign-ins.ts';
import { walk } from './access/walk.ts';

/** A passkey of a person, and how many others must remain. */
export interface Removal {
  readonly accountId: string;
  readonly id: string;
  /** 1 if the person has no other way to sign in. */
  readonly least: number;
}

/**
 * Removes a passkey and ends all that it opened: its sign-ins with their grants, and grants that outlive the browser.
 * The outcome is that of `Passkeys.remove`. After an interruption the call can be repeated: it then ends what is
 * left, and returns `gone`.
 */
export async function removePasskey(
  store: AccessStore,
  { accountId, id, least }: Removal,
): Promise<'removed' | 'last' | 'gone'> {
  const removed = { kind: 'passkey.removed', person: accountId, key: id } as const;
  const outcome = await changing(store, 'passkeys', removed).remove(accountId, id, least);
  if (outcome === 'last') return outcome;
  const found = async (kind: 'SignIn' | 'Access', member: 'uid' | 'grantId') => {
    const ids: string[] = [];
    for await (const one of walk(store, kind, accountId)) {
      if (one['passkey'] === id) ids.push(String(one[member]));
    }
    return ids;
  };
  for (const uid of await found('SignIn', 'uid')) {
    await endSignIn(store, { uid, accountId });
    await setImmediate();
  }
  for (const grantId of await found('Access', 'grantId')) {
    await endGrant(store, grantId);
    await setImmediate();
  }
  return outcome;
}
